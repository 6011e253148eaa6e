// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// SwitchView: what the database of a switch says of its bridges, ports and mirrors, and which of
// them a controller has made: their `external_ids:trumpet-owner` names it.
//
// Keys of `other_config` have no external_ids of their own; whose a key is says
// `external_ids:trumpet-owner.KEY` of the same row.
//
// Threads: values; no state.

#ifndef TRUMPET_CONTROLLER_OVSDB_SWITCH_VIEW_H
#define TRUMPET_CONTROLLER_OVSDB_SWITCH_VIEW_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lib/ovsdb/ovsdb_rows.h"

namespace trumpet {

constexpr char kOwnerKey[] = "trumpet-owner";

struct SwitchInterface {
  std::string uuid;
  std::string name;
  std::string type;      // empty: system
  uint32_t of_port = 0;  // 0: the switch has not taken it up
  std::string error;     // why it cannot
  std::string link_state;
  OvsdbPairs options;
};

struct SwitchPort {
  // That of its interface; 0: the switch has not taken it up, or there is none or a bond.
  uint32_t of_port() const { return interfaces.size() == 1 ? interfaces[0].of_port : 0; }

  std::string uuid;
  std::string name;
  std::string owner;
  std::vector<SwitchInterface> interfaces;  // more than one: a bond
};

struct SwitchMirror {
  std::string uuid;
  std::string name;
  std::string owner;
  bool selects_all = false;
  std::vector<std::string> sources;       // UUIDs of ports, sorted
  std::vector<std::string> destinations;  // likewise
  std::string output_port;                // UUID; empty: none
  int64_t snap_bytes = 0;                 // 0: whole packets
};

// A row that has other_config: a bridge, or the switch.
struct ConfigRow {
  std::string uuid;
  OvsdbPairs other_config;
  OvsdbPairs external_ids;
};

struct SwitchBridge {
  ConfigRow row;
  std::string name;
  std::string datapath_type;  // never empty
  uint64_t datapath_id = 0;   // 0: the switch has not taken it up
  std::vector<SwitchPort> ports;
  std::vector<SwitchMirror> mirrors;
};

struct SwitchView {
  const SwitchBridge* FindBridge(const std::string& name) const;
  const SwitchPort* FindPort(const std::string& bridge, const std::string& name) const;

  bool is_known = false;  // there is a row of the switch
  ConfigRow row;
  std::string system_id;
  std::vector<SwitchBridge> bridges;  // by name
};

// The tables and columns that it is read from.
const std::map<std::string, std::vector<std::string>>& SwitchViewColumns();
SwitchView ReadSwitchView(const OvsdbTables& tables);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_OVSDB_SWITCH_VIEW_H
