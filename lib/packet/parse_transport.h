// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// TCP, UDP and SCTP headers.  Private to ParsePacket (parse.cc); inline because
// every packet passes here.  ADR 0002, readings 4, 5 and 8.

#ifndef TRUMPET_LIB_PACKET_PARSE_TRANSPORT_H
#define TRUMPET_LIB_PACKET_PARSE_TRANSPORT_H

#include <algorithm>
#include <cstdint>

#include "lib/base/byte_order.h"
#include "lib/packet/parse_ip.h"
#include "lib/packet/parsed_packet.h"

namespace trumpet {
namespace parse_internal {

constexpr uint32_t kTcpMinBytes = 20;
constexpr uint32_t kTcpOffsetByte = 12;
constexpr uint32_t kUdpBytes = 8;
constexpr uint32_t kSctpBytes = 12;
constexpr uint8_t kMaxWindowShift = 14;  // RFC 7323, 2.3
constexpr uint16_t kPortBits = FieldBit(Field::kSrcPort) | FieldBit(Field::kDstPort);

inline uint32_t Minus(uint32_t from, uint32_t bytes) { return from > bytes ? from - bytes : 0; }

// Needs 4 readable bytes, which the caller has checked as part of more.
inline void ReadPorts(const uint8_t* header, Headers* headers) {
  headers->present |= kPortBits;
  headers->src_port = LoadBe16(header);
  headers->dst_port = LoadBe16(header + 2);
}

// Reads the options at `span`, up to the first that makes no sense.
inline void ParseTcpOptions(Span span, TcpSegment* tcp) {
  while (span.available() >= 1) {
    const uint8_t kind = span.here()[0];
    if (kind == 0) return;
    if (kind == 1) {
      ++span.offset;
      continue;
    }
    if (span.available() < 2) return;
    const uint32_t bytes = span.here()[1];
    if (bytes < 2 || bytes > span.available()) return;
    if (kind == 2 && bytes == 4) {
      tcp->has_mss = true;
      tcp->mss = LoadBe16(span.here() + 2);
    } else if (kind == 3 && bytes == 3) {
      tcp->has_window_shift = true;
      tcp->window_shift = std::min(span.here()[2], kMaxWindowShift);
    }
    span.offset += bytes;
  }
}

// Where the TCP header ends, as far as the captured bytes tell.
inline uint32_t TcpHeaderBytes(const Span& span) {
  if (span.available() <= kTcpOffsetByte) return kTcpMinBytes;
  return std::max(kTcpMinBytes, (span.here()[kTcpOffsetByte] >> 4) * 4u);
}

inline void ParseTcp(const IpPayload& ip, ParsedPacket* packet) {
  const Span& span = ip.span;
  const uint32_t header_bytes = TcpHeaderBytes(span);
  packet->volume = Minus(ip.stated_bytes, header_bytes);
  if (span.available() < kTcpMinBytes) return;
  const uint8_t* header = span.here();
  Headers* headers = &packet->innermost;
  ReadPorts(header, headers);
  headers->present |= FieldBit(Field::kTcpFlags);
  headers->tcp_flags = LoadBe16(header + kTcpOffsetByte) & 0xfff;

  TcpSegment* tcp = &packet->tcp;
  tcp->is_present = true;
  tcp->flags = headers->tcp_flags;
  tcp->seq = LoadBe32(header + 4);
  tcp->ack = LoadBe32(header + 8);
  tcp->window = LoadBe16(header + 14);
  tcp->payload_bytes = packet->volume;
  if ((tcp->flags & kTcpSyn) != 0) {
    ParseTcpOptions(Skip(CutTo(span, header_bytes), kTcpMinBytes), tcp);
  }
}

// Sets ports, tcpFlags, volume and the TCP segment of the innermost level.
inline void ParseTransport(const IpPayload& ip, ParsedPacket* packet) {
  packet->volume = ip.stated_bytes;
  if (ip.fragment == Fragment::kLater) return;
  Headers* headers = &packet->innermost;
  switch (headers->protocol) {
    case kProtocolTcp:
      ParseTcp(ip, packet);
      break;
    case kProtocolUdp:
      packet->volume = Minus(ip.stated_bytes, kUdpBytes);
      if (ip.span.available() >= kUdpBytes) ReadPorts(ip.span.here(), headers);
      break;
    case kProtocolSctp:
      packet->volume = Minus(ip.stated_bytes, kSctpBytes);
      if (ip.span.available() >= kSctpBytes) ReadPorts(ip.span.here(), headers);
      break;
    default:
      break;
  }
}

}  // namespace parse_internal
}  // namespace trumpet

#endif  // TRUMPET_LIB_PACKET_PARSE_TRANSPORT_H
