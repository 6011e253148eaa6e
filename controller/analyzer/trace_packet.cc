// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/analyzer/trace_packet.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "lib/base/byte_order.h"
#include "lib/packet/bgp.h"
#include "lib/packet/parse_ip.h"
#include "lib/packet/probe_frame.h"
#include "lib/packet/roce.h"

namespace trumpet {
namespace {

constexpr uint32_t kIpv6Bytes = 40;

ControlPacket ToControl(const MacControl& frame) {
  ControlPacket control;
  control.kind = frame.has_priorities ? ControlKind::kPfc : ControlKind::kPause;
  control.priorities = frame.has_priorities ? frame.priorities : 0;
  control.quanta = frame.has_priorities ? 0 : frame.quanta[0];
  for (size_t i = 0; frame.has_priorities && i < frame.quanta.size(); ++i) {
    control.paused |= static_cast<uint8_t>((frame.quanta[i] != 0 ? 1u : 0u) << i);
  }
  return control;
}

ControlPacket ToControl(const RocePacket& roce) {
  ControlPacket control;
  const bool is_refused =
      roce.ack && (roce.ack->kind == RoceAckKind::kNak || roce.ack->kind == RoceAckKind::kNotReady);
  if (roce.kind == RoceKind::kCnp) {
    control.kind = ControlKind::kCnp;
  } else if (roce.kind == RoceKind::kAcknowledge && is_refused) {
    control.kind = ControlKind::kNak;
    control.sequence = roce.sequence;
  } else {
    return control;
  }
  control.queue_pair = roce.queue_pair;
  return control;
}

// The innermost layer of IP; null: there is none.
const Layer* FindIp(const Layers& layers, int first) {
  const Layer* found = nullptr;
  for (int i = first; i < layers.count; ++i) {
    const Layer& layer = layers.list[static_cast<size_t>(i)];
    if (layer.kind == LayerKind::kIpv4 || layer.kind == LayerKind::kIpv6) found = &layer;
  }
  return found;
}

const Layer* FindTransport(const Layers& layers, const Layer& ip) {
  const Layer* const next = &ip + 1;
  if (next == layers.list.data() + layers.count) return nullptr;
  switch (next->kind) {
    case LayerKind::kTcp:
    case LayerKind::kUdp:
    case LayerKind::kSctp:
      return next;
    default:
      return nullptr;
  }
}

// What a switch cut off counts, too: IP says how long it was.
uint32_t StatedBytes(const Frame& frame, const Layers& layers, int first) {
  const uint32_t at = layers.list[static_cast<size_t>(first)].at;
  const uint32_t seen = frame.wire_length - std::min(frame.wire_length, at);
  for (int i = first; i < layers.count; ++i) {
    const Layer& layer = layers.list[static_cast<size_t>(i)];
    const uint32_t before = layer.at - at;
    if (layer.kind == LayerKind::kIpv4) {
      return std::max(seen, before + LoadBe16(frame.data + layer.at + 2));
    }
    if (layer.kind == LayerKind::kIpv6) {
      return std::max(seen, before + kIpv6Bytes + LoadBe16(frame.data + layer.at + 4));
    }
  }
  return seen;
}

// Behind extension headers, as far as they were captured.
uint8_t Ipv6ProtocolOf(const uint8_t* data, const Layer& ip) {
  uint8_t protocol = data[ip.at + 6];
  parse_internal::IpPayload payload{
      {data, ip.at + kIpv6Bytes, ip.at + ip.bytes}, 0, parse_internal::Fragment::kNone};
  parse_internal::SkipIpv6Extensions(&protocol, &payload);
  return protocol;
}

void SetFlow(const uint8_t* data, const Layers& layers, const Layer& ip, FlowKey* flow) {
  const uint8_t* const header = data + ip.at;
  if (ip.kind == LayerKind::kIpv4) {
    flow->ip_family = 4;
    flow->protocol = header[9];
    std::memcpy(flow->src_ip.data(), header + 12, 4);
    std::memcpy(flow->dst_ip.data(), header + 16, 4);
  } else {
    flow->ip_family = 6;
    flow->protocol = Ipv6ProtocolOf(data, ip);
    std::memcpy(flow->src_ip.data(), header + 8, 16);
    std::memcpy(flow->dst_ip.data(), header + 24, 16);
  }
  const Layer* const transport = FindTransport(layers, ip);
  if (transport == nullptr) return;
  flow->src_port = LoadBe16(data + transport->at);
  flow->dst_port = LoadBe16(data + transport->at + 2);
}

uint8_t DscpOf(const uint8_t* data, const Layer& ip) {
  const uint8_t* const header = data + ip.at;
  const unsigned traffic_class =
      ip.kind == LayerKind::kIpv4 ? header[1] : (LoadBe16(header) >> 4) & 0xffu;
  return static_cast<uint8_t>(traffic_class >> 2);
}

// ICMP is no layer; its first eight bytes are none of what it carries.
bool IsProbe(const uint8_t* data, const Layers& layers, const Layer& ip, uint8_t protocol) {
  constexpr uint32_t kIcmpBytes = 8;
  const Layer* const transport = FindTransport(layers, ip);
  const Layer* const last = transport != nullptr ? transport : &ip;
  if (last + 1 != layers.list.data() + layers.count) return false;
  const bool is_icmp =
      transport == nullptr && (protocol == kProtocolIcmp || protocol == kProtocolIcmpv6);
  const uint32_t at = layers.payload_at + (is_icmp ? kIcmpBytes : 0);
  return at < layers.payload_end && ReadProbeMark(data + at, layers.payload_end - at).has_value();
}

}  // namespace

ControlPacket ReadControl(const uint8_t* data, const Layers& layers, int first) {
  const std::optional<MacControl> frame = ReadMacControl(data, layers, first);
  if (frame) return ToControl(*frame);
  const Layer* const ip = FindIp(layers, first);
  const Layer* const transport = ip == nullptr ? nullptr : FindTransport(layers, *ip);
  if (transport == nullptr) return {};
  const uint16_t src_port = LoadBe16(data + transport->at);
  const uint16_t dst_port = LoadBe16(data + transport->at + 2);
  if (transport->kind == LayerKind::kTcp && (src_port == kBgpPort || dst_port == kBgpPort)) {
    ControlPacket control;
    control.kind = ControlKind::kBgp;
    return control;
  }
  // Looked at here, too: this is done for every copy, and most are of something else.
  if (transport->kind != LayerKind::kUdp || dst_port != kRocePort) return {};
  RocePacket roce;
  const bool is_roce = ReadRoce(data, layers, first, &roce) == RoceVerdict::kRoce;
  return is_roce ? ToControl(roce) : ControlPacket();
}

TracePacket DescribePacket(const Frame& frame, const Layers& layers, int first,
                           uint8_t debug_dscp) {
  TracePacket packet;
  const LayerKind begin = layers.list[static_cast<size_t>(first)].kind;
  if (begin == LayerKind::kIpv4 || begin == LayerKind::kIpv6) packet.marks |= kMarkIp;
  packet.wire_bytes = StatedBytes(frame, layers, first);
  if (ReadControl(frame.data, layers, first).kind != ControlKind::kNone) {
    packet.marks |= kMarkProtocol;
  }
  const Layer* const ip = FindIp(layers, first);
  if (ip == nullptr) return packet;
  SetFlow(frame.data, layers, *ip, &packet.flow);
  if (debug_dscp != 0 && (DscpOf(frame.data, *ip) & debug_dscp) == debug_dscp) {
    packet.marks |= kMarkDebug;
  }
  if (IsProbe(frame.data, layers, *ip, packet.flow.protocol)) packet.marks |= kMarkProbe;
  const Layer* const transport = FindTransport(layers, *ip);
  const bool is_tcp = transport != nullptr && transport->kind == LayerKind::kTcp;
  if (!is_tcp) return packet;
  const uint8_t flags = frame.data[transport->at + 13];
  if ((flags & (kTcpSyn | kTcpFin | kTcpRst)) != 0) packet.marks |= kMarkConnection;
  if ((flags & kTcpSyn) != 0) packet.marks |= kMarkSyn;
  return packet;
}

}  // namespace trumpet
