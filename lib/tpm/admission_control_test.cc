// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/admission_control.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "lib/tpm/cycle_samples.h"

namespace trumpet {
namespace {

// A round of 10 ms at 2.6 GHz in which every new flow had a single packet of 64 bytes.
AdmissionRound Round(uint64_t new_flows, double free_share = 0) {
  AdmissionRound round;
  round.cycles = 26000000;
  round.free_cycles = static_cast<uint64_t>(26e6 * free_share);
  round.offered = round.offered_units = round.admitted = new_flows;
  round.add_cycles = 500;
  return round;
}

// The same with a threshold: of all offered packets, `admitted` opened a flow.
AdmissionRound Filtered(uint64_t offered, uint64_t admitted) {
  AdmissionRound round = Round(offered);
  round.admitted = admitted;
  return round;
}

void Repeat(AdmissionControl* control, const AdmissionRound& round, int times) {
  for (int i = 0; i < times; i++) control->Decide(round);
}

TEST(CycleSamples, OneIsInterruptedPerhaps) {
  CycleSamples samples;
  EXPECT_EQ(samples.Mean(), 0);
  samples.Add(100);
  EXPECT_EQ(samples.Mean(), 100);
  samples.Add(3000000);
  EXPECT_EQ(samples.Mean(), 100);
  samples.Add(400);
  EXPECT_EQ(samples.Mean(), 300);
  samples.Add(50000);
  EXPECT_EQ(samples.Mean(), (100 + 400 + 2 * 50000) / 4.0);
  CycleSamples alone;
  alone.Add(3000000);
  EXPECT_EQ(alone.Mean(), CycleSamples::kMaxAlone);
}

TEST(CycleSamples, ManyDearOnesAreDear) {
  CycleSamples samples;
  for (uint64_t i = 1; i <= 9; i++) samples.Add(100000 * i);
  EXPECT_EQ(samples.Mean(), 100000 * (36 + 8) / 9.0);
}

// Leaves out batches until one is tried; their number.
uint32_t LeaveOutUntilOneIsTried(DearBatches* batches) {
  uint32_t left_out = 0;
  while (batches->LeaveOut()) left_out++;
  return left_out;
}

TEST(DearBatches, AreLeftOutWhenTheyAreDearByThemselves) {
  DearBatches batches;
  for (int i = 0; i < 4; i++) {
    EXPECT_FALSE(batches.LeaveOut());
    batches.Add(kDearCycles + 1);
  }
  for (int i = 0; i < 3; i++) {
    EXPECT_EQ(LeaveOutUntilOneIsTried(&batches), DearBatches::kTriedOfLeftOut - 1);
    batches.Add(kDearCycles + 1);
  }
}

TEST(DearBatches, AreLeftOutNoMoreWhenTheyAreDearNoMore) {
  DearBatches batches;
  for (int i = 0; i < 4; i++) batches.Add(kDearCycles + 1);
  EXPECT_EQ(LeaveOutUntilOneIsTried(&batches), DearBatches::kTriedOfLeftOut - 1);
  for (int i = 0; i < 1000; i++) {
    batches.Add(kDearCycles);
    ASSERT_FALSE(batches.LeaveOut()) << i;
  }
}

TEST(DearBatches, AreFewWhenThreadsAreInterrupted) {
  DearBatches batches;
  for (int i = 0; i < 10000; i++) {
    batches.Add(i % 10 == 0 ? 3000000 : kDearCycles);
    ASSERT_FALSE(batches.LeaveOut()) << i;
  }
}

TEST(AdmissionControl, NormalTrafficIsNeverHeldBack) {
  AdmissionControl control;
  for (uint64_t flows = 0; flows <= 2500; flows += 10) {  // up to 250,000 a second
    ASSERT_EQ(control.Decide(Round(flows)), 0u) << flows;
  }
}

TEST(AdmissionControl, AThreadWithTimeToSpareTakesMore) {
  AdmissionControl busy;
  AdmissionControl idle;
  EXPECT_NE(busy.Decide(Round(8000)), 0u);
  Repeat(&idle, Round(8000, 0.6), 100);
  EXPECT_EQ(idle.threshold(), 0u);
}

// t = A match / (budget - G (match + 1.5 sweep)), per cycle; 10 normal rounds do not quite teach G.
TEST(AdmissionControl, TheFirstThresholdIsThatOfThePaper) {
  AdmissionControl control;
  AdmissionRound normal = Round(1000);
  normal.swept = 1000;
  normal.sweep_cycles = 100;
  Repeat(&control, normal, 200);
  ASSERT_EQ(control.threshold(), 0u);
  AdmissionRound attack = Round(135000);
  attack.sweep_cycles = 0;
  const double genuine = 1000;
  const double budget = 0.05 * 26e6;
  const double expected = (135000 - genuine) * 500 / (budget - genuine * (500 + 1.5 * 100));
  const uint32_t threshold = control.Decide(attack);
  EXPECT_NEAR(threshold, std::ceil(expected), 2);
}

TEST(AdmissionControl, RisesAtOnceWhileItIsNotEnough) {
  AdmissionControl control;
  uint32_t before = control.Decide(Round(10000));
  ASSERT_GE(before, AdmissionControl::kMinThreshold);
  for (int i = 0; i < 3; i++) {
    const uint32_t after = control.Decide(Filtered(10000, 5000));
    EXPECT_EQ(after, std::min(2 * before, AdmissionControl::kMaxThreshold));
    before = after;
  }
}

TEST(AdmissionControl, NeverRisesAboveItsLimit) {
  AdmissionControl control;
  Repeat(&control, Round(1000000), 50);
  EXPECT_EQ(control.threshold(), AdmissionControl::kMaxThreshold);
}

TEST(AdmissionControl, FallsByHalvesWhenMuchIsLeftAndTheAttackGoesOn) {
  AdmissionControl control;
  const uint32_t first = control.Decide(Round(135000));
  Repeat(&control, Filtered(135000, 10), 7);
  EXPECT_EQ(control.threshold(), first);
  control.Decide(Filtered(135000, 10));
  EXPECT_EQ(control.threshold(), first / 2);
  Repeat(&control, Filtered(135000, 10), 1000);
  EXPECT_EQ(control.threshold(), AdmissionControl::kMinThreshold);
}

TEST(AdmissionControl, OpensEightRoundsAfterTheAttack) {
  AdmissionControl control;
  Repeat(&control, Round(135000), 3);
  Repeat(&control, Filtered(500, 500), 7);
  EXPECT_NE(control.threshold(), 0u);
  EXPECT_EQ(control.Decide(Filtered(500, 500)), 0u);
}

TEST(AdmissionControl, AnAttackThatComesAndGoesFindsItClosed) {
  AdmissionControl control;
  control.Decide(Round(135000));
  for (int i = 0; i < 50; i++) {
    Repeat(&control, Filtered(500, 500), 5);
    ASSERT_NE(control.threshold(), 0u);
    control.Decide(Filtered(135000, 5));
    ASSERT_NE(control.threshold(), 0u);
  }
}

TEST(AdmissionControl, AFullTableClosesIt) {
  AdmissionControl control;
  AdmissionRound round = Round(10);
  round.refused = 1;
  EXPECT_EQ(control.Decide(round), AdmissionControl::kMinThreshold);
}

TEST(AdmissionControl, GivesTheSameAnswersToTheSameRounds) {
  AdmissionControl one;
  AdmissionControl other;
  for (uint64_t i = 0; i < 1000; i++) {
    AdmissionRound round = Filtered(i * 7919 % 200000, i * 104729 % 6000);
    round.free_cycles = i * 31337 % 26000000;
    round.refused = i % 97 == 0 ? 1 : 0;
    ASSERT_EQ(one.Decide(round), other.Decide(round)) << i;
    ASSERT_EQ(one.MaxAdmissions(26e6), other.MaxAdmissions(26e6)) << i;
  }
}

TEST(AdmissionControl, ABurstAboveTheShareOfAWholeRoundEndsTheRoundEarly) {
  AdmissionControl control;
  Repeat(&control, Round(100), 50);
  const uint64_t most = control.MaxAdmissions(26e6);
  EXPECT_GT(most, 2600u);  // twice the 5 % at 500 cycles a flow
  EXPECT_LT(most, 8000u);
}

}  // namespace
}  // namespace trumpet
