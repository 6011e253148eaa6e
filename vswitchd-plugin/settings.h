// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Settings: the other_config:trumpet-* keys as checked values.
//
// Reading never fails: a bad value falls back to the key's default and leaves one complaint, such
// as `trumpet-sweep-budget-us is "0"; it takes 1 to 1000; using 5`.  An unknown key leaves a
// complaint, too.
//
// When a change takes effect (docs/operations.md):
//   at once:        enable, sweep budget, watchdog factor, flow timeout, burst gap, uplinks, zones,
//                   carriers, tunnel ports, slice mark, max-total-buckets, all that concerns the
//                   controller. The sweep budget, the factor, the timeouts and the tunnel ports
//                   make new monitors, so flows start anew and reports of the running intervals are
//                   incomplete.
//   later events:   max-buckets.
//   next start:     memory, max-flows, max-connections, max-triggers, ring, reserved huge pages,
//   once
//                   monitors have been made.

#ifndef TRUMPET_VSWITCHD_PLUGIN_SETTINGS_H
#define TRUMPET_VSWITCHD_PLUGIN_SETTINGS_H

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/model/event_spec.h"

namespace trumpet {

// One entry of trumpet-zones.
struct ZoneRule {
  enum class Kind : uint8_t { kPort, kVlan, kTunnel };
  Kind kind = Kind::kPort;
  std::string port;  // kPort: the name
  uint32_t id = 0;   // kVlan: VID, kTunnel: VNI or key
  uint16_t zone = 0;

  bool operator==(const ZoneRule& other) const {
    return kind == other.kind && port == other.port && id == other.id && zone == other.zone;
  }
};

struct Settings {
  bool enable = false;
  uint32_t memory_mb = 256;  // per packet thread
  uint32_t max_flows = 262144;
  uint32_t max_connections = 0;      // 0: by memory_mb
  uint32_t ring_kb = 0;              // 0: by memory_mb
  bool reserved_huge_pages = false;  // may be taken
  uint32_t max_buckets = kDefaultMaxBuckets;
  uint32_t max_total_buckets = 1048576;
  uint32_t max_triggers = 4096;
  uint32_t sweep_budget_us = 5;
  uint32_t packet_budget_us = 5;  // for the statistics of one packet
  uint32_t watchdog_factor = 10;  // 0: there is none
  uint32_t flow_timeout_ms = 10000;
  uint32_t burst_gap_ns = 10000;
  uint32_t slice_mark = 1825;          // 0x721: the upper 12 bits of the pkt_mark of copied packets
  std::vector<std::string> uplinks;    // names or patterns; empty: physical ports
  std::vector<ZoneRule> zones;         // the first hit wins
  std::vector<std::string> carriers;   // names or patterns of ports; carrier_ports.h
  std::string carrier_key;             // that the switches share
  std::vector<uint16_t> vxlan_ports;   // besides 4789
  std::vector<uint16_t> geneve_ports;  // besides 6081
  std::string controller;              // ssl:HOST[:PORT],..., tcp: on loopback; empty: none
  std::string private_key;             // files; ssl: needs all three
  std::string certificate;
  std::string ca_cert;
  std::string controller_name;  // in its certificate; empty: any of the CA
  std::string host_id;          // empty: the name of the host

  bool operator==(const Settings& other) const;
  bool operator!=(const Settings& other) const { return !(*this == other); }
};

struct SettingsResult {
  Settings settings;
  std::vector<std::string> complaints;  // one line each, sorted by key
};

using ConfigPairs = std::vector<std::pair<std::string, std::string>>;

// Pairs in any order; keys with their "trumpet-".
SettingsResult ReadSettings(const ConfigPairs& pairs);

// Does going from one to the other need new packet monitors?
bool NeedsNewMonitors(const Settings& from, const Settings& to);

// Keys that differ although they only count at the next start.
std::vector<std::string> ChangesAtNextStart(const Settings& from, const Settings& to);

// Does `name` match `pattern`, where `*` stands for any text and `?` for one character?
bool MatchesPattern(std::string_view pattern, std::string_view name);

}  // namespace trumpet

#endif  // TRUMPET_VSWITCHD_PLUGIN_SETTINGS_H
