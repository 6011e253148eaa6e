// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/wire/clock_estimate.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

namespace trumpet {
namespace {

constexpr Nanos kStart = 1700000000 * kNanosPerSecond;

// A peer whose clock is ahead by `offset`, and a way there and back.
bool Ask(ClockEstimate* estimate, Nanos now, Nanos offset, Nanos there, Nanos stay, Nanos back) {
  const Nanos t1 = kStart + now;
  const Nanos t2 = t1 + there + offset;
  return estimate->Add(t1, t2, t2 + stay, there + stay + back, now + there + stay + back);
}

TEST(ClockEstimate, IsExactWhenBothWaysAreAlike) {
  ClockEstimate estimate;
  ASSERT_TRUE(Ask(&estimate, 0, 50 * kNanosPerMilli, 100, 1000, 100));
  EXPECT_EQ(estimate.OffsetAt(1200), 50 * kNanosPerMilli);
  EXPECT_EQ(estimate.BoundAt(1200), 100);
  EXPECT_EQ(estimate.last_rtt(), 200);
}

TEST(ClockEstimate, HoldsItsBoundOnWaysThatAreUnlikeAndClocksThatDrift) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    std::mt19937_64 random(seed);
    const auto below = [&](Nanos limit) { return static_cast<Nanos>(random() % limit); };
    ClockEstimate estimate;
    const Nanos offset = below(200 * kNanosPerMilli) - 100 * kNanosPerMilli;
    const double drift = (static_cast<double>(random() % 2000) - 1000) / 1e7;  // within 100 ppm
    for (Nanos now = 0; now < 60 * kNanosPerSecond; now += kNanosPerSecond) {
      // Mostly quick; now and then queues in one direction or the other.
      const Nanos there = 20000 + (random() % 4 == 0 ? below(30 * kNanosPerMilli) : below(5000));
      const Nanos back = 20000 + (random() % 4 == 0 ? below(30 * kNanosPerMilli) : below(5000));
      const Nanos truth = offset + static_cast<Nanos>(drift * static_cast<double>(now));
      ASSERT_TRUE(Ask(&estimate, now, truth, there, below(1000), back));
      const Nanos error = std::abs(estimate.OffsetAt(now + there + back) - truth);
      // What it drifts within the sample's own round trip is no part of the bound.
      ASSERT_LE(error, estimate.BoundAt(now + there + back) + 10000) << "seed " << seed;
    }
    EXPECT_EQ(estimate.steps_seen(), 0u) << "seed " << seed;
    EXPECT_LT(estimate.BoundAt(60 * kNanosPerSecond), 5 * kNanosPerMilli);
  }
}

TEST(ClockEstimate, KeepsTheQuickSampleWhenTheWayGetsSlow) {
  ClockEstimate estimate;
  ASSERT_TRUE(Ask(&estimate, 0, 7000, 1000, 0, 1000));
  ASSERT_TRUE(Ask(&estimate, kNanosPerSecond, 7000, 50 * kNanosPerMilli, 0, 1000));
  EXPECT_EQ(estimate.OffsetAt(kNanosPerSecond), 7000);
  EXPECT_EQ(estimate.BoundAt(2000 + kNanosPerSecond), 1000 + 200000);  // a second of drift
  EXPECT_EQ(estimate.last_rtt(), 50 * kNanosPerMilli + 1000);
}

TEST(ClockEstimate, NoticesThatAClockWasSet) {
  ClockEstimate estimate;
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(Ask(&estimate, i * kNanosPerSecond, 0, 1000, 0, 1000));
  const Nanos later = 6 * kNanosPerSecond;
  ASSERT_TRUE(Ask(&estimate, later, 50 * kNanosPerMilli, 5000, 0, 5000));
  EXPECT_EQ(estimate.steps_seen(), 1u);
  EXPECT_EQ(estimate.OffsetAt(later), 50 * kNanosPerMilli);
}

TEST(ClockEstimate, RefusesStampsThatNoClocksGive) {
  ClockEstimate estimate;
  EXPECT_FALSE(estimate.Add(1000, 500, 400, 100, 0));  // answered before it was asked
  EXPECT_FALSE(estimate.Add(1000, 500, 900, 100, 0));  // stayed longer than it took
  EXPECT_FALSE(estimate.Add(1000, 500, 500, -1, 0));
  EXPECT_FALSE(estimate.has_estimate());
}

}  // namespace
}  // namespace trumpet
