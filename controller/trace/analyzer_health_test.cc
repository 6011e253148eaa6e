// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/trace/analyzer_health.h"

#include <gtest/gtest.h>

namespace trumpet {
namespace {

constexpr Nanos kTick = 50 * kNanosPerMilli;

// Three analyzers that speak twice a tenth of a second, but for those that are told not to.
class Lab {
 public:
  explicit Lab(AnalyzerHealthOptions options = AnalyzerHealthOptions())
      : health({"a", "b", "c"}, options) {}

  void Run(Nanos time, Nanos tick = kTick) {
    for (const Nanos end = now + time; now < end;) {
      now += tick;
      std::vector<AnalyzerSign> signs;
      for (size_t i = 0; i < 3; ++i) {
        if (speaks[i]) heard_at[i] = now;
        if (connected[i])
          signs.push_back({std::string(1, static_cast<char>('a' + i)), heard_at[i]});
      }
      health.Update(now, signs);
    }
  }

  AnalyzerHealth health;
  Nanos now = kNanosPerSecond;
  bool connected[3] = {true, true, true};
  bool speaks[3] = {true, true, true};
  Nanos heard_at[3] = {};
};

const std::vector<bool> kAll = {true, true, true};
const std::vector<bool> kWithoutB = {true, false, true};

TEST(AnalyzerHealth, BelievesAtFirstWhoeverIsHeard) {
  Lab lab;
  lab.Run(2 * kTick);
  EXPECT_TRUE(lab.health.is_settled());
  EXPECT_EQ(lab.health.Alive(), kAll);
}

TEST(AnalyzerHealth, WaitsForThoseThatHaveNotComeYet) {
  Lab lab;
  lab.connected[1] = false;
  lab.Run(9 * kNanosPerSecond);
  EXPECT_FALSE(lab.health.is_settled());
  lab.connected[1] = true;
  lab.Run(2 * kTick);
  EXPECT_TRUE(lab.health.is_settled());
  EXPECT_EQ(lab.health.Alive(), kAll) << "without a time of trial";
  Lab other;
  other.connected[1] = false;
  other.Run(10 * kNanosPerSecond + 2 * kTick);
  EXPECT_TRUE(other.health.is_settled());
  EXPECT_EQ(other.health.Alive(), kWithoutB);
}

TEST(AnalyzerHealth, SeesAtOnceWhoseConnectionEnds) {
  Lab lab;
  lab.Run(kNanosPerSecond);
  lab.connected[1] = false;
  lab.Run(kTick);
  EXPECT_EQ(lab.health.state(1), AnalyzerState::kAway);
}

TEST(AnalyzerHealth, TakesForDeadWhoIsSilentThoughConnected) {
  Lab lab;
  lab.Run(kNanosPerSecond);
  lab.speaks[1] = false;
  lab.Run(550 * kNanosPerMilli);
  EXPECT_EQ(lab.health.Alive(), kAll);
  lab.Run(2 * kTick);
  EXPECT_EQ(lab.health.state(1), AnalyzerState::kSilent);
}

TEST(AnalyzerHealth, BelievesWhoComesBackOnlyAfterAWhile) {
  Lab lab;
  lab.Run(kNanosPerSecond);
  lab.speaks[1] = false;
  lab.Run(kNanosPerSecond);
  lab.speaks[1] = true;
  lab.Run(2 * kNanosPerSecond);
  EXPECT_EQ(lab.health.state(1), AnalyzerState::kReturning);
  lab.Run(kNanosPerSecond + 2 * kTick);
  EXPECT_EQ(lab.health.Alive(), kAll);
  // Whoever comes and goes never gets that far.
  for (int i = 0; i < 10; ++i) {
    lab.connected[1] = i % 2 != 0;
    lab.Run(2 * kNanosPerSecond);
    EXPECT_EQ(lab.health.Alive(), kWithoutB);
  }
}

TEST(AnalyzerHealth, DoesNotBelieveAConnectionThatSaysNothing) {
  Lab lab;
  lab.Run(kNanosPerSecond);
  lab.connected[1] = false;
  lab.speaks[1] = false;
  lab.Run(kNanosPerSecond);
  lab.connected[1] = true;
  lab.Run(10 * kNanosPerSecond);
  EXPECT_FALSE(lab.health.is_alive(1));
}

TEST(AnalyzerHealth, TakesNobodyForDeadWhenItWasHeldUpItself) {
  Lab lab;
  lab.Run(kNanosPerSecond);
  for (bool& speaks : lab.speaks) speaks = false;
  lab.Run(1, 5 * kNanosPerSecond);  // one look, after five seconds
  EXPECT_EQ(lab.health.Alive(), kAll);
  lab.Run(kNanosPerSecond);
  EXPECT_EQ(lab.health.Alive(), std::vector<bool>(3, false));
}

}  // namespace
}  // namespace trumpet
