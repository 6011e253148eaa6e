// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/range_mask.h"

#include <gtest/gtest.h>

#include <random>

namespace trumpet {
namespace {

// Small ones, large ones and those about the sign.
uint64_t RandomNumber(std::mt19937_64* random) {
  const uint64_t small = (*random)() % 8;
  switch ((*random)() % 4) {
    case 0:
      return small;
    case 1:
      return UINT64_MAX - small;
    case 2:
      return (uint64_t{1} << 63) - 4 + small;
    default:
      return (*random)();
  }
}

TEST(RangeMask, IsWhatEachNumberSays) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 20000; ++round) {
    uint64_t numbers[kMaxMeasureBurst];
    for (uint64_t& number : numbers) number = RandomNumber(&random);
    const auto chosen = static_cast<uint32_t>(random() >> random() % 64);
    const uint64_t mask = random() % 2 == 0 ? UINT64_MAX : RandomNumber(&random);
    const NumberRange range = {RandomNumber(&random), RandomNumber(&random), random() % 2 == 0};
    const uint32_t plain = KeepInRange(numbers, chosen, mask, range);
    for (uint32_t i = 0; i < kMaxMeasureBurst; ++i) {
      const bool is_within = (numbers[i] & mask) - range.low <= range.span;
      const bool is_kept = (chosen >> i & 1) != 0 && is_within != range.is_outside;
      ASSERT_EQ(plain >> i & 1, is_kept ? 1u : 0u) << round;
    }
    if (HasQuads()) {
      ASSERT_EQ(KeepQuadsInRange(numbers, chosen, mask, range), plain) << round;
    }
  }
}

}  // namespace
}  // namespace trumpet
