// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/measure_hash.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <vector>

namespace trumpet {
namespace {

uint32_t MurmurOf(const std::string& key, uint32_t seed) {
  return Murmur3(reinterpret_cast<const uint8_t*>(key.data()), key.size(), seed);
}

TEST(Murmur3, GivesThePublishedValues) {
  EXPECT_EQ(MurmurOf("", 0), 0u);
  EXPECT_EQ(MurmurOf("", 1), 0x514E28B7u);
  EXPECT_EQ(MurmurOf(std::string(4, '\0'), 0), 0x2362F9DEu);
  EXPECT_EQ(MurmurOf("Hello, world!", 0x9747B28C), 0x24884CBAu);
}

TEST(RankOf, CountsTheZerosBehindTheBucket) {
  EXPECT_EQ(RankOf(0xffffffff, 8).bucket, 255u);
  EXPECT_EQ(RankOf(0xffffffff, 8).zeros, 0u);
  EXPECT_EQ(RankOf(0x01000001, 8).bucket, 1u);
  EXPECT_EQ(RankOf(0x01000001, 8).zeros, 23u);
  EXPECT_EQ(RankOf(0x01000000, 8).zeros, 24u);  // none is set
  EXPECT_EQ(RankOf(0x80000000, 0).bucket, 0u);
  EXPECT_EQ(RankOf(0, 0).zeros, 32u);
}

TEST(RankOf, IsThatOfTheUpperHalfInFewerSteps) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 20000; ++round) {
    const uint64_t hash =
        random() & ~uint64_t{0} << (random() % 64) & ~uint64_t{0} >> (random() % 64);
    for (const uint32_t log2_size : {0u, 1u, 8u, 16u, 31u}) {
      const BucketRank rank = RankOfUpper(hash, uint64_t{1} << log2_size);
      const BucketRank expected = RankOf(static_cast<uint32_t>(hash >> 32), log2_size);
      ASSERT_EQ(rank.bucket, expected.bucket) << hash << " of " << log2_size << " bits";
      ASSERT_EQ(rank.zeros, expected.zeros) << hash << " of " << log2_size << " bits";
    }
  }
}

using Rows = std::array<uint32_t, 4>;
constexpr uint32_t kKeys = 20000;
constexpr uint32_t kCells = 1024;

struct Collisions {
  uint32_t in_first_row = 0;
  uint32_t in_all_rows = 0;
};

// Pairs of neighbours by cell of row 0, of keys like addresses: one after the other.
template <typename RowsOf>
Collisions CountCollisions(RowsOf rows_of) {
  std::vector<std::vector<Rows>> by_cell(kCells);
  Collisions collisions;
  for (uint32_t key = 0; key < kKeys; ++key) {
    const Rows rows = rows_of(0x0a000000 + key);
    for (const Rows& other : by_cell[rows[0]]) {
      collisions.in_first_row++;
      collisions.in_all_rows += rows == other;
    }
    by_cell[rows[0]].push_back(rows);
  }
  return collisions;
}

// Each further row separates all but one in a thousand pairs.
bool AreIndependent(const Collisions& collisions) {
  const double expected = double{kKeys} * kKeys / 2 / kCells;
  return collisions.in_first_row > 0.9 * expected && collisions.in_first_row < 1.1 * expected &&
         collisions.in_all_rows < 10;
}

TEST(FastRows, OfSlicesAreIndependent) {
  for (const uint64_t seed : {1, 2, 3}) {
    EXPECT_TRUE(AreIndependent(CountCollisions([seed](uint32_t key) {
      const uint64_t hash = HashNumber(key, seed);
      Rows rows;
      for (uint32_t i = 0; i < 4; ++i) rows[i] = FastRowIndex(hash, i, kCells, true);
      return rows;
    }))) << seed;
  }
}

TEST(FastRows, MixedAnewAreIndependent) {
  EXPECT_TRUE(AreIndependent(CountCollisions([](uint32_t key) {
    const uint64_t hash = HashNumber(key, 7);
    Rows rows;
    for (uint32_t i = 0; i < 4; ++i) rows[i] = FastRowIndex(hash, i, kCells, false);
    return rows;
  })));
}

TEST(FastRows, OfVariablesThatShareAKeyAreIndependent) {
  EXPECT_TRUE(AreIndependent(CountCollisions([](uint32_t key) {
    const uint64_t hash = HashNumber(key, 7);
    Rows rows;
    for (uint32_t i = 0; i < 4; ++i) {
      rows[i] = FastRowIndex(FastVariableHash(hash, i), 0, kCells, true);
    }
    return rows;
  })));
}

uint32_t Crc32c(uint32_t state, uint32_t key) {
  for (uint32_t i = 0; i < 32; ++i) {
    const uint32_t bit = (state ^ key) & 1;
    state = state >> 1 ^ (bit != 0 ? 0x82f63b78u : 0);
    key >>= 1;
  }
  return state;
}

// The measure above is able to tell: the initial value of a CRC moves all keys alike.
TEST(CrcRows, WithSeveralInitialValuesAreNot) {
  const Collisions collisions = CountCollisions([](uint32_t key) {
    Rows rows;
    for (uint32_t i = 0; i < 4; ++i) rows[i] = Crc32c(i + 1, key) % kCells;
    return rows;
  });
  EXPECT_GT(collisions.in_first_row, 0u);
  EXPECT_EQ(collisions.in_all_rows, collisions.in_first_row);
  EXPECT_FALSE(AreIndependent(collisions));
}

TEST(FastRows, StayInRange) {
  for (const uint32_t size : {1u, 2u, 3u, 1000u, 4096u, 1u << 26}) {
    for (const uint64_t hash : {uint64_t{0}, UINT64_MAX, uint64_t{0x123456789abcdef}}) {
      for (uint32_t row = 0; row < 16; ++row) {
        EXPECT_LT(FastRowIndex(hash, row, size, false), size);
        if (row < kSlicedRows && size <= kMaxSlicedCells) {
          EXPECT_LT(FastRowIndex(hash, row, size, true), size);
        }
      }
    }
  }
}

}  // namespace
}  // namespace trumpet
