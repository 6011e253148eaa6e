// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/analyzer/rule_changes.h"

#include <gtest/gtest.h>

namespace trumpet {
namespace {

constexpr Nanos kSecond = kNanosPerSecond;

bool IsAt(const RuleChanges& changes, uint16_t switch_number, Nanos time) {
  return changes.Between(switch_number, time, time);
}

TEST(RuleChanges, LastFromBeforeTheyAreToldUntilBehindTheirEnd) {
  RuleChanges changes;
  changes.Set({3, 5}, 100 * kSecond);
  changes.Set({5}, 102 * kSecond);
  EXPECT_FALSE(IsAt(changes, 3, 100 * kSecond - RuleChanges::kBefore - 1));
  EXPECT_TRUE(IsAt(changes, 3, 100 * kSecond - RuleChanges::kBefore));
  EXPECT_TRUE(IsAt(changes, 3, 102 * kSecond + RuleChanges::kAfter));
  EXPECT_FALSE(IsAt(changes, 3, 102 * kSecond + RuleChanges::kAfter + 1));
  EXPECT_TRUE(IsAt(changes, 5, 110 * kSecond));
  EXPECT_FALSE(IsAt(changes, 4, 101 * kSecond));
  // What began before and ends behind has been there meanwhile.
  EXPECT_TRUE(changes.Between(3, 90 * kSecond, 120 * kSecond));
  EXPECT_FALSE(changes.Between(3, 104 * kSecond, 120 * kSecond));
}

TEST(RuleChanges, EndOfThemselvesIfNobodySaysSo) {
  RuleChanges changes;
  changes.Set({1}, 100 * kSecond);
  const Nanos end = 100 * kSecond + RuleChanges::kLongest;
  EXPECT_TRUE(IsAt(changes, 1, end));
  EXPECT_FALSE(IsAt(changes, 1, end + 1));
  changes.Set({}, end + 10 * kSecond);  // it comes again
  EXPECT_FALSE(IsAt(changes, 1, end + 10 * kSecond));
}

TEST(RuleChanges, OneAfterTheOtherAreRememberedAndTheOldestForgotten) {
  RuleChanges changes;
  const auto when = [](size_t i) { return static_cast<Nanos>(100 + 10 * i) * kSecond; };
  for (size_t i = 0; i <= RuleChanges::kKept; ++i) {
    changes.Set({1}, when(i));
    changes.Set({}, when(i) + 1);
  }
  EXPECT_FALSE(IsAt(changes, 1, when(0)));
  for (size_t i = 1; i <= RuleChanges::kKept; ++i) {
    EXPECT_TRUE(IsAt(changes, 1, when(i))) << i;
    EXPECT_FALSE(IsAt(changes, 1, when(i) + 5 * kSecond)) << i;
  }
}

TEST(RuleChanges, AreNoticedWhenTheClockWasSetBack) {
  RuleChanges changes;
  changes.Set({1, 2}, 10000 * kSecond);
  changes.Set({2, 3}, 6400 * kSecond);
  changes.Set({}, 6401 * kSecond);
  EXPECT_FALSE(IsAt(changes, 1, 6400 * kSecond));
  for (const uint16_t one : {2, 3}) {
    EXPECT_TRUE(IsAt(changes, one, 6400 * kSecond)) << one;
    EXPECT_FALSE(IsAt(changes, one, 6403 * kSecond)) << one;
    EXPECT_FALSE(IsAt(changes, one, 10000 * kSecond)) << one;
  }
}

TEST(RuleChanges, ThatComeAtOnceAreOne) {
  RuleChanges changes;
  for (size_t i = 0; i < 10 * RuleChanges::kKept; ++i) {
    changes.Set({1}, static_cast<Nanos>(i) * kSecond);
    changes.Set({}, static_cast<Nanos>(i) * kSecond + kSecond / 2);
  }
  EXPECT_TRUE(IsAt(changes, 1, 0));
  EXPECT_TRUE(IsAt(changes, 1, 320 * kSecond));
}

}  // namespace
}  // namespace trumpet
