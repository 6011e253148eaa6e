// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/analyzer/trace_copy.h"

#include <gtest/gtest.h>

#include "lib/model/trace_rule.h"
#include "lib/packet/test_frames.h"

namespace trumpet {
namespace {

using test_frames::Be16;
using test_frames::Be32;
using test_frames::Bytes;
using test_frames::Ethernet;
using test_frames::Gre;
using test_frames::Ipv4;
using test_frames::Ipv4Header;
using test_frames::Ipv6;
using test_frames::Join;
using test_frames::Tag;
using test_frames::Tcp;
using test_frames::Udp;
using test_frames::Vxlan;
using test_frames::Zeros;

constexpr uint64_t kSeed = 7;

TraceCopyOptions Options() {
  TraceCopyOptions options;
  options.seed = kSeed;
  options.debug_dscp = 0x08;
  return options;
}

TraceCopy Read(const Bytes& frame) {
  const Bytes exact(frame.begin(), frame.end());
  const auto size = static_cast<uint32_t>(exact.size());
  TraceCopy copy;
  EXPECT_EQ(ReadTraceCopy({exact.data(), size, size}, 5, Options(), &copy), TraceVerdict::kCopy);
  return copy;
}

TraceVerdict Verdict(const Bytes& frame) {
  const Bytes exact(frame.begin(), frame.end());
  const auto size = static_cast<uint32_t>(exact.size());
  TraceCopy copy;
  return ReadTraceCopy({exact.data(), size, size}, 5, Options(), &copy);
}

Bytes InGre(const Bytes& packet) {
  const Bytes fields = Join({Be32(SliceGreKey(12, 0x777)), Be32(99)});
  return Ethernet(0x0800, Ipv4({kProtocolGre}, Gre(0x3000, 0x6558, fields, packet)));
}

Bytes Packet(uint8_t ttl, const Bytes& payload = {1, 2}) {
  Ipv4Header header;
  header.ttl = ttl;
  return Ipv4(header, Tcp({}, payload));
}

TEST(TraceCopy, LeavesCopiesOfSlicesWhereItIsToldTo) {
  const auto verdict = [](const Bytes& frame) {
    TraceCopyOptions options = Options();
    options.leaves_slices = true;
    const auto size = static_cast<uint32_t>(frame.size());
    TraceCopy copy;
    return ReadTraceCopy({frame.data(), size, size}, 5, options, &copy);
  };
  const auto gre = [](uint32_t tag) {
    return Ethernet(0x0800, Ipv4({kProtocolGre}, Gre(0x2000, 0x6558, Be32(SliceGreKey(12, tag)),
                                                     Ethernet(0x0800, Packet(64)))));
  };
  EXPECT_EQ(verdict(gre(0x777)), TraceVerdict::kSlice);
  EXPECT_EQ(verdict(gre(kFirstProbeTag)), TraceVerdict::kSlice);
  EXPECT_EQ(verdict(gre(TraceTag(0, 0))), TraceVerdict::kCopy);
  EXPECT_EQ(verdict(gre(TraceTag(63, 4095))), TraceVerdict::kCopy);
  EXPECT_EQ(verdict(gre(TraceTag(63, kTraceTestPort))), TraceVerdict::kSlice);
  const auto erspan = [](uint32_t tag) {
    const Bytes header = Join({Be32(0x10000000 | 9), Be32(tag), Ethernet(0x0800, Packet(64))});
    return Ethernet(0x0800, Ipv4({kProtocolGre}, Gre(0x1000, 0x88be, Be32(1), header)));
  };
  EXPECT_EQ(verdict(erspan(5)), TraceVerdict::kSlice);
  EXPECT_EQ(verdict(erspan(TraceTag(1, 2))), TraceVerdict::kCopy);
  EXPECT_EQ(verdict(Ethernet(0x0800, Ipv4({kProtocolUdp},
                                          Udp(9, 4789, Vxlan(5, Ethernet(0x0800, Packet(64))))))),
            TraceVerdict::kCopy);
}

TEST(TraceCopy, SaysWhichSwitchMadeItWhateverTheTunnel) {
  const Bytes packet = Ethernet(0x0800, Packet(60));
  const Bytes erspan = Join({Be32(0x1000000c), Be32(0x777), packet});
  const Bytes frames[] = {
      InGre(packet),
      Ethernet(0x86dd, Ipv6({kProtocolGre}, Gre(0x1000, 0x88be, Be32(99), erspan))),
      Ethernet(0x0800, Ipv4({kProtocolUdp}, Udp(1, 4789, Vxlan(12 << 14 | 0x777, packet)))),
  };
  for (const Bytes& frame : frames) {
    const TraceCopy copy = Read(frame);
    EXPECT_EQ(copy.hop.switch_number, 12);
    EXPECT_EQ(copy.hop.tag, 0x777u);
    EXPECT_EQ(copy.hop.ttl, 60);
    EXPECT_EQ(copy.hop.time, 5);
    EXPECT_EQ(copy.key, Read(frames[0]).key);
    EXPECT_EQ(copy.flow, Read(frames[0]).flow);
  }
  EXPECT_EQ(Read(frames[0]).hop.sequence, 99u);
  EXPECT_EQ(Read(frames[1]).hop.sequence, 99u);
  EXPECT_FALSE(Read(frames[2]).hop.has_sequence);
}

TEST(TraceCopy, IsOfTheSamePacketAfterEveryHopAndInsideAnotherPacket) {
  const TraceCopy plain = Read(InGre(Ethernet(0x0800, Packet(60))));
  const Bytes tagged = Ethernet(0x8100, Tag(7, 0x0800, Packet(59)));
  const Bytes in_ip = Ethernet(0x0800, Ipv4({4}, Packet(58)));
  const Bytes in_vxlan =
      Ethernet(0x0800, Ipv4({kProtocolUdp}, Udp(1, 4789, Vxlan(1, Ethernet(0x0800, Packet(58))))));
  for (const Bytes& packet : {tagged, in_ip, in_vxlan}) {
    EXPECT_EQ(Read(InGre(packet)).key, plain.key);
    EXPECT_EQ(Read(InGre(packet)).flow, plain.flow);
  }
  EXPECT_EQ(Read(InGre(in_ip)).hop.ttl, 58);
  EXPECT_EQ(Read(InGre(in_ip)).hop.outer_ttl, 64);
}

TEST(TraceCopy, OfAnotherPayloadIsOfAnotherPacketOfTheFlow) {
  const TraceCopy one = Read(InGre(Ethernet(0x0800, Packet(60, {1, 2}))));
  const TraceCopy other = Read(InGre(Ethernet(0x0800, Packet(60, {1, 3}))));
  EXPECT_NE(one.key, other.key);
  EXPECT_EQ(one.flow, other.flow);
}

TEST(TraceCopy, OfAFrameWithoutIpIsKnownByItsBytes) {
  const TraceCopy one = Read(InGre(Ethernet(0x0806, Zeros(28))));
  EXPECT_EQ(one.key, Read(InGre(Ethernet(0x0806, Zeros(28)))).key);
  EXPECT_NE(one.key, Read(InGre(Ethernet(0x8808, Zeros(28)))).key);
  EXPECT_EQ(one.hop.ttl, 0);
}

// All frames with which a port stops its neighbour are alike, and none goes farther.
TEST(TraceCopy, OfAFrameThatStopsASenderIsAPacketOfItsOwn) {
  const Bytes frame = Ethernet(0x8808, Join({Be16(1), Be16(9), Zeros(42)}));
  const auto key = [&](uint16_t switch_number, Nanos time) {
    TraceCopy copy;
    const auto size = static_cast<uint32_t>(frame.size());
    EXPECT_EQ(ReadTraceFrame({frame.data(), size, size}, time, switch_number, {}, &copy),
              TraceVerdict::kCopy);
    return copy.key;
  };
  EXPECT_EQ(key(1, 5), key(1, 5));
  EXPECT_NE(key(1, 5), key(1, 6));
  EXPECT_NE(key(1, 5), key(2, 5));
}

TEST(TraceCopy, OfOtherFramesIsRefusedAndSaysWhy) {
  const Bytes packet = Ethernet(0x0800, Packet(60));
  EXPECT_EQ(Verdict(packet), TraceVerdict::kOther);
  EXPECT_EQ(Verdict({}), TraceVerdict::kOther);
  const auto in_plain_gre = [&](uint16_t type, const Bytes& inside) {
    return Ethernet(0x0800, Ipv4({kProtocolGre}, Gre(0, type, {}, inside)));
  };
  EXPECT_EQ(Verdict(in_plain_gre(0x6558, packet)), TraceVerdict::kNoOrigin);
  EXPECT_EQ(Verdict(in_plain_gre(0x88be, packet)), TraceVerdict::kNoOrigin);
  EXPECT_EQ(Verdict(in_plain_gre(0x8949, Join({Zeros(22), packet}))), TraceVerdict::kNoOrigin);
  EXPECT_EQ(Verdict(InGre(Zeros(5))), TraceVerdict::kMalformed);
  EXPECT_EQ(Verdict(InGre({})), TraceVerdict::kMalformed);
}

}  // namespace
}  // namespace trumpet
