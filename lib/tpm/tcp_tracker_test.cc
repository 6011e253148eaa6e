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

}  // namespace
}  // namespace trumpet::testing
