// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/tem/report_rate.h"

#include <gtest/gtest.h>

namespace trumpet {
namespace {

TEST(ReportRate, LetsABurstThroughAndThenOneForEachShareOfASecond) {
  ReportRate rate(10, 3);
  int told = 0;
  for (int i = 0; i < 5; ++i) told += rate.Take(0);
  EXPECT_EQ(told, 3);
  EXPECT_FALSE(rate.Take(100 * kNanosPerMilli - 1));
  EXPECT_TRUE(rate.Take(100 * kNanosPerMilli));
  EXPECT_FALSE(rate.Take(100 * kNanosPerMilli));
}

TEST(ReportRate, CountsWhatItSuppressedUntilSomebodyIsTold) {
  ReportRate rate(1, 1);
  EXPECT_TRUE(rate.Take(0));
  EXPECT_FALSE(rate.Take(1));
  EXPECT_FALSE(rate.Take(2));
  EXPECT_EQ(rate.TakeSuppressed(), 2u);
  EXPECT_EQ(rate.TakeSuppressed(), 0u);
}

TEST(ReportRate, SavesUpNoMoreThanABurst) {
  ReportRate rate(1000, 2);
  EXPECT_TRUE(rate.Take(0));
  int told = 0;
  for (int i = 0; i < 10; ++i) told += rate.Take(3600 * kNanosPerSecond);
  EXPECT_EQ(told, 2);
}

TEST(ReportRate, AClockThatGoesBackGivesNothing) {
  ReportRate rate(1, 1);
  EXPECT_TRUE(rate.Take(10 * kNanosPerSecond));
  EXPECT_FALSE(rate.Take(0));
  EXPECT_FALSE(rate.Take(10 * kNanosPerSecond));
  EXPECT_TRUE(rate.Take(11 * kNanosPerSecond));
}

TEST(ReportRate, ZeroIsNoLimit) {
  ReportRate rate(0, 1);
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(rate.Take(0));
}

}  // namespace
}  // namespace trumpet
