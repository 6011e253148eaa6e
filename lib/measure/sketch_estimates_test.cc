// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/sketch_estimates.h"

#include <gtest/gtest.h>

#include "lib/measure/measure_hash.h"

namespace trumpet {
namespace {

TEST(Estimates, OfEmptySketchesAreNothing) {
  EXPECT_EQ(EstimateHyperLogLog(std::vector<uint64_t>(256)), 0);
  EXPECT_EQ(EstimatePcsa(std::vector<uint64_t>(128)), 0);
}

TEST(Estimates, AreWithinThreeDeviations) {
  for (const uint32_t keys : {2000u, 20000u, 200000u}) {
    std::vector<uint64_t> registers(1024);
    std::vector<uint64_t> bitmaps(1024);
    for (uint32_t key = 0; key < keys; ++key) {
      const BucketRank rank = RankOf(static_cast<uint32_t>(HashNumber(key, 5) >> 32), 10);
      registers[rank.bucket] = std::max<uint64_t>(registers[rank.bucket], rank.zeros + 1);
      bitmaps[rank.bucket] |= uint64_t{1} << rank.zeros;
    }
    EXPECT_NEAR(EstimateHyperLogLog(registers), keys, 3 * HyperLogLogError(1024) * keys);
    EXPECT_NEAR(EstimatePcsa(bitmaps), keys, 3 * PcsaError(1024) * keys);
  }
}

}  // namespace
}  // namespace trumpet
