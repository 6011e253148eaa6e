// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// LoadMeasureProgram: a measurement program, from wherever it comes -> what packet threads run.
//
// The program is checked first (program_check.h), then laid out and compiled; its cost is known
// before anything is installed.  Programs over budget are refused with the limit they break.
//
// Threads: pure function; takes microseconds to milliseconds and allocates, so not on packet
// threads.

#ifndef TRUMPET_LIB_MEASURE_PROGRAM_LOADER_H
#define TRUMPET_LIB_MEASURE_PROGRAM_LOADER_H

#include <cstdint>
#include <memory>

#include "lib/base/status.h"
#include "lib/measure/compiled_program.h"

namespace trumpet {

// What one program may cost (CostCertificate).
struct MeasureBudget {
  uint64_t operators = 4096;
  uint64_t hashes = 256;
  uint64_t cache_lines = 4096;
  uint64_t bytes = uint64_t{256} << 20;
};

struct MeasureLoadOptions {
  MeasureHashFamily family = MeasureHashFamily::kFast;
  uint64_t seed = 0;          // of the fast family; from the machine's random source
  uint32_t thread_count = 1;  // more than one: variables that do not merge are shared
  MeasureBudget budget;
};

Result<std::unique_ptr<const CompiledProgram>> LoadMeasureProgram(
    const MeasureProgram& program, const MeasureLoadOptions& options);

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_PROGRAM_LOADER_H
