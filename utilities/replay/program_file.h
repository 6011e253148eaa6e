// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ProgramFile: a measurement program as the command line names it.

#ifndef TRUMPET_UTILITIES_REPLAY_PROGRAM_FILE_H
#define TRUMPET_UTILITIES_REPLAY_PROGRAM_FILE_H

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "lib/base/status.h"
#include "lib/measure/compiled_program.h"
#include "lib/measure/measure_hash.h"

namespace trumpet {

constexpr uint64_t kReplaySeed = 0x5bd1e9955bd1e995u;  // runs repeat

struct ProgramFile {
  std::string name;  // by which events call it
  std::string path;
  std::map<std::string, std::string> params;  // instead of those in the text
};

// What stands behind --program: NAME=FILE, or FILE, whose name without folders and ".mafia" is then
// that of the program.
ProgramFile ProgramFileOf(const std::string& argument);

// "uc01.mafia" of "programs/uc01.mafia".
std::string BaseName(const std::string& path);

// Errors name the file, and the place in it.
Result<std::unique_ptr<const CompiledProgram>> LoadProgram(const ProgramFile& file,
                                                           MeasureHashFamily hash);

}  // namespace trumpet

#endif  // TRUMPET_UTILITIES_REPLAY_PROGRAM_FILE_H
