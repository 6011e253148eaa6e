// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ZoneMap: which tenant a packet belongs to, so that equal addresses of two tenants stay apart.
//
// Rules are tried in order, the first hit wins, no hit is zone 0.  VLAN and tunnel id are those of
// the innermost headers, as the fields `vlan` and `tunnelId` of events.
//
// Threads: immutable once made; shared by the packet threads.

#ifndef TRUMPET_VSWITCHD_PLUGIN_ZONE_MAP_H
#define TRUMPET_VSWITCHD_PLUGIN_ZONE_MAP_H

#include <cstdint>
#include <vector>

#include "lib/packet/parsed_packet.h"
#include "vswitchd-plugin/port_table.h"
#include "vswitchd-plugin/settings.h"

namespace trumpet {

class ZoneMap {
 public:
  ZoneMap() = default;
  // Rules of ports that do not exist now are left out: make a new map when ports change.
  ZoneMap(const std::vector<ZoneRule>& rules, const std::vector<PortInfo>& ports);

  bool is_empty() const { return entries_.empty(); }
  // Whether headers matter at all; if not, the zone is the same for a whole batch.
  bool reads_headers() const { return reads_headers_; }

  // Zone by the port alone; only if !reads_headers().
  uint16_t ZoneOf(uint32_t in_port) const;
  uint16_t ZoneOf(uint32_t in_port, const ParsedPacket& packet) const;

  bool operator==(const ZoneMap& other) const { return entries_ == other.entries_; }

 private:
  struct Entry {
    ZoneRule::Kind kind;
    uint16_t zone;
    uint32_t id;  // port number, VID or tunnel id

    bool operator==(const Entry& other) const {
      return kind == other.kind && zone == other.zone && id == other.id;
    }
  };
  std::vector<Entry> entries_;
  bool reads_headers_ = false;
};

}  // namespace trumpet

#endif  // TRUMPET_VSWITCHD_PLUGIN_ZONE_MAP_H
