// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The TCP header: its length and its options.

#include <gtest/gtest.h>

#include "lib/packet/test_frames.h"

namespace trumpet {
namespace {

using namespace test_frames;  // NOLINT: the frames read as sentences only without the prefix

constexpr uint16_t kIpv4 = 0x0800;

TcpSegment SegmentWith(const Bytes& options, uint16_t flags = kTcpSyn) {
  TcpHeader tcp;
  tcp.flags = flags;
  tcp.options = options;
  return Parse(Ethernet(kIpv4, Ipv4({}, Tcp(tcp, Zeros(10))))).tcp;
}

TEST(TcpOptions, GiveSegmentSizeAndWindowShiftOfASyn) {
  const TcpSegment tcp = SegmentWith({2, 4, 5, 180, 1, 3, 3, 7});
  EXPECT_TRUE(tcp.has_mss);
  EXPECT_EQ(tcp.mss, 1460);
  EXPECT_TRUE(tcp.has_window_shift);
  EXPECT_EQ(tcp.window_shift, 7);
  EXPECT_EQ(tcp.payload_bytes, 10u);
}

TEST(TcpOptions, AreReadFromASynAckToo) {
  EXPECT_EQ(SegmentWith({2, 4, 5, 180}, kTcpSyn | kTcpAck).mss, 1460);
}

TEST(TcpOptions, MeanNothingWithoutSyn) {
  const TcpSegment tcp = SegmentWith({2, 4, 5, 180, 1, 3, 3, 7}, kTcpAck);
  EXPECT_FALSE(tcp.has_mss);
  EXPECT_FALSE(tcp.has_window_shift);
}

TEST(TcpOptions, ShiftByFourteenAtMost) {
  EXPECT_EQ(SegmentWith({3, 3, 14, 0}).window_shift, 14);
  EXPECT_EQ(SegmentWith({3, 3, 15, 0}).window_shift, 14);
  EXPECT_EQ(SegmentWith({3, 3, 255, 0}).window_shift, 14);
}

TEST(TcpOptions, ShiftByZeroIsAShift) {
  EXPECT_TRUE(SegmentWith({3, 3, 0, 0}).has_window_shift);
  EXPECT_EQ(SegmentWith({3, 3, 0, 0}).window_shift, 0);
}

TEST(TcpOptions, FollowOthersOfAnyLength) {
  const TcpSegment tcp = SegmentWith({8, 10, 0, 0, 0, 0, 0, 0, 0, 0, 4, 2, 2, 4, 1, 0});
  EXPECT_TRUE(tcp.has_mss);
  EXPECT_EQ(tcp.mss, 256);
}

TEST(TcpOptions, EndAtTheEndMark) { EXPECT_FALSE(SegmentWith({0, 0, 0, 0, 2, 4, 5, 180}).has_mss); }

TEST(TcpOptions, EndAtALengthThatCannotBe) {
  for (const uint8_t length : {0, 1, 9, 40, 255}) {
    EXPECT_FALSE(SegmentWith({8, length, 0, 0, 2, 4, 5, 180}).has_mss) << int{length};
  }
  EXPECT_FALSE(SegmentWith({1, 1, 1, 2}).has_mss);
  EXPECT_FALSE(SegmentWith({1, 2, 4, 5}).has_mss);
  EXPECT_FALSE(SegmentWith({1, 1, 3, 3}).has_window_shift);
}

TEST(TcpOptions, AreSkippedWhenTheirLengthIsOdd) {
  const TcpSegment tcp = SegmentWith({2, 3, 9, 3, 4, 9, 9, 1});
  EXPECT_FALSE(tcp.has_mss);
  EXPECT_FALSE(tcp.has_window_shift);
}

TEST(TcpOptions, EndWithTheHeaderNotWithThePacket) {
  TcpHeader tcp;
  tcp.flags = kTcpSyn;
  const Bytes payload{2, 4, 5, 180};
  EXPECT_FALSE(Parse(Ethernet(kIpv4, Ipv4({}, Tcp(tcp, payload)))).tcp.has_mss);
  tcp.words = 6;
  EXPECT_TRUE(Parse(Ethernet(kIpv4, Ipv4({}, Tcp(tcp, payload)))).tcp.has_mss);
}

TEST(TcpOptions, EndWithTheCapture) {
  TcpHeader tcp;
  tcp.flags = kTcpSyn;
  tcp.options = {2, 4, 5, 180};
  Bytes frame = Ethernet(kIpv4, Ipv4({}, Tcp(tcp, {})));
  frame.pop_back();
  EXPECT_TRUE(Parse(frame, 58).tcp.is_present);
  EXPECT_FALSE(Parse(frame, 58).tcp.has_mss);
}

TEST(TcpHeaderLength, IsTakenFromTheDataOffset) {
  TcpHeader tcp;
  tcp.options = Zeros(40);
  EXPECT_EQ(Parse(Ethernet(kIpv4, Ipv4({}, Tcp(tcp, Zeros(10))))).volume, 10u);
}

TEST(TcpHeaderLength, IsTwentyAtLeast) {
  for (const uint8_t words : {0, 1, 4, 5}) {
    TcpHeader tcp;
    tcp.words = words;
    EXPECT_EQ(Parse(Ethernet(kIpv4, Ipv4({}, Tcp(tcp, Zeros(10))))).volume, 10u) << int{words};
  }
}

TEST(TcpHeaderLength, MayExceedThePacketWithoutVolumeGoingBelowZero) {
  TcpHeader tcp;
  tcp.words = 15;
  const ParsedPacket packet = Parse(Ethernet(kIpv4, Ipv4({}, Tcp(tcp, Zeros(39)))));
  EXPECT_EQ(packet.volume, 0u);
  EXPECT_TRUE(packet.tcp.is_present);
}

// Byte 12 of the header tells, also where the rest of the header is not captured.
TEST(TcpHeaderLength, IsKnownOnceItsByteIsCaptured) {
  TcpHeader tcp;
  tcp.options = Zeros(20);
  const Bytes frame = Ethernet(kIpv4, Ipv4({}, Tcp(tcp, Zeros(100))));
  const auto cut = [&frame](size_t tcp_bytes) {
    return Parse(Bytes(frame.begin(), frame.begin() + 34 + tcp_bytes), 174);
  };
  EXPECT_EQ(cut(12).volume, 120u);
  EXPECT_EQ(cut(13).volume, 100u);
  EXPECT_FALSE(cut(19).tcp.is_present);
  EXPECT_TRUE(cut(20).tcp.is_present);
}

}  // namespace
}  // namespace trumpet
