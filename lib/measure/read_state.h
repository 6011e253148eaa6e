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

// Cell `index` of a variable over all threads; `states` as below.
uint64_t ReadMergedCell(const std::vector<const ProgramState*>& states, MeasureIndex variable,
                        uint32_t index, bool is_retired = false);

// All cells of a variable in the order of their index, over all threads; `states` are of the same
// program and at least one.  `is_retired`: of the epoch before, where a window flips.
std::vector<uint64_t> ReadVariable(const std::vector<const ProgramState*>& states,
                                   MeasureIndex variable, bool is_retired = false);

// Where the cells of a key are, in the order of rows or functions.  The same wherever the program
// has the same seed.  `variable` as below, and it does not evict.
std::vector<uint32_t> CellsOfKey(const CompiledProgram& program, MeasureIndex variable,
                                 const PacketValues& key);

// What a variable holds of one key: its selected cells over all threads, in the order of rows or
// functions.  Of a map that evicts, threads where the cell belongs to another key count as 0.
// `key`: the fields of the variable's key; `variable` has one, and is no pcsa or hyperloglog.
std::vector<uint64_t> ReadKeyCells(const std::vector<const ProgramState*>& states,
                                   MeasureIndex variable, const PacketValues& key);

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_READ_STATE_H
