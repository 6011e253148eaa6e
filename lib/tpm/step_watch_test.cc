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
  EXPECT_EQ(counts.limit_ns, 7 * kUs);
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

TEST(StepWatch, HasNoDoubtAnyMoreWhenReset) {
  Bench bench;
  bench.Step(10 * kUs);
  bench.Step(60 * kUs, 50 * kUs);  // preempted
  bench.watch.Reset();
  const int before = bench.clock.cpu_readings;
  for (int i = 0; i < 1000; i++) bench.Step(10 * kUs);
  EXPECT_EQ(bench.clock.cpu_readings, before + 1);
}

TEST(StepWatch, TakesTheFactorItIsGiven) {
  HandClock clock;
  StepWatch twenty(&clock, kBudget, nullptr, 20);
  StepWatch never(&clock, kBudget, nullptr, 0);
  const auto step = [&](StepWatch* watch, Nanos wall) {
    watch->Begin();
    clock.Pass(wall);
    watch->End(clock.now);
  };
  for (int i = 0; i < 5; i++) step(&twenty, 100 * kUs);
  EXPECT_FALSE(twenty.has_tripped());
  for (int i = 0; i < 3; i++) step(&twenty, 101 * kUs);
  EXPECT_TRUE(twenty.has_tripped());
  EXPECT_EQ(twenty.overruns().factor, 20u);
  for (int i = 0; i < 200; i++) step(&never, kNanosPerSecond / 10);
  EXPECT_FALSE(never.has_tripped());
}

// A polling thread on a machine that pauses, unknown to the kernel: every `spacing` a step of 5 us
// in which nothing is wrong, or a little longer than a wild one, with the odds of a defect.
class PausingMachine {
 public:
  PausingMachine(double pauses_per_second, Nanos spacing, bool tells)
      : next_pause_(pauses_per_second), spacing_(spacing), tells_(tells) {
    Draw();
  }

  // Until tripped, or for `duration`; how long it went well.
  Nanos Run(Nanos duration, int defect_in = 0) {
    const Nanos start = bench.clock.now;
    while (!bench.watch.has_tripped() && bench.clock.now - start < duration) {
      const Nanos came = bench.clock.now;
      bench.watch.Begin();
      Pass(5 * kUs);
      if (defect_in != 0 && random_() % static_cast<unsigned>(defect_in) == 0) Pass(60 * kUs);
      bench.watch.End(bench.clock.now);
      Pass(spacing_ - 5 * kUs);
      const Nanos away = bench.clock.now - came;
      if (tells_ && away > bench.watch.pause_limit_ns()) bench.watch.NotePause(away);
    }
    return bench.clock.now - start;
  }

  Bench bench;

 private:
  void Pass(Nanos work) {
    left_ -= work;
    bench.clock.Pass(work);
    if (left_ > 0) return;
    // Most pauses are as long as a wild step, one in ten ten times that, and so on.
    const double length = 50e3 / (std::uniform_real_distribution<>(1e-3, 1)(random_));
    bench.clock.Pass(static_cast<Nanos>(length));
    Draw();
  }
  void Draw() { left_ = static_cast<Nanos>(next_pause_(random_) * kNanosPerSecond); }

  std::mt19937_64 random_{7};
  std::exponential_distribution<> next_pause_;
  const Nanos spacing_;
  const bool tells_;
  Nanos left_ = 0;
};

TEST(StepWatch, IsNotAlarmedByAMachineThatPauses) {
  for (const double rate : {0.1, 1.0, 10.0, 39.0, 100.0}) {
    for (const Nanos spacing : {10 * kUs, 50 * kUs, 400 * kUs}) {
      PausingMachine machine(rate, spacing, true);
      const Nanos duration = spacing == 400 * kUs ? 600 * kNanosPerSecond : 60 * kNanosPerSecond;
      EXPECT_GE(machine.Run(duration), duration) << rate << " a second, steps each " << spacing;
    }
  }
  EXPECT_LT(PausingMachine(1000, 10 * kUs, true).Run(kNanosPerSecond), kNanosPerSecond)
      << "there is an end to excuses";
  EXPECT_LT(PausingMachine(39, 50 * kUs, false).Run(60 * kNanosPerSecond), 10 * kNanosPerSecond)
      << "without being told of the pauses";
}

TEST(StepWatch, FindsADefectOnAMachineThatPauses) {
  for (const double rate : {0.01, 1.0, 39.0, 300.0}) {
    PausingMachine machine(rate, 50 * kUs, true);
    ASSERT_GE(machine.Run(10 * kNanosPerSecond), 10 * kNanosPerSecond) << rate;
    // 200 steps of 60 us a second, a hundredth of the time.
    EXPECT_LT(machine.Run(10 * kNanosPerSecond, 100), kNanosPerSecond) << rate;
    EXPECT_LE(machine.bench.watch.overruns().count, StepWatch::kMostExcused + 1);
  }
}

TEST(StepWatch, IsSoonerAlarmedByStepsLongerThanThePauses) {
  int steps_until_tripped[2] = {};
  for (const bool are_long : {false, true}) {
    Bench bench;
    for (int i = 0; i < 500; i++) {
      bench.Step(5 * kUs);
      bench.clock.Pass(400 * kUs);
      bench.watch.NotePause(60 * kUs);
    }
    const Nanos wild = are_long ? 401 * kUs : 60 * kUs;
    while (!bench.watch.has_tripped() && ++steps_until_tripped[are_long] < 1000) {
      bench.Step(wild);
      bench.watch.NotePause(wild + kUs);
    }
  }
  EXPECT_GE(steps_until_tripped[false], 20);
  EXPECT_LE(3 * steps_until_tripped[true], steps_until_tripped[false]);
}

TEST(StepWatch, DoesNotTakeItsOwnWildStepsForPauses) {
  Bench bench;
  for (int i = 0; i < 3; i++) {
    EXPECT_FALSE(bench.watch.has_tripped());
    bench.Step(80 * kUs);
    bench.watch.NotePause(81 * kUs);
  }
  EXPECT_TRUE(bench.watch.has_tripped());
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
