// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// One test per sentence of the contract about TCP, and per reading of ADR 0002.

#include "lib/tpm/tcp_tracker.h"

#include <gtest/gtest.h>

#include "lib/tpm/tcp_test_kit.h"

namespace trumpet::testing {
namespace {

// Sends with these gaps are in a burst, respectively not.
constexpr Nanos kClose = 5 * kUs;
constexpr Nanos kApart = kMs;

class HandshakenTap : public Tap {
 public:
  HandshakenTap() {
    FromClient(Syn(100).Mss(1000).Shift(2));
    FromServer(SynAck(500, 101).Mss(1200).Shift(3));
    FromClient(PureAck(501));
  }
};

// --- seq and ack -------------------------------------------------------------------

TEST(Seq, IsTheEndOfTheHighestSequenceSpaceSent) {
  Tap tap;
  EXPECT_EQ(tap.FromClient(Data(1000, 100)).seq(), 1100);
  EXPECT_EQ(tap.FromClient(Data(1000, 50)).seq(), 1100);
  EXPECT_EQ(tap.FromClient(Data(1050, 100)).seq(), 1150);
}

TEST(Seq, CountsSynAndFinAsOneEach) {
  Tap tap;
  EXPECT_EQ(tap.FromClient(Syn(1000)).seq(), 1001);
  EXPECT_EQ(tap.FromClient(Fin(1001).Payload(10)).seq(), 1012);
}

TEST(Seq, IsNotSetBySegmentsThatOccupyNone) {
  Tap tap;
  EXPECT_EQ(tap.FromClient(PureAck(5)).seq(), std::nullopt);
  EXPECT_EQ(tap.FromClient(Data(7, 0).Flags(kTcpRst)).seq(), std::nullopt);
}

TEST(Seq, ContinuesBeyondTheWrapAsA64BitNumber) {
  Tap tap;
  tap.FromClient(Data(0xffffff00u, 0x100));
  EXPECT_EQ(tap.FromClient(Data(0, 10)).seq(), (int64_t{1} << 32) + 10);
}

TEST(Seq, TakesTheNumberNearestToTheHighestEnd) {
  Tap tap;
  tap.FromClient(Data(100, 10));
  EXPECT_EQ(tap.FromClient(Data(0xfffffff0u, 4)).seq(), 110);  // 26 below 110, not 2^32 above
  EXPECT_EQ(tap.FromClient(Data(110 + 0x7fffffffu, 1)).seq(), int64_t{110} + 0x80000000);
}

TEST(Seq, OfTheFirstSegmentIsNearTheAcknowledgementSeenBefore) {
  Tap tap;
  tap.FromServer(PureAck(0xfffffff0u));
  EXPECT_EQ(tap.FromClient(Data(16, 4)).seq(), (int64_t{1} << 32) + 20);
}

TEST(Ack, IsWhatTheOtherSideAcknowledgedLast) {
  Tap tap;
  EXPECT_EQ(tap.FromClient(Data(1000, 100)).ack(), std::nullopt);
  tap.FromServer(PureAck(1050));
  EXPECT_EQ(tap.FromClient(Data(1100, 100)).ack(), 1050);
}

TEST(Ack, DoesNotFall) {
  Tap tap;
  tap.FromClient(Data(1000, 100));
  tap.FromServer(PureAck(1100));
  tap.FromServer(PureAck(1050));
  EXPECT_EQ(tap.FromClient(Data(1100, 100)).ack(), 1100);
}

TEST(Ack, OfARstOrWithoutTheFlagIsIgnored) {
  Tap tap;
  tap.FromClient(Data(1000, 100));
  tap.FromServer(PureAck(1100).Flags(kTcpRst));
  Shot no_flag = Data(1, 0);
  no_flag.tcp.ack = 1100;
  tap.FromServer(no_flag);
  EXPECT_EQ(tap.FromClient(Data(1100, 100)).ack(), std::nullopt);
}

TEST(Ack, FarBeyondWhatWasSentIsTakenAsItIs) {
  Tap tap;
  tap.FromClient(Data(1000, 100));
  tap.FromServer(PureAck(1000000));
  EXPECT_EQ(tap.FromClient(Data(1100, 100)).ack(), 1000000);
}

// --- is_lost -----------------------------------------------------------------------

TEST(Loss, IsAPayloadThatStartsBelowTheHighestEnd) {
  Tap tap;
  EXPECT_FALSE(tap.FromClient(Data(1000, 100)).facts.is_lost);
  EXPECT_FALSE(tap.FromClient(Data(1100, 100)).facts.is_lost);
  EXPECT_TRUE(tap.FromClient(Data(1000, 100)).facts.is_lost);
  EXPECT_TRUE(tap.FromClient(Data(1199, 50)).facts.is_lost);
}

TEST(Loss, CountsALateOriginalToo) {
  Tap tap;
  tap.FromClient(Data(1000, 100));
  tap.FromClient(Data(1200, 100));
  EXPECT_TRUE(tap.FromClient(Data(1100, 100)).facts.is_lost);
}

TEST(Loss, IsNeverTheFirstSegmentOfADirection) {
  Tap tap;
  tap.FromServer(PureAck(5000));
  EXPECT_FALSE(tap.FromClient(Data(1000, 100)).facts.is_lost);
}

TEST(Loss, LooksAtTheFirstPayloadByteAndNotAtTheSyn) {
  Tap tap;
  tap.FromClient(Syn(1000));
  EXPECT_FALSE(tap.FromClient(Syn(1000).Payload(10)).facts.is_lost);  // byte 1001 is new
  EXPECT_TRUE(tap.FromClient(Syn(1000).Payload(10)).facts.is_lost);
}

TEST(Loss, IsNoSynOrFinWithoutPayload) {
  Tap tap;
  tap.FromClient(Syn(1000));
  EXPECT_FALSE(tap.FromClient(Syn(1000)).facts.is_lost);
  tap.FromClient(Fin(1001));
  EXPECT_FALSE(tap.FromClient(Fin(1001)).facts.is_lost);
}

TEST(Loss, IsAPayloadInARstToo) {
  Tap tap;
  tap.FromClient(Data(1000, 100));
  EXPECT_TRUE(tap.FromClient(Data(1000, 10).Flags(kTcpRst)).facts.is_lost);
}

TEST(ZeroWindowProbe, IsNoLossAndInvisible) {
  Tap tap;
  tap.FromClient(Data(1000, 100));
  tap.FromServer(PureAck(1050).Window(0));
  EXPECT_FALSE(tap.FromClient(Data(1050, 1)).facts.is_lost);
  EXPECT_EQ(tap.FromClient(Data(1100, 1)).seq(), 1100);
  EXPECT_EQ(tap.FromServer(PureAck(1101)).sample->owner, 0u);  // of the segment, not of the probe
  EXPECT_FALSE(tap.FromClient(Data(1100, 1)).facts.is_lost);
}

TEST(ZeroWindowProbe, NeedsOneByteWithoutFlagsWhileTheWindowIsClosed) {
  for (const Shot& no_probe :
       {Data(1050, 2), Data(1050, 1).Flags(kTcpFin), Data(1050, 1).Flags(kTcpRst)}) {
    Tap tap;
    tap.FromClient(Data(1000, 100));
    tap.FromServer(PureAck(1050).Window(0));
    EXPECT_TRUE(tap.FromClient(no_probe).facts.is_lost);
  }
  Tap tap;
  tap.FromClient(Data(1000, 100));
  tap.FromServer(PureAck(1050).Window(0));
  tap.FromServer(PureAck(1050).Window(9));
  EXPECT_TRUE(tap.FromClient(Data(1050, 1)).facts.is_lost);
}

TEST(ZeroWindowProbe, IsNotMadeByTheWindowOfARst) {
  Tap tap;
  tap.FromClient(Data(1000, 100));
  tap.FromServer(PureAck(1050));
  tap.FromServer(PureAck(1050).Window(0).Flags(kTcpRst));
  EXPECT_TRUE(tap.FromClient(Data(1050, 1)).facts.is_lost);
}

TEST(KeepAlive, IsNoLossOnceItsByteIsAcknowledged) {
  Tap tap;
  tap.FromClient(Data(1000, 100));
  tap.FromServer(PureAck(1100));
  const Answer answer = tap.FromClient(Data(1099, 1));
  EXPECT_FALSE(answer.facts.is_lost);
  EXPECT_EQ(answer.seq(), 1100);
}

TEST(KeepAlive, WhoseByteIsNotAcknowledgedIsALoss) {
  Tap tap;
  tap.FromClient(Data(1000, 100));
  tap.FromServer(PureAck(1099));
  EXPECT_TRUE(tap.FromClient(Data(1099, 1)).facts.is_lost);
}

// --- is_lost & is_burst ----------------------------------------------------------------

TEST(LostInBurst, IsTheBurstBitOfTheFirstSendingOfTheFirstByte) {
  Tap tap;
  tap.FromClient(Data(1000, 100));
  tap.FromClient(Data(1100, 100), kClose);
  EXPECT_FALSE(tap.FromClient(Data(1000, 200), kApart).facts.lost_in_burst);
  const Answer answer = tap.FromClient(Data(1150, 10), kApart);
  EXPECT_TRUE(answer.facts.lost_in_burst);
  EXPECT_FALSE(answer.facts.is_burst);  // that is the packet's own
}

TEST(LostInBurst, DoesNotLookAtLaterSendings) {
  Tap tap;
  tap.FromClient(Data(1000, 100));
  tap.FromClient(Data(1000, 100), kClose);
  EXPECT_FALSE(tap.FromClient(Data(1000, 100), kClose).facts.lost_in_burst);
}

TEST(LostInBurst, IsZeroForBytesNeverSeen) {
  Tap tap;
  tap.FromClient(Data(1000, 100));
  tap.FromClient(Data(1300, 100), kClose);
  const Answer late = tap.FromClient(Data(1200, 50), kClose);
  EXPECT_TRUE(late.facts.is_lost);
  EXPECT_FALSE(late.facts.lost_in_burst);
  EXPECT_TRUE(tap.FromClient(Data(1200, 50)).facts.lost_in_burst);  // now it was seen
}

TEST(LostInBurst, RemembersTheLast64SegmentsForLongerThan3Seconds) {
  Tap tap;
  tap.FromClient(Data(0, 10));
  for (uint32_t i = 1; i <= 64; i++) tap.FromClient(Data(i * 10, 10), i % 2 != 0 ? kClose : kApart);
  EXPECT_TRUE(tap.FromClient(Data(10, 10), 9 * kSecond).facts.lost_in_burst);
}

TEST(LostInBurst, RemembersThousandsOfSegmentsFor3Seconds) {
  Tap tap;
  for (uint32_t i = 0; i < 20000; i++) {
    tap.FromClient(Data(i * 10, 10), i % 2 != 0 ? kClose : 100 * kUs);
  }
  EXPECT_TRUE(tap.FromClient(Data(10, 10)).facts.lost_in_burst);
  EXPECT_FALSE(tap.FromClient(Data(20, 10)).facts.lost_in_burst);
  EXPECT_EQ(tap.counters().history_evicted, 0u);
}

// --- dup -----------------------------------------------------------------------------

TEST(Dup, IsZeroFromTheFirstSegmentOn) {
  Tap tap;
  EXPECT_EQ(tap.FromClient(PureAck(5)).dup(), 0);
}

TEST(Dup, GrowsByTheMssOfTheSideThatSendsTheDuplicate) {
  HandshakenTap tap;
  tap.FromClient(Data(101, 5000));
  tap.FromServer(PureAck(101));
  tap.FromServer(PureAck(101));
  tap.FromServer(PureAck(101));
  EXPECT_EQ(tap.FromClient(Data(5101, 1)).dup(), 3600);  // the SYN ACK was the first of four
}

TEST(Dup, GrowsBy1460WithoutTheOption) {
  Tap tap;
  tap.FromClient(Data(1000, 5000));
  tap.FromServer(PureAck(1000));
  tap.FromServer(PureAck(1000));
  EXPECT_EQ(tap.FromClient(Data(6000, 1)).dup(), 1460);
}

TEST(Dup, NeedsNoPayloadNoSynNoFinAndEqualAckAndWindow) {
  for (const Shot& other : {Data(1, 1).Ack(1000), Syn(1).Ack(1000), Fin(1).Ack(1000),
                            PureAck(1000).Window(999), PureAck(999)}) {
    Tap tap;
    tap.FromClient(Data(1000, 5000));
    tap.FromServer(PureAck(1000));
    tap.FromServer(other);
    EXPECT_EQ(tap.FromClient(Data(6000, 1)).dup(), 0);
  }
}

TEST(Dup, NeedsDataOutstanding) {
  Tap tap;
  tap.FromClient(Data(1000, 100));
  tap.FromServer(PureAck(1100));
  tap.FromServer(PureAck(1100));
  EXPECT_EQ(tap.FromClient(Data(1100, 5000)).dup(), 0);
}

TEST(Dup, FallsByWhatARisingAckCovers) {
  Tap tap;
  tap.FromClient(Data(1000, 5000));
  for (int i = 0; i < 3; i++) tap.FromServer(PureAck(1000));
  tap.FromServer(PureAck(2000));
  EXPECT_EQ(tap.FromClient(Data(6000, 1)).dup(), 2 * 1460 - 1000);
  tap.FromServer(PureAck(4000));
  EXPECT_EQ(tap.FromClient(Data(6001, 1)).dup(), 0);
}

TEST(Dup, StaysWithinWhatIsOutstanding) {
  Tap tap;
  tap.FromClient(Data(1000, 2000));
  for (int i = 0; i < 5; i++) tap.FromServer(PureAck(1000));
  EXPECT_EQ(tap.FromClient(PureAck(1)).dup(), 2000);
}

TEST(Dup, IsTestedAgainstTheLastAckEvenIfThatWasALowerOne) {
  Tap tap;
  tap.FromClient(Data(1000, 5000));
  tap.FromServer(PureAck(2000));
  tap.FromServer(PureAck(1500));
  tap.FromServer(PureAck(1500));
  EXPECT_EQ(tap.FromClient(Data(6000, 1)).dup(), 1460);
}

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
