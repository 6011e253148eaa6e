// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// One test per sentence of the contract about TCP, and per reading of ADR 0002: windows, round-trip
// times, the life of connections, bursts.

#include <gtest/gtest.h>

#include "lib/tpm/tcp_test_kit.h"
#include "lib/tpm/tcp_tracker.h"

namespace trumpet::testing {
namespace {

// --- rwnd ----------------------------------------------------------------------------

TEST(Rwnd, IsScaledByTheSendersShiftOnceBothSynsHadTheOption) {
  HandshakenTap tap;
  const Answer client = tap.FromClient(PureAck(501).Window(1000));
  EXPECT_EQ(client.rwnd(), 4000);
  EXPECT_FALSE(client.facts.rwnd_unscaled);
  EXPECT_EQ(tap.FromServer(PureAck(101).Window(1000)).rwnd(), 8000);
}

TEST(Rwnd, IsNotScaledInASyn) {
  Tap tap;
  tap.FromClient(Syn(100).Shift(2).Window(900));
  const Answer answer = tap.FromServer(SynAck(500, 101).Shift(3).Window(900));
  EXPECT_EQ(answer.rwnd(), 900);
  EXPECT_TRUE(answer.facts.rwnd_unscaled);
}

TEST(Rwnd, IsNotScaledWhenOneSynLackedTheOptionOrWasNotSeen) {
  Tap tap;
  tap.FromClient(Syn(100).Shift(2));
  EXPECT_TRUE(tap.FromClient(PureAck(501)).facts.rwnd_unscaled);
  tap.FromServer(SynAck(500, 101));
  EXPECT_EQ(tap.FromClient(PureAck(501).Window(7)).rwnd(), 7);
}

TEST(Rwnd, TakesAShiftOfAtMost14) {
  Tap tap;
  tap.FromClient(Syn(100).Shift(255));
  tap.FromServer(SynAck(500, 101).Shift(0));
  EXPECT_EQ(tap.FromClient(PureAck(501).Window(1)).rwnd(), 1 << 14);
}

TEST(Rwnd, IsUndefinedOnARst) {
  Tap tap;
  EXPECT_EQ(tap.FromClient(PureAck(1).Flags(kTcpRst)).rwnd(), std::nullopt);
  EXPECT_EQ(tap.FromClient(PureAck(1)).rwnd(), 1000);
}

// --- rtt -----------------------------------------------------------------------------

TEST(Rtt, IsTheTimeSinceTheNewestSegmentThatTheAckNewlyCovers) {
  Tap tap;
  tap.FromClient(Data(1000, 100));
  tap.FromClient(Data(1100, 100), 3 * kMs);
  const Answer answer = tap.FromServer(PureAck(1200), 7 * kMs);
  ASSERT_TRUE(answer.sample);
  EXPECT_EQ(answer.sample->rtt_ns, 7 * kMs);
  EXPECT_EQ(answer.sample->owner, 1u);
}

TEST(Rtt, LeavesOutSegmentsNotCoveredEntirely) {
  Tap tap;
  tap.FromClient(Data(1000, 100));
  tap.FromClient(Data(1100, 100));
  EXPECT_EQ(tap.FromServer(PureAck(1199)).sample->owner, 0u);
  EXPECT_EQ(tap.FromServer(PureAck(1200)).sample->owner, 1u);
}

TEST(Rtt, NeedsAnAckThatRises) {
  Tap tap;
  tap.FromClient(Data(1000, 100));
  EXPECT_TRUE(tap.FromServer(PureAck(1100)).sample);
  EXPECT_FALSE(tap.FromServer(PureAck(1100)).sample);
  EXPECT_FALSE(tap.FromServer(PureAck(1050)).sample);
}

TEST(Rtt, IsMeasuredOnSynAndFin) {
  Tap tap;
  tap.FromClient(Syn(1000));
  EXPECT_EQ(tap.FromServer(SynAck(1, 1001), 4 * kMs).sample->rtt_ns, 4 * kMs);
  tap.FromClient(Fin(1001));
  EXPECT_EQ(tap.FromServer(PureAck(1002), 5 * kMs).sample->rtt_ns, 5 * kMs);
}

TEST(Rtt, IsNotMeasuredWhenAnyNewlyCoveredSegmentWasSentTwice) {
  Tap tap;
  tap.FromClient(Data(1000, 100));
  tap.FromClient(Data(1100, 100));
  tap.FromClient(Data(1000, 100));
  EXPECT_FALSE(tap.FromServer(PureAck(1200)).sample);
}

TEST(Rtt, IsNotMeasuredWhenPartOfASegmentWasSentTwice) {
  Tap tap;
  tap.FromClient(Data(1000, 100));
  tap.FromClient(Data(1099, 100));
  EXPECT_FALSE(tap.FromServer(PureAck(1100)).sample);
  EXPECT_FALSE(tap.FromServer(PureAck(1199)).sample);
}

TEST(Rtt, CountsASendingBeforeTheLastAcknowledgementAsOneToo) {
  Tap tap;
  tap.FromClient(Data(1000, 100));
  EXPECT_TRUE(tap.FromServer(PureAck(1100)).sample);
  tap.FromClient(Data(1050, 100));
  EXPECT_FALSE(tap.FromServer(PureAck(1150)).sample);
}

TEST(Rtt, TakesTheLastSeenOfSegmentsOutOfOrder) {
  Tap tap;
  tap.FromClient(Data(1000, 100));
  tap.FromClient(Data(1200, 100));
  tap.FromClient(Data(1100, 100));  // a late original, sent once
  EXPECT_EQ(tap.FromServer(PureAck(1300)).sample->owner, 2u);
}

TEST(Rtt, FindsCoveredSegmentsBehindOnesThatAreNot) {
  Tap tap;
  tap.FromClient(Data(1000, 100));
  tap.FromClient(Data(5000, 100));
  tap.FromClient(Data(1100, 100));
  EXPECT_EQ(tap.FromServer(PureAck(1200)).sample->owner, 2u);
  EXPECT_EQ(tap.FromServer(PureAck(5100)).sample->owner, 1u);
}

TEST(Rtt, MayBeMeasuredByAnAckThatCarriesData) {
  Tap tap;
  tap.FromClient(Data(1000, 100));
  EXPECT_TRUE(tap.FromServer(Data(1, 100).Ack(1100)).sample);
}

// --- life of the state -----------------------------------------------------------------

TEST(Connection, LivesExactlyTheFlowTimeoutAfterTheLastPacketOfEitherSide) {
  Tap tap;
  tap.FromClient(Data(1000, 100));
  tap.FromServer(PureAck(1000), 6 * kSecond);
  EXPECT_TRUE(tap.FromClient(Data(1000, 100), 10 * kSecond).facts.is_lost);
  EXPECT_FALSE(tap.FromClient(Data(1000, 100), 10 * kSecond + 1).facts.is_lost);
  EXPECT_EQ(tap.counters().expired, 1u);
}

TEST(Connection, IsKeptAliveByPacketsWithoutAFullTcpHeader) {
  Tap tap;
  FlowKey flow = ClientFlow(1);
  flow.src_port = flow.dst_port = 0;
  tap.See(flow, Data(1000, 100), 0);
  Shot cut;
  const Answer answer = tap.See(flow, cut, 6 * kSecond);
  EXPECT_EQ(answer.facts.defined, 0);
  EXPECT_TRUE(tap.See(flow, Data(1000, 100), 12 * kSecond).facts.is_lost);
}

TEST(Connection, StartsAnewInBothDirectionsWithASynOfAnotherSequence) {
  HandshakenTap tap;
  tap.FromServer(Data(501, 100));
  tap.FromClient(Data(101, 100));
  const Answer syn = tap.FromClient(Syn(9000));
  EXPECT_EQ(syn.seq(), 9001);
  EXPECT_EQ(syn.ack(), std::nullopt);
  EXPECT_FALSE(tap.FromServer(Data(501, 100)).facts.is_lost);
  EXPECT_EQ(tap.counters().restarted, 1u);
}

TEST(Connection, GivesBackItsHistoryWhenItStartsAnew) {
  Tap tap;
  tap.FromClient(Syn(100));
  for (uint32_t i = 0; i < 200; i++) tap.FromClient(Data(1000 + 200 * i, 100));  // with gaps
  EXPECT_GT(tap.counters().history_blocks, 50u);
  tap.FromClient(Syn(900000));
  EXPECT_LE(tap.counters().history_blocks, 2u);
}

TEST(Connection, GoesOnWithTheSameSynAgain) {
  Tap tap;
  tap.FromClient(Syn(1000));
  tap.FromClient(Data(1001, 100));
  EXPECT_EQ(tap.FromClient(Syn(1000)).seq(), 1101);
}

TEST(Connection, ComparesTheSynWithTheLastOneOfEitherDirection) {
  Tap tap;
  tap.FromClient(Syn(1000));
  tap.FromServer(Syn(2000));
  EXPECT_EQ(tap.FromClient(Syn(2000)).ack(), std::nullopt);
  EXPECT_EQ(tap.counters().restarted, 1u);
}

TEST(Connection, PickedUpInTheMiddleStartsAnewWithAnySyn) {
  Tap tap;
  tap.FromClient(Data(1000, 100));
  EXPECT_EQ(tap.FromClient(Syn(999)).seq(), 1000);
  EXPECT_EQ(tap.counters().restarted, 1u);
}

TEST(Connection, SurvivesSynAckRstAndFin) {
  Tap tap;
  tap.FromClient(Data(1000, 100));
  tap.FromServer(SynAck(77, 1000));
  tap.FromClient(Data(1100, 0).Flags(kTcpRst));
  tap.FromServer(Fin(78).Ack(1050));
  EXPECT_TRUE(tap.FromClient(Data(1000, 100)).facts.is_lost);
  EXPECT_EQ(tap.counters().restarted, 0u);
}

TEST(Connection, OfOtherZonesAndProtocolsIsAnother) {
  Tap tap;
  FlowKey tenant = ClientFlow(1);
  tenant.zone = 1;
  tap.See(ClientFlow(1), Data(1000, 100), 0);
  EXPECT_FALSE(tap.See(tenant, Data(1000, 100), 1).facts.is_lost);
  EXPECT_TRUE(tap.See(ClientFlow(1), Data(1000, 100), 2).facts.is_lost);
}

TEST(Connection, ThatIsItsOwnReverseHasOneDirection) {
  Tap tap;
  FlowKey flow = ClientFlow(1);
  flow.dst_ip = flow.src_ip;
  flow.dst_port = flow.src_port;
  tap.See(flow, Data(1000, 100), 0);
  const Answer answer = tap.See(flow, Data(1100, 50).Ack(1100), 5);
  EXPECT_EQ(answer.ack(), 1100);
  EXPECT_EQ(answer.seq(), 1150);
  EXPECT_EQ(answer.sample->rtt_ns, 5);
}

TEST(Connection, ThatMissedPacketsWhileNobodyAskedStartsAnew) {
  Tap tap;
  tap.FromClient(Data(1000, 100));
  tap.See(ClientFlow(1), Data(1100, 100), tap.now() + 1, false);
  EXPECT_FALSE(tap.FromClient(Data(1000, 100)).facts.is_lost);
}

// --- is_burst ------------------------------------------------------------------------

TEST(Burst, IsAGapOfAtMostTheBurstGap) {
  Tap tap;
  EXPECT_FALSE(tap.FromClient(Udp()).facts.is_burst);
  EXPECT_TRUE(tap.FromClient(Udp(), 10 * kUs).facts.is_burst);
  EXPECT_FALSE(tap.FromClient(Udp(), 10 * kUs + 1).facts.is_burst);
  EXPECT_TRUE(tap.FromClient(Udp(), 0).facts.is_burst);
}

TEST(Burst, LooksAtThePacketsOwnDirectionOnly) {
  Tap tap;
  tap.FromClient(Udp());
  EXPECT_FALSE(tap.FromServer(Udp(), kUs).facts.is_burst);
  EXPECT_TRUE(tap.FromClient(Udp(), kUs).facts.is_burst);
}

TEST(Burst, IsNotForgottenByASynRestart) {
  Tap tap;
  tap.FromClient(Data(1000, 100));
  EXPECT_TRUE(tap.FromClient(Syn(5), kUs).facts.is_burst);
}

TEST(Burst, IsNotForgottenByExpiryWhenTheGapIsTheLonger) {
  ConnectionOptions options;
  options.flow_timeout_ns = kMs;
  options.burst_gap_ns = 5 * kMs;
  Tap tap(options);
  tap.FromClient(Data(1000, 100));
  const Answer answer = tap.FromClient(Data(1000, 100), 3 * kMs);
  EXPECT_TRUE(answer.facts.is_burst);
  EXPECT_FALSE(answer.facts.is_lost);
}

TEST(Burst, IsAllThatOtherProtocolsAndCutHeadersHave) {
  Tap tap;
  EXPECT_EQ(tap.FromClient(Udp()).facts.defined, 0);
  Shot cut;
  EXPECT_EQ(tap.FromClient(cut).facts.defined, 0);
}

// --- what the published code gets wrong -----------------------------------------------

TEST(Defects, A_PureAcksAreNotLosses) {
  Tap tap;
  for (uint32_t i = 0; i < 10; i++) {
    EXPECT_FALSE(tap.FromClient(Data(1000, 0).Ack(i * 1000)).facts.is_lost);
  }
}

TEST(Defects, B_ALossIsSeenAfter200IdleMilliseconds) {
  Tap tap;
  tap.FromClient(Data(1000, 1460));
  tap.FromClient(Data(2460, 1460));
  EXPECT_TRUE(tap.FromClient(Data(1000, 1460), 200 * kMs).facts.is_lost);
}

TEST(Defects, C_SequenceWrapIsNoLoss) {
  Tap tap;
  for (uint32_t i = 0; i < 10; i++) {
    EXPECT_FALSE(tap.FromClient(Data(0xffffffffu - 5 * 1460 + i * 1460, 1460)).facts.is_lost);
  }
}

}  // namespace
}  // namespace trumpet::testing
