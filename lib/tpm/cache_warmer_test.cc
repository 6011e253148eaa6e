// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/cache_warmer.h"

#include <gtest/gtest.h>

namespace trumpet {
namespace {

int CallsUntilDone(CacheWarmer* warmer) {
  int calls = 1;
  while (warmer->WarmSome()) calls++;
  return calls;
}

TEST(CacheWarmer, HasNothingToDoWithoutMemory) {
  CacheWarmer warmer;
  warmer.Add(std::vector<uint64_t>());
  EXPECT_EQ(warmer.line_count(), 0u);
  EXPECT_FALSE(warmer.WarmSome());
}

TEST(CacheWarmer, AsksForAllLinesAFewAtATime) {
  const std::vector<uint8_t> part(100), most(64 * CacheWarmer::kLinesAtOnce), rest(1);
  CacheWarmer warmer;
  for (const auto* memory : {&part, &most, &rest}) warmer.Add(*memory);
  EXPECT_EQ(warmer.line_count(), 2 + CacheWarmer::kLinesAtOnce + 1);
  EXPECT_EQ(CallsUntilDone(&warmer), 2);
  EXPECT_FALSE(warmer.WarmSome());
}

TEST(CacheWarmer, TakesWhatFillsItsCallsExactly) {
  const std::vector<uint8_t> memory(64 * CacheWarmer::kLinesAtOnce);
  CacheWarmer warmer;
  for (int i = 0; i < 3; i++) warmer.Add(memory);
  EXPECT_EQ(CallsUntilDone(&warmer), 3);
}

TEST(CacheWarmer, LeavesOutWhatIsTooMuch) {
  const std::vector<uint8_t> memory(64 * CacheWarmer::kMaxLines);
  CacheWarmer warmer;
  warmer.Add(memory.data(), 64);
  warmer.Add(memory);
  warmer.Add(memory);
  EXPECT_EQ(warmer.line_count(), CacheWarmer::kMaxLines);
  EXPECT_EQ(CallsUntilDone(&warmer),
            static_cast<int>(CacheWarmer::kMaxLines / CacheWarmer::kLinesAtOnce));
}

}  // namespace
}  // namespace trumpet
