// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What verdicts make of caps, losses, and events that come and go.

#include <gtest/gtest.h>

#include <string>

#include "lib/verdict/verdicts_host_test.h"

namespace trumpet {
namespace {

using namespace kit;

// --- what is missing ---------------------------------------------------------

TEST(HostVerdicts, EvictsTheBucketIdleForLongestAndSaysSo) {
  EventSpec event = Event(1, Op(NoPackets(), ExprOp::kOr, VolumeAbove(0)), ByPort());
  event.max_buckets = 2;
  Host host({event});
  host.Packet(1, 0, PortKey(1));
  host.Packet(1, 0, PortKey(2));
  host.Packet(1, 10, PortKey(1));
  host.Packet(1, 10, PortKey(3));
  host.Reports(20);
  std::vector<std::string> buckets;
  for (const Report& report : host.last()) {
    buckets.push_back(report.bucket_json + (report.is_complete() ? "" : "!"));
  }
  const Texts expected = {R"({"dstPort":1})", R"({"dstPort":2})", R"({"dstPort":1}!)",
                          R"({"dstPort":3}!)"};
  EXPECT_EQ(buckets, expected);
  EXPECT_EQ(host.last()[2].incomplete_reasons, static_cast<uint32_t>(kBucketEvicted));
  EXPECT_EQ(host.verdicts().counters().buckets_evicted, 1u);
}

TEST(HostVerdicts, AFloodOfBucketsLeavesThoseThatCameBeforeItAlone) {
  EventSpec event = Event(1, VolumeAbove(0), ByPort());
  event.max_buckets = 4;
  Host host({event});
  for (const int64_t start : {0, 10}) {
    host.Packet(1, start, PortKey(1));
    for (uint32_t port = 100; port < 200; ++port) host.Packet(1, start, PortKey(port));
    host.Packet(1, start, PortKey(1));
  }
  host.Reports(20);
  uint32_t reports = 0;
  for (const Report& report : host.last()) {
    if (report.bucket_json != R"({"dstPort":1})") continue;
    ++reports;
    EXPECT_EQ(report.value, Number::Integer(2));
    EXPECT_EQ(report.incomplete_reasons, static_cast<uint32_t>(kBucketEvicted));
  }
  EXPECT_EQ(reports, 2u);
  EXPECT_EQ(host.last().size(), 8u);
  EXPECT_EQ(host.verdicts().counters().buckets_evicted, 2 * 97u);
}

// "event bucket", with "!" where bucket-evicted is said, of the reports from `ms` on.
Texts BucketsFrom(const Host& host, int64_t ms) {
  Texts texts;
  for (const Report& report : host.last()) {
    if (report.start_ns < Ms(ms)) continue;
    const bool is_marked = report.incomplete_reasons == kBucketEvicted;
    texts.push_back(report.event + " " + report.bucket_json + (is_marked ? "!" : ""));
  }
  return texts;
}

// The other event has all that there are.
TEST(HostVerdicts, AnEventThatHadNoBucketOnceDoesNotSaySoOfALaterInterval) {
  Host host({Event(1, VolumeAbove(0), ByPort()), Event(2, VolumeAbove(0), ByPort())});
  host.verdicts().LimitBuckets(1);
  host.Packet(1, 0, PortKey(1));
  host.Packet(2, 0, PortKey(5));
  host.Reports(50);
  host.verdicts().LimitBuckets(10);
  host.Packet(2, 100, PortKey(6));
  host.Reports(110);
  EXPECT_EQ(BucketsFrom(host, 100), Texts({R"(e2 {"dstPort":6})"}));
}

TEST(HostVerdicts, AtTheCapOfAllAnEventGivesUpItsOwnIdleBucketAndNoOther) {
  const Expr idle_too = Op(NoPackets(), ExprOp::kOr, VolumeAbove(0));
  Host host({Event(1, idle_too, ByPort()), Event(2, idle_too, ByPort())});
  host.verdicts().LimitBuckets(3);
  host.Packet(1, 0, PortKey(1));
  host.Packet(1, 0, PortKey(2));
  host.Packet(2, 0, PortKey(3));
  host.Packet(2, 10, PortKey(4));
  host.Reports(20);
  const Texts expected = {R"(e1 {"dstPort":1})", R"(e1 {"dstPort":2})", R"(e2 {"dstPort":4}!)"};
  EXPECT_EQ(BucketsFrom(host, 10), expected);
  EXPECT_EQ(host.verdicts().Status()[0].buckets_evicted, 0u);
  EXPECT_EQ(host.verdicts().Status()[1].buckets_evicted, 1u);
  EXPECT_EQ(host.verdicts().counters().buckets, 3u);
}

TEST(HostVerdicts, AtTheCapOfAllAnEventWithNothingToGiveUpTurnsNewBucketsAway) {
  Host host({Event(1, VolumeAbove(0), ByPort()), Event(2, VolumeAbove(0), ByPort())});
  host.verdicts().LimitBuckets(2);
  host.Packet(1, 0, PortKey(1));
  host.Packet(2, 0, PortKey(2));
  host.Packet(2, 0, PortKey(3));
  host.Packet(1, 0, PortKey(1));
  EXPECT_EQ(host.Reports(10).size(), 2u);
  const Texts expected = {R"(e1 {"dstPort":1})", R"(e2 {"dstPort":2}!)"};
  EXPECT_EQ(BucketsFrom(host, 0), expected);
  EXPECT_EQ(host.verdicts().counters().buckets_evicted, 1u);
}

TEST(HostVerdicts, TheCapOfAllHoldsForPartialsThatCameAheadToo) {
  Host host({Event(1, VolumeAbove(0), ByPort())});
  host.verdicts().LimitBuckets(5);
  for (uint32_t port = 0; port < 20; ++port) host.Packet(1, 10, PortKey(port));
  for (uint32_t port = 0; port < 5; ++port) host.Packet(1, 10, PortKey(port));
  EXPECT_EQ(host.verdicts().counters().buckets_ahead, 5u);
  host.Packet(1, 20, PortKey(0));
  EXPECT_EQ(host.verdicts().counters().buckets_ahead, 5u) << "of all intervals together";
  EXPECT_EQ(host.Reports(20).size(), 5u);
  EXPECT_EQ(host.verdicts().counters().buckets_ahead, 0u);
  EXPECT_EQ(host.verdicts().counters().buckets, 5u);
  EXPECT_EQ(host.verdicts().counters().buckets_evicted, 16u);
}

TEST(HostVerdicts, BucketsOfEventsThatEndedLeaveTheirRoomToOthers) {
  const Expr idle_too = Op(NoPackets(), ExprOp::kOr, VolumeAbove(0));
  Host host({Event(1, idle_too, ByPort())});
  host.verdicts().LimitBuckets(2);
  host.Packet(1, 0, PortKey(1));
  host.Packet(1, 0, PortKey(2));
  host.Install({Event(2, VolumeAbove(0), ByPort())}, Ms(10));
  host.Reports(10);
  host.Packet(2, 10, PortKey(3));
  host.Packet(2, 10, PortKey(4));
  host.Reports(20);
  EXPECT_EQ(BucketsFrom(host, 10), (Texts{R"(e2 {"dstPort":3})", R"(e2 {"dstPort":4})"}));
}

TEST(HostVerdicts, ALoweredCapOfAllStopsNewBucketsAndLeavesThoseThatAreThere) {
  Host host({Event(1, VolumeAbove(0), ByPort())});
  for (uint32_t port = 1; port <= 3; ++port) host.Packet(1, 0, PortKey(port));
  host.verdicts().LimitBuckets(1);
  host.Packet(1, 0, PortKey(4));
  host.Packet(1, 0, PortKey(1));
  EXPECT_EQ(host.Reports(10).size(), 3u);
  host.Packet(1, 10, PortKey(5));
  host.Packet(1, 10, PortKey(6));
  EXPECT_EQ(host.Reports(20).size(), 1u);
  EXPECT_EQ(host.verdicts().counters().buckets_evicted, 2u);
}

TEST(HostVerdicts, TellsHowManyBucketsWereAliveAtTheLastDecision) {
  Host host({Event(1, VolumeAbove(0), ByPort()), Event(2, VolumeAbove(0), Granularity())});
  EXPECT_EQ(host.verdicts().counters().buckets, 1u);
  for (uint32_t port = 1; port <= 3; ++port) host.Packet(1, 0, PortKey(port));
  host.Reports(10);
  EXPECT_EQ(host.verdicts().counters().buckets, 4u);
  host.Reports(20);
  EXPECT_EQ(host.verdicts().counters().buckets, 1u);
}

TEST(HostVerdicts, GivesUpIdleBucketsWithoutLossWhereTheyCannotFire) {
  EventSpec event = Event(1, VolumeAbove(0), ByPort());
  event.max_buckets = 2;
  Host host({event});
  for (uint32_t port = 0; port < 20; ++port) {
    host.Packet(1, 10 * (port / 2), PortKey(port));
  }
  EXPECT_EQ(host.Reports(200).size(), 20u);
  EXPECT_EQ(host.verdicts().counters().buckets_evicted, 0u);
}

TEST(HostVerdicts, MarksExactlyTheIntervalsInWhichPacketsWereMissed) {
  Host host({Event(1, VolumeAbove(0), ByPort())});
  for (const int64_t ms : {0, 10, 20, 30}) host.Packet(1, ms, PortKey(80));
  host.verdicts().AddIncomplete(Ms(10), Ms(20), kSweepSkipped);
  host.verdicts().AddIncomplete(Ms(19), Ms(21), kRingFull);
  host.Reports(40);
  std::vector<uint32_t> reasons;
  for (const Report& report : host.last()) reasons.push_back(report.incomplete_reasons);
  EXPECT_EQ(reasons, (std::vector<uint32_t>{0, kSweepSkipped | kRingFull, kRingFull, 0}));
}

TEST(HostVerdicts, MindsLostConnectionsOnlyWhereTcpIsUsed) {
  Host host(
      {Event(1, VolumeAbove(0), ByPort()),
       Event(2, Op(Agg(AggregateKind::kCount, Var(Variable::kRtt)), ExprOp::kGreaterEqual, Num(0)),
             ByPort())});
  host.Packet(1, 0, PortKey(80));
  host.Packet(2, 0, PortKey(80));
  host.verdicts().AddIncomplete(Ms(0), Ms(10), kConnectionEvicted);
  host.Reports(10);
  ASSERT_EQ(host.last().size(), 2u);
  EXPECT_TRUE(host.last()[0].is_complete());
  EXPECT_FALSE(host.last()[1].is_complete());
}

TEST(HostVerdicts, SaysThatAWindowWasNotScaled) {
  Host host({Event(1, Op(Sum(Variable::kRwnd), ExprOp::kGreaterEqual, Num(0)), ByPort())});
  host.Packet(1, 0, PortKey(80), 1, true);
  host.Packet(1, 0, PortKey(80), 1, false);
  host.Packet(1, 0, PortKey(81), 1, false);
  host.Packet(1, 10, PortKey(80), 1, false);
  host.Reports(30);
  std::vector<bool> unscaled;
  for (const Report& report : host.last()) unscaled.push_back(report.is_unscaled);
  EXPECT_EQ(unscaled, (std::vector<bool>{true, false, false, false, false, false}));
}

// --- events come and go ------------------------------------------------------

TEST(HostVerdicts, MarksTheIntervalInWhichAnEventBegan) {
  const EventSpec event = Event(1, NoPackets(), Granularity());
  Host online({event}, Ms(15), false);
  online.Reports(30);
  ASSERT_EQ(online.last().size(), 2u);
  EXPECT_EQ(online.last()[0].incomplete_reasons, static_cast<uint32_t>(kMonitorInterrupted));
  EXPECT_TRUE(online.last()[1].is_complete());
  Host offline({event}, Ms(15), true);
  offline.Reports(30);
  EXPECT_TRUE(offline.last()[0].is_complete());
}

TEST(HostVerdicts, KeepsRunsOfEventsThatStayInstalled) {
  const EventSpec stays = For(Event(1, VolumeAbove(0), ByPort()), 2);
  Host host({stays});
  host.Packet(1, 0, PortKey(80));
  host.Reports(10);
  host.Install({Event(2, VolumeAbove(0), ByPort()), stays}, Ms(12), false);
  host.Packet(1, 10, PortKey(80));
  EXPECT_EQ(host.Reports(20), Texts{R"(e1 {"dstPort":80} @10 1|0)"});
  EXPECT_TRUE(host.last()[0].is_complete());
}

TEST(HostVerdicts, StillDecidesWhatEndedBeforeAnEventWasRemoved) {
  Host host({Event(1, VolumeAbove(0), ByPort())});
  host.Packet(1, 0, PortKey(80));
  host.Packet(1, 10, PortKey(80));
  host.Install({}, Ms(15));
  EXPECT_EQ(host.Reports(100), Texts{R"(e1 {"dstPort":80} @0 1|0)"});
  host.Packet(1, 100, PortKey(80));
  EXPECT_EQ(host.verdicts().counters().unknown_partials, 1u);
}

TEST(HostVerdicts, EndsEveryEventWithTheIntervalOfTheLastPacket) {
  Host host({Event(1, NoPackets(), Granularity(), 10), Event(2, NoPackets(), Granularity(), 30)});
  host.verdicts().EndAfter(Ms(35));
  std::vector<Report> reports;
  EXPECT_TRUE(host.verdicts().AdvanceSome(INT64_MAX, 1000, &reports));
  ASSERT_EQ(reports.size(), 6u);
  EXPECT_EQ(reports[4].end_ns, Ms(40));
  EXPECT_EQ(reports[5].end_ns, Ms(60));
}

TEST(Defects, G_AnIntervalAnswersWithItsOwnValueWhenTheNextIsThereToo) {
  Host host({Event(1, VolumeAbove(0), ByPort())});
  host.Packet(1, 0, PortKey(80), 7);
  host.Packet(1, 10, PortKey(80), 3);
  const Texts expected = {R"(e1 {"dstPort":80} @0 7|0)", R"(e1 {"dstPort":80} @10 3|0)"};
  EXPECT_EQ(host.Reports(20), expected);
}

// 700 s of epochs, which a 16-bit number would not tell from the first 45 s.
TEST(Defects, H_IntervalsBeyond65536AreTheirOwn) {
  Host host({Event(1, VolumeAbove(0), ByPort())});
  host.Packet(1, 0, PortKey(80), 1);
  host.Packet(1, 10 * int64_t{70000}, PortKey(80), 7);
  host.Packet(1, 10 * int64_t{70000 - 65536}, PortKey(80), 2);
  const Texts expected = {R"(e1 {"dstPort":80} @0 1|0)", R"(e1 {"dstPort":80} @44640 2|0)",
                          R"(e1 {"dstPort":80} @700000 7|0)"};
  EXPECT_EQ(host.Reports(10 * int64_t{70001}), expected);
}

TEST(HostVerdicts, TheEndOfARunDoesNotRecallAnEventThatWasRemoved) {
  Host host({Event(1, NoPackets(), Granularity(), 10)});
  host.Install({}, Ms(15));
  host.verdicts().EndAfter(Ms(18));
  std::vector<Report> reports;
  EXPECT_TRUE(host.verdicts().AdvanceSome(INT64_MAX, 1000, &reports));
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].end_ns, Ms(10));
}

TEST(HostVerdicts, DecidesInPiecesWhatWouldBeTooMuchAtOnce) {
  Host host({Event(1, NoPackets(), Granularity(), 1)});
  std::vector<Report> reports;
  int pieces = 0;
  size_t total = 0;
  for (bool is_done = false; !is_done; ++pieces) {
    reports.clear();
    is_done = host.verdicts().AdvanceSome(Ms(1000), 300, &reports);
    EXPECT_LE(reports.size(), 300u);
    total += reports.size();
  }
  EXPECT_EQ(pieces, 4);
  EXPECT_EQ(total, 1000u);
}

TEST(HostVerdicts, PassesOverYearsInWhichNothingHappens) {
  Host host({Event(1, VolumeAbove(0), ByPort(), 1)});
  host.Packet(1, 0, PortKey(80));
  const int64_t year_ms = int64_t{365} * 24 * 3600 * 1000;
  EXPECT_EQ(host.Reports(50 * year_ms).size(), 1u);
  EXPECT_EQ(host.verdicts().counters().intervals_decided, static_cast<uint64_t>(50 * year_ms));
}

TEST(HostVerdicts, TellsTheStateOfItsEvents) {
  Host host({Event(1, VolumeAbove(0), ByPort()), Event(2, VolumeAbove(9), ByPort())});
  host.Packet(1, 10, PortKey(80));
  host.Packet(1, 10, PortKey(81));
  host.Packet(2, 10, PortKey(81));
  host.Reports(20);
  const std::vector<EventStatus> status = host.verdicts().Status();
  ASSERT_EQ(status.size(), 2u);
  EXPECT_EQ(status[0].buckets, 2u);
  EXPECT_EQ(status[0].reports, 2u);
  EXPECT_EQ(status[0].last_report_end_ns, Ms(20));
  EXPECT_EQ(status[1].reports, 0u);
  EXPECT_EQ(status[1].last_report_end_ns, 0);
}

}  // namespace
}  // namespace trumpet
