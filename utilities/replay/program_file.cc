// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "utilities/replay/program_file.h"

#include <algorithm>
#include <string_view>

#include "lib/base/text_file.h"
#include "lib/lang/mafia/mafia_language.h"
#include "lib/measure/program_loader.h"

namespace trumpet {

std::string BaseName(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

ProgramFile ProgramFileOf(const std::string& argument) {
  const size_t equals = argument.find('=');
  // A '=' behind a folder belongs to the file.
  if (equals != std::string::npos && equals > 0 && equals < argument.find('/')) {
    return {argument.substr(0, equals), argument.substr(equals + 1), {}};
  }
  constexpr std::string_view kEnding = ".mafia";
  std::string name = BaseName(argument);
  const bool has_ending = name.size() > kEnding.size() &&
                          name.compare(name.size() - kEnding.size(), kEnding.size(), kEnding) == 0;
  if (has_ending) name.resize(name.size() - kEnding.size());
  return {name, argument, {}};
}

Result<std::unique_ptr<const CompiledProgram>> LoadProgram(const ProgramFile& file,
                                                           MeasureHashFamily hash) {
  const auto text = ReadTextFile(file.path, kMaxMafiaTextBytes);
  if (!text.ok()) return text.status();
  MafiaOptions language;
  language.params = file.params;
  const auto program = CompileMafia(*text, file.path, language);
  if (!program.ok()) return program.status();
  MeasureLoadOptions load;
  load.family = hash;
  load.seed = kReplaySeed;
  load.budget.bytes = uint64_t{1} << 31;  // offline, cost is time only
  load.budget.operators = load.budget.hashes = load.budget.cache_lines = UINT64_MAX;
  auto loaded = LoadMeasureProgram(*program, load);
  if (!loaded.ok()) return Status::Error(file.path + ": " + loaded.message());
  return loaded;
}

}  // namespace trumpet
