// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The short way for most packets: untagged IPv4 without options, not fragmented,
// TCP without SYN or UDP to no tunnel port.  Private to ParsePacket (parse.cc).
// Says what the general way would say, but writes each value once.

#ifndef TRUMPET_LIB_PACKET_PARSE_PLAIN_H
#define TRUMPET_LIB_PACKET_PARSE_PLAIN_H

#include <emmintrin.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "lib/base/byte_order.h"
#include "lib/packet/parse.h"
#include "lib/packet/parse_ip.h"
#include "lib/packet/parse_transport.h"
#include "lib/packet/parse_tunnel.h"

namespace trumpet {
namespace parse_internal {

constexpr uint32_t kPlainIpOffset = kEthernetBytes;
constexpr uint32_t kPlainL4Offset = kPlainIpOffset + kIpv4MinBytes;
constexpr uint32_t kPlainMinBytes = kPlainL4Offset + kTcpMinBytes;
constexpr uint16_t kPlainFieldBits = kIpFieldBits | kPortBits | FieldBit(Field::kSrcMac) |
                                     FieldBit(Field::kDstMac) | FieldBit(Field::kEthType);

// One store of 16 bytes, because that is how keys read it back.
inline void StoreIpv4(const uint8_t* from, IpBytes* to) {
  int32_t address;
  std::memcpy(&address, from, sizeof address);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to->data()), _mm_cvtsi32_si128(address));
}

// One store of both: read back as one word, two stores would stall it.
inline void StorePorts(uint16_t src_port, uint16_t dst_port, Headers* to) {
  static_assert(offsetof(Headers, dst_port) == offsetof(Headers, src_port) + 2 &&
                __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
  const uint32_t ports = src_port | static_cast<uint32_t>(dst_port) << 16;
  std::memcpy(reinterpret_cast<uint8_t*>(to) + offsetof(Headers, src_port), &ports, sizeof ports);
}

// Only the innermost level, volume and tcp are set, and only if true is returned.
inline bool ParsePlain(const Frame& frame, const ParseOptions& options, ParsedPacket* packet) {
  if (frame.captured_length < kPlainMinBytes) return false;
  const uint8_t* ethernet = frame.data;
  const uint8_t* ip = ethernet + kPlainIpOffset;
  const uint8_t* l4 = ethernet + kPlainL4Offset;
  const uint32_t total_bytes = LoadBe16(ip + 2);
  const bool is_plain_ip = LoadBe32(ethernet + 12) >> 8 == 0x080045 &&
                           (LoadBe16(ip + 6) & 0x3fff) == 0 &&
                           total_bytes >= kIpv4MinBytes + kTcpMinBytes;
  if (!is_plain_ip) return false;
  const uint8_t protocol = ip[9];
  const uint16_t dst_port = LoadBe16(l4 + 2);
  uint16_t tcp_flags = 0;
  uint32_t l4_bytes = kUdpBytes;
  if (protocol == kProtocolTcp) {
    tcp_flags = LoadBe16(l4 + kTcpOffsetByte) & 0xfff;
    if ((tcp_flags & kTcpSyn) != 0) return false;
    l4_bytes = std::max(kTcpMinBytes, (l4[kTcpOffsetByte] >> 4) * 4u);
  } else if (protocol != kProtocolUdp || IsTunnelPort(dst_port, options)) {
    return false;
  }
  const uint32_t volume = Minus(total_bytes - kIpv4MinBytes, l4_bytes);
  packet->volume = volume;

  Headers& headers = packet->innermost;
  headers.ip_family = 4;
  headers.protocol = protocol;
  headers.dscp = ip[1] >> 2;
  headers.ecn = ip[1] & 3;
  headers.ttl = ip[8];
  headers.eth_type = kEthTypeIpv4;
  headers.vlan = 0;
  StorePorts(LoadBe16(l4), dst_port, &headers);
  headers.tcp_flags = tcp_flags;
  headers.tunnel_id = 0;
  std::memcpy(headers.src_mac.data(), ethernet + 6, 6);
  std::memcpy(headers.dst_mac.data(), ethernet, 6);
  StoreIpv4(ip + 12, &headers.src_ip);
  StoreIpv4(ip + 16, &headers.dst_ip);
  if (protocol == kProtocolUdp) {
    headers.present = kPlainFieldBits;
    packet->tcp = TcpSegment();
    return true;
  }
  headers.present = kPlainFieldBits | FieldBit(Field::kTcpFlags);
  TcpSegment& tcp = packet->tcp;
  tcp.is_present = true;
  tcp.window_shift = 0;
  tcp.has_window_shift = false;
  tcp.has_mss = false;
  tcp.mss = 0;
  tcp.flags = tcp_flags;
  tcp.window = LoadBe16(l4 + 14);
  tcp.seq = LoadBe32(l4 + 4);
  tcp.ack = LoadBe32(l4 + 8);
  tcp.payload_bytes = volume;
  return true;
}

}  // namespace parse_internal
}  // namespace trumpet

#endif  // TRUMPET_LIB_PACKET_PARSE_PLAIN_H
