// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What the parts of a program cost a packet at most, for its CostCertificate.
//
// Operators are a measure of time: one is what an addition, a comparison or a write takes, some 3
// ns with all that belongs to it, and what takes longer counts as several.  The weights were
// measured (docs/performance.md).  Cache lines count beside that, 5 to 40 ns each where nothing is
// in a cache.
//
// Threads: pure functions.

#ifndef TRUMPET_LIB_MEASURE_PACKET_COST_H
#define TRUMPET_LIB_MEASURE_PACKET_COST_H

#include <cstdint>

#include "lib/measure/compiled_program.h"

namespace trumpet {

constexpr uint64_t kCopyCost = 4;     // operators, of a copy that is put into the queue
constexpr uint64_t kCollectCost = 8;  // of one that is put into the ring

// Operators, of the steps of expressions from `first` on.
uint64_t CostOfSteps(const CompiledProgram& compiled, size_t first);

// Operators, of cells, beside the one that reads or writes them one after the other,
uint64_t CostOfCells(uint64_t cells);
// of a small filter, as a whole,
uint64_t CostOfFilter(uint64_t cells);
// of additions to cells that all threads share,
uint64_t CostOfSharedSums(uint64_t cells);
// and of writes inside of so many forks that are logged.
uint64_t CostOfLogged(uint64_t writes, uint32_t forks);

// Operators, to put the key together and to find the slots of all its variables.
uint64_t CostOfKey(const CompiledProgram& compiled, MeasureIndex key);

// Operators, to find the program's own headers and to read them.
uint64_t CostOfHeaders(const CompiledProgram& compiled);

// Operators and cache lines of one look at a window.
CostCertificate CostOfWindow(const CompiledProgram& compiled, MeasureIndex window);

// Cache lines that the cells of a packet lie in.
uint64_t LinesOf(const CompiledProgram& compiled, MeasureIndex variable);

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_PACKET_COST_H
