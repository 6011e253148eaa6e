// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/roce_sight.h"

#include <algorithm>

#include "controller/analyzer/trace_packet.h"
#include "lib/base/byte_order.h"
#include "lib/model/trace_rule.h"

namespace trumpet {
namespace {

constexpr uint8_t kCongestionExperienced = 3;  // of the two bits

const Layer* InnermostIp(const Layers& layers) {
  const Layer* found = nullptr;
  for (int i = 0; i < layers.count; ++i) {
    const Layer& layer = layers.list[static_cast<size_t>(i)];
    if (layer.kind == LayerKind::kIpv4 || layer.kind == LayerKind::kIpv6) found = &layer;
  }
  return found;
}

}  // namespace

std::optional<RoceSight> ReadRoceSight(const uint8_t* bytes, uint32_t captured, LayerKind first) {
  Layers layers;
  ReadLayers(bytes, captured, first, {}, &layers);
  if (layers.count == 0) return std::nullopt;
  RoceSight sight;
  sight.control = ReadMacControl(bytes, layers, 0);
  if (sight.control) {
    std::copy(bytes + 6, bytes + 12, sight.source.begin());
    return sight;
  }
  RocePacket roce;
  if (ReadRoce(bytes, layers, 0, &roce) != RoceVerdict::kRoce) return std::nullopt;
  sight.roce = roce;
  const Layer* const ip = InnermostIp(layers);
  const uint8_t* const header = bytes + ip->at;
  const bool is_ipv4 = ip->kind == LayerKind::kIpv4;
  sight.flow = DescribePacket({bytes, captured, captured}, layers, 0, 0).flow;
  sight.bytes = is_ipv4 ? LoadBe16(header + 2) : 40u + LoadBe16(header + 4);
  const unsigned traffic_class = is_ipv4 ? header[1] : LoadBe16(header) >> 4;
  sight.is_marked = (traffic_class & 3) == kCongestionExperienced;
  sight.is_corrupt = CheckIcrc(bytes, layers, 0) == IcrcVerdict::kWrong;
  return sight;
}

uint32_t PortOfTag(uint32_t tag) { return IsTraceTag(tag) ? TraceTagPort(tag) : tag; }

}  // namespace trumpet
