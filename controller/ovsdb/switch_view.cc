// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/ovsdb/switch_view.h"

#include <algorithm>
#include <charconv>

namespace trumpet {
namespace {

std::string TextOf(const Json& row, const char* column) {
  std::string text;
  return ReadColumn(row, column, &text) ? text : "";
}

std::vector<std::string> UuidsOf(const Json& row, const char* column) {
  std::vector<std::string> uuids;
  const Json* const value = FindColumn(row, column);
  if (value == nullptr || !ReadOvsdbUuids(*value, &uuids)) return {};
  std::sort(uuids.begin(), uuids.end());
  return uuids;
}

std::string OwnerOf(const Json& row) {
  return FindOvsdbPair(OvsdbPairsOf(row, "external_ids"), kOwnerKey);
}

ConfigRow ReadConfigRow(const std::string& uuid, const Json& row) {
  return {uuid, OvsdbPairsOf(row, "other_config"), OvsdbPairsOf(row, "external_ids")};
}

SwitchInterface ReadInterface(const std::string& uuid, const Json& row) {
  SwitchInterface read;
  read.uuid = uuid;
  read.name = TextOf(row, "name");
  read.type = TextOf(row, "type");
  int64_t of_port = 0;
  if (ReadColumn(row, "ofport", &of_port) && of_port > 0 && of_port <= UINT32_MAX) {
    read.of_port = static_cast<uint32_t>(of_port);
  }
  read.error = TextOf(row, "error");
  read.link_state = TextOf(row, "link_state");
  read.options = OvsdbPairsOf(row, "options");
  return read;
}

SwitchMirror ReadMirror(const std::string& uuid, const Json& row) {
  SwitchMirror read;
  read.uuid = uuid;
  read.name = TextOf(row, "name");
  read.owner = OwnerOf(row);
  ReadColumn(row, "select_all", &read.selects_all);
  read.sources = UuidsOf(row, "select_src_port");
  read.destinations = UuidsOf(row, "select_dst_port");
  const std::vector<std::string> output = UuidsOf(row, "output_port");
  if (!output.empty()) read.output_port = output.front();
  ReadColumn(row, "snaplen", &read.snap_bytes);
  return read;
}

SwitchBridge ReadBridge(const OvsdbTables& tables, const std::string& uuid, const Json& row) {
  SwitchBridge read;
  read.row = ReadConfigRow(uuid, row);
  read.name = TextOf(row, "name");
  read.datapath_type = TextOf(row, "datapath_type");
  if (read.datapath_type.empty()) read.datapath_type = "system";
  const std::string id = TextOf(row, "datapath_id");
  std::from_chars(id.data(), id.data() + id.size(), read.datapath_id, 16);
  for (const auto& [port_uuid, port] : OvsdbRowsOf(tables, "Port", row, "ports")) {
    SwitchPort one{port_uuid, TextOf(*port, "name"), OwnerOf(*port), {}};
    for (const auto& [interface_uuid, interface] :
         OvsdbRowsOf(tables, "Interface", *port, "interfaces")) {
      one.interfaces.push_back(ReadInterface(interface_uuid, *interface));
    }
    read.ports.push_back(std::move(one));
  }
  for (const auto& [mirror_uuid, mirror] : OvsdbRowsOf(tables, "Mirror", row, "mirrors")) {
    read.mirrors.push_back(ReadMirror(mirror_uuid, *mirror));
  }
  return read;
}

}  // namespace

const SwitchBridge* SwitchView::FindBridge(const std::string& name) const {
  for (const SwitchBridge& bridge : bridges) {
    if (bridge.name == name) return &bridge;
  }
  return nullptr;
}

const SwitchPort* SwitchView::FindPort(const std::string& bridge, const std::string& name) const {
  const SwitchBridge* const found = FindBridge(bridge);
  if (found == nullptr) return nullptr;
  for (const SwitchPort& port : found->ports) {
    if (port.name == name) return &port;
  }
  return nullptr;
}

const std::map<std::string, std::vector<std::string>>& SwitchViewColumns() {
  static const std::map<std::string, std::vector<std::string>> columns = {
      {"Open_vSwitch", {"bridges", "other_config", "external_ids"}},
      {"Bridge",
       {"name", "datapath_id", "datapath_type", "ports", "mirrors", "other_config",
        "external_ids"}},
      {"Port", {"name", "interfaces", "external_ids"}},
      {"Interface", {"name", "type", "ofport", "error", "link_state", "options"}},
      {"Mirror",
       {"name", "select_all", "select_src_port", "select_dst_port", "output_port", "snaplen",
        "external_ids"}},
  };
  return columns;
}

// Goes down from the row of Open_vSwitch, so that rows nobody refers to do not count.
SwitchView ReadSwitchView(const OvsdbTables& tables) {
  SwitchView view;
  const auto roots = tables.find("Open_vSwitch");
  if (roots == tables.end() || roots->second.empty()) return view;
  const auto& [uuid, root] = *roots->second.begin();
  view.is_known = true;
  view.row = ReadConfigRow(uuid, root);
  view.system_id = FindOvsdbPair(view.row.external_ids, "system-id");
  for (const auto& [bridge_uuid, bridge] : OvsdbRowsOf(tables, "Bridge", root, "bridges")) {
    view.bridges.push_back(ReadBridge(tables, bridge_uuid, *bridge));
  }
  std::sort(view.bridges.begin(), view.bridges.end(),
            [](const SwitchBridge& a, const SwitchBridge& b) { return a.name < b.name; });
  return view;
}

}  // namespace trumpet
