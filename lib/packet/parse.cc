// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/packet/parse.h"

#include <cstring>

#include "lib/base/byte_order.h"
#include "lib/packet/parse_ip.h"
#include "lib/packet/parse_plain.h"
#include "lib/packet/parse_transport.h"
#include "lib/packet/parse_tunnel.h"

namespace trumpet {

namespace {

using parse_internal::IpPayload;
using parse_internal::kEthernetBytes;
using parse_internal::kProtocolTypeEthernet;
using parse_internal::Span;
using parse_internal::Tunnel;

constexpr int kMaxVlanTags = 8;
constexpr uint32_t kVlanTagBytes = 4;  // TCI and the type that follows

bool IsVlanTag(uint16_t eth_type) { return eth_type == 0x8100 || eth_type == 0x88a8; }

// Skips the tags that follow `headers->eth_type`; it becomes the type after them.
void SkipVlanTags(Span* span, Headers* headers) {
  headers->present |= FieldBit(Field::kVlan);
  for (int tags = 0; tags < kMaxVlanTags && IsVlanTag(headers->eth_type); ++tags) {
    if (span->available() < kVlanTagBytes) {
      if (tags == 0) headers->present &= static_cast<uint16_t>(~FieldBit(Field::kVlan));
      return;
    }
    const uint8_t* tag = span->here();
    if (tags == 0) headers->vlan = LoadBe16(tag) & 0xfff;
    headers->eth_type = LoadBe16(tag + 2);
    span->offset += kVlanTagBytes;
  }
}

// Moves `span` behind the Ethernet header and its tags; false if it is cut short.
bool ParseEthernet(Span* span, Headers* headers) {
  if (span->available() < kEthernetBytes) return false;
  const uint8_t* ethernet = span->here();
  headers->present |=
      FieldBit(Field::kSrcMac) | FieldBit(Field::kDstMac) | FieldBit(Field::kEthType);
  std::memcpy(headers->dst_mac.data(), ethernet, 6);
  std::memcpy(headers->src_mac.data(), ethernet + 6, 6);
  headers->eth_type = LoadBe16(ethernet + 12);
  span->offset += kEthernetBytes;
  if (__builtin_expect(IsVlanTag(headers->eth_type), 0)) SkipVlanTags(span, headers);
  return true;
}

// Parses IP and what it carries at `span` into the innermost level.  False if no
// IP is recognised there.
bool ParseNetwork(const Span& span, ParsedPacket* packet, IpPayload* ip) {
  Headers* headers = &packet->innermost;
  const int version = parse_internal::RecognisedIpVersion(span, headers->eth_type);
  if (version == 4) {
    *ip = parse_internal::ParseIpv4(span, headers);
  } else if (version == 6) {
    *ip = parse_internal::ParseIpv6(span, headers);
  } else {
    return false;
  }
  parse_internal::ParseTransport(*ip, packet);
  return true;
}

void SetTunnelId(const Tunnel& tunnel, Headers* headers) {
  if (!tunnel.has_id) return;
  headers->present |= FieldBit(Field::kTunnelId);
  headers->tunnel_id = tunnel.id;
}

// Makes the inside of `tunnel` the innermost level, still unread behind Ethernet.
Span EnterTunnel(const Tunnel& tunnel, ParsedPacket* packet) {
  if (!packet->is_tunnelled) {
    packet->outer = packet->innermost;
    SetTunnelId(tunnel, &packet->outer);
    packet->is_tunnelled = true;
  }
  packet->innermost = Headers();
  packet->volume = 0;
  SetTunnelId(tunnel, &packet->innermost);
  Span span = tunnel.inner;
  if (tunnel.protocol_type != kProtocolTypeEthernet) {
    packet->innermost.present |= FieldBit(Field::kEthType);
    packet->innermost.eth_type = tunnel.protocol_type;
  } else {
    ParseEthernet(&span, &packet->innermost);
  }
  return span;
}

// The general way: header by header, tunnel by tunnel.  Not inlined, so that the short way does not
// save the registers that only this one needs.
[[gnu::noinline]] void ParseAnything(const Frame& frame, const ParseOptions& options,
                                     ParsedPacket* packet) {
  packet->innermost = Headers();
  packet->volume = 0;
  packet->tcp = TcpSegment();
  Span span{frame.data, 0, frame.captured_length};
  if (!ParseEthernet(&span, &packet->innermost)) return;
  for (int depth = 0;; ++depth) {
    IpPayload ip;
    if (!ParseNetwork(span, packet, &ip)) return;
    Tunnel tunnel;
    if (!FindTunnel(packet->innermost, ip, options, &tunnel)) return;
    if (depth == kMaxTunnelDepth) {
      packet->depth_exceeded = true;
      return;
    }
    span = EnterTunnel(tunnel, packet);
  }
}

}  // namespace

void ParsePacket(const Frame& frame, const ParseOptions& options, ParsedPacket* packet) {
  packet->is_tunnelled = false;
  packet->depth_exceeded = false;
  packet->bytes = frame.wire_length;
  if (parse_internal::ParsePlain(frame, options, packet)) return;
  ParseAnything(frame, options, packet);
}

}  // namespace trumpet
