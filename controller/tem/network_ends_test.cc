// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// NetworkVerdicts when runs or events end.

#include <gtest/gtest.h>

#include <string>

#include "controller/tem/port_network_test.h"
#include "lib/model/bucket_key.h"

namespace trumpet {
namespace {

using namespace kit;

std::string BucketOf(uint32_t port) { return BucketToJson(ByPort(), PortKey(port)); }

TEST(NetworkEnds, TellsOnceThatARunHasEnded) {
  Network network(1);
  for (const int64_t ms : {0, 10}) network.Volume(0, ms, 80, 11);
  network.Volume(0, 20, 80, 1);
  network.End(0, 50);
  EXPECT_EQ(network.At(50), (Lines{"80@0 11", "80@10 11", "80@20 null clear"}));
  EXPECT_EQ(network.counters().clears, 1u);
}

TEST(NetworkEnds, ARunTooShortToBeToldHasNoEndToTell) {
  Network network(1, {}, {}, /*for_count=*/2);
  network.Volume(0, 0, 80, 11);
  for (const int64_t ms : {20, 30}) network.Volume(0, ms, 80, 11);
  network.End(0, 60);
  EXPECT_EQ(network.At(60), (Lines{"80@30 11", "80@40 null clear"}));
}

TEST(NetworkEnds, AnEvictedRunEndsForItsSubscriber) {
  NetworkEventOptions options;
  options.max_buckets = 1;
  Network network(1, options);
  network.Volume(0, 0, 80, 11);
  network.Volume(0, 10, 22, 1);
  network.End(0, 20);
  EXPECT_EQ(network.At(20), (Lines{"80@0 11", "80@10 null clear [\"bucket-evicted\"]"}));
}

TEST(NetworkEnds, AnEvictedRunThatGoesOnInItsIntervalHasNotEnded) {
  NetworkEventOptions options;
  options.max_buckets = 2;
  Network network(2, options);
  for (const uint32_t port : {80u, 81u}) network.Volume(0, 0, port, 11);
  network.Volume(0, 10, 22, 1);
  network.Volume(1, 10, 80, 11);
  for (uint32_t host = 0; host < 2; ++host) network.End(host, 20);
  EXPECT_EQ(network.At(20), (Lines{"80@0 11", "81@0 11", "80@10 11 [\"bucket-evicted\"]",
                                   "81@10 null clear [\"bucket-evicted\"]"}));
}

TEST(NetworkEnds, AnEvictedRunThatGoesOnUntoldEndsLater) {
  NetworkEventOptions options;
  options.max_buckets = 2;
  options.reports_per_second = 1;
  options.report_burst = 2;
  Network network(2, options);
  for (const uint32_t port : {80u, 81u}) network.Volume(0, 0, port, 11);
  network.Volume(0, 10, 22, 1);
  network.Volume(1, 10, 80, 11);
  for (uint32_t host = 0; host < 2; ++host) network.End(host, 30);
  EXPECT_EQ(network.At(30), (Lines{"80@0 11", "81@0 11", "81@10 null clear [\"bucket-evicted\"]",
                                   "80@20 null clear"}));
}

TEST(NetworkEnds, AnUninstalledEventDecidesWhatEndedBefore) {
  Network network(1);
  for (const int64_t ms : {0, 10}) network.Volume(0, ms, 80, 11);
  network.verdicts.Uninstall(kEvent, Ms(10));
  network.End(0, 20);
  EXPECT_EQ(network.At(20), (Lines{"80@0 11", R"(80@10 null clear ["event-ended"])"}));
  network.At(21);
  EXPECT_EQ(network.verdicts.Find(kEvent), nullptr);
  EXPECT_EQ(network.counters().reports, 1u);
  EXPECT_EQ(network.verdicts.budget().bytes, 0u);
  EXPECT_EQ(network.verdicts.budget().buckets, 0u);
}

TEST(NetworkEnds, AnEventThatIsInstalledAgainFirstTellsWhatItOwed) {
  Network network(2);
  network.Volume(0, 0, 80, 11);
  network.End(0, 10);
  network.verdicts.Uninstall(kEvent, Ms(12));
  EXPECT_EQ(network.At(12), Lines());
  ASSERT_TRUE(network.verdicts.Install(network.plan, Ms(14), {}, &network.output).ok());
  ASSERT_EQ(network.output.reports.size(), 2u);
  EXPECT_EQ(network.output.reports[0].report.value, Number::Integer(11));
  EXPECT_EQ(network.output.reports[0].silent_hosts.size(), 1u);
  EXPECT_TRUE(network.output.reports[1].is_clear);
  EXPECT_EQ(network.verdicts.budget().bytes, 0u);
}

TEST(NetworkEnds, AnEventThatCountsSomethingElseNeedsAnotherId) {
  Network network(1);
  const auto other =
      Plan(Event(kEvent, Op(Sum(Variable::kVolume), ExprOp::kGreater, Num(10)), Granularity()));
  EXPECT_FALSE(network.verdicts.Install(other, 0, {}).ok());
  EXPECT_TRUE(network.verdicts.Install(network.plan, 0, {}).ok());
}

TEST(NetworkEnds, AnInheritedRunThatGoesOnIsClearedWhenItStops) {
  Network network(1);
  network.verdicts.Inherit(kEvent, {BucketOf(80)}, Ms(20));
  network.Volume(0, 10, 80, 11);
  network.End(0, 20);
  EXPECT_EQ(network.At(21), (Lines{"80@10 11"}));
  network.End(0, 30);
  EXPECT_EQ(network.At(31), (Lines{"80@20 null clear"}));
  network.End(0, 40);
  EXPECT_EQ(network.At(41), Lines());
  EXPECT_EQ(network.counters().clears, 1u);
}

TEST(NetworkEnds, AnInheritedRunThatHasNotGoneOnInTimeIsCleared) {
  Network network(1);
  network.verdicts.Inherit(kEvent, {BucketOf(80), BucketOf(81)}, Ms(30));
  network.Volume(0, 0, 80, 10);
  network.End(0, 20);
  EXPECT_EQ(network.At(21), Lines());
  network.End(0, 30);
  EXPECT_EQ(network.At(31), (Lines{"80@20 null clear [\"monitor-interrupted\"]",
                                   "81@20 null clear [\"monitor-interrupted\"]"}));
  network.End(0, 40);
  EXPECT_EQ(network.At(41), Lines());
}

TEST(NetworkEnds, AnInheritedRunIsClearedThoughNoHostHasComeBack) {
  Network network(0);
  network.verdicts.Inherit(kEvent, {BucketOf(80)}, Ms(30));
  EXPECT_EQ(network.At(25), Lines());
  Lines all;
  // It is awake: NextDue() leads there.
  while (network.verdicts.NextDue() <= Ms(60)) {
    const Lines more = network.At(network.verdicts.NextDue() / kNanosPerMilli);
    all.insert(all.end(), more.begin(), more.end());
    ASSERT_LE(all.size(), 1u);
  }
  EXPECT_EQ(all, (Lines{"80@20 null clear [\"monitor-interrupted\"]"}));
}

TEST(NetworkEnds, AnInheritedRunWhoseReportIsWithheldIsTold) {
  NetworkEventOptions options;
  options.reports_per_second = 1;
  Network network(1, options);
  network.verdicts.Inherit(kEvent, {BucketOf(81)}, Ms(30));
  network.Volume(0, 0, 80, 11);  // takes the only report of this second
  network.Volume(0, 0, 81, 11);
  network.End(0, 10);
  EXPECT_EQ(network.At(11), (Lines{"80@0 11"}));
  network.End(0, 40);
  EXPECT_EQ(network.At(41), (Lines{"80@10 null clear", "81@10 null clear"}));
}

TEST(NetworkEnds, AnInheritedRunEndsWithItsEvent) {
  Network network(1);
  network.verdicts.Inherit(kEvent, {BucketOf(80)}, Ms(500));
  network.verdicts.Uninstall(kEvent, Ms(10));
  network.End(0, 20);
  EXPECT_EQ(network.At(20), (Lines{R"(80@10 null clear ["event-ended"])"}));
}

}  // namespace
}  // namespace trumpet
