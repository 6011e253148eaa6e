// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/sketch_estimates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

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

// Of sketches that saw `keys` keys, the share whose bounds hold that number.
struct Held {
  double hyperloglog = 0;
  double pcsa = 0;
};
Held HeldBounds(size_t size, size_t keys, int rounds, std::mt19937_64* random) {
  Held held;
  const auto holds = [keys](const KeyBounds& bounds) {
    return bounds.low <= static_cast<double>(keys) && static_cast<double>(keys) <= bounds.high;
  };
  for (int round = 0; round < rounds; ++round) {
    std::vector<uint64_t> registers(size);
    std::vector<uint64_t> bitmaps(size);
    for (size_t key = 0; key < keys; ++key) {
      const uint64_t hash = (*random)();
      const size_t cell = hash % size;
      const auto zeros = static_cast<uint64_t>(__builtin_ctzll(hash >> 32 | uint64_t{1} << 31));
      registers[cell] = std::max(registers[cell], zeros + 1);
      bitmaps[cell] |= uint64_t{1} << zeros;
    }
    held.hyperloglog += holds(HyperLogLogBounds(registers)) ? 1.0 / rounds : 0;
    held.pcsa += holds(PcsaBounds(bitmaps)) ? 1.0 / rounds : 0;
  }
  return held;
}

TEST(Estimates, BoundsHoldFewKeysAndMany) {
  constexpr int kRounds = 300;
  const double least = kKeyConfidence - 3 * std::sqrt(0.95 * 0.05 / kRounds);
  std::mt19937_64 random(20261128);
  for (const size_t size : {4u, 16u, 128u, 2048u}) {
    for (const double load : {0.0, 0.01, 0.1, 0.3, 1.0, 1.6, 2.3, 2.6, 3.0, 4.0, 5.0, 6.0, 20.0}) {
      const size_t keys = 1 + static_cast<size_t>(load * static_cast<double>(size));
      const Held held = HeldBounds(size, keys, kRounds, &random);
      EXPECT_GE(held.hyperloglog, least) << keys << " keys in " << size << " registers";
      EXPECT_GE(held.pcsa, least) << keys << " keys in " << size << " bitmaps";
    }
  }
}

TEST(Estimates, BoundsHoldTheEstimateAndAreNarrow) {
  std::mt19937_64 random(7);
  std::vector<uint64_t> registers(4096);
  for (int key = 0; key < 100000; ++key) {
    const uint64_t hash = random();
    uint64_t& cell = registers[hash % registers.size()];
    cell = std::max(cell, static_cast<uint64_t>(__builtin_ctzll(hash >> 32 | 1u << 31)) + 1);
  }
  const double estimate = EstimateHyperLogLog(registers);
  const KeyBounds bounds = HyperLogLogBounds(registers);
  EXPECT_LE(bounds.low, estimate);
  EXPECT_GE(bounds.high, estimate);
  EXPECT_LT(bounds.high - bounds.low, 0.08 * estimate);
  EXPECT_EQ(PcsaBounds(std::vector<uint64_t>(64)).high, 0) << "nothing is nothing";
}

}  // namespace
}  // namespace trumpet
