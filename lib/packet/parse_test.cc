// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Frames without tunnels: readings 1 to 5, 8 and 22 of docs/adr/0002.

#include "lib/packet/parse.h"

#include <gtest/gtest.h>

#include <string>

#include "lib/packet/flow_key.h"
#include "lib/packet/test_frames.h"

namespace trumpet {
namespace {

using namespace test_frames;  // NOLINT: the frames read as sentences only without the prefix

constexpr uint16_t kIpv4 = 0x0800;
constexpr uint16_t kIpv6 = 0x86dd;

std::string Text(const ParsedPacket& packet, Field field, Level level = Level::kInnermost) {
  const FieldValue value = ReadField(packet, {field, level});
  return value.is_present() ? FormatValue(value) : "absent";
}

// An IPv4 TCP frame with `payload_bytes` of payload.
Bytes TcpFrame(size_t payload_bytes, const TcpHeader& tcp = {}) {
  return Ethernet(kIpv4, Ipv4({}, Tcp(tcp, Zeros(payload_bytes))));
}

TEST(Parse, ReadsAPlainTcpPacket) {
  Ipv4Header ip;
  ip.tos = 46 << 2 | 1;
  ip.ttl = 17;
  const ParsedPacket packet = Parse(Ethernet(kIpv4, Ipv4(ip, Tcp({1000, 80, 0xfff}, Zeros(5)))));
  EXPECT_EQ(Text(packet, Field::kSrcIp), "10.0.0.1");
  EXPECT_EQ(Text(packet, Field::kDstIp), "10.0.0.2");
  EXPECT_EQ(Text(packet, Field::kSrcPort), "1000");
  EXPECT_EQ(Text(packet, Field::kDstPort), "80");
  EXPECT_EQ(Text(packet, Field::kProtocol), "6");
  EXPECT_EQ(Text(packet, Field::kSrcMac), "02:00:00:00:00:01");
  EXPECT_EQ(Text(packet, Field::kDstMac), "02:00:00:00:00:02");
  EXPECT_EQ(Text(packet, Field::kEthType), "2048");
  EXPECT_EQ(Text(packet, Field::kVlan), "absent");
  EXPECT_EQ(Text(packet, Field::kDscp), "46");
  EXPECT_EQ(Text(packet, Field::kEcn), "1");
  EXPECT_EQ(Text(packet, Field::kTtl), "17");
  EXPECT_EQ(Text(packet, Field::kTcpFlags), "4095");
  EXPECT_EQ(Text(packet, Field::kTunnelId), "absent");
  EXPECT_EQ(packet.bytes, 59u);
  EXPECT_EQ(packet.volume, 5u);
  EXPECT_EQ(packet.tcp.seq, 0x01020304u);
  EXPECT_EQ(packet.tcp.ack, 0x05060708u);
  EXPECT_EQ(packet.tcp.window, 0x1234);
  EXPECT_EQ(packet.tcp.flags, 0xfff);
  EXPECT_EQ(packet.tcp.payload_bytes, 5u);
}

TEST(Parse, ReadsAPlainIpv6Packet) {
  const Ipv6Header ip{kProtocolUdp, {}, 46 << 2 | 3, 17};
  const ParsedPacket packet = Parse(Ethernet(kIpv6, Ipv6(ip, Udp(7, 53, Zeros(30)))));
  EXPECT_EQ(Text(packet, Field::kSrcIp), "fd00::1");
  EXPECT_EQ(Text(packet, Field::kDstIp), "fd00::2");
  EXPECT_EQ(Text(packet, Field::kDstPort), "53");
  EXPECT_EQ(Text(packet, Field::kDscp), "46");
  EXPECT_EQ(Text(packet, Field::kEcn), "3");
  EXPECT_EQ(Text(packet, Field::kTtl), "17");
  EXPECT_EQ(Text(packet, Field::kTcpFlags), "absent");
  EXPECT_EQ(packet.volume, 30u);
  EXPECT_FALSE(packet.tcp.is_present);
}

TEST(Parse, GivesSctpItsPortsAndIcmpNone) {
  Ipv4Header sctp;
  sctp.protocol = kProtocolSctp;
  const ParsedPacket with_ports = Parse(Ethernet(kIpv4, Ipv4(sctp, Sctp(5, 6, Zeros(9)))));
  EXPECT_EQ(Text(with_ports, Field::kDstPort), "6");
  EXPECT_EQ(with_ports.volume, 9u);
  Ipv4Header icmp;
  icmp.protocol = kProtocolIcmp;
  const ParsedPacket without = Parse(Ethernet(kIpv4, Ipv4(icmp, Zeros(64))));
  EXPECT_EQ(Text(without, Field::kDstPort), "absent");
  EXPECT_EQ(without.volume, 64u);
}

TEST(Parse, HasNoIpFieldsForArp) {
  const ParsedPacket packet = Parse(Ethernet(0x0806, Zeros(28)));
  EXPECT_EQ(Text(packet, Field::kEthType), "2054");
  EXPECT_EQ(Text(packet, Field::kSrcIp), "absent");
  EXPECT_EQ(Text(packet, Field::kProtocol), "absent");
  EXPECT_EQ(packet.volume, 0u);
  EXPECT_EQ(FlowKeyOf(packet, 3).ip_family, 0);
}

TEST(Parse, HasNoFieldsBelowFourteenBytes) {
  const Bytes frame = TcpFrame(0);
  const ParsedPacket packet = Parse(Bytes(frame.begin(), frame.begin() + 13), 60);
  EXPECT_EQ(packet.innermost.present, 0);
  EXPECT_EQ(packet.bytes, 60u);
  EXPECT_EQ(Parse({}, 0).innermost.present, 0);
}

TEST(ParseVlan, ReadsTheOutermostTagAndTheTypeAfterAll) {
  const Bytes ip = Ipv4({}, Tcp({}, {}));
  const ParsedPacket one = Parse(Ethernet(0x8100, Tag(0xe005, kIpv4, ip)));
  EXPECT_EQ(Text(one, Field::kVlan), "5");
  EXPECT_EQ(Text(one, Field::kEthType), "2048");
  EXPECT_EQ(Text(one, Field::kDstPort), "80");
  const ParsedPacket two = Parse(Ethernet(0x88a8, Tag(7, 0x8100, Tag(5, kIpv4, ip))));
  EXPECT_EQ(Text(two, Field::kVlan), "7");
  EXPECT_EQ(Text(two, Field::kDstPort), "80");
}

TEST(ParseVlan, GivesAPriorityTagVlanZero) {
  const ParsedPacket packet = Parse(Ethernet(0x8100, Tag(0xe000, kIpv4, Ipv4({}, Tcp({}, {})))));
  EXPECT_EQ(Text(packet, Field::kVlan), "0");
}

TEST(ParseVlan, SkipsEightTagsAndNotNine) {
  Bytes rest = Ipv4({}, Tcp({}, {}));
  uint16_t type = kIpv4;
  for (int tags = 1; tags <= 9; ++tags) {
    rest = Tag(static_cast<uint16_t>(tags), type, rest);
    type = 0x8100;
    const ParsedPacket packet = Parse(Ethernet(type, rest));
    EXPECT_EQ(Text(packet, Field::kVlan), std::to_string(tags));
    EXPECT_EQ(Text(packet, Field::kEthType), tags <= 8 ? "2048" : "33024");
    EXPECT_EQ(Text(packet, Field::kSrcIp), tags <= 8 ? "10.0.0.1" : "absent");
  }
}

TEST(ParseVlan, TakesNothingFromATagCutShort) {
  const ParsedPacket first = Parse(Ethernet(0x8100, {0, 5, 8}), 64);
  EXPECT_EQ(Text(first, Field::kEthType), "33024");
  EXPECT_EQ(Text(first, Field::kVlan), "absent");
  const ParsedPacket second = Parse(Ethernet(0x88a8, Tag(7, 0x8100, {0, 5, 8})), 64);
  EXPECT_EQ(Text(second, Field::kEthType), "33024");
  EXPECT_EQ(Text(second, Field::kVlan), "7");
}

TEST(ParseVlan, KeepsTheLengthOfAn8023Frame) {
  const ParsedPacket packet = Parse(Ethernet(38, Zeros(46)));
  EXPECT_EQ(Text(packet, Field::kEthType), "38");
  EXPECT_EQ(packet.bytes, 60u);
  EXPECT_EQ(Text(Parse(Ethernet(0x8100, Tag(9, 50, Zeros(50)))), Field::kEthType), "50");
}

TEST(ParseIp, RecognisesOnlyASoundHeader) {
  const Bytes frame = TcpFrame(0);
  for (const int first_byte : {0x35, 0x44, 0x40, 0x65, 0x55}) {
    Bytes damaged = frame;
    damaged[14] = static_cast<uint8_t>(first_byte);
    EXPECT_EQ(Text(Parse(damaged), Field::kSrcIp), "absent") << first_byte;
    EXPECT_EQ(Text(Parse(damaged), Field::kEthType), "2048") << first_byte;
  }
  Bytes six = Ethernet(kIpv6, Ipv6({}, {}));
  EXPECT_EQ(Text(Parse(six), Field::kSrcIp), "fd00::1");
  six[14] = 0x40;
  EXPECT_EQ(Text(Parse(six), Field::kSrcIp), "absent");
}

TEST(ParseIp, NeedsTheWholeFixedHeaderCaptured) {
  const Bytes four = TcpFrame(0);
  EXPECT_EQ(Text(Parse(Bytes(four.begin(), four.begin() + 33), 54), Field::kSrcIp), "absent");
  EXPECT_EQ(Text(Parse(Bytes(four.begin(), four.begin() + 34), 54), Field::kSrcIp), "10.0.0.1");
  const Bytes six = Ethernet(kIpv6, Ipv6({}, Tcp({}, {})));
  EXPECT_EQ(Text(Parse(Bytes(six.begin(), six.begin() + 53), 74), Field::kSrcIp), "absent");
  EXPECT_EQ(Text(Parse(Bytes(six.begin(), six.begin() + 54), 74), Field::kSrcIp), "fd00::1");
}

TEST(ParseIp, SkipsIpv4Options) {
  Ipv4Header ip;
  ip.options = Zeros(40);
  const ParsedPacket packet = Parse(Ethernet(kIpv4, Ipv4(ip, Tcp({}, Zeros(11)))));
  EXPECT_EQ(Text(packet, Field::kDstPort), "80");
  EXPECT_EQ(packet.volume, 11u);
}

TEST(ParseIp, ReadsNoHeaderFromPadding) {
  Ipv4Header ip;
  ip.total_length = 20 + 19;
  const ParsedPacket packet = Parse(Ethernet(kIpv4, Ipv4(ip, Tcp({}, Zeros(20)))));
  EXPECT_EQ(Text(packet, Field::kDstPort), "absent");
  EXPECT_FALSE(packet.tcp.is_present);
  EXPECT_EQ(packet.volume, 0u);
}

TEST(ParseIp, TakesVolumeFromTheHeaderNotFromPaddingOrCapture) {
  Bytes padded = TcpFrame(1);
  padded.resize(60);
  EXPECT_EQ(Parse(padded).volume, 1u);
  EXPECT_EQ(Parse(padded).bytes, 60u);
  const Bytes whole = TcpFrame(1000);
  const ParsedPacket cut = Parse(Bytes(whole.begin(), whole.begin() + 54), 1054);
  EXPECT_EQ(cut.volume, 1000u);
  EXPECT_EQ(cut.bytes, 1054u);
  EXPECT_TRUE(cut.tcp.is_present);
}

TEST(ParseIp, TreatsALengthBelowItsHeaderAsUnknown) {
  for (const uint16_t length : {0, 19, 23}) {
    Ipv4Header ip;
    ip.options = Zeros(4);
    ip.total_length = length;
    const ParsedPacket packet = Parse(Ethernet(kIpv4, Ipv4(ip, Tcp({}, Zeros(100)))));
    EXPECT_EQ(Text(packet, Field::kDstPort), "80") << length;
    EXPECT_EQ(packet.volume, 0u) << length;
    EXPECT_EQ(packet.tcp.payload_bytes, 0u) << length;
  }
  const Ipv6Header six{kProtocolTcp, 0, 0, 64};
  const ParsedPacket packet = Parse(Ethernet(kIpv6, Ipv6(six, Tcp({}, Zeros(100)))));
  EXPECT_EQ(Text(packet, Field::kDstPort), "80");
  EXPECT_EQ(packet.volume, 0u);
}

TEST(ParseFragments, ReadTheFirstAsAPacket) {
  Ipv4Header ip;
  ip.fragment = 0x2000;
  const ParsedPacket packet = Parse(Ethernet(kIpv4, Ipv4(ip, Tcp({}, Zeros(28)))));
  EXPECT_EQ(Text(packet, Field::kDstPort), "80");
  EXPECT_EQ(packet.volume, 28u);
  EXPECT_EQ(packet.tcp.payload_bytes, 28u);
}

TEST(ParseFragments, GiveLaterOnesNoPortsAndAllTheirPayload) {
  for (const uint16_t fragment : {0x0001, 0x2001, 0x1fff}) {
    Ipv4Header ip;
    ip.fragment = fragment;
    const ParsedPacket packet = Parse(Ethernet(kIpv4, Ipv4(ip, Tcp({}, Zeros(28)))));
    EXPECT_EQ(Text(packet, Field::kDstPort), "absent");
    EXPECT_EQ(Text(packet, Field::kTcpFlags), "absent");
    EXPECT_EQ(Text(packet, Field::kProtocol), "6");
    EXPECT_FALSE(packet.tcp.is_present);
    EXPECT_EQ(packet.volume, 48u);
  }
}

TEST(ParseFragments, MindNotTheDontFragmentBit) {
  Ipv4Header ip;
  ip.fragment = 0x4000;
  EXPECT_EQ(Text(Parse(Ethernet(kIpv4, Ipv4(ip, Tcp({}, {})))), Field::kDstPort), "80");
}

TEST(ParseFragments, WorkInIpv6) {
  const Bytes tcp = Tcp({}, Zeros(28));
  const Ipv6Header ip{44, {}, 0, 64};
  const ParsedPacket first = Parse(Ethernet(kIpv6, Ipv6(ip, FragmentExtension(6, 1, tcp))));
  EXPECT_EQ(Text(first, Field::kDstPort), "80");
  EXPECT_EQ(first.volume, 28u);
  const ParsedPacket later = Parse(Ethernet(kIpv6, Ipv6(ip, FragmentExtension(6, 8, tcp))));
  EXPECT_EQ(Text(later, Field::kDstPort), "absent");
  EXPECT_EQ(Text(later, Field::kProtocol), "6");
  EXPECT_EQ(later.volume, 48u);
}

TEST(ParseFragments, EndTheWalkAtALaterOne) {
  const Bytes frame =
      Ethernet(kIpv6, Ipv6({44, {}, 0, 64}, FragmentExtension(60, 8, Extension(6, 0, Zeros(20)))));
  const ParsedPacket packet = Parse(frame);
  EXPECT_EQ(Text(packet, Field::kProtocol), "60");
  EXPECT_EQ(packet.volume, 28u);
}

TEST(ParseExtensions, SkipEveryKindByItsLength) {
  for (const uint8_t kind : {0, 43, 60, 135, 139, 140}) {
    const Bytes extension = Extension(kProtocolUdp, 2, Udp(1, 53, Zeros(3)));
    const ParsedPacket packet = Parse(Ethernet(kIpv6, Ipv6({kind, {}, 0, 64}, extension)));
    EXPECT_EQ(Text(packet, Field::kDstPort), "53") << int{kind};
    EXPECT_EQ(packet.volume, 3u) << int{kind};
  }
  // The authentication header counts in 4 bytes: 4 stands for 24 bytes.
  const Bytes authentication = Join({{kProtocolUdp, 4}, Zeros(22), Udp(1, 53, Zeros(3))});
  const ParsedPacket packet = Parse(Ethernet(kIpv6, Ipv6({51, {}, 0, 64}, authentication)));
  EXPECT_EQ(Text(packet, Field::kDstPort), "53");
  EXPECT_EQ(packet.volume, 3u);
}

TEST(ParseExtensions, EndAtWhatIsNone) {
  for (const uint8_t kind : {50, 59, 58}) {
    const Bytes extension = Extension(kProtocolUdp, 0, Udp(1, 53, Zeros(3)));
    const ParsedPacket packet = Parse(Ethernet(kIpv6, Ipv6({kind, {}, 0, 64}, extension)));
    EXPECT_EQ(Text(packet, Field::kProtocol), std::to_string(kind));
    EXPECT_EQ(packet.volume, 19u);
  }
}

TEST(ParseExtensions, SkipSixteenAndNotSeventeen) {
  Bytes rest = Udp(1, 53, Zeros(3));
  uint8_t next = kProtocolUdp;
  for (int count = 1; count <= 17; ++count) {
    rest = Extension(next, 0, rest);
    next = 60;
    const ParsedPacket packet = Parse(Ethernet(kIpv6, Ipv6({next, {}, 0, 64}, rest)));
    EXPECT_EQ(Text(packet, Field::kProtocol), count <= 16 ? "17" : "60") << count;
    EXPECT_EQ(packet.volume, count <= 16 ? 3u : 19u) << count;
  }
}

TEST(ParseExtensions, NameTheOneThatIsNotCaptured) {
  const Bytes frame = Ethernet(kIpv6, Ipv6({0, {}, 0, 64}, Extension(43, 0, Extension(6, 0, {}))));
  const ParsedPacket whole = Parse(frame);
  EXPECT_EQ(Text(whole, Field::kProtocol), "6");
  const ParsedPacket cut = Parse(Bytes(frame.begin(), frame.end() - 1), 70);
  EXPECT_EQ(Text(cut, Field::kProtocol), "43");
  EXPECT_EQ(cut.volume, 8u);
  const ParsedPacket bare = Parse(Bytes(frame.begin(), frame.begin() + 54), 70);
  EXPECT_EQ(Text(bare, Field::kProtocol), "0");
  EXPECT_EQ(bare.volume, 16u);
}

TEST(ParseExtensions, NeverRunPastTheEnd) {
  const Bytes lying = Join({{6, 255}, Zeros(6), Tcp({}, {})});
  const ParsedPacket packet = Parse(Ethernet(kIpv6, Ipv6({0, {}, 0, 64}, lying)));
  EXPECT_EQ(Text(packet, Field::kProtocol), "6");
  EXPECT_EQ(Text(packet, Field::kDstPort), "absent");
  EXPECT_EQ(packet.volume, 0u);
}

TEST(ParsePorts, NeedTheWholeFixedHeader) {
  const struct {
    uint8_t protocol;
    uint16_t bytes;
  } kCases[] = {{kProtocolTcp, 20}, {kProtocolUdp, 8}, {kProtocolSctp, 12}};
  for (const auto& c : kCases) {
    Ipv4Header ip;
    ip.protocol = c.protocol;
    ip.total_length = 100;
    const Bytes whole = Ethernet(kIpv4, Ipv4(ip, Zeros(c.bytes)));
    EXPECT_EQ(Text(Parse(whole, 114), Field::kSrcPort), "0") << int{c.protocol};
    EXPECT_EQ(Parse(whole, 114).volume, 80u - c.bytes);
    const Bytes cut(whole.begin(), whole.end() - 1);
    EXPECT_EQ(Text(Parse(cut, 114), Field::kSrcPort), "absent") << int{c.protocol};
    EXPECT_EQ(Parse(cut, 114).volume, 80u - c.bytes);
    ip.total_length = 20;
    const ParsedPacket empty = Parse(Ethernet(kIpv4, Ipv4(ip, Zeros(c.bytes))));
    EXPECT_EQ(Text(empty, Field::kSrcPort), "absent") << int{c.protocol};
    EXPECT_EQ(empty.volume, 0u);
  }
}

TEST(ParseFlowKey, IsTheInnermostFiveTuple) {
  const FlowKey key = FlowKeyOf(Parse(TcpFrame(0)), 4);
  EXPECT_EQ(key.src_port, 1000);
  EXPECT_EQ(key.dst_port, 80);
  EXPECT_EQ(key.protocol, kProtocolTcp);
  EXPECT_EQ(key.ip_family, 4);
  EXPECT_EQ(key.zone, 4);
  EXPECT_EQ(Reversed(key).src_port, 80);
  EXPECT_EQ(Reversed(Reversed(key)), key);
}

TEST(ParseInPort, IsLeftAsItWas) {
  const Bytes frame = TcpFrame(0);
  ParsedPacket packet;
  packet.has_in_port = true;
  packet.in_port = 9;
  ParsePacket({frame.data(), 54, 54}, ParseOptions(), &packet);
  EXPECT_EQ(Text(packet, Field::kInPort), "9");
  EXPECT_EQ(Text(packet, Field::kInPort, Level::kOuter), "9");
  EXPECT_EQ(Text(packet, Field::kInPort, Level::kInner), "absent");
}

TEST(ParseLevels, MakeOuterTheSameAndInnerAbsentOnAPlainPacket) {
  const ParsedPacket packet = Parse(TcpFrame(0));
  EXPECT_EQ(Text(packet, Field::kDstIp, Level::kOuter), "10.0.0.2");
  EXPECT_EQ(Text(packet, Field::kDstIp, Level::kInner), "absent");
  EXPECT_EQ(Text(packet, Field::kTunnelId, Level::kOuter), "absent");
}

}  // namespace
}  // namespace trumpet
