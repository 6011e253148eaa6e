// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/stored_segment.h"

#include <algorithm>

#include "controller/analyzer/trace_packet.h"
#include "lib/base/byte_order.h"
#include "lib/packet/layers.h"

namespace trumpet {
namespace {

constexpr uint32_t kIpv6Bytes = 40;

// Where the packet of IP ends, whatever was kept of it.
uint32_t EndOf(const uint8_t* data, const Layer& ip) {
  const uint8_t* const header = data + ip.at;
  const uint32_t bytes =
      ip.kind == LayerKind::kIpv4 ? LoadBe16(header + 2) : kIpv6Bytes + LoadBe16(header + 4);
  return ip.at + bytes;
}

}  // namespace

std::optional<StoredSegment> ReadStoredSegment(const StoredTrace& trace) {
  const auto* const data = reinterpret_cast<const uint8_t*>(trace.packet.data());
  const auto kept = static_cast<uint32_t>(trace.packet.size());
  Layers layers;
  const bool is_ip = (trace.marks & kMarkIp) != 0;
  ReadLayers(data, kept, is_ip ? LayerKind::kIpv4 : LayerKind::kEthernet, {}, &layers);
  if (layers.count < 2) return std::nullopt;
  const Layer& tcp = layers.list[static_cast<size_t>(layers.count) - 1];
  const Layer& ip = layers.list[static_cast<size_t>(layers.count) - 2];
  const bool is_over_ip = ip.kind == LayerKind::kIpv4 || ip.kind == LayerKind::kIpv6;
  if (tcp.kind != LayerKind::kTcp || !is_over_ip) return std::nullopt;
  const uint32_t begin = tcp.at + (data[tcp.at + 12] >> 4) * 4u;
  const uint32_t end = EndOf(data, ip);
  StoredSegment segment;
  segment.sequence = LoadBe32(data + tcp.at + 4);
  segment.flags = data[tcp.at + 13];
  if (end <= begin) return segment;
  segment.bytes = end - begin;
  segment.captured = std::min(end, std::max(kept, begin)) - begin;
  if (segment.captured > 0) segment.data = data + begin;
  return segment;
}

}  // namespace trumpet
