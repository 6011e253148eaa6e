// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/verdict/incomplete_ranges.h"

#include <gtest/gtest.h>

namespace trumpet {
namespace {

TEST(IncompleteRanges, TellTheReasonsOfWhateverTheyOverlap) {
  IncompleteRanges ranges;
  ranges.Add(10, 20, 1);
  ranges.Add(15, 30, 2);
  ranges.Add(40, 40, 4);  // an instant
  EXPECT_EQ(ranges.ReasonsIn(0, 10), 0u);
  EXPECT_EQ(ranges.ReasonsIn(0, 11), 1u);
  EXPECT_EQ(ranges.ReasonsIn(19, 20), 3u);
  EXPECT_EQ(ranges.ReasonsIn(20, 30), 2u);
  EXPECT_EQ(ranges.ReasonsIn(30, 40), 0u);
  EXPECT_EQ(ranges.ReasonsIn(40, 50), 4u);
}

TEST(IncompleteRanges, JoinTheSameReasonInNeighbouringRangesOnly) {
  IncompleteRanges ranges;
  ranges.Add(10, 20, 1);
  ranges.Add(20, 30, 1);
  ranges.Add(50, 60, 1);
  EXPECT_EQ(ranges.ReasonsIn(10, 30), 1u);
  EXPECT_EQ(ranges.ReasonsIn(30, 50), 0u) << "nothing is marked in between";
}

// With too many of them, more is marked than need be, and never less.
TEST(IncompleteRanges, MarkMoreAndNeverLessWhenThereAreTooMany) {
  IncompleteRanges ranges;
  const auto reason = [](size_t i) { return uint32_t{1} << i % 3; };
  constexpr size_t kCount = 2 * IncompleteRanges::kMaxRanges;
  for (size_t i = 0; i < kCount; i++) {
    ranges.Add(static_cast<Nanos>(10 * i), static_cast<Nanos>(10 * i + 5), reason(i));
  }
  for (size_t i = 0; i < kCount; i++) {
    const auto start = static_cast<Nanos>(10 * i);
    ASSERT_EQ(ranges.ReasonsIn(start, start + 1) & reason(i), reason(i)) << i;
  }
  const auto last = static_cast<Nanos>(10 * (kCount - 1));
  EXPECT_EQ(ranges.ReasonsIn(last, last + 1), reason(kCount - 1)) << "the newest stay exact";
  EXPECT_EQ(ranges.ReasonsIn(last + 5, last + 10), 0u);
}

TEST(IncompleteRanges, ForgetWhatNobodyWillAskFor) {
  IncompleteRanges ranges;
  ranges.Add(10, 20, 1);
  ranges.Add(20, 40, 2);
  ranges.Forget(20);
  EXPECT_EQ(ranges.ReasonsIn(0, 20), 0u);
  EXPECT_EQ(ranges.ReasonsIn(0, 40), 2u);
}

}  // namespace
}  // namespace trumpet
