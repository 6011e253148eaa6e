// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/wall_clock.h"

#include <gtest/gtest.h>

namespace trumpet {
namespace {

constexpr Nanos kWall = 1'700'000'000 * kNanosPerSecond;
constexpr Nanos kMilli = kNanosPerMilli;

// A clock set at monotonic 0, wall kWall.
void Start(WallClock* clock) { EXPECT_EQ(clock->Follow({0, kWall}), ClockStep::kNone); }

TEST(WallClock, TurnsMonotonicTimeIntoUnixTimeAndBack) {
  WallClock clock;
  Start(&clock);
  EXPECT_EQ(clock.UnixNs(5 * kMilli), kWall + 5 * kMilli);
  EXPECT_EQ(clock.MonotonicNs(kWall + 5 * kMilli), 5 * kMilli);
}

TEST(WallClock, IgnoresTheNoiseOfReadingTwoClocks) {
  WallClock clock;
  Start(&clock);
  EXPECT_EQ(clock.Follow({kMilli, kWall + kMilli + WallClock::kTolerance}), ClockStep::kNone);
  EXPECT_EQ(clock.UnixNs(kMilli), kWall + kMilli);
}

TEST(WallClock, FollowsAStepForwardAtOnce) {
  WallClock clock;
  Start(&clock);
  EXPECT_EQ(clock.Follow({kMilli, kWall + 3600 * kNanosPerSecond}), ClockStep::kForward);
  EXPECT_EQ(clock.UnixNs(kMilli), kWall + 3600 * kNanosPerSecond);
  EXPECT_EQ(clock.counters().steps_forward, 1u);
}

TEST(WallClock, MakesUpForASmallStepBackWithoutEverRunningBackwards) {
  WallClock clock;
  Start(&clock);
  Nanos monotonic = kMilli, last = clock.UnixNs(monotonic);
  EXPECT_EQ(clock.Follow({monotonic, kWall + monotonic - 100 * kMilli}), ClockStep::kSlewing);
  while (clock.ahead_ns() > 0) {
    ASSERT_LT(monotonic, 2 * kNanosPerSecond) << "should take 1.6 s";
    monotonic += kMilli;
    EXPECT_EQ(clock.Follow({monotonic, kWall + monotonic - 100 * kMilli}), ClockStep::kNone);
    EXPECT_GT(clock.UnixNs(monotonic), last);
    last = clock.UnixNs(monotonic);
  }
  EXPECT_EQ(last, kWall + monotonic - 100 * kMilli);
  EXPECT_EQ(clock.counters().steps_back, 1u);
}

TEST(WallClock, AsksForARestartAfterALargeStepBack) {
  WallClock clock;
  Start(&clock);
  EXPECT_EQ(clock.Follow({kMilli, kWall - 7200 * kNanosPerSecond}), ClockStep::kRestart);
  EXPECT_EQ(clock.UnixNs(kMilli), kWall - 7200 * kNanosPerSecond);
  EXPECT_EQ(clock.counters().restarts, 1u);
}

TEST(WallClock, StopsSlewingWhenTheWallClockComesBack) {
  WallClock clock;
  Start(&clock);
  EXPECT_EQ(clock.Follow({kMilli, kWall + kMilli - 500 * kMilli}), ClockStep::kSlewing);
  EXPECT_EQ(clock.Follow({2 * kMilli, kWall + 2 * kMilli}), ClockStep::kForward);
  EXPECT_EQ(clock.ahead_ns(), 0);
  EXPECT_EQ(clock.UnixNs(2 * kMilli), kWall + 2 * kMilli);
}

TEST(WallClock, ReadsTheSystemsClocksTogether) {
  const ClockReading first = ReadSystemClocks();
  const ClockReading second = ReadSystemClocks();
  EXPECT_GT(first.wall_ns, 1'600'000'000 * kNanosPerSecond);
  EXPECT_GE(second.monotonic_ns, first.monotonic_ns);
}

}  // namespace
}  // namespace trumpet
