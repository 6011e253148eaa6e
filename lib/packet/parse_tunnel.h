// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Tunnel headers: VXLAN, Geneve, GRE.  Private to ParsePacket (parse.cc).
// ADR 0002, reading 6.

#ifndef TRUMPET_LIB_PACKET_PARSE_TUNNEL_H
#define TRUMPET_LIB_PACKET_PARSE_TUNNEL_H

#include <emmintrin.h>

#include <array>
#include <cstdint>

#include "lib/base/byte_order.h"
#include "lib/packet/parse.h"
#include "lib/packet/parse_ip.h"
#include "lib/packet/parse_transport.h"

namespace trumpet {
namespace parse_internal {

constexpr uint16_t kProtocolTypeEthernet = 0x6558;
constexpr uint32_t kEthernetBytes = 14;
constexpr uint32_t kVxlanBytes = 8;
constexpr uint32_t kGeneveMinBytes = 8;
constexpr uint32_t kGreMinBytes = 4;

constexpr uint16_t kGreChecksum = 0x8000;
constexpr uint16_t kGreRouting = 0x4000;
constexpr uint16_t kGreKey = 0x2000;
constexpr uint16_t kGreSequence = 0x1000;
constexpr uint16_t kGreVersion = 0x0007;

struct Tunnel {
  Span inner;
  uint16_t protocol_type;  // of what is inside
  bool has_id;
  uint32_t id;
};

inline bool IsAmong(uint16_t port, const std::array<uint16_t, kMaxTunnelPorts>& ports) {
  bool is_found = false;
  for (uint16_t candidate : ports) is_found |= candidate == port;
  return is_found && port != 0;
}

// All ports at once: every UDP packet asks.
inline bool IsTunnelPort(uint16_t port, const ParseOptions& options) {
  static_assert(sizeof options.vxlan_ports == 8 && sizeof options.geneve_ports == 8);
  const __m128i ports = _mm_unpacklo_epi64(
      _mm_loadl_epi64(reinterpret_cast<const __m128i*>(options.vxlan_ports.data())),
      _mm_loadl_epi64(reinterpret_cast<const __m128i*>(options.geneve_ports.data())));
  const __m128i equal = _mm_cmpeq_epi16(ports, _mm_set1_epi16(static_cast<int16_t>(port)));
  return port != 0 && _mm_movemask_epi8(equal) != 0;
}

inline bool ReadVxlan(const Span& span, Tunnel* tunnel) {
  if (span.available() < kVxlanBytes) return false;
  const uint8_t* vxlan = span.here();
  if ((vxlan[0] & 0x08) == 0) return false;
  *tunnel = {Skip(span, kVxlanBytes), kProtocolTypeEthernet, true, LoadBe32(vxlan + 4) >> 8};
  return true;
}

inline bool ReadGeneve(const Span& span, Tunnel* tunnel) {
  if (span.available() < kGeneveMinBytes) return false;
  const uint8_t* geneve = span.here();
  if (geneve[0] >> 6 != 0) return false;
  const uint32_t bytes = kGeneveMinBytes + (geneve[0] & 0x3fu) * 4;
  *tunnel = {Skip(span, bytes), LoadBe16(geneve + 2), true, LoadBe32(geneve + 4) >> 8};
  return true;
}

inline bool ReadGre(const Span& span, Tunnel* tunnel) {
  if (span.available() < kGreMinBytes) return false;
  const uint16_t flags = LoadBe16(span.here());
  if ((flags & (kGreVersion | kGreRouting)) != 0) return false;
  *tunnel = {Skip(span, kGreMinBytes), LoadBe16(span.here() + 2), false, 0};
  if ((flags & kGreChecksum) != 0) tunnel->inner = Skip(tunnel->inner, 4);
  if ((flags & kGreKey) != 0) {
    if (tunnel->inner.available() < 4) return false;
    tunnel->has_id = true;
    tunnel->id = LoadBe32(tunnel->inner.here());
    tunnel->inner = Skip(tunnel->inner, 4);
  }
  if ((flags & kGreSequence) != 0) tunnel->inner = Skip(tunnel->inner, 4);
  return true;
}

inline bool ReadUdpTunnel(const Span& udp, uint16_t dst_port, const ParseOptions& options,
                          Tunnel* tunnel) {
  if (IsAmong(dst_port, options.vxlan_ports)) return ReadVxlan(Skip(udp, kUdpBytes), tunnel);
  if (IsAmong(dst_port, options.geneve_ports)) return ReadGeneve(Skip(udp, kUdpBytes), tunnel);
  return false;
}

// A skip past the end leaves nothing to read, so it is refused here too.
inline bool IsDecodable(const Tunnel& tunnel) {
  if (tunnel.protocol_type == kProtocolTypeEthernet) {
    return tunnel.inner.available() >= kEthernetBytes;
  }
  return RecognisedIpVersion(tunnel.inner, tunnel.protocol_type) != 0;
}

// Finds the tunnel whose outer headers are `headers`, if its inside can be decoded.
inline bool FindTunnel(const Headers& headers, const IpPayload& ip, const ParseOptions& options,
                       Tunnel* tunnel) {
  if (ip.fragment != Fragment::kNone) return false;
  bool is_tunnel = false;
  if (headers.protocol == kProtocolUdp && headers.Has(Field::kDstPort)) {
    is_tunnel = ReadUdpTunnel(ip.span, headers.dst_port, options, tunnel);
  } else if (headers.protocol == kProtocolGre) {
    is_tunnel = ReadGre(ip.span, tunnel);
  }
  return is_tunnel && IsDecodable(*tunnel);
}

}  // namespace parse_internal
}  // namespace trumpet

#endif  // TRUMPET_LIB_PACKET_PARSE_TUNNEL_H
