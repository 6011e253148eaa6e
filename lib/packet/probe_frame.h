// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ProbeFrame: packets that the controller makes up to see which way they take (docs/probes.md).
//
// They are UDP, TCP or ICMP over IPv4 or IPv6, begin their payload with a mark by which they are
// known again, and have a wrong checksum there, so that no host takes them for its own.  The header
// checksum of IPv4 is right: switches and routers on the way look at nothing else.
//
// Threads: values and pure functions.

#ifndef TRUMPET_LIB_PACKET_PROBE_FRAME_H
#define TRUMPET_LIB_PACKET_PROBE_FRAME_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "lib/packet/fields.h"
#include "lib/packet/parsed_packet.h"

namespace trumpet {

// Eight bytes that nobody else begins with, the number of the probe, and that of the packet.
constexpr size_t kProbeMarkBytes = 20;

struct ProbeMark {
  uint64_t probe = 0;   // drawn at random, for nobody to foresee
  uint32_t packet = 0;  // of the probe, from 0
};

// None if the payload does not begin with one.
std::optional<ProbeMark> ReadProbeMark(const uint8_t* payload, size_t bytes);

using MacBytes = std::array<uint8_t, 6>;

// Whom bridges learn probes to come from, if nobody says otherwise.
constexpr MacBytes kProbeMac = {0x02, 0x54, 0x52, 0x4d, 0x50, 0x50};

constexpr uint16_t kLeastProbeBytes = 60;
constexpr uint16_t kMostProbeBytes = 9018;

struct ProbePacket {
  FieldValue src;  // kIpv4 or kIpv6, both of one kind
  FieldValue dst;
  uint8_t protocol = kProtocolUdp;  // or TCP, ICMP with IPv4, ICMPv6 with IPv6
  uint16_t src_port = 33434;        // UDP and TCP; the usual ports of traceroute
  uint16_t dst_port = 33434;
  uint16_t tcp_flags = kTcpAck;  // 12 bits
  uint8_t icmp_type = 8;         // an echo request
  uint8_t icmp_code = 0;
  MacBytes src_mac = kProbeMac;
  MacBytes dst_mac{};
  std::optional<uint16_t> vlan;  // 0 to 4095
  uint8_t dscp = 0;
  uint8_t ecn = 0;
  uint8_t ttl = 64;
  uint16_t bytes = 100;  // of the frame, without its check sequence; more if the mark needs it
};

// `debug_dscp`: bits that the DSCP gets besides, by which switches copy it; 0: none.
// The packet must be as above says; ProbePacketProblem() tells.
std::string MakeProbeFrame(const ProbePacket& packet, const ProbeMark& mark, uint8_t debug_dscp);
// Why there cannot be such a packet; empty: there can.
std::string ProbePacketProblem(const ProbePacket& packet);

// A packet with the headers of this one, outermost ones, and as long: for a switch the same, but
// for options.  `wire_bytes` is how long it was, if it was cut.  None if it is not Ethernet with at
// most one VLAN, IP, and whole headers of UDP, TCP or ICMP in the first fragment.
std::optional<ProbePacket> ProbePacketLike(const uint8_t* frame, size_t captured,
                                           uint32_t wire_bytes);

}  // namespace trumpet

#endif  // TRUMPET_LIB_PACKET_PROBE_FRAME_H
