// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/zone_map.h"

namespace trumpet {

ZoneMap::ZoneMap(const std::vector<ZoneRule>& rules, const std::vector<PortInfo>& ports) {
  for (const ZoneRule& rule : rules) {
    if (rule.kind != ZoneRule::Kind::kPort) {
      entries_.push_back({rule.kind, rule.zone, rule.id});
      reads_headers_ = true;
      continue;
    }
    for (const PortInfo& port : ports) {
      if (port.name == rule.port) entries_.push_back({rule.kind, rule.zone, port.number});
    }
  }
}

uint16_t ZoneMap::ZoneOf(uint32_t in_port) const {
  for (const Entry& entry : entries_) {
    if (entry.id == in_port) return entry.zone;
  }
  return 0;
}

uint16_t ZoneMap::ZoneOf(uint32_t in_port, const ParsedPacket& packet) const {
  const Headers& headers = packet.innermost;
  for (const Entry& entry : entries_) {
    switch (entry.kind) {
      case ZoneRule::Kind::kPort:
        if (entry.id == in_port) return entry.zone;
        break;
      case ZoneRule::Kind::kVlan:
        if (headers.Has(Field::kVlan) && headers.vlan == entry.id) return entry.zone;
        break;
      case ZoneRule::Kind::kTunnel:
        if (headers.Has(Field::kTunnelId) && headers.tunnel_id == entry.id) return entry.zone;
        break;
    }
  }
  return 0;
}

}  // namespace trumpet
