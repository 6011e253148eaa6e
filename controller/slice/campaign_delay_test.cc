// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// CampaignRun, when switches, copies or the analyzer take their time.

#include <gtest/gtest.h>

#include <string>

#include "controller/slice/campaign_lab_test.h"

namespace trumpet {
namespace {

// More than the budget at three routers, so that each path has a slot of its own.
constexpr int64_t kMuch = 3'000'000;
constexpr char kPaths[] =
    "MIRROR { 1.2.3.0/24 } ON { [A B C D], [A L C D] }\n"
    "USING 15 Mb/s DURING 450 ms EVERY 5 s";

void AddTraffic(Lab* lab) {
  lab->AddFlow("1.2.3.0/25", "ABCD", kMuch);
  lab->AddFlow("1.2.3.128/25", "ALCD", kMuch);
}

TEST(CampaignDelays, SlowSwitchesMakeARunLongerAndDoNotEndIt) {
  Lab lab;
  AddTraffic(&lab);
  lab.network.command_latency = 160 * kMs;
  lab.Begin(kPaths);
  lab.RunToEnd();
  const SliceRunView& view = lab.run->view();
  EXPECT_EQ(view.state, SliceRunState::kDone) << view.problem;
  EXPECT_EQ(view.failed_slots, 0u);
  EXPECT_GE(view.slots, 2u);
  for (const SliceQueryView& query : view.queries) EXPECT_GT(query.packets, 0u);
  ASSERT_EQ(view.warnings.size(), 1u);
  EXPECT_NE(view.warnings[0].find("longer than DURING"), std::string::npos) << view.warnings[0];
}

TEST(CampaignDelays, SwitchesThatAreFastEnoughKeepWithinDuring) {
  Lab lab;
  AddTraffic(&lab);
  lab.network.command_latency = 20 * kMs;
  lab.Begin(kPaths);
  lab.RunToEnd();
  const SliceRunView& view = lab.run->view();
  EXPECT_EQ(view.state, SliceRunState::kDone) << view.problem;
  EXPECT_TRUE(view.warnings.empty()) << view.warnings[0];
}

TEST(CampaignDelays, WhatDoesNotFitIntoDuringAtAllStillFails) {
  Lab lab;
  AddTraffic(&lab);
  lab.Begin("MIRROR { 1.2.3.0/24 } ON { [A B C D], [A L C D] } USING 15 Mb/s DURING 40 ms");
  lab.RunToEnd();
  EXPECT_EQ(lab.run->view().state, SliceRunState::kFailed);
  EXPECT_NE(lab.run->view().problem.find("2 slots"), std::string::npos) << lab.run->view().problem;
}

// The plan goes by the slowest slot so far, which was the one that looked at the prefix.
TEST(CampaignDelays, OneSlowSlotCostsARunNoneOfItsLaterSlots) {
  Lab lab;
  AddTraffic(&lab);
  lab.network.command_latency = 300 * kMs;
  lab.Begin("MIRROR { 1.2.3.0/24 } ON { [A B C D], [A L C D] } USING 15 Mb/s DURING 2 s EVERY 5 s");
  lab.RunUntil(lab.clock.now + 500 * kMs);
  ASSERT_EQ(lab.run->view().slots + lab.run->view().bootstrap_slots, 0u);
  lab.network.command_latency = kMs;
  lab.RunToEnd();
  const SliceRunView& view = lab.run->view();
  EXPECT_EQ(view.state, SliceRunState::kDone) << view.problem;
  EXPECT_TRUE(view.warnings.empty()) << view.warnings[0];
  EXPECT_EQ(view.replans, 0u);
  const Nanos cycle = view.slot + lab.run->spacing();
  EXPECT_GE(view.slots, 2 * kNanosPerSecond / cycle * 8 / 10);
  EXPECT_LE(view.slots, 2 * kNanosPerSecond / cycle);
}

// It makes the run plan anew, and at some time there is room for one of the two paths only.
TEST(CampaignDelays, AChangeOfTheNetworkElsewhereFailsNoRunHoweverLateItIs) {
  for (Nanos after = 100 * kMs; after <= 600 * kMs; after += 10 * kMs) {
    SCOPED_TRACE(after);
    Lab lab;
    AddTraffic(&lab);
    lab.Begin(kPaths);
    lab.RunUntil(lab.clock.now + after);
    auto changed = std::make_shared<SliceMap>(*lab.map);
    changed->version++;
    lab.run->SetMap(changed, TopologyChange());
    lab.RunToEnd();
    const SliceRunView& view = lab.run->view();
    EXPECT_EQ(view.state, SliceRunState::kDone) << view.problem;
    EXPECT_FALSE(view.has_topology_changed);
  }
}

TEST(CampaignDelays, CopiesThatComeLateAreWaitedForAndSpaceTheNextSlots) {
  Lab lab;
  AddTraffic(&lab);
  lab.network.copy_latency = 150 * kMs;
  lab.Begin(kPaths);
  lab.RunToEnd();
  const SliceRunView& view = lab.run->view();
  EXPECT_EQ(view.state, SliceRunState::kDone) << view.problem;
  for (const SliceQueryView& query : view.queries) {
    EXPECT_GT(query.packets, 0u) << query.name;
  }
  EXPECT_GE(lab.run->spacing(), 140 * kMs);  // the last packet was copied before the end
}

TEST(CampaignDelays, CopiesThatNeverComeAreWaitedForOnce) {
  Lab lab;
  AddTraffic(&lab);
  lab.network.copy_loss = 1;
  lab.Begin(kPaths);
  lab.RunToEnd();
  const SliceRunView& view = lab.run->view();
  EXPECT_EQ(view.state, SliceRunState::kDone) << view.problem;
  EXPECT_GE(view.slots, 8u);
  EXPECT_GT(view.copied_bytes, 0);
  EXPECT_LT(lab.clock.now, 3 * kNanosPerSecond);  // it began at one
}

// A slot that nobody has tallied is lost, and due again.
TEST(CampaignDelays, AnAnalyzerThatAnswersLateCostsASlotAndDoesNotEndTheRun) {
  Lab lab;
  AddTraffic(&lab);
  lab.Begin("MIRROR { 1.2.3.0/24 } ON { [A B C D], [A L C D] } USING 15 Mb/s DURING 2 s EVERY 5 s");
  lab.RunUntil(lab.clock.now + 100 * kMs);
  lab.network.analyzer_answers = false;
  lab.RunUntil(lab.clock.now + kNanosPerSecond);
  lab.network.analyzer_answers = true;
  lab.RunToEnd();
  const SliceRunView& view = lab.run->view();
  EXPECT_EQ(view.state, SliceRunState::kDone) << view.problem;
  EXPECT_EQ(view.failed_slots, 1u);
  EXPECT_GE(view.slots, 10u);
}

TEST(CampaignDelays, AnAnalyzerThatNeverAnswersEndsTheRunAfterThreeSlots) {
  Lab lab;
  AddTraffic(&lab);
  lab.network.analyzer_answers = false;
  lab.Begin(kPaths);
  lab.RunToEnd();
  const SliceRunView& view = lab.run->view();
  EXPECT_EQ(view.state, SliceRunState::kFailed);
  EXPECT_EQ(view.failed_slots, 3u);
  EXPECT_NE(view.problem.find("analyzer does not answer"), std::string::npos) << view.problem;
}

// It is stepped before it reads what has come meanwhile.
TEST(CampaignDelays, AControllerThatStoodStillBlamesNobody) {
  for (const SliceRunState state : {SliceRunState::kTurningOn, SliceRunState::kTallying}) {
    SCOPED_TRACE(NameOf(state));
    Lab lab;
    AddTraffic(&lab);
    lab.Begin(kPaths);
    while (lab.run->view().state != state) ASSERT_TRUE(lab.Turn());
    lab.clock.now += 3 * kNanosPerSecond;
    lab.run->Step();
    lab.RunToEnd();
    EXPECT_EQ(lab.run->view().state, SliceRunState::kDone) << lab.run->view().problem;
    EXPECT_EQ(lab.run->view().failed_slots, 0u);
  }
}

TEST(CampaignDelays, AnAnalyzerThatDiesWhileItsCopiesAreWaitedForEndsTheRun) {
  Lab lab;
  AddTraffic(&lab);
  lab.network.copy_loss = 1;
  lab.Begin(kPaths);
  lab.RunUntil(lab.clock.now + 100 * kMs);
  ASSERT_FALSE(lab.run->is_over());
  lab.network.has_analyzer = false;
  lab.RunToEnd();
  EXPECT_EQ(lab.run->view().state, SliceRunState::kFailed);
  EXPECT_NE(lab.run->view().problem.find("analyzer"), std::string::npos);
}

}  // namespace
}  // namespace trumpet
