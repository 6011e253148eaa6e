// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/step_watch.h"

#include <gtest/gtest.h>

#include <random>

#include "lib/tpm/step_test_kit.h"

namespace trumpet {
namespace {

using testing::HandClock;

constexpr Nanos kUs = kNanosPerMicro;
constexpr Nanos kBudget = 5 * kUs;

TEST(StepCounts, NameForEveryLengthABucketThatIsAtMostASixteenthWider) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100000; i++) {
    const auto value = static_cast<Nanos>(random() >> (random() % 34 + 29));
    const Nanos edge = StepCounts::UpperEdge(StepCounts::BucketOf(value));
    ASSERT_GE(edge, value);
    ASSERT_LE(edge, value + value / 16);
  }
  EXPECT_EQ(StepCounts::BucketOf(INT64_MAX), StepCounts::kBuckets - 1);
  EXPECT_EQ(StepCounts::BucketOf(-1), 0u);
}

TEST(StepCounts, ShowPercentilesOfWhatHappenedInBetween) {
  StepHistogram histogram(7 * kUs);
  EXPECT_EQ(histogram.Read().Percentile(2), 0);
  histogram.Add(kNanosPerMilli);
  const StepCounts before = histogram.Read();
  for (int i = 0; i < 998; i++) histogram.Add(10);
  histogram.Add(8 * kUs);
  histogram.Add(9 * kUs);
  const StepCounts counts = histogram.Read().Since(before);
  EXPECT_EQ(counts.count(), 1000u);
  EXPECT_EQ(counts.over_limit, 2u);
  EXPECT_EQ(counts.Percentile(2), 10);
  EXPECT_EQ(counts.Percentile(100), 10);
  EXPECT_EQ(counts.Percentile(1000), StepCounts::UpperEdge(StepCounts::BucketOf(8 * kUs)));
  EXPECT_EQ(counts.Longest(), StepCounts::UpperEdge(StepCounts::BucketOf(9 * kUs)));
  EXPECT_EQ(histogram.Read().Longest(), kNanosPerMilli);
}

TEST(StepCounts, BelongToTheirHistogramAlone) {
  StepHistogram old(1), fresh(1);
  for (int i = 0; i < 5; i++) old.Add(100);
  fresh.Add(100);
  EXPECT_EQ(fresh.Read().Since(old.Read()).count(), 1u);
}

// A step that takes `wall` of which the thread was not running for `absent`.
struct Bench {
  void Step(Nanos wall, Nanos absent = 0) {
    watch.Begin();
    clock.Pass(wall, wall - absent);
    watch.End(clock.now);
  }

  HandClock clock;
  std::atomic<bool> gate{true};
  StepWatch watch{&clock, kBudget, &gate};
};

TEST(StepWatch, IsOverWhenTheBudgetIs) {
  Bench bench;
  bench.watch.Begin();
  bench.clock.Pass(kBudget - 1);
  EXPECT_FALSE(bench.watch.IsOver());
  bench.clock.Pass(1);
  EXPECT_TRUE(bench.watch.IsOver());
}

TEST(StepWatch, ClosesTheGateAtTheThirdWildStepWithinASecond) {
  Bench bench;
  bench.Step(51 * kUs);
  bench.Step(50 * kUs);  // ten budgets are not more than ten
  bench.Step(80 * kUs);
  EXPECT_TRUE(bench.gate);
  bench.clock.Pass(900 * kNanosPerMilli);
  bench.Step(60 * kUs);
  EXPECT_FALSE(bench.gate);
  ASSERT_TRUE(bench.watch.has_tripped());
  const StepOverruns& overruns = bench.watch.overruns();
  EXPECT_EQ(overruns.step_ns[0], 51 * kUs);
  EXPECT_EQ(overruns.step_ns[1], 80 * kUs);
  EXPECT_EQ(overruns.step_ns[2], 60 * kUs);
  EXPECT_EQ(overruns.budget_ns, kBudget);
  EXPECT_EQ(overruns.at_ns, bench.clock.now);
}

TEST(StepWatch, LetsWildStepsPassThatAreFurtherApart) {
  Bench bench;
  for (int i = 0; i < 20; i++) {
    bench.Step(kNanosPerMilli);
    bench.clock.Pass(501 * kNanosPerMilli);
  }
  EXPECT_FALSE(bench.watch.has_tripped());
  EXPECT_EQ(bench.watch.counts().over_limit, 20u);
  bench.Step(kNanosPerMilli);
  bench.Step(kNanosPerMilli);
  EXPECT_TRUE(bench.watch.has_tripped()) << "the last of the twenty is one of the three";
}

TEST(StepWatch, TakesAPreemptedStepForWhatTheThreadRan) {
  Bench bench;
  for (int i = 0; i < 100; i++) bench.Step(4 * kNanosPerMilli, 4 * kNanosPerMilli - 5 * kUs);
  EXPECT_FALSE(bench.watch.has_tripped());
  for (int i = 0; i < 3; i++) bench.Step(4 * kNanosPerMilli, 4 * kNanosPerMilli - 51 * kUs);
  EXPECT_TRUE(bench.watch.has_tripped());
}

TEST(StepWatch, LetsAStepPassWhenTheThreadSleptBeforeIt) {
  Bench bench;
  bench.Step(kUs);
  bench.clock.Pass(100 * kUs, 0);  // the thread slept, and the baseline is from before
  bench.Step(60 * kUs);
  bench.Step(60 * kUs);
  bench.Step(60 * kUs);
  EXPECT_FALSE(bench.watch.has_tripped()) << "the first of the three is in doubt";
  bench.clock.Pass(2 * StepWatch::kBaselineAgeInDoubt, 0);  // the next one has a new baseline
  bench.Step(60 * kUs);
  EXPECT_TRUE(bench.watch.has_tripped());
}

TEST(StepWatch, BeginsAnewWhenReset) {
  Bench bench;
  for (int i = 0; i < 3; i++) bench.Step(60 * kUs);
  ASSERT_TRUE(bench.watch.has_tripped());
  bench.watch.Reset();
  bench.gate = true;
  bench.Step(60 * kUs);
  bench.Step(60 * kUs);
  EXPECT_FALSE(bench.watch.has_tripped());
  bench.Step(60 * kUs);
  EXPECT_TRUE(bench.watch.has_tripped());
  EXPECT_FALSE(bench.gate);
}

// A thread that sleeps between its steps, for longer than any of them takes.
TEST(StepWatch, JudgesASleepingThreadAfterTheFirstDoubt) {
  Bench bench;
  bench.Step(kUs);
  for (int step = 0; step < 4; step++) {
    EXPECT_FALSE(bench.watch.has_tripped()) << step;
    bench.clock.Pass(10 * kNanosPerMilli, 0);
    bench.Step(60 * kUs);
  }
  EXPECT_TRUE(bench.watch.has_tripped());
}

TEST(StepWatch, ReadsTheProcessorTimeSeldomUnlessInDoubt) {
  Bench bench;
  for (int i = 0; i < 1000; i++) bench.Step(10 * kUs);
  EXPECT_EQ(bench.clock.cpu_readings, 1);
  bench.Step(60 * kUs, 50 * kUs);  // preempted
  EXPECT_EQ(bench.clock.cpu_readings, 2);
  for (int i = 0; i < 1000; i++) bench.Step(10 * kUs);
  EXPECT_GE(bench.clock.cpu_readings, 10);
  EXPECT_LE(bench.clock.cpu_readings, 12) << "once a millisecond";
  bench.clock.Pass(kNanosPerSecond);
  const int before = bench.clock.cpu_readings;
  for (int i = 0; i < 1000; i++) bench.Step(10 * kUs);
  EXPECT_EQ(bench.clock.cpu_readings, before);
}

TEST(StepClock, RunsAtTheRateOfTheSystemsClock) {
  const StepClock* clock = StepClock::System();
  EXPECT_GT(clock->ticks_per_nano(), 0.1);
  EXPECT_LT(clock->ticks_per_nano(), 10.0);
  const uint64_t before = clock->Ticks();
  const Nanos cpu = clock->ThreadCpuNs();
  while (clock->ThreadCpuNs() < cpu + kNanosPerMilli) {
  }
  const double elapsed = static_cast<double>(clock->Ticks() - before) / clock->ticks_per_nano();
  EXPECT_GT(elapsed, 0.9e6) << "no less time passed than the thread ran";
}

}  // namespace
}  // namespace trumpet
