// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What the cells of a measurement program's variable tell, over all threads and hosts.
//
// Threads: values; no state.

#ifndef TRUMPET_LIB_MODEL_MEASURE_READING_H
#define TRUMPET_LIB_MODEL_MEASURE_READING_H

#include <cstdint>
#include <optional>
#include <vector>

namespace trumpet {

// A number and where the true one lies: in [low, high] in this share of cases.
struct MeasureEstimate {
  double value = 0;
  double low = 0;
  double high = 0;
  double confidence = 1;  // 0 to 1
};

struct MeasureCell {
  uint32_t index = 0;
  uint64_t value = 0;
};

// A variable as a whole.
struct MeasureReading {
  uint64_t cells = 0;
  uint64_t in_use = 0;                  // cells that are not 0
  std::vector<MeasureCell> largest;     // that are not 0: the largest first
  std::optional<uint64_t> number;       // of a counter or timestamp
  std::optional<MeasureEstimate> keys;  // pcsa, hyperloglog: how many different keys there were
  std::optional<uint64_t> total;        // count-min that sums: what all keys together added
};

// A variable at one key.
struct MeasureKeyReading {
  std::vector<uint64_t> key;    // values of the key's fields
  std::vector<uint64_t> cells;  // those of the key, in the order of rows or functions
  uint64_t value = 0;           // the least of them
  // Of a count-min sketch that sums: `value` is never too small.
  std::optional<MeasureEstimate> estimate;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_MODEL_MEASURE_READING_H
