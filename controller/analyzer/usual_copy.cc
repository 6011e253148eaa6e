// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/analyzer/usual_copy.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "controller/analyzer/packet_identity.h"
#include "lib/base/byte_order.h"
#include "lib/model/trace_rule.h"
#include "lib/packet/bgp.h"
#include "lib/packet/parse_ip.h"
#include "lib/packet/parse_transport.h"
#include "lib/packet/parse_tunnel.h"
#include "lib/packet/probe_frame.h"
#include "lib/packet/roce.h"

namespace trumpet {
namespace {

using parse_internal::kEthernetBytes;
using parse_internal::kEthTypeIpv4;
using parse_internal::kEthTypeIpv6;
using parse_internal::kIpv4MinBytes;
using parse_internal::kIpv6Bytes;
using parse_internal::kTcpMinBytes;
using parse_internal::kUdpBytes;

constexpr uint32_t kTunnelAt = kEthernetBytes + kIpv4MinBytes;
constexpr uint32_t kTagBytes = 4;
constexpr uint8_t kIpv4Plain = 0x45;  // version, and a header without options
constexpr uint16_t kFragment = 0x3fff;
// The first word of GRE: flags and type.
constexpr uint32_t kErspan2 = 0x100088be;
constexpr uint32_t kErspan3 = 0x100022eb;
constexpr uint32_t kKey = 0x20006558;
constexpr uint32_t kKeyAndSequence = 0x30006558;
// With what stands between GRE's first word and the packet.
constexpr uint32_t kErspan2Bytes = 16;
constexpr uint32_t kErspan3Bytes = 20;
constexpr uint32_t kPlatformBytes = 8;
constexpr uint32_t kKeyBytes = 8;
constexpr uint32_t kKeyAndSequenceBytes = 12;

// Where the bytes of a frame end that its IP headers, as far as they were read, speak of.
struct Reach {
  const uint8_t* data;
  uint32_t end;

  bool Has(uint32_t at, uint32_t bytes) const { return at + bytes <= end; }
};

// Where the packet begins in the frame; 0: it is no usual copy.
uint32_t ReadTunnel(const Reach& reach, bool* has_tag, TraceHop* hop) {
  if (!reach.Has(kTunnelAt, kErspan3Bytes + kPlatformBytes)) return 0;  // packets are longer
  const uint8_t* const gre = reach.data + kTunnelAt;
  *has_tag = true;
  switch (LoadBe32(gre)) {
    case kErspan2:
      if (gre[8] >> 4 != 1) return 0;
      hop->switch_number = LoadBe16(gre + 10) & kMaxSwitchNumber;
      hop->tag = LoadBe32(gre + 12) & kMaxSliceTag;
      hop->has_sequence = true;
      hop->sequence = LoadBe32(gre + 4);
      return kTunnelAt + kErspan2Bytes;
    case kErspan3: {
      const uint16_t word = LoadBe16(gre + 18);
      const bool has_ethernet = (word >> 10 & 31) == 0;
      if (gre[8] >> 4 != 2 || !has_ethernet) return 0;
      hop->switch_number = LoadBe16(gre + 10) & kMaxSwitchNumber;
      hop->has_sequence = true;
      hop->sequence = LoadBe32(gre + 4);
      *has_tag = false;
      return kTunnelAt + kErspan3Bytes + ((word & 1) != 0 ? kPlatformBytes : 0);
    }
    case kKeyAndSequence:
      hop->has_sequence = true;
      hop->sequence = LoadBe32(gre + 8);
      [[fallthrough]];
    case kKey: {
      const uint32_t key = LoadBe32(gre + 4);
      hop->switch_number = static_cast<uint16_t>(key >> kSliceTagBits);
      hop->tag = key & kMaxSliceTag;
      return kTunnelAt + (hop->has_sequence ? kKeyAndSequenceBytes : kKeyBytes);
    }
    default:
      return 0;
  }
}

// The packet's own headers, where they stand in the frame.
struct Inside {
  uint32_t ip = 0;
  uint32_t transport = 0;
  uint32_t stated_end = 0;  // where the packet ends by its IP header
  bool is_ipv6 = false;
  uint8_t protocol = 0;
  uint8_t ttl = 0;
  uint8_t dscp = 0;
};

bool FindIp(const Reach& reach, uint32_t packet, Inside* inside) {
  uint32_t type_at = packet + 12;
  if (!reach.Has(type_at, 2 + kTagBytes)) return false;
  uint16_t type = LoadBe16(reach.data + type_at);
  if (type == 0x8100 || type == 0x88a8) {
    type_at += kTagBytes;
    type = LoadBe16(reach.data + type_at);
  }
  inside->ip = type_at + 2;
  inside->is_ipv6 = type == kEthTypeIpv6;
  return inside->is_ipv6 || type == kEthTypeIpv4;
}

bool ReadIpv4(const Reach& reach, Inside* inside) {
  if (!reach.Has(inside->ip, kIpv4MinBytes)) return false;
  const uint8_t* const ip = reach.data + inside->ip;
  if (ip[0] != kIpv4Plain || (LoadBe16(ip + 6) & kFragment) != 0) return false;
  inside->transport = inside->ip + kIpv4MinBytes;
  inside->stated_end = inside->ip + LoadBe16(ip + 2);
  inside->protocol = ip[9];
  inside->ttl = ip[8];
  inside->dscp = ip[1] >> 2;
  return true;
}

bool ReadIpv6(const Reach& reach, Inside* inside) {
  if (!reach.Has(inside->ip, kIpv6Bytes)) return false;
  const uint8_t* const ip = reach.data + inside->ip;
  const uint16_t stated = LoadBe16(ip + 4);
  if (ip[0] >> 4 != 6 || stated == 0) return false;
  inside->transport = inside->ip + kIpv6Bytes;
  inside->stated_end = inside->transport + stated;
  inside->protocol = ip[6];
  inside->ttl = ip[7];
  inside->dscp = LoadBe16(ip) >> 6 & 0x3f;
  return true;
}

void SetFlow(const uint8_t* data, const Inside& inside, FlowKey* flow) {
  const uint8_t* const ip = data + inside.ip;
  flow->protocol = inside.protocol;
  flow->src_port = LoadBe16(data + inside.transport);
  flow->dst_port = LoadBe16(data + inside.transport + 2);
  if (inside.is_ipv6) {
    flow->ip_family = 6;
    std::memcpy(flow->src_ip.data(), ip + 8, 16);
    std::memcpy(flow->dst_ip.data(), ip + 24, 16);
  } else {
    flow->ip_family = 4;
    std::memcpy(flow->src_ip.data(), ip + 12, 4);
    std::memcpy(flow->dst_ip.data(), ip + 16, 4);
  }
}

bool IsProbe(const Reach& reach, uint32_t payload) {
  return payload < reach.end && ReadProbeMark(reach.data + payload, reach.end - payload);
}

bool ReadTcp(const Reach& reach, const Inside& inside, TracePacket* packet) {
  if (!reach.Has(inside.transport, kTcpMinBytes)) return false;
  const uint8_t* const tcp = reach.data + inside.transport;
  const uint32_t bytes = (tcp[parse_internal::kTcpOffsetByte] >> 4) * 4u;
  if (bytes < kTcpMinBytes) return false;
  const FlowKey& flow = packet->flow;
  if (flow.src_port == kBgpPort || flow.dst_port == kBgpPort) packet->marks |= kMarkProtocol;
  const uint8_t flags = tcp[13];
  if ((flags & (kTcpSyn | kTcpFin | kTcpRst)) != 0) packet->marks |= kMarkConnection;
  if ((flags & kTcpSyn) != 0) packet->marks |= kMarkSyn;
  if (IsProbe(reach, inside.transport + bytes)) packet->marks |= kMarkProbe;
  return true;
}

bool ReadUdp(const Reach& reach, const Inside& inside, const LayerOptions& options,
             TracePacket* packet) {
  const uint16_t port = packet->flow.dst_port;
  const bool has_more = parse_internal::IsTunnelPort(port, options.ports) ||
                        port == options.vxlan_gpe_port || port == options.mpls_port ||
                        port == kRocePort;
  if (!reach.Has(inside.transport, kUdpBytes) || has_more) return false;
  if (IsProbe(reach, inside.transport + kUdpBytes)) packet->marks |= kMarkProbe;
  return true;
}

}  // namespace

bool ReadUsualCopy(const Frame& frame, Nanos time, const TraceCopyOptions& options,
                   TraceCopy* copy) {
  const uint8_t* const data = frame.data;
  if (frame.captured_length < kTunnelAt) return false;
  const uint8_t* const outer = data + kEthernetBytes;
  const bool is_gre = LoadBe16(data + 12) == kEthTypeIpv4 && outer[0] == kIpv4Plain &&
                      outer[9] == kProtocolGre && (LoadBe16(outer + 6) & kFragment) == 0;
  if (!is_gre) return false;
  Reach reach{data,
              std::min<uint32_t>(frame.captured_length, kEthernetBytes + LoadBe16(outer + 2))};
  TraceHop& hop = copy->hop;
  hop = TraceHop();
  hop.time = time;
  bool has_tag = false;
  const uint32_t at = ReadTunnel(reach, &has_tag, &hop);
  if (at == 0) return false;
  const bool is_of_trace = IsTraceTag(hop.tag) && TraceTagPort(hop.tag) != kTraceTestPort;
  if (options.leaves_slices && has_tag && !is_of_trace) return false;
  Inside inside;
  if (!FindIp(reach, at, &inside)) return false;
  if (!(inside.is_ipv6 ? ReadIpv6(reach, &inside) : ReadIpv4(reach, &inside))) return false;
  reach.end = std::min(reach.end, inside.stated_end);
  if (!reach.Has(inside.transport, kUdpBytes)) return false;
  TracePacket& packet = copy->packet;
  packet = TracePacket();
  packet.wire_bytes = std::max(frame.wire_length, inside.stated_end) - at;
  const uint8_t debug = options.debug_dscp;
  if (debug != 0 && (inside.dscp & debug) == debug) packet.marks |= kMarkDebug;
  SetFlow(data, inside, &packet.flow);
  const bool is_read = inside.protocol == kProtocolTcp ? ReadTcp(reach, inside, &packet)
                       : inside.protocol == kProtocolUdp
                           ? ReadUdp(reach, inside, options.layers, &packet)
                           : false;
  if (!is_read) return false;
  const std::optional<PacketIdentity> identity =
      options.pairs.Identify(data + inside.ip, frame.captured_length - inside.ip, options.seed);
  if (!identity) return false;
  copy->key = identity->hash;
  copy->flow = identity->flow;
  hop.ttl = hop.outer_ttl = inside.ttl;
  copy->bytes = data + at;
  copy->captured = frame.captured_length - at;
  return true;
}

}  // namespace trumpet
