// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/verdict/host_verdicts.h"

#include <gtest/gtest.h>

#include <string>

#include "lib/verdict/verdicts_host_test.h"

namespace trumpet {
namespace {

using namespace kit;

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

TEST(HostVerdicts, ForgetsABucketBehindItsTail) {
  Host host({Event(1, NoPackets(), ByPort())});
  host.Packet(1, 0, PortKey(80));
  host.Reports(170);
  EXPECT_EQ(host.verdicts().Status()[0].buckets, 1u) << "of the last test";
  host.Reports(180);
  EXPECT_EQ(host.verdicts().Status()[0].buckets, 0u);
}

// What ended before is decided as it was asked then.
TEST(HostVerdicts, DecidesWhatEndedBeforeTheEventWasInstalledAnew) {
  const EventSpec event = Event(1, VolumeAbove(0), ByPort());
  const EventSpec others[] = {Event(1, VolumeAbove(0), ByPort(), 20),
                              Event(1, VolumeAbove(0), ByFlow())};
  for (const EventSpec& other : others) {
    Host host({event});
    host.Packet(1, 10, PortKey(80), 3);
    host.Install({other}, Ms(20));
    host.Packet(1, 20, other.granularity.is_five_tuple ? FlowBucket(1) : PortKey(22), 5);
    const Texts reports = host.Reports(40);
    ASSERT_EQ(reports.size(), 2u);
    EXPECT_EQ(reports[0], R"(e1 {"dstPort":80} @10 3|0)");
    EXPECT_NE(reports[1].find(" @20 5|"), std::string::npos) << reports[1];
  }
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

// The first flow is only known from 10 ms on, the second one since before the interval of 20 ms.
TEST(HostVerdicts, KeepsTheStartsOfFlowsWhenAnEventOfAnotherIntervalComes) {
  const EventSpec slow = Event(2, AckMoved(), ByFlow(), 20);
  Host host({slow});
  host.State(10, 2, 1000);
  host.Reports(20);
  for (const uint8_t flow : {1, 2}) host.State(20, flow, 1100);
  host.Reports(30);
  host.Install({Event(1, AckMoved(), ByFlow(), 10), slow}, Ms(30));
  for (const uint8_t flow : {1, 2}) {
    host.State(30, flow, 1250);
    host.Packet(2, 30, FlowBucket(flow));
  }
  host.Reports(40);
  ASSERT_EQ(host.last().size(), 1u);
  EXPECT_EQ(host.last()[0].value, Number::Integer(250));  // from 1000 at 20 ms
}

// Two tenants' connections with the same addresses: what is newer in one does not fill up the
// other.
TEST(HostVerdicts, DoesNotMixTheStatesOfOneFlowInTwoZones) {
  Host host({Event(1, Op(Var(Variable::kAck), ExprOp::kGreater, Num(0)), ByFlow())});
  host.State(0, 1, 1000, 1, 5);
  host.State(10, 1, 2000, 1, 6);
  host.State(0, 1, 3000, 1, 6);  // late, and of the zone that holds now
  host.State(0, 1, 4000, 1, 5);  // late, and of the other one
  host.Packet(1, 10, FlowBucket(1));
  host.Reports(20);
  ASSERT_EQ(host.last().size(), 1u);
  EXPECT_EQ(host.last()[0].value, Number::Integer(2000));
}

// A thread tells of the direction whose packets it receives, and another one of what answers it.
TEST(HostVerdicts, DoubtsWhatTheThreadDoubtsThatSawIt) {
  for (const bool is_of_sender : {true, false}) {
    for (const bool is_in_doubt : {true, false}) {
      Host host({Event(1, Op(Var(Variable::kAck), ExprOp::kGreater, Num(0)), ByFlow())});
      host.State(0, 1, 1000);
      FlowStateUpdate later = Host::StateOf(0, 1, 2000);
      FlowState& state = later.state;
      (is_of_sender ? state.sender_ns : state.receiver_ns) = Ms(6);
      (is_of_sender ? state.doubts_seq : state.doubts_ack) = is_in_doubt;
      host.verdicts().Add(later);
      host.Packet(1, 0, FlowBucket(1));
      host.Reports(10);
      ASSERT_EQ(host.last().size(), 1u);
      const bool is_doubted = (host.last()[0].incomplete_reasons & kSplitConnection) != 0;
      EXPECT_EQ(is_doubted, is_in_doubt) << is_of_sender;
    }
  }
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

TEST(HostVerdicts, TakesNoStateOfBeforeItAskedForThatOfAnIntervalsStart) {
  Host host({Event(1, AckMoved(), ByFlow())});
  host.State(0, 1, 1000);
  host.Reports(10);
  host.Install({Event(2, VolumeAbove(5), ByPort())}, Ms(10));
  host.Reports(30);  // the flow goes on, of which nobody tells now
  host.Install({Event(3, AckMoved(), ByFlow())}, Ms(50));
  host.State(60, 1, 9000);
  host.Packet(3, 60, FlowBucket(1));
  EXPECT_EQ(host.Reports(70), Texts());
  host.State(70, 1, 9500);
  host.Packet(3, 70, FlowBucket(1));
  EXPECT_EQ(host.Reports(80),
            Texts{R"(e3 )" + BucketToJson(ByFlow(), FlowBucket(1)) + " @70 500|0"});
}

TEST(HostVerdicts, SaysThatItMayNotKnowFlowsThatRestSinceBeforeItAsked) {
  const Expr any = Op(AckMoved(), ExprOp::kOr, VolumeAbove(0));
  for (const bool has_tracked : {false, true}) {
    Host host({Event(2, VolumeAbove(5), ByPort())});
    host.Install({Event(2, VolumeAbove(5), ByPort()), Event(3, any, ByFlow())}, Ms(50),
                 /*is_offline=*/false, has_tracked);
    for (const int64_t ms : {60, 140, 150}) {
      host.Packet(3, ms, FlowBucket(1));
      host.Reports(ms + 10);
      ASSERT_EQ(host.last().size(), 1u);
      const bool is_doubtful = (host.last()[0].incomplete_reasons & kConnectionEvicted) != 0;
      EXPECT_EQ(is_doubtful, has_tracked && Ms(ms) < Ms(50) + kFlowTimeout) << ms;
    }
  }
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

}  // namespace
}  // namespace trumpet
