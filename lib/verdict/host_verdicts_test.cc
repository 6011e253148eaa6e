// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/verdict/host_verdicts.h"

#include <gtest/gtest.h>

#include <string>

#include "lib/verdict/verdict_test_kit.h"

namespace trumpet {
namespace {

using namespace kit;

constexpr Nanos kFlowTimeout = Ms(100);
constexpr uint32_t kPorts = 1;  // id of the event in most tests

// A host whose intervals are 10 ms unless said otherwise; times in ms, "interval k" is [10k,
// 10k+10).
class Host {
 public:
  explicit Host(const std::vector<EventSpec>& events, Nanos from = 0, bool is_offline = true)
      : verdicts_(kFlowTimeout) {
    Install(events, from, is_offline);
  }

  void Install(const std::vector<EventSpec>& events, Nanos from, bool is_offline = true) {
    HostVerdicts::Plans plans;
    for (const EventSpec& event : events) plans.push_back(Plan(event));
    for (const auto& plan : plans) plans_[plan->spec.id] = plan;
    verdicts_.Apply(plans, from, is_offline);
  }

  // One packet of `volume` in the epoch that begins at `ms`.
  void Packet(uint32_t event, int64_t ms, const std::string& key, int64_t volume = 1,
              bool is_unscaled = false) {
    const TriggerPlan& plan = *plans_[event];
    const auto words = CellsOf(
        plan,
        Values{{Variable::kPackets, 1}, {Variable::kVolume, volume}, {Variable::kRwnd, volume}});
    PartialView partial;
    partial.event_id = event;
    partial.epoch_start = Ms(ms);
    partial.epoch_end = Ms(ms + 10);
    partial.bucket_key = key;
    partial.words = words.data();
    partial.is_unscaled = is_unscaled;
    verdicts_.Add(partial);
  }

  // The flow's state at the end of the epoch [ms, ms + 10), last packet in its middle.
  void State(int64_t ms, uint8_t flow, int64_t ack, uint32_t incarnation = 1, uint16_t zone = 0) {
    FlowStateUpdate update;
    update.flow = Flow(flow);
    update.flow.zone = zone;
    update.state.ack = ack;
    update.state.has_ack = true;
    update.state.last_packet_ns = Ms(ms + 5);
    update.state.incarnation = incarnation;
    update.epoch_start = Ms(ms);
    update.epoch_end = Ms(ms + 10);
    verdicts_.Add(update);
  }

  // Decides up to `ms`; the reports as "event bucket @interval-start value>threshold".
  std::vector<std::string> Reports(int64_t ms) {
    reports_.clear();
    verdicts_.Advance(Ms(ms), &reports_);
    std::vector<std::string> texts;
    for (const Report& report : reports_) {
      texts.push_back(report.event + " " + report.bucket_json + " @" +
                      std::to_string(report.start_ns / kNanosPerMilli) + " " +
                      report.value.ToString() + "|" + report.threshold.ToString());
    }
    return texts;
  }

  const std::vector<Report>& last() const { return reports_; }
  HostVerdicts& verdicts() { return verdicts_; }

 private:
  HostVerdicts verdicts_;
  std::map<uint32_t, std::shared_ptr<const TriggerPlan>> plans_;
  std::vector<Report> reports_;
};

using Texts = std::vector<std::string>;

Expr VolumeAbove(int64_t threshold) {
  return Op(Sum(Variable::kVolume), ExprOp::kGreater, Num(threshold));
}

Expr NoPackets() { return Op(Sum(Variable::kPackets), ExprOp::kEqual, Num(0)); }

Expr AckMoved() {
  return Op(Op(Var(Variable::kAck), ExprOp::kSubtract, Var(Variable::kAckLastEpoch)),
            ExprOp::kGreaterEqual, Num(0));
}

EventSpec For(EventSpec event, uint32_t count) {
  event.for_count = count;
  return event;
}

TEST(HostVerdicts, MergesThePartialsOfABucketInItsInterval) {
  Host host({Event(kPorts, VolumeAbove(5), ByPort())});
  host.Packet(kPorts, 0, PortKey(80), 3);
  host.Packet(kPorts, 0, PortKey(80), 3);
  host.Packet(kPorts, 0, PortKey(81), 5);
  host.Packet(kPorts, 10, PortKey(81), 5);
  EXPECT_EQ(host.Reports(100), Texts{R"(e1 {"dstPort":80} @0 6|5)"});
}

TEST(HostVerdicts, JoinsTheEpochsOfALongerInterval) {
  Host host({Event(1, VolumeAbove(5), ByPort(), 30)});
  host.Packet(1, 0, PortKey(80), 3);
  host.Packet(1, 20, PortKey(80), 3);
  host.Packet(1, 30, PortKey(80), 3);
  EXPECT_EQ(host.Reports(29), Texts());
  EXPECT_EQ(host.Reports(60), Texts{R"(e1 {"dstPort":80} @0 6|5)"});
}

TEST(HostVerdicts, ReportsOnlyIntervalsThatHaveEnded) {
  Host host({Event(1, VolumeAbove(0), ByPort())});
  host.Packet(1, 10, PortKey(80));
  EXPECT_EQ(host.Reports(19), Texts());
  EXPECT_EQ(host.Reports(20), Texts{R"(e1 {"dstPort":80} @10 1|0)"});
  EXPECT_EQ(host.Reports(20), Texts());
}

TEST(HostVerdicts, KeepsPartialsThatArriveAheadOfTime) {
  Host host({Event(1, VolumeAbove(5), ByPort())});
  host.Packet(1, 20, PortKey(80), 4);
  host.Packet(1, 0, PortKey(80), 7);
  host.Packet(1, 20, PortKey(80), 5);
  EXPECT_EQ(host.Reports(20), Texts{R"(e1 {"dstPort":80} @0 7|5)"});
  host.Packet(1, 20, PortKey(80), 1);
  EXPECT_EQ(host.Reports(30), Texts{R"(e1 {"dstPort":80} @20 10|5)"});
}

TEST(HostVerdicts, CountsPartialsThatComeTooLateAndThoseOfNobody) {
  Host host({Event(1, VolumeAbove(0), ByPort())});
  EXPECT_EQ(host.Reports(20), Texts());
  host.Packet(1, 10, PortKey(80));
  PartialView stray;
  stray.event_id = 77;
  host.verdicts().Add(stray);
  EXPECT_EQ(host.Reports(40), Texts());
  EXPECT_EQ(host.verdicts().counters().late_partials, 1u);
  EXPECT_EQ(host.verdicts().counters().unknown_partials, 1u);
}

TEST(HostVerdicts, OrdersReportsByEndThenEventThenBucket) {
  Host host({Event(7, VolumeAbove(0), ByPort(), 20), Event(3, VolumeAbove(0), ByPort())});
  for (const int64_t ms : {10, 0}) {
    host.Packet(3, ms, PortKey(443));
    host.Packet(3, ms, PortKey(80));
    host.Packet(7, ms, PortKey(80));
  }
  const Texts expected = {R"(e3 {"dstPort":80} @0 1|0)", R"(e3 {"dstPort":443} @0 1|0)",
                          R"(e7 {"dstPort":80} @0 2|0)", R"(e3 {"dstPort":80} @10 1|0)",
                          R"(e3 {"dstPort":443} @10 1|0)"};
  EXPECT_EQ(host.Reports(20), expected);
}

TEST(HostVerdicts, GivesOneAndOneWithoutAComparisonAtTheRoot) {
  const Expr both = Op(VolumeAbove(0), ExprOp::kAnd, VolumeAbove(1));
  Host host({Event(1, both, ByPort()), Event(2, Sum(Variable::kVolume), ByPort())});
  host.Packet(1, 0, PortKey(80), 5);
  host.Packet(2, 0, PortKey(80), 5);
  const Texts expected = {R"(e1 {"dstPort":80} @0 1|1)", R"(e2 {"dstPort":80} @0 1|1)"};
  EXPECT_EQ(host.Reports(10), expected);
}

TEST(HostVerdicts, TestsABucketInSixteenIntervalsAfterItsLastPacket) {
  Host host({Event(1, NoPackets(), ByPort())});
  host.Packet(1, 0, PortKey(80));
  const Texts reports = host.Reports(1000);
  ASSERT_EQ(reports.size(), 16u);
  EXPECT_EQ(reports.front(), R"(e1 {"dstPort":80} @10 0|0)");
  EXPECT_EQ(reports.back(), R"(e1 {"dstPort":80} @160 0|0)");
}

TEST(HostVerdicts, BeginsANewTailWithEveryPacket) {
  Host host({Event(1, NoPackets(), ByPort())});
  host.Packet(1, 0, PortKey(80));
  EXPECT_EQ(host.Reports(100).size(), 9u);
  host.Packet(1, 100, PortKey(80));
  const Texts reports = host.Reports(1000);
  ASSERT_EQ(reports.size(), 16u);
  EXPECT_EQ(reports.front(), R"(e1 {"dstPort":80} @110 0|0)");
}

TEST(HostVerdicts, TestsTheOneBucketOfNoGranularityInEveryInterval) {
  Host host({Event(1, NoPackets(), Granularity())}, Ms(20));
  host.Packet(1, 30, "");
  const Texts expected = {"e1 {} @20 0|0", "e1 {} @40 0|0"};
  EXPECT_EQ(host.Reports(50), expected);
  EXPECT_EQ(host.Reports(1050).size(), 100u);
}

TEST(HostVerdicts, ReportsAtEveryIntervalThatEndsALongEnoughRun) {
  Host host({For(Event(1, VolumeAbove(0), ByPort()), 3)});
  for (const int64_t ms : {0, 10, 20, 30}) host.Packet(1, ms, PortKey(80));
  const Texts expected = {R"(e1 {"dstPort":80} @20 1|0)", R"(e1 {"dstPort":80} @30 1|0)"};
  EXPECT_EQ(host.Reports(200), expected);
}

TEST(HostVerdicts, EndsARunWithAFalseTest) {
  Host host({For(Event(1, VolumeAbove(1), ByPort()), 2)});
  host.Packet(1, 0, PortKey(80), 2);
  host.Packet(1, 10, PortKey(80), 1);
  host.Packet(1, 20, PortKey(80), 2);
  EXPECT_EQ(host.Reports(200), Texts());
}

TEST(HostVerdicts, EndsARunWithAnIntervalWithoutTest) {
  // true with packets and without, so only the untested interval 17 parts the runs
  const Expr always = Op(Sum(Variable::kVolume), ExprOp::kGreaterEqual, Num(0));
  Host parted({For(Event(1, always, ByPort()), 18)});
  parted.Packet(1, 0, PortKey(80));
  parted.Packet(1, 180, PortKey(80));
  EXPECT_EQ(parted.Reports(190), Texts());  // 17 tests, none in 17, one more
  Host joined({For(Event(1, always, ByPort()), 18)});
  joined.Packet(1, 0, PortKey(80));
  joined.Packet(1, 170, PortKey(80));
  EXPECT_EQ(joined.Reports(180), Texts{R"(e1 {"dstPort":80} @170 1|0)"});
}

TEST(HostVerdicts, CountsTheRunOfNoGranularityAcrossQuietIntervals) {
  Host host({For(Event(1, NoPackets(), Granularity()), 3)});
  EXPECT_EQ(host.Reports(20), Texts());
  EXPECT_EQ(host.Reports(40).size(), 2u);
  host.Packet(1, 40, "");
  EXPECT_EQ(host.Reports(70), Texts());
  EXPECT_EQ(host.Reports(80), Texts{"e1 {} @70 0|0"});
}

TEST(HostVerdicts, TakesUndefinedForNotTrue) {
  const Expr avg = Agg(AggregateKind::kAvg, Var(Variable::kTtl));
  const Expr low = Op(avg, ExprOp::kLess, Num(5));
  Host host({Event(1, low, ByPort()), Event(2, Not(low), ByPort())});
  host.Packet(1, 0, PortKey(80));
  host.Packet(2, 0, PortKey(80));
  EXPECT_EQ(host.Reports(300), Texts());
}

// --- flow state ------------------------------------------------------------

TEST(HostVerdicts, ComparesAFlowWithItselfOneIntervalEarlier) {
  Host host({Event(1, AckMoved(), ByFlow())});
  host.State(0, 1, 1000);
  host.State(10, 1, 1500);
  host.Packet(1, 10, FlowBucket(1));
  EXPECT_EQ(host.Reports(20).size(), 1u);
  EXPECT_EQ(host.last()[0].value, Number::Integer(500));
}

TEST(HostVerdicts, HasNoEarlierValueOfAFlowThatWasUnknown) {
  Host host({Event(1, AckMoved(), ByFlow())});
  host.State(0, 1, 1000);
  host.Packet(1, 0, FlowBucket(1));
  EXPECT_EQ(host.Reports(10), Texts());
}

TEST(HostVerdicts, HasNoEarlierValueOfAFlowThatWasRestarted) {
  Host host({Event(1, AckMoved(), ByFlow())});
  host.State(0, 1, 1000, 1);
  host.State(10, 1, 1500, 2);
  host.Packet(1, 10, FlowBucket(1));
  EXPECT_EQ(host.Reports(20), Texts());
}

TEST(HostVerdicts, UsesTheStartOfTheEventsOwnInterval) {
  Host host({Event(1, AckMoved(), ByFlow(), 30), Event(2, AckMoved(), ByFlow(), 10)});
  host.State(20, 1, 1000);
  for (const int64_t ms : {30, 40, 50}) {
    host.State(ms, 1, 1000 + ms);
    host.Packet(1, ms, FlowBucket(1));
  }
  host.Packet(2, 50, FlowBucket(1));
  host.Reports(60);
  ASSERT_EQ(host.last().size(), 2u);
  EXPECT_EQ(host.last()[0].value, Number::Integer(50));  // from 1000 at 30 ms
  EXPECT_EQ(host.last()[1].value, Number::Integer(10));  // from 1040 at 50 ms
}

TEST(HostVerdicts, TestsTailsWithTheCurrentStateOfTheFlow) {
  Host host({Event(1, Op(Var(Variable::kAck), ExprOp::kGreater, Num(1000)), ByFlow())});
  host.State(0, 1, 1000);
  host.Packet(1, 0, FlowBucket(1));
  host.State(20, 1, 2000);  // by packets that the filter does not want
  host.Reports(50);
  ASSERT_EQ(host.last().size(), 3u);
  EXPECT_EQ(host.last()[0].start_ns, Ms(20));
  EXPECT_EQ(host.last()[0].value, Number::Integer(2000));
}

TEST(HostVerdicts, ForgetsAFlowOneTimeoutAfterItsLastPacket) {
  Host host({Event(1, Op(Var(Variable::kAck), ExprOp::kGreater, Num(0)), ByFlow(), 5)});
  host.State(0, 1, 1000);  // last packet at 5 ms: alive until 105 ms, that instant included
  host.Packet(1, 40, FlowBucket(1));
  host.Reports(200);
  ASSERT_FALSE(host.last().empty());
  EXPECT_EQ(host.last().back().end_ns, Ms(105));
}

TEST(HostVerdicts, DoesNotApplyAnUpdateBeforeItsEpochEnds) {
  Host host({Event(1, Op(Var(Variable::kAck), ExprOp::kGreater, Num(0)), ByFlow())});
  host.State(0, 1, 1000);
  host.State(10, 1, 2000);
  host.Packet(1, 0, FlowBucket(1));
  host.Reports(10);
  ASSERT_EQ(host.last().size(), 1u);
  EXPECT_EQ(host.last()[0].value, Number::Integer(1000));
}

TEST(HostVerdicts, TakesTheZoneWithTheLatestPacket) {
  Host host({Event(1, Op(Var(Variable::kAck), ExprOp::kGreater, Num(0)), ByFlow())});
  host.State(0, 1, 1000, 1, 5);
  host.State(10, 1, 2000, 2, 6);
  host.State(10, 2, 3000, 3, 6);
  host.Packet(1, 10, FlowBucket(1));
  host.Reports(20);
  ASSERT_EQ(host.last().size(), 1u);
  EXPECT_EQ(host.last()[0].value, Number::Integer(2000));
}

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
