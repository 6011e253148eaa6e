// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// NetworkVerdicts with split thresholds.

#include <gtest/gtest.h>

#include <vector>

#include "controller/tem/port_network_test.h"

namespace trumpet {
namespace {

using namespace kit;

NetworkEventOptions Split() {
  NetworkEventOptions options;
  options.splits_threshold = true;
  return options;
}

// Confirms all orders, as of the first interval.
void ApplyShares(Network* network) {
  auto& orders = network->output.shares;
  for (size_t i = 0; i < orders.size(); ++i) {
    const ShareOrder order = orders[i];
    network->verdicts.ShareApplied(kEvent, order.host, order.share.generation, 0, &network->output);
  }
}

TEST(SplitThresholds, AskTheOthersForWhatOneReports) {
  Network network(3, Split());
  ApplyShares(&network);  // 11 / 6: 2 each
  network.Volume(0, 0, 80, 9);
  for (uint32_t host = 0; host < 3; ++host) network.End(host, 10);
  EXPECT_EQ(network.At(10), Lines{});
  ASSERT_EQ(network.output.polls.size(), 2u);
  EXPECT_EQ(network.output.polls[0].host, 1u);
  EXPECT_EQ(network.output.polls[0].bucket_key, PortKey(80));
  network.Answer(1, 0, 80, 2);
  EXPECT_EQ(network.At(11), Lines{});
  network.Answer(2, 0, 80, 0);
  EXPECT_EQ(network.At(11), (Lines{"80@0 11"}));
  EXPECT_EQ(network.output.reports[0].hosts.size(), 2u);
}

TEST(SplitThresholds, TellWhenABucketPassedEachStage) {
  Network network(3, Split());
  ApplyShares(&network);
  network.Volume(0, 0, 80, 5, 10);
  network.Volume(2, 0, 80, 5, 11);
  for (uint32_t host = 0; host < 3; ++host) network.End(host, 10 + host);
  network.At(13);
  network.Answer(1, 0, 80, 2, 14);
  ASSERT_EQ(network.At(15), (Lines{"80@0 12"}));
  const VerdictStages& stages = network.output.reports[0].stages;
  EXPECT_EQ(stages.told_ns, Ms(10));
  EXPECT_EQ(stages.delivered_ns, Ms(12));
  EXPECT_EQ(stages.asked_ns, Ms(13));
  EXPECT_EQ(stages.answered_ns, Ms(14));
  EXPECT_EQ(network.output.reports[0].report.detected_ns, Ms(15));
}

TEST(SplitThresholds, MayBeginWhileCountsWait) {
  Network network(2);
  network.Volume(0, 0, 80, 9);
  ASSERT_TRUE(network.verdicts.BeginSplit(kEvent, 0, &network.output));
  EXPECT_FALSE(network.verdicts.BeginSplit(kEvent, 0, &network.output)) << "it has begun";
  ASSERT_EQ(network.output.shares.size(), 2u);
  EXPECT_EQ(static_cast<int>(network.output.shares[0].share.share), 1);
  ApplyShares(&network);
  for (uint32_t host = 0; host < 2; ++host) network.End(host, 10);
  EXPECT_EQ(network.At(10), Lines{}) << "who knows whether b reported its cells before";
  ASSERT_EQ(network.output.polls.size(), 1u);
  EXPECT_EQ(network.output.polls[0].host, 1u);
  network.Answer(1, 0, 80, 4);
  EXPECT_EQ(network.At(11), (Lines{"80@0 13"}));
}

TEST(SplitThresholds, AreWholeWhereAllTellAllHoweverManyBucketsThereAre) {
  NetworkOptions limits;
  limits.limits.max_asked_buckets = 2;
  Network network(6, Split(), limits);
  ApplyShares(&network);  // 11 / 16: 1 each
  for (uint32_t port = 1; port <= 4; ++port) network.Volume(0, 0, port, 11);
  for (uint32_t host = 0; host < 6; ++host) network.End(host, 10);
  EXPECT_EQ(network.At(10), (Lines{"1@0 11", "2@0 11", "3@0 11", "4@0 11"}));
  EXPECT_EQ(network.counters().polls_refused, 0u);
  EXPECT_TRUE(network.output.polls.empty());
}

TEST(SplitThresholds, DoNotAskWhereTheOthersCannotHaveEnough) {
  Network network(3, Split());
  ApplyShares(&network);
  network.Volume(0, 0, 80, 4);  // and at most 3 each
  for (uint32_t host = 0; host < 3; ++host) network.End(host, 10);
  EXPECT_EQ(network.At(10), Lines{});
  EXPECT_TRUE(network.output.polls.empty());
  EXPECT_EQ(network.counters().polls_spared, 1u);
  EXPECT_EQ(network.counters().intervals_incomplete, 0u);
  EXPECT_EQ(network.verdicts.Find(kEvent)->NextStart(), Ms(10));
}

TEST(SplitThresholds, DoNotAskAHostThatReportsEverything) {
  Network network(2, Split());  // no share was applied yet
  network.Volume(0, 0, 80, 11);
  for (uint32_t host = 0; host < 2; ++host) network.End(host, 10);
  EXPECT_EQ(network.At(10), (Lines{"80@0 11"}));
  EXPECT_TRUE(network.output.polls.empty());
}

TEST(SplitThresholds, AnUnansweredQuestionNamesTheHost) {
  Network network(2, Split());
  ApplyShares(&network);
  network.Volume(0, 0, 80, 11);
  for (uint32_t host = 0; host < 2; ++host) network.End(host, 10);
  EXPECT_EQ(network.At(10), Lines{});
  EXPECT_EQ(network.At(20), (Lines{"80@0 11 -b [\"host-silent\"]"}));
  network.Answer(1, 0, 80, 3);
  EXPECT_EQ(network.counters().late_partials, 1u);
}

TEST(SplitThresholds, AHostThatNoLongerKnowsIsNamed) {
  Network network(2, Split());
  ApplyShares(&network);
  network.Volume(0, 0, 80, 11);
  for (uint32_t host = 0; host < 2; ++host) network.End(host, 10);
  network.At(10);
  PartialView cells;
  const std::string key = PortKey(80);
  cells.event_id = kEvent;
  cells.bucket_key = key;
  network.verdicts.Answer(1, FeedAnswer::kNoLongerKnown, cells, 0, 0, Ms(10));
  EXPECT_EQ(network.At(10), (Lines{"80@0 11 -b [\"host-silent\"]"}));
}

TEST(SplitThresholds, HalfAtTheDeadlineThoseAreAskedThatHaveEnded) {
  Network network(3, Split());
  ApplyShares(&network);
  network.Volume(0, 0, 80, 9);
  for (uint32_t host = 0; host < 2; ++host) network.End(host, 10);
  network.At(10);
  EXPECT_TRUE(network.output.polls.empty());
  EXPECT_EQ(network.verdicts.NextDue(), Ms(15));
  network.At(15);
  ASSERT_EQ(network.output.polls.size(), 1u);
  network.Answer(1, 0, 80, 3);
  EXPECT_EQ(network.At(20), (Lines{"80@0 12 -c [\"host-silent\"]"}));
}

TEST(SplitThresholds, NobodyIsAskedWhenTheDeadlineIsOver) {
  Network network(2, Split());
  ApplyShares(&network);
  network.Volume(0, 0, 80, 11);
  for (uint32_t host = 0; host < 2; ++host) network.End(host, 10);
  EXPECT_EQ(network.At(20), (Lines{"80@0 11 -b [\"host-silent\"]"}));
  EXPECT_TRUE(network.output.polls.empty());
  EXPECT_EQ(network.counters().intervals_incomplete, 1u);
}

TEST(SplitThresholds, AnIntervalInWhichNobodyCouldBeAskedIsIncompleteIfThatMattered) {
  for (const int64_t volume : {9, 5}) {  // b reports from 3 on: at most 2 more
    Network network(2, Split());
    ApplyShares(&network);
    network.Volume(0, 0, 80, volume);
    for (uint32_t host = 0; host < 2; ++host) network.End(host, 10);
    EXPECT_EQ(network.At(20), Lines{});
    EXPECT_EQ(network.counters().intervals_incomplete, volume == 9 ? 1u : 0u);
  }
}

TEST(SplitThresholds, QuestionsThatAHostLeftBehindTakeNoRoom) {
  Network network(2, Split());
  ApplyShares(&network);
  for (const int64_t ms : {20, 30, 40}) network.Volume(1, ms, 80, 11);
  network.verdicts.Leave(kEvent, 1, Ms(10), &network.output);
  for (uint32_t host = 0; host < 2; ++host) network.End(host, 10);
  network.At(10);
  EXPECT_GT(network.verdicts.budget().bytes, 0u);
  EXPECT_EQ(network.At(100), Lines{});
  EXPECT_EQ(network.verdicts.budget().bytes, 0u);
}

TEST(SplitThresholds, AnswersNobodyAskedForAreNotTaken) {
  Network network(2, Split());
  ApplyShares(&network);
  network.Answer(1, 0, 80, 50);
  for (uint32_t host = 0; host < 2; ++host) network.End(host, 10);
  EXPECT_EQ(network.At(10), Lines{});
  EXPECT_EQ(network.counters().strangers, 1u);
}

TEST(SplitThresholds, AreNotUsedWhereTheyAreNotSound) {
  NetworkVerdicts verdicts({});
  const auto plan = Plan(Event(
      1, Op(Agg(AggregateKind::kAvg, Var(Variable::kVolume)), ExprOp::kGreater, Num(1)), ByPort()));
  ASSERT_TRUE(verdicts.Install(plan, 0, Split()).ok());
  EXPECT_EQ(verdicts.Find(1)->mode(), NetworkEvent::Mode::kPartials);
  EXPECT_EQ(verdicts.Find(1)->split().why_not, "avg does not add up over hosts");
}

}  // namespace
}  // namespace trumpet
