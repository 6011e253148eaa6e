// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/analyzer/trace_packet.h"

#include <gtest/gtest.h>

#include <string>

#include "lib/packet/probe_frame.h"
#include "lib/packet/test_frames.h"

namespace trumpet {
namespace {

using test_frames::Be16;
using test_frames::Be32;
using test_frames::Bytes;
using test_frames::Ethernet;
using test_frames::Ipv4;
using test_frames::Ipv4Header;
using test_frames::Ipv6;
using test_frames::Ipv6Header;
using test_frames::Join;
using test_frames::Tag;
using test_frames::Tcp;
using test_frames::TcpHeader;
using test_frames::Udp;
using test_frames::Zeros;

struct Read {
  ControlPacket control;
  TracePacket packet;
};

// Copied to the heap exactly, so that a sanitizer sees a read beyond the end.
Read ReadBytes(const Bytes& frame, uint32_t wire_bytes = 0) {
  const Bytes exact(frame.begin(), frame.end());
  const auto size = static_cast<uint32_t>(exact.size());
  Layers layers;
  ReadLayers(exact.data(), size, LayerKind::kEthernet, {}, &layers);
  EXPECT_GT(layers.count, 0);
  return {ReadControl(exact.data(), layers, 0),
          DescribePacket({exact.data(), size, std::max(size, wire_bytes)}, layers, 0, 0x08)};
}

Bytes Roce(uint8_t opcode, uint8_t syndrome, uint16_t port = 4791) {
  const Bytes transport = Join({{opcode, 0, 0xff, 0xff, 0},
                                {0x01, 0x02, 0x03},
                                {0},
                                {0x0a, 0x0b, 0x0c},
                                {syndrome, 0, 0, 1},
                                Zeros(4)});
  return Ethernet(0x0800, Ipv4({kProtocolUdp}, Udp(49152, port, transport)));
}

TEST(TracePacket, HasTheInnermostAddressesAndPorts) {
  const Bytes inner = Ipv4({}, Tcp({}, {}));
  const Read read = ReadBytes(Ethernet(0x8100, Tag(5, 0x86dd, Ipv6({4}, inner))));
  const FlowKey& flow = read.packet.flow;
  EXPECT_EQ(flow.ip_family, 4);
  EXPECT_EQ(flow.protocol, kProtocolTcp);
  EXPECT_EQ(flow.src_ip[3], 1);
  EXPECT_EQ(flow.dst_ip[3], 2);
  EXPECT_EQ(flow.src_port, 1000);
  EXPECT_EQ(flow.dst_port, 80);
  EXPECT_EQ(read.packet.marks, 0);
}

// MLD comes behind hop-by-hop options, and is looked for as ICMPv6.
TEST(TracePacket, HasTheProtocolBehindExtensionHeaders) {
  const Bytes options = {60, 0, 5, 2, 0, 0, 1, 0};
  const Bytes more = Join({{kProtocolIcmpv6, 1}, Zeros(14)});
  Ipv6Header ip;
  ip.next_header = 0;
  const Bytes frame = Ethernet(0x86dd, Ipv6(ip, Join({options, more, {143, 0}, Zeros(22)})));
  EXPECT_EQ(ReadBytes(frame).packet.flow.protocol, kProtocolIcmpv6);
  const Bytes cut(frame.begin(), frame.begin() + 14 + 40 + 8 + 7);
  EXPECT_EQ(ReadBytes(cut).packet.flow.protocol, 60);
  ip.next_header = 44;
  const Bytes fragment = {kProtocolUdp, 0, 0x05, 0xa8, 0, 0, 0, 1};
  EXPECT_EQ(ReadBytes(Ethernet(0x86dd, Ipv6(ip, fragment))).packet.flow.protocol, kProtocolUdp);
}

TEST(TracePacket, IsAsLongAsItWasBeforeItWasCut) {
  Ipv4Header ip;
  ip.total_length = 1500;
  EXPECT_EQ(ReadBytes(Ethernet(0x0800, Ipv4(ip, Tcp({}, {})))).packet.wire_bytes, 1514u);
  Ipv6Header ip6;
  ip6.payload_length = 1000;
  EXPECT_EQ(ReadBytes(Ethernet(0x86dd, Ipv6(ip6, Tcp({}, {})))).packet.wire_bytes, 1054u);
  EXPECT_EQ(ReadBytes(Ethernet(0x0806, Zeros(28)), 64).packet.wire_bytes, 64u);
}

TEST(TracePacket, IsMarkedByFlagsAndByDscp) {
  for (const uint16_t flag : {kTcpSyn, kTcpFin, kTcpRst}) {
    TcpHeader tcp;
    tcp.flags = static_cast<uint16_t>(flag | kTcpAck);
    const uint8_t syn = flag == kTcpSyn ? kMarkSyn : 0;
    EXPECT_EQ(ReadBytes(Ethernet(0x0800, Ipv4({}, Tcp(tcp, {})))).packet.marks,
              kMarkConnection | syn);
  }
  Ipv4Header ip;
  ip.tos = 0x08 << 2 | 3;
  EXPECT_EQ(ReadBytes(Ethernet(0x0800, Ipv4(ip, Tcp({}, {})))).packet.marks, kMarkDebug);
  ip.tos = 0x10 << 2;
  EXPECT_EQ(ReadBytes(Ethernet(0x0800, Ipv4(ip, Tcp({}, {})))).packet.marks, 0);
  Ipv6Header ip6;
  ip6.traffic_class = 0x28 << 2;
  EXPECT_EQ(ReadBytes(Ethernet(0x86dd, Ipv6(ip6, Tcp({}, {})))).packet.marks, kMarkDebug);
}

// In a tunnel, too; and only as long as the mark was captured.
TEST(TracePacket, OfAProbeIsMarkedAsFarAsItsMarkIsThere) {
  for (const bool is_ipv6 : {false, true}) {
    for (const uint8_t protocol :
         {kProtocolUdp, kProtocolTcp, is_ipv6 ? kProtocolIcmpv6 : kProtocolIcmp}) {
      ProbePacket packet;
      packet.src = {is_ipv6 ? ValueKind::kIpv6 : ValueKind::kIpv4, 0x0a000001};
      packet.dst = {packet.src.kind, 0x0a000002};
      packet.protocol = protocol;
      packet.dst_mac = {2, 0, 0, 0, 0, 2};
      packet.dscp = 0x08;
      const std::string made = MakeProbeFrame(packet, {7, 1}, 0);
      const Bytes frame(made.begin(), made.end());
      const size_t headers = 14 + (is_ipv6 ? 40u : 20u) + (protocol == kProtocolTcp ? 20u : 8u);
      for (size_t bytes = headers; bytes <= frame.size(); ++bytes) {
        const Bytes cut(frame.begin(), frame.begin() + static_cast<long>(bytes));
        const bool is_there = bytes >= headers + kProbeMarkBytes;
        EXPECT_EQ(ReadBytes(cut).packet.marks, is_there ? kMarkDebug | kMarkProbe : kMarkDebug)
            << int{protocol} << ", " << bytes << " bytes";
      }
      const Bytes inner(frame.begin() + 14, frame.end());
      const uint8_t next = is_ipv6 ? 41 : 4;
      EXPECT_EQ(ReadBytes(Ethernet(0x0800, Ipv4({next}, inner))).packet.marks,
                kMarkDebug | kMarkProbe);
    }
  }
}

TEST(TracePacket, OfPauseSaysForHowLongAndForWhichPriorities) {
  const Read pause = ReadBytes(Ethernet(0x8808, Join({Be16(1), Be16(0x1234), Zeros(42)})));
  EXPECT_EQ(pause.control.kind, ControlKind::kPause);
  EXPECT_EQ(pause.control.quanta, 0x1234);
  EXPECT_EQ(pause.packet.marks, kMarkProtocol);
  Bytes quanta = Zeros(16);
  quanta[2 * 3 + 1] = 9;  // priority 3 stops, 4 goes on; 5 is not meant
  quanta[2 * 5 + 1] = 9;
  const Bytes pfc = Join({Be16(0x0101), Be16(0x18), quanta});
  const Read read = ReadBytes(Ethernet(0x8808, pfc));
  EXPECT_EQ(read.control.kind, ControlKind::kPfc);
  EXPECT_EQ(read.control.priorities, 0x18);
  EXPECT_EQ(read.control.paused, 0x08);
  for (size_t size = 0; size < pfc.size(); ++size) {
    const Bytes cut(pfc.begin(), pfc.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_EQ(ReadBytes(Ethernet(0x8808, cut)).control.kind, ControlKind::kNone) << size;
  }
}

TEST(TracePacket, OfRoceIsControlIfItIsCnpOrNak) {
  const Read cnp = ReadBytes(Roce(0x81, 0));
  EXPECT_EQ(cnp.control.kind, ControlKind::kCnp);
  EXPECT_EQ(cnp.control.queue_pair, 0x010203u);
  EXPECT_EQ(cnp.packet.marks, kMarkProtocol);
  const Read nak = ReadBytes(Roce(0x11, 0x60));
  EXPECT_EQ(nak.control.kind, ControlKind::kNak);
  EXPECT_EQ(nak.control.sequence, 0x0a0b0cu);
  EXPECT_EQ(ReadBytes(Roce(0x11, 0x20)).control.kind, ControlKind::kNak);   // receiver not ready
  EXPECT_EQ(ReadBytes(Roce(0x11, 0x1f)).control.kind, ControlKind::kNone);  // an acknowledgement
  EXPECT_EQ(ReadBytes(Roce(0x04, 0)).control.kind, ControlKind::kNone);
  EXPECT_EQ(ReadBytes(Roce(0x81, 0, 4790)).packet.marks, 0);
  const Bytes whole = Roce(0x11, 0x60);
  const Bytes cut(whole.begin(), whole.end() - 8);
  EXPECT_EQ(ReadBytes(cut).control.kind, ControlKind::kNone);
}

TEST(TracePacket, OfBgpIsControlBothWays) {
  TcpHeader tcp;
  tcp.src_port = 179;
  EXPECT_EQ(ReadBytes(Ethernet(0x0800, Ipv4({}, Tcp(tcp, {})))).packet.marks, kMarkProtocol);
  tcp.src_port = 40000;
  tcp.dst_port = 179;
  tcp.flags = kTcpSyn;
  const Read read = ReadBytes(Ethernet(0x86dd, Ipv6({}, Tcp(tcp, {}))));
  EXPECT_EQ(read.control.kind, ControlKind::kBgp);
  EXPECT_EQ(read.packet.marks, kMarkProtocol | kMarkConnection | kMarkSyn);
}

}  // namespace
}  // namespace trumpet
