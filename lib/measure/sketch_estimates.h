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

// One standard deviation of the estimate, as a share of it.
double HyperLogLogError(size_t registers);
double PcsaError(size_t bitmaps);

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_SKETCH_ESTIMATES_H
