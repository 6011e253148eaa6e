// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Tunnels: readings 6 and 7 of docs/adr/0002.

#include <gtest/gtest.h>

#include <string>

#include "lib/packet/test_frames.h"

namespace trumpet {
namespace {

using namespace test_frames;  // NOLINT: the frames read as sentences only without the prefix

constexpr uint16_t kIpv4 = 0x0800;
constexpr uint16_t kIpv6 = 0x86dd;
constexpr uint16_t kEthernetType = 0x6558;

std::string Text(const ParsedPacket& packet, Field field, Level level = Level::kInnermost) {
  const FieldValue value = ReadField(packet, {field, level});
  return value.is_present() ? FormatValue(value) : "absent";
}

// 172.16.0.1 -> 172.16.0.2
Ipv4Header Outer(uint8_t protocol) {
  Ipv4Header ip;
  ip.protocol = protocol;
  ip.src = 0xac100001;
  ip.dst = 0xac100002;
  ip.ttl = 9;
  return ip;
}

Bytes OverUdp(uint16_t port, const Bytes& tunnel) {
  return Ethernet(kIpv4, Ipv4(Outer(kProtocolUdp), Udp(50000, port, tunnel)));
}

Bytes OverGre(const Bytes& gre) { return Ethernet(kIpv4, Ipv4(Outer(kProtocolGre), gre)); }

// 10.0.0.1:1000 -> 10.0.0.2:80 with 30 bytes.
Bytes InnerIpv4() { return Ipv4({}, Tcp({}, Zeros(30))); }
Bytes InnerEthernet() { return Ethernet(kIpv4, InnerIpv4()); }

TEST(Tunnels, ReadTheInsideOfVxlan) {
  const Bytes frame = OverUdp(4789, Vxlan(0xabcdef, InnerEthernet()));
  const ParsedPacket packet = Parse(frame);
  EXPECT_TRUE(packet.is_tunnelled);
  EXPECT_EQ(Text(packet, Field::kDstIp), "10.0.0.2");
  EXPECT_EQ(Text(packet, Field::kDstIp, Level::kInner), "10.0.0.2");
  EXPECT_EQ(Text(packet, Field::kDstIp, Level::kOuter), "172.16.0.2");
  EXPECT_EQ(Text(packet, Field::kDstPort), "80");
  EXPECT_EQ(Text(packet, Field::kDstPort, Level::kOuter), "4789");
  EXPECT_EQ(Text(packet, Field::kTtl, Level::kOuter), "9");
  EXPECT_EQ(Text(packet, Field::kTunnelId), "11259375");
  EXPECT_EQ(Text(packet, Field::kTunnelId, Level::kOuter), "11259375");
  EXPECT_EQ(Text(packet, Field::kTunnelId, Level::kInner), "11259375");
  EXPECT_EQ(packet.bytes, frame.size());
  EXPECT_EQ(packet.volume, 30u);
  EXPECT_TRUE(packet.tcp.is_present);
}

TEST(Tunnels, HaveNoFallbackToTheOuterHeaders) {
  const Bytes arp = Ethernet(0x0806, Zeros(28));
  const Bytes tagged =
      Ethernet(0x8100, Tag(5, kIpv4, Ipv4(Outer(kProtocolUdp), Udp(1, 4789, Vxlan(7, arp)))));
  const ParsedPacket packet = Parse(tagged);
  EXPECT_EQ(Text(packet, Field::kEthType), "2054");
  EXPECT_EQ(Text(packet, Field::kSrcIp), "absent");
  EXPECT_EQ(Text(packet, Field::kVlan), "absent");
  EXPECT_EQ(Text(packet, Field::kVlan, Level::kOuter), "5");
  EXPECT_EQ(packet.volume, 0u);
}

TEST(Tunnels, ReadTheTagOfTheInnerFrame) {
  const Bytes inner = Ethernet(0x8100, Tag(6, kIpv4, InnerIpv4()));
  const ParsedPacket packet = Parse(OverUdp(4789, Vxlan(7, inner)));
  EXPECT_EQ(Text(packet, Field::kVlan), "6");
  EXPECT_EQ(Text(packet, Field::kVlan, Level::kOuter), "absent");
}

TEST(Tunnels, AreVxlanOnlyWithTheFlagAndAnEthernetHeader) {
  Bytes no_flag = Vxlan(7, InnerEthernet());
  no_flag[0] = 0xf7;
  EXPECT_FALSE(Parse(OverUdp(4789, no_flag)).is_tunnelled);
  EXPECT_FALSE(Parse(OverUdp(4789, Vxlan(7, Zeros(13)))).is_tunnelled);
  EXPECT_TRUE(Parse(OverUdp(4789, Vxlan(7, Zeros(14)))).is_tunnelled);
  EXPECT_FALSE(Parse(OverUdp(4788, Vxlan(7, InnerEthernet()))).is_tunnelled);
  EXPECT_FALSE(Parse(OverUdp(4789, {8, 0, 0})).is_tunnelled);
}

TEST(Tunnels, AreNotKnownByTheSourcePort) {
  const Bytes udp = Udp(4789, 50000, Vxlan(7, InnerEthernet()));
  EXPECT_FALSE(Parse(Ethernet(kIpv4, Ipv4(Outer(kProtocolUdp), udp))).is_tunnelled);
}

TEST(Tunnels, ReadTheInsideOfGeneve) {
  for (const size_t option_bytes : {0, 4, 252}) {
    const Bytes options = Zeros(option_bytes);
    const Bytes frame = OverUdp(6081, Geneve(77, kEthernetType, options, InnerEthernet()));
    EXPECT_EQ(Text(Parse(frame), Field::kDstIp), "10.0.0.2") << option_bytes;
    EXPECT_EQ(Text(Parse(frame), Field::kTunnelId), "77");
    EXPECT_EQ(Text(Parse(frame), Field::kSrcMac), "02:00:00:00:00:01");
    const ParsedPacket bare = Parse(OverUdp(6081, Geneve(77, kIpv4, options, InnerIpv4())));
    EXPECT_EQ(Text(bare, Field::kDstIp), "10.0.0.2");
    EXPECT_EQ(Text(bare, Field::kSrcMac), "absent");
    EXPECT_EQ(Text(bare, Field::kEthType), "2048");
  }
}

TEST(Tunnels, AreGeneveOnlyInVersionZeroWithAKnownInside) {
  Bytes version = Geneve(7, kEthernetType, {}, InnerEthernet());
  version[0] |= 0x40;
  EXPECT_FALSE(Parse(OverUdp(6081, version)).is_tunnelled);
  EXPECT_FALSE(Parse(OverUdp(6081, Geneve(7, 0x0806, {}, Zeros(28)))).is_tunnelled);
  Bytes long_options = Geneve(7, kEthernetType, {}, InnerEthernet());
  long_options[0] = 0x3f;
  EXPECT_FALSE(Parse(OverUdp(6081, long_options)).is_tunnelled);
}

TEST(Tunnels, ReadTheInsideOfGre) {
  const struct {
    uint16_t flags;
    Bytes fields;
    const char* tunnel_id;
  } kCases[] = {
      {0x0000, {}, "absent"},
      {0x8000, {1, 2, 0, 0}, "absent"},
      {0x2000, {0, 0, 1, 2}, "258"},
      {0x1000, {9, 9, 9, 9}, "absent"},
      {0xb000, {1, 2, 0, 0, 255, 255, 255, 255, 9, 9, 9, 9}, "4294967295"},
  };
  for (const auto& c : kCases) {
    const ParsedPacket ethernet = Parse(OverGre(Gre(c.flags, 0x6558, c.fields, InnerEthernet())));
    EXPECT_EQ(Text(ethernet, Field::kDstIp), "10.0.0.2") << c.flags;
    EXPECT_EQ(Text(ethernet, Field::kSrcMac), "02:00:00:00:00:01") << c.flags;
    EXPECT_EQ(Text(ethernet, Field::kTunnelId), c.tunnel_id) << c.flags;
    const ParsedPacket four = Parse(OverGre(Gre(c.flags, kIpv4, c.fields, InnerIpv4())));
    EXPECT_EQ(Text(four, Field::kDstIp), "10.0.0.2") << c.flags;
    EXPECT_EQ(Text(four, Field::kSrcMac), "absent") << c.flags;
    EXPECT_EQ(Text(four, Field::kVlan), "absent") << c.flags;
    EXPECT_EQ(Text(four, Field::kEthType), "2048") << c.flags;
    EXPECT_EQ(Text(four, Field::kTunnelId, Level::kOuter), c.tunnel_id) << c.flags;
    const ParsedPacket six = Parse(OverGre(Gre(c.flags, kIpv6, c.fields, Ipv6({}, Tcp({}, {})))));
    EXPECT_EQ(Text(six, Field::kDstIp), "fd00::2") << c.flags;
    EXPECT_EQ(Text(six, Field::kEthType), "34525") << c.flags;
  }
}

TEST(Tunnels, AreGreOnlyInVersionZeroWithoutRouting) {
  EXPECT_FALSE(Parse(OverGre(Gre(0x0001, kIpv4, {}, InnerIpv4()))).is_tunnelled);
  EXPECT_FALSE(Parse(OverGre(Gre(0x4000, kIpv4, {}, InnerIpv4()))).is_tunnelled);
  EXPECT_FALSE(Parse(OverGre(Gre(0, 0x88be, {}, InnerEthernet()))).is_tunnelled);
  const ParsedPacket plain = Parse(OverGre(Gre(0x0001, kIpv4, {}, InnerIpv4())));
  EXPECT_EQ(Text(plain, Field::kProtocol), "47");
  EXPECT_EQ(Text(plain, Field::kDstIp), "172.16.0.2");
  EXPECT_EQ(Text(plain, Field::kTunnelId), "absent");
  EXPECT_EQ(plain.volume, 4u + 70u);
}

TEST(Tunnels, StayPlainWhenTheInsideCannotBeDecoded) {
  EXPECT_FALSE(Parse(OverGre(Gre(0, kIpv4, {}, Zeros(40)))).is_tunnelled);
  EXPECT_FALSE(Parse(OverGre(Gre(0, kIpv6, {}, InnerIpv4()))).is_tunnelled);
  const Bytes frame = OverGre(Gre(0x2000, kIpv4, {0, 0, 0, 7}, InnerIpv4()));
  const ParsedPacket cut = Parse(Bytes(frame.begin(), frame.begin() + 14 + 20 + 8 + 19), 112);
  EXPECT_FALSE(cut.is_tunnelled);
  EXPECT_EQ(cut.volume, 78u);
}

TEST(Tunnels, RunOverIpv6) {
  const Bytes udp = Udp(1, 4789, Vxlan(7, InnerEthernet()));
  const ParsedPacket packet =
      Parse(Ethernet(kIpv6, Ipv6({60, {}, 0, 64}, Extension(kProtocolUdp, 0, udp))));
  EXPECT_EQ(Text(packet, Field::kDstIp), "10.0.0.2");
  EXPECT_EQ(Text(packet, Field::kDstIp, Level::kOuter), "fd00::2");
}

TEST(Tunnels, AreNotLookedForInFragments) {
  for (const uint16_t fragment : {0x2000, 0x0001}) {
    Ipv4Header ip = Outer(kProtocolUdp);
    ip.fragment = fragment;
    const Bytes udp = Udp(1, 4789, Vxlan(7, InnerEthernet()));
    EXPECT_FALSE(Parse(Ethernet(kIpv4, Ipv4(ip, udp))).is_tunnelled) << fragment;
  }
  const Bytes udp = Udp(1, 4789, Vxlan(7, InnerEthernet()));
  const auto over_fragment_header = [&udp](uint16_t word) {
    const Bytes fragment = FragmentExtension(kProtocolUdp, word, udp);
    return Parse(Ethernet(kIpv6, Ipv6({44, {}, 0, 64}, fragment))).is_tunnelled;
  };
  EXPECT_FALSE(over_fragment_header(1));
  EXPECT_TRUE(over_fragment_header(0)) << "the only fragment is the whole packet";
}

TEST(Tunnels, MayCarryFragments) {
  Ipv4Header later;
  later.fragment = 5;
  const Bytes inner = Ethernet(kIpv4, Ipv4(later, Zeros(33)));
  const ParsedPacket packet = Parse(OverUdp(4789, Vxlan(7, inner)));
  EXPECT_TRUE(packet.is_tunnelled);
  EXPECT_EQ(Text(packet, Field::kDstPort), "absent");
  EXPECT_EQ(packet.volume, 33u);
}

TEST(Tunnels, EndWithTheLengthOfTheOuterHeader) {
  const Bytes tunnel = Vxlan(7, InnerEthernet());
  Ipv4Header ip = Outer(kProtocolUdp);
  ip.total_length = 20 + 8 + 8 + 14 + 20 + 19;
  const ParsedPacket inner_tcp_cut = Parse(Ethernet(kIpv4, Ipv4(ip, Udp(1, 4789, tunnel))));
  EXPECT_EQ(Text(inner_tcp_cut, Field::kDstIp), "10.0.0.2");
  EXPECT_EQ(Text(inner_tcp_cut, Field::kDstPort), "absent");
  EXPECT_EQ(inner_tcp_cut.volume, 30u);
  ip.total_length = 20 + 8 + 8 + 13;
  EXPECT_FALSE(Parse(Ethernet(kIpv4, Ipv4(ip, Udp(1, 4789, tunnel)))).is_tunnelled);
  ip.total_length = 0;
  EXPECT_EQ(Text(Parse(Ethernet(kIpv4, Ipv4(ip, Udp(1, 4789, tunnel)))), Field::kDstPort), "80");
}

TEST(Tunnels, UseTheConfiguredPorts) {
  ParseOptions options;
  options.vxlan_ports = {4789, 8472, 0, 0};
  options.geneve_ports = {0, 0, 0, 7000};
  const Bytes vxlan = OverUdp(8472, Vxlan(7, InnerEthernet()));
  const auto is_tunnelled = [&options](const Bytes& frame) {
    return Parse(frame, static_cast<uint32_t>(frame.size()), options).is_tunnelled;
  };
  EXPECT_TRUE(is_tunnelled(vxlan));
  EXPECT_FALSE(Parse(vxlan).is_tunnelled);
  EXPECT_TRUE(is_tunnelled(OverUdp(7000, Geneve(7, kIpv4, {}, InnerIpv4()))));
  EXPECT_FALSE(is_tunnelled(OverUdp(6081, Geneve(7, kIpv4, {}, InnerIpv4()))));
  EXPECT_FALSE(is_tunnelled(OverUdp(0, Vxlan(7, InnerEthernet())))) << "0 is an unused slot";
}

// Level i of the nest has tunnel id i, counted from the outside.
Bytes Nest(uint32_t depth) {
  Bytes frame = InnerEthernet();
  for (uint32_t id = depth; id >= 1; --id) frame = OverUdp(4789, Vxlan(id, frame));
  return frame;
}

TEST(Tunnels, NestEightDeep) {
  for (uint32_t depth = 1; depth <= 8; ++depth) {
    const ParsedPacket packet = Parse(Nest(depth));
    EXPECT_EQ(Text(packet, Field::kDstIp), "10.0.0.2") << depth;
    EXPECT_EQ(Text(packet, Field::kTunnelId), std::to_string(depth));
    EXPECT_EQ(Text(packet, Field::kTunnelId, Level::kInner), std::to_string(depth));
    EXPECT_EQ(Text(packet, Field::kTunnelId, Level::kOuter), "1");
    EXPECT_EQ(Text(packet, Field::kDstIp, Level::kOuter), "172.16.0.2");
    EXPECT_FALSE(packet.depth_exceeded);
  }
}

TEST(Tunnels, StayAsTheyAreBelowTheEighth) {
  const ParsedPacket packet = Parse(Nest(9));
  EXPECT_TRUE(packet.depth_exceeded);
  EXPECT_EQ(Text(packet, Field::kDstIp), "172.16.0.2");
  EXPECT_EQ(Text(packet, Field::kTunnelId), "8");
  EXPECT_EQ(Text(packet, Field::kDstPort), "4789");
  EXPECT_EQ(packet.volume, 8u + 14 + 70);
}

TEST(Tunnels, TakeTheIdOfTheInnermostEvenIfItHasNone) {
  const Bytes gre = OverGre(Gre(0, kEthernetType, {}, InnerEthernet()));
  const ParsedPacket packet = Parse(OverUdp(4789, Vxlan(7, gre)));
  EXPECT_EQ(Text(packet, Field::kTunnelId), "absent");
  EXPECT_EQ(Text(packet, Field::kTunnelId, Level::kInner), "absent");
  EXPECT_EQ(Text(packet, Field::kTunnelId, Level::kOuter), "7");
}

TEST(Tunnels, ShowInPortAtEveryLevel) {
  const Bytes frame = OverUdp(4789, Vxlan(7, InnerEthernet()));
  const uint32_t length = static_cast<uint32_t>(frame.size());
  ParsedPacket packet;
  packet.has_in_port = true;
  packet.in_port = 3;
  ParsePacket({frame.data(), length, length}, ParseOptions(), &packet);
  for (const Level level : {Level::kInnermost, Level::kOuter, Level::kInner}) {
    EXPECT_EQ(Text(packet, Field::kInPort, level), "3");
  }
}

}  // namespace
}  // namespace trumpet
