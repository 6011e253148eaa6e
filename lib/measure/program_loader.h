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

// What programs may cost (CostCertificate): the most that a switch can be told.
struct MeasureBudget {
  uint64_t operators = 1 << 20;
  uint64_t hashes = 1 << 20;
  uint64_t cache_lines = 1 << 20;
  uint64_t bytes = uint64_t{1} << 32;
};

// What all programs of a switch together may cost, unless it is told otherwise: some 3 us of a
// packet that finds its cells in a cache, and 7 of one that does not (docs/performance.md).
constexpr MeasureBudget kDefaultMeasureBudget = {1024, 64, 128, uint64_t{64} << 20};

// As a switch loads programs: threads come and go, so what does not merge is always shared.
constexpr uint32_t kManyThreads = 2;

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
