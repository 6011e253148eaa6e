// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ParsedPacket: everything the monitor wants to know of one frame, as values.
//
// Filled by ParsePacket (parse.h) from captured bytes and two lengths.  Holds no
// pointer into the frame.  Readings of unclear headers: docs/adr/0002.

#ifndef TRUMPET_LIB_PACKET_PARSED_PACKET_H
#define TRUMPET_LIB_PACKET_PARSED_PACKET_H

#include <array>
#include <cstdint>

#include "lib/packet/fields.h"

namespace trumpet {

using MacBytes = std::array<uint8_t, 6>;
using IpBytes = std::array<uint8_t, 16>;  // IPv4 uses the first 4, the rest is 0

constexpr uint16_t FieldBit(Field field) {
  return static_cast<uint16_t>(1u << static_cast<int>(field));
}

constexpr uint8_t kProtocolIcmp = 1;
constexpr uint8_t kProtocolTcp = 6;
constexpr uint8_t kProtocolUdp = 17;
constexpr uint8_t kProtocolGre = 47;
constexpr uint8_t kProtocolIcmpv6 = 58;
constexpr uint8_t kProtocolSctp = 132;

constexpr uint16_t kTcpFin = 0x001;
constexpr uint16_t kTcpSyn = 0x002;
constexpr uint16_t kTcpRst = 0x004;
constexpr uint16_t kTcpPsh = 0x008;
constexpr uint16_t kTcpAck = 0x010;

// The headers of one encapsulation level.  Numbers are in host order; a member
// is meaningful only if its bit is in `present` (inPort has none: see ParsedPacket).
struct Headers {
  uint16_t present = 0;   // FieldBit() of the fields that are there
  uint8_t ip_family = 0;  // 4, 6, or 0: not IP
  uint8_t protocol = 0;
  uint8_t dscp = 0;
  uint8_t ecn = 0;  // the two bits, 0-3
  uint8_t ttl = 0;
  uint16_t eth_type = 0;
  uint16_t vlan = 0;
  uint16_t src_port = 0;
  uint16_t dst_port = 0;
  uint16_t tcp_flags = 0;  // 12 bits
  uint32_t tunnel_id =
      0;  // of the tunnel: innermost level: the last one; outer level: the first one
  MacBytes src_mac{};
  MacBytes dst_mac{};
  IpBytes src_ip{};
  IpBytes dst_ip{};

  bool Has(Field field) const { return (present & FieldBit(field)) != 0; }
};

// The TCP header of the innermost headers; meaningful only if `is_present`.
struct TcpSegment {
  bool is_present = false;  // the 20 fixed bytes are there
  uint8_t window_shift = 0;
  bool has_window_shift = false;  // option 3 on a SYN
  bool has_mss = false;           // option 2 on a SYN
  uint16_t mss = 0;
  uint16_t flags = 0;   // 12 bits
  uint16_t window = 0;  // raw
  uint32_t seq = 0;
  uint32_t ack = 0;
  uint32_t payload_bytes = 0;  // equals ParsedPacket::volume
};

struct ParsedPacket {
  Headers innermost;
  Headers outer;  // meaningful only if is_tunnelled; read through outermost()
  bool is_tunnelled = false;
  bool has_in_port = false;
  bool depth_exceeded = false;  // a tunnel below the deepest level was left unread
  uint32_t in_port = 0;
  uint32_t bytes = 0;   // whole outer frame on the wire, without FCS
  uint32_t volume = 0;  // payload bytes of the innermost headers
  TcpSegment tcp;

  const Headers& outermost() const { return is_tunnelled ? outer : innermost; }
};

// The value of a field in the packet; kAbsent when the packet lacks it.
FieldValue ReadField(const ParsedPacket& packet, const FieldRef& ref);

}  // namespace trumpet

#endif  // TRUMPET_LIB_PACKET_PARSED_PACKET_H
