// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/base/hash.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <string>

namespace trumpet {
namespace {

int BitsThatDiffer(uint64_t a, uint64_t b) { return __builtin_popcountll(a ^ b); }

TEST(Hash, IsTheSameForTheSameBytesAndSeed) {
  const std::string bytes(40, 'x');
  EXPECT_EQ(HashBytes(bytes.data(), bytes.size(), 7),
            HashBytes(std::string(bytes).data(), bytes.size(), 7));
}

TEST(Hash, ChangesWithTheSeed) {
  const std::string bytes(40, 'x');
  EXPECT_NE(HashBytes(bytes.data(), bytes.size(), 7), HashBytes(bytes.data(), bytes.size(), 8));
  EXPECT_NE(HashNumber(5, 7), HashNumber(5, 8));
}

TEST(Hash, ChangesManyBitsWithEveryBitOfAFlowKeySizedInput) {
  std::array<uint8_t, 40> bytes{};
  const uint64_t before = HashBytes(bytes.data(), bytes.size(), 1);
  for (size_t bit = 0; bit < bytes.size() * 8; bit++) {
    bytes[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
    EXPECT_GT(BitsThatDiffer(before, HashBytes(bytes.data(), bytes.size(), 1)), 10) << bit;
    bytes[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
  }
}

TEST(Hash, NumbersInARowSpreadOverTheLowBits) {
  std::array<int, 256> cells{};
  for (uint64_t number = 0; number < 256 * 64; number++) cells[HashNumber(number, 3) & 255]++;
  for (const int count : cells) EXPECT_LT(std::abs(count - 64), 48);
}

TEST(Hash, MixBitsIsOneToOneOnSmallNumbers) {
  std::set<uint64_t> seen;
  for (uint64_t number = 0; number < 10000; number++) seen.insert(MixBits(number));
  EXPECT_EQ(seen.size(), 10000u);
}

}  // namespace
}  // namespace trumpet
