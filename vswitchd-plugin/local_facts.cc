// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/local_facts.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <tuple>
#include <utility>

#include "lib/ovsdb/ovsdb_rows.h"
#include "lib/packet/fields.h"
#include "lib/wire/limits.h"
#include "vswitchd-plugin/port_table.h"

namespace trumpet {
namespace {

constexpr size_t kRowBytes = 64;  // of a message, for a bridge or port without its texts

std::string TextOf(const Json& row, const char* column) {
  std::string text;
  return ReadColumn(row, column, &text) ? ToWireText(text, kMaxTextBytes) : "";
}

uint64_t MacOf(const std::string& text) {
  const std::optional<FieldValue> mac = ParseMac(text);
  return mac ? static_cast<uint64_t>(mac->value) : 0;
}

uint64_t DatapathIdOf(const Json& row) {
  const std::string text = TextOf(row, "datapath_id");
  uint64_t id = 0;
  std::from_chars(text.data(), text.data() + text.size(), id, 16);
  return id;
}

// Goes down from the row of Open_vSwitch, so that rows nobody refers to do not count.
class Reader {
 public:
  Reader(const OvsdbTables& tables, const std::vector<std::string>& uplinks)
      : tables_(tables), uplinks_(uplinks) {}

  LocalFacts Read() {
    const auto roots = tables_.find("Open_vSwitch");
    if (roots == tables_.end() || roots->second.empty()) return {};
    const Json& root = roots->second.begin()->second;
    const OvsdbPairs ids = OvsdbPairsOf(root, "external_ids");
    read_.system_id = ToWireText(FindOvsdbPair(ids, "system-id"), kMaxTextBytes);
    read_.facts.external_ids = ReadIds(ids);
    ReadSsl(root);
    for (const auto& [uuid, bridge] : OvsdbRowsOf(tables_, "Bridge", root, "bridges")) {
      ReadBridge(*bridge);
    }
    std::sort(read_.facts.bridges.begin(), read_.facts.bridges.end(),
              [](const Bridge& a, const Bridge& b) { return a.name < b.name; });
    std::sort(read_.facts.ports.begin(), read_.facts.ports.end(), [](const Port& a, const Port& b) {
      return std::tie(a.bridge, a.name) < std::tie(b.bridge, b.name);
    });
    return std::move(read_);
  }

 private:
  void ReadSsl(const Json& root) {
    for (const auto& [uuid, ssl] : OvsdbRowsOf(tables_, "SSL", root, "ssl")) {
      ReadColumn(*ssl, "private_key", &read_.ssl.private_key);
      ReadColumn(*ssl, "certificate", &read_.ssl.certificate);
      ReadColumn(*ssl, "ca_cert", &read_.ssl.ca_certificate);
    }
  }

  std::vector<KeyValue> ReadIds(const OvsdbPairs& pairs) {
    std::vector<KeyValue> ids;
    size_t bytes = 0;
    for (const auto& [key, value] : pairs) {
      KeyValue id{ToWireText(key, kMaxTextBytes), ToWireText(value, kMaxLongTextBytes)};
      const size_t more = id.key.size() + id.value.size();
      if (id.key.empty() || ids.size() == kMaxKeyValues || bytes + more > kMaxIdsBytes) {
        ++read_.left_out;
        continue;
      }
      bytes += more;
      ids.push_back(std::move(id));
    }
    bytes_ += bytes;
    return ids;
  }

  // Whether there is room for one more bridge or port.
  bool HasRoom(size_t count, size_t max) {
    bytes_ += kRowBytes;
    if (count < max && bytes_ <= kMaxFactsBytes) return true;
    ++read_.left_out;
    return false;
  }

  void ReadBridge(const Json& row) {
    Bridge bridge;
    bridge.name = TextOf(row, "name");
    if (bridge.name.empty() || !HasRoom(read_.facts.bridges.size(), kMaxBridges)) return;
    bridge.datapath_id = DatapathIdOf(row);
    bridge.datapath_type = TextOf(row, "datapath_type");
    if (bridge.datapath_type.empty()) bridge.datapath_type = "system";
    bridge.external_ids = ReadIds(OvsdbPairsOf(row, "external_ids"));
    const bool is_seen = bridge.datapath_type == "netdev";
    for (const auto& [port_uuid, port] : OvsdbRowsOf(tables_, "Port", row, "ports")) {
      for (const auto& [uuid, interface] : OvsdbRowsOf(tables_, "Interface", *port, "interfaces")) {
        ReadInterface(*interface, bridge.name, is_seen);
      }
    }
    read_.facts.bridges.push_back(std::move(bridge));
  }

  void ReadInterface(const Json& row, const std::string& bridge, bool is_seen) {
    Port port;
    port.name = TextOf(row, "name");
    if (port.name.empty() || !HasRoom(read_.facts.ports.size(), kMaxPorts)) return;
    int64_t of_port = 0;
    if (ReadColumn(row, "ofport", &of_port) && of_port > 0 && of_port <= UINT16_MAX) {
      port.of_port = static_cast<uint32_t>(of_port);
    }
    port.bridge = bridge;
    port.type = TextOf(row, "type");
    if (port.type.empty()) port.type = "system";
    port.mac_in_use = MacOf(TextOf(row, "mac_in_use"));
    port.link_state = TextOf(row, "link_state");
    port.error = TextOf(row, "error");
    const OvsdbPairs options = OvsdbPairsOf(row, "options");
    port.remote_ip = ToWireText(FindOvsdbPair(options, "remote_ip"), kMaxTextBytes);
    port.local_ip = ToWireText(FindOvsdbPair(options, "local_ip"), kMaxTextBytes);
    const OvsdbPairs ids = OvsdbPairsOf(row, "external_ids");
    port.external_ids = ReadIds(ids);
    port.is_uplink = LeadsToSwitches(port);
    if (is_seen && !port.is_uplink) port.macs = WorkloadsOf(port, ids);
    bytes_ += bridge.size() + port.name.size() + port.type.size() + port.error.size();
    read_.facts.ports.push_back(std::move(port));
  }

  // A tunnel has another end; all others are told apart as packets are.
  bool LeadsToSwitches(const Port& port) const {
    return !port.remote_ip.empty() || port.type == "patch" ||
           IsUplink({port.of_port, port.name, port.type}, uplinks_);
  }

  // Who plugs a workload in says which address it has.  Of what has none in the database only the
  // ends of the host's own stack are known: those of a veth or vhost-user port are somebody else's.
  static std::vector<uint64_t> WorkloadsOf(const Port& port, const OvsdbPairs& ids) {
    for (const char* key : {"attached-mac", "attached_mac"}) {
      if (const uint64_t mac = MacOf(FindOvsdbPair(ids, key))) return {mac};
    }
    const bool is_of_host = port.type == "internal" || port.type == "tap";
    if (!is_of_host || port.mac_in_use == 0) return {};
    return {port.mac_in_use};
  }

  const OvsdbTables& tables_;
  const std::vector<std::string>& uplinks_;
  LocalFacts read_;
  size_t bytes_ = 0;
};

}  // namespace

const std::map<std::string, std::vector<std::string>>& LocalFactsColumns() {
  static const std::map<std::string, std::vector<std::string>> columns = {
      {"Open_vSwitch", {"external_ids", "bridges", "ssl"}},
      {"Bridge", {"name", "datapath_id", "datapath_type", "external_ids", "ports"}},
      {"Port", {"interfaces"}},
      {"Interface",
       {"name", "type", "ofport", "mac_in_use", "link_state", "error", "options", "external_ids"}},
      {"SSL", {"private_key", "certificate", "ca_cert"}},
  };
  return columns;
}

LocalFacts ReadLocalFacts(const OvsdbTables& tables, const std::vector<std::string>& uplinks) {
  return Reader(tables, uplinks).Read();
}

}  // namespace trumpet
