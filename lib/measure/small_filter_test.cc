// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/small_filter.h"

#include <gtest/gtest.h>

#include <random>

namespace trumpet {
namespace {

template <bool kMixes>
[[gnu::target("avx2")]] uint32_t InQuads(const SlotPlan& plan, const uint8_t* cells,
                                         const uint64_t* hashes, uint32_t count) {
  return PacketsInFilter<kMixes>(plan, cells, hashes, count);
}

bool IsIn(const SlotPlan& plan, const uint8_t* cells, uint64_t hash) {
  const uint64_t own = FastVariableHash(hash, plan.number);
  bool has_all = true;
  for (uint32_t row = 0; row < plan.rows; ++row) {
    has_all &= cells[FastRowIndex(own, row, plan.size, plan.is_sliced)] != 0;
  }
  return has_all;
}

TEST(SmallFilter, IsABitForEachCell) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 1000; ++round) {
    const auto count = static_cast<uint32_t>(16 * (1 + random() % 4));
    const uint64_t bits = random() >> (64 - count);
    uint8_t cells[64] = {};
    for (uint32_t i = 0; i < count; ++i) cells[i] = static_cast<uint8_t>(bits >> i & 1);
    ASSERT_EQ(BitsOfCells(cells, count), bits) << count;
  }
}

TEST(SmallFilter, HasThePacketsThatEachRowSays) {
  if (!HasQuads()) GTEST_SKIP() << "a processor without AVX2";
  std::mt19937_64 random(1);
  for (int round = 0; round < 20000; ++round) {
    SlotPlan plan;
    plan.form = SlotForm::kFilter;
    plan.is_sliced = true;
    plan.rows = kSlicedRows;
    plan.size = static_cast<uint32_t>(16 * (1 + random() % 4));
    plan.number = static_cast<uint32_t>(random() % 4);
    ASSERT_TRUE(IsSmallFilter(plan));
    uint8_t cells[64];
    const uint64_t zeros = random() % 5;
    for (uint8_t& cell : cells) cell = random() % 8 >= zeros ? 1 : 0;
    uint64_t hashes[kMaxMeasureBurst];
    for (uint64_t& hash : hashes) hash = random();
    const auto count = static_cast<uint32_t>(1 + random() % kMaxMeasureBurst);
    const uint32_t in = plan.number != 0 ? InQuads<true>(plan, cells, hashes, count)
                                         : InQuads<false>(plan, cells, hashes, count);
    for (uint32_t i = 0; i < count; ++i) {
      ASSERT_EQ((in >> i & 1) != 0, IsIn(plan, cells, hashes[i])) << round;
    }
  }
}

TEST(SmallFilter, IsOneOfFourSlicesInAWord) {
  SlotPlan plan;
  plan.is_sliced = true;
  plan.rows = kSlicedRows;
  plan.size = 64;
  EXPECT_TRUE(IsSmallFilter(plan));
  const auto is_small_with = [&plan](auto SlotPlan::*member, auto value) {
    SlotPlan other = plan;
    other.*member = value;
    return IsSmallFilter(other);
  };
  EXPECT_TRUE(is_small_with(&SlotPlan::size, 16u));
  EXPECT_FALSE(is_small_with(&SlotPlan::size, 63u));
  EXPECT_FALSE(is_small_with(&SlotPlan::size, 80u));
  EXPECT_FALSE(is_small_with(&SlotPlan::rows, 3u));
  EXPECT_FALSE(is_small_with(&SlotPlan::is_sliced, false));
  EXPECT_FALSE(is_small_with(&SlotPlan::log2, uint8_t{1}));
}

}  // namespace
}  // namespace trumpet
