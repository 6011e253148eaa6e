// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Reads merged cells of a variable: heavy keys with their error, largest cells, cardinalities with
// confidence.
//
// Cells are merged over threads (read_state.h) and, if there are several, over hosts (MergeCells):
// hosts that are merged have the same program and seed.
//
// Threads: pure functions.

#ifndef TRUMPET_LIB_MEASURE_VARIABLE_READING_H
#define TRUMPET_LIB_MEASURE_VARIABLE_READING_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "lib/model/expr.h"
#include "lib/model/measure_program.h"
#include "lib/model/measure_reading.h"

namespace trumpet {

// Whether it tells how many keys there were, and nothing of one.
constexpr bool CountsKeys(MeasureKind kind) {
  return kind == MeasureKind::kPcsa || kind == MeasureKind::kHyperLogLog;
}

// `cells`: all of the variable, in the order of their index.  At most `most` of the largest.
MeasureReading ReadingOf(const MeasureVariable& variable, const std::vector<uint64_t>& cells,
                         size_t most);

// Whether no cell of the variable ever becomes less but by a window: reset() of a key takes counts
// of others, too, whose cells may hold too little then.
bool OnlyGrows(const MeasureProgram& program, MeasureIndex variable);

// `cells`: those that the key selects, at least one.  `total` as ReadingOf() tells it; none if the
// variable has none, or does not only grow: nothing bounds the error then.
MeasureKeyReading ReadingOfKey(const MeasureVariable& variable, const std::vector<uint64_t>& key,
                               const std::vector<uint64_t>& cells, std::optional<uint64_t> total);

// A variable as one number, for those who compare it: what a counter or timestamp holds, and of
// what has a key how many keys there were.  These are cells in use of a map (keys that meet count
// as one), and estimates of filters and of sketches that count keys.
Number NumberOf(const MeasureVariable& variable, const std::vector<uint64_t>& cells);
// False of sketches that tell of one key only.
constexpr bool HasNumber(MeasureKind kind) {
  return kind != MeasureKind::kCountMin && kind != MeasureKind::kStore;
}

// The `most` largest, the largest first, each key once; those of value 0 are left out.
std::vector<MeasureKeyReading> TopKeys(std::vector<MeasureKeyReading> keys, size_t most);

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_VARIABLE_READING_H
