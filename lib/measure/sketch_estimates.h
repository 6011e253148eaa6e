// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What sketches of measurement programs tell: cardinalities and their errors.
//
// Threads: pure functions.

#ifndef TRUMPET_LIB_MEASURE_SKETCH_ESTIMATES_H
#define TRUMPET_LIB_MEASURE_SKETCH_ESTIMATES_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace trumpet {

// How many different keys updated the sketch.
double EstimateHyperLogLog(const std::vector<uint64_t>& registers);
double EstimatePcsa(const std::vector<uint64_t>& bitmaps);

// How many different keys a Bloom filter has taken in, of whose `size` cells, `hashes` for a key,
// `in_use` are not 0.  Of a full one it tells what one with an empty cell would: the least.
double EstimateBloom(uint64_t in_use, uint64_t size, uint32_t hashes);

// An interval with the number of keys, whatever it is, in kKeyConfidence of all cases.  The
// estimate is within, too.  As estimates are off by more than chance alone where there are few
// keys, it comes from the cells that are still empty then.
constexpr double kKeyConfidence = 0.95;
struct KeyBounds {
  double low = 0;
  double high = 0;
};
KeyBounds HyperLogLogBounds(const std::vector<uint64_t>& registers);
KeyBounds PcsaBounds(const std::vector<uint64_t>& bitmaps);

// One standard deviation of the estimate, as a share of it, where there are many keys.
double HyperLogLogError(size_t registers);
double PcsaError(size_t bitmaps);

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_SKETCH_ESTIMATES_H
