// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/analyzer/packet_identity.h"

#include <gtest/gtest.h>

#include <optional>

#include "lib/packet/test_frames.h"

namespace trumpet {
namespace {

using namespace test_frames;  // NOLINT: builders of frames

PacketIdentity Identify(const Bytes& frame, bool is_ethernet = true) {
  const auto identity =
      IdentifyPacket(frame.data(), static_cast<uint32_t>(frame.size()), is_ethernet, 1);
  EXPECT_TRUE(identity.has_value());
  return identity.value_or(PacketIdentity());
}

bool AreAlike(const Bytes& a, const Bytes& b) { return Identify(a).hash == Identify(b).hash; }

Bytes Packet(const Ipv4Header& header, const Bytes& payload = Bytes(100, 1)) {
  Ipv4Header udp = header;
  udp.protocol = kProtocolUdp;
  return Ethernet(0x0800, Ipv4(udp, Udp(1, 2, payload)));
}

TEST(PacketIdentity, OverlooksWhatRoutersChange) {
  Ipv4Header later;
  later.ttl = 60;
  later.tos = 0xb8;
  Bytes frame = Packet(later);
  frame[0] = 99;                         // MAC
  frame[14 + 10] = frame[14 + 11] = 77;  // checksum
  EXPECT_TRUE(AreAlike(Packet({}), frame));
  EXPECT_EQ(Identify(frame).ttl, 60);
  const Bytes ip(frame.begin() + 14, frame.end());
  EXPECT_EQ(Identify(ip, false).hash, Identify(frame).hash);
  EXPECT_TRUE(AreAlike(Ethernet(0x8100, Tag(5, 0x0800, ip)), frame));
}

TEST(PacketIdentity, OverlooksWhatRoutersChangeInIpv6) {
  Ipv6Header later{kProtocolUdp};
  later.hop_limit = 3;
  later.traffic_class = 7;
  const Bytes payload = Udp(1, 2, {1, 2, 3});
  EXPECT_TRUE(AreAlike(Ethernet(0x86dd, Ipv6({kProtocolUdp}, payload)),
                       Ethernet(0x86dd, Ipv6(later, payload))));
}

TEST(PacketIdentity, TellsPacketsApart) {
  const Bytes packet = Packet({});
  Bytes other = packet;
  other[14 + 5] = 1;  // IP ID
  EXPECT_FALSE(AreAlike(packet, other));
  EXPECT_FALSE(AreAlike(packet, Packet({}, Bytes(100, 2))));
  EXPECT_FALSE(AreAlike(packet, Packet({}, Bytes(101, 1))));
  Ipv4Header there;
  there.dst = 0x0a000003;
  EXPECT_FALSE(AreAlike(packet, Packet(there)));
}

TEST(PacketIdentity, IsTheSameOfCopiesCutAFewBytesApart) {
  const Bytes packet = Packet({});
  const Bytes at_64(packet.begin(), packet.begin() + 64);
  const Bytes at_60(packet.begin(), packet.begin() + 60);
  EXPECT_TRUE(AreAlike(at_64, at_60));
  EXPECT_FALSE(AreAlike(packet, at_64));  // cut unlike: not alike
}

TEST(PacketIdentity, NamesTheFlow) {
  EXPECT_EQ(Identify(Packet({}, {1})).flow, Identify(Packet({}, {2, 3})).flow);
  const Bytes other = Ethernet(0x0800, Ipv4({kProtocolUdp}, Udp(3, 2, {1})));
  EXPECT_NE(Identify(Packet({}, {1})).flow, Identify(other).flow);
}

TEST(PacketIdentity, IsOnlyOfIp) {
  const Bytes arp = Ethernet(0x0806, Zeros(40));
  EXPECT_FALSE(IdentifyPacket(arp.data(), 54, true, 1).has_value());
  const Bytes packet = Packet({});
  for (uint32_t cut = 0; cut < 34; ++cut) {
    const Bytes exact(packet.begin(), packet.begin() + cut);
    EXPECT_FALSE(IdentifyPacket(exact.data(), cut, true, 1).has_value()) << cut;
  }
}

}  // namespace
}  // namespace trumpet
