// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Reading what packet threads have measured: their replicas as one.
//
// Threads: any; packet threads go on meanwhile, so cells are of slightly different times.

#ifndef TRUMPET_LIB_MEASURE_READ_STATE_H
#define TRUMPET_LIB_MEASURE_READ_STATE_H

#include <cstdint>
#include <vector>

#include "lib/measure/program_state.h"

namespace trumpet {

// Two values of a cell as one, by the rule of the variable.
uint64_t MergeCells(MeasureMerge merge, uint64_t a, uint64_t b);

// All cells of a variable in the order of their index, over all threads; `states` are of the same
// program and at least one.  `is_retired`: of the epoch before, where a window flips.
std::vector<uint64_t> ReadVariable(const std::vector<const ProgramState*>& states,
                                   MeasureIndex variable, bool is_retired = false);

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_READ_STATE_H
