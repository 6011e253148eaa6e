// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/ovsdb/switch_wish.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <set>

#include "lib/base/hash.h"

namespace trumpet {
namespace {

uint64_t HashOf(const std::string& text) { return HashBytes(text.data(), text.size(), 0); }

bool IsIpv6(const WantedTunnel& tunnel) { return tunnel.remote.find(':') != std::string::npos; }

const char* TypeOf(const WantedTunnel& tunnel) {
  switch (tunnel.kind) {
    case TunnelKind::kErspan:
      return IsIpv6(tunnel) ? "ip6erspan" : "erspan";
    case TunnelKind::kVxlan:
      return "vxlan";
    case TunnelKind::kGre:
      break;
  }
  return IsIpv6(tunnel) ? "ip6gre" : "gre";
}

// A switch takes no two tunnels up that receive alike, not even on two bridges.  Ours only send, so
// each one gets a key of its bridge to receive with.
OvsdbPairs OptionsOf(const WantedTunnel& tunnel) {
  constexpr uint64_t kKeyMask = (1u << 24) - 1;  // as many bits as VXLAN has
  OvsdbPairs options = {{"remote_ip", tunnel.remote},
                        {"out_key", "flow"},
                        {"in_key", std::to_string(HashOf(tunnel.bridge) & kKeyMask)}};
  if (tunnel.kind == TunnelKind::kErspan) {
    options["erspan_ver"] = "1";
    options["erspan_idx"] = "flow";
  }
  return options;
}

Json ById(const std::string& uuid) { return Json::array({OvsdbEquals("_uuid", OvsdbUuid(uuid))}); }

Json Mutation(const char* column, const char* mutator, Json value) {
  return Json::array({column, mutator, std::move(value)});
}

class Planner {
 public:
  Planner(const SwitchView& view, const SwitchWish& wish, const std::string& owner)
      : view_(view), wish_(wish), owner_(owner), owner_ids_(OvsdbMap({{kOwnerKey, owner}})) {}

  SwitchPlan Plan() {
    if (!view_.is_known) return std::move(plan_);
    PlanTunnels();
    PlanMirrors();
    PlanConfig();
    return std::move(plan_);
  }

 private:
  void Mutate(const char* table, const std::string& uuid, Json mutations) {
    plan_.operations.push_back({{"op", "mutate"},
                                {"table", table},
                                {"where", ById(uuid)},
                                {"mutations", std::move(mutations)}});
  }
  void Update(const char* table, const std::string& uuid, Json row) {
    plan_.operations.push_back(
        {{"op", "update"}, {"table", table}, {"where", ById(uuid)}, {"row", std::move(row)}});
  }
  void Insert(const char* table, const std::string& name, Json row) {
    plan_.operations.push_back(
        {{"op", "insert"}, {"table", table}, {"uuid-name", name}, {"row", std::move(row)}});
  }
  void Obstacle(const std::string& key, std::string why) { plan_.obstacles[key] = std::move(why); }

  // --- tunnels ---

  bool IsWished(const SwitchBridge& bridge, const SwitchPort& port) const {
    const auto wished = wish_.tunnels.find(port.name);
    return wished != wish_.tunnels.end() && wished->second.bridge == bridge.name &&
           port.interfaces.size() == 1 && port.interfaces[0].name == port.name;
  }

  void PlanTunnels() {
    std::set<std::string> taken;  // names that others have
    for (const SwitchBridge& bridge : view_.bridges) {
      for (const SwitchPort& port : bridge.ports) {
        if (port.owner == owner_) {
          PlanOwnPort(bridge, port);
          continue;
        }
        taken.insert(port.name);
        for (const SwitchInterface& one : port.interfaces) taken.insert(one.name);
      }
    }
    for (const auto& [name, tunnel] : wish_.tunnels) {
      if (kept_.count(name) == 0) PlanNewPort(name, tunnel, taken.count(name) != 0);
    }
  }

  void PlanOwnPort(const SwitchBridge& bridge, const SwitchPort& port) {
    if (!IsWished(bridge, port)) {
      return Mutate("Bridge", bridge.row.uuid,
                    Json::array({Mutation("ports", "delete", OvsdbUuid(port.uuid))}));
    }
    kept_[port.name] = port.uuid;
    const WantedTunnel& tunnel = wish_.tunnels.at(port.name);
    const SwitchInterface& one = port.interfaces[0];
    if (one.type == TypeOf(tunnel) && one.options == OptionsOf(tunnel)) return;
    Update("Interface", one.uuid,
           {{"type", TypeOf(tunnel)}, {"options", OvsdbMap(OptionsOf(tunnel))}});
  }

  void PlanNewPort(const std::string& name, const WantedTunnel& tunnel, bool is_taken) {
    const SwitchBridge* const bridge = view_.FindBridge(tunnel.bridge);
    const std::string key = ObstacleKey("port", name);
    if (bridge == nullptr) return Obstacle(key, "there is no bridge " + tunnel.bridge);
    if (is_taken) return Obstacle(key, "there is another port " + name + ", which is not ours");
    const std::string number = std::to_string(new_ports_.size());
    Insert("Interface", "interface" + number,
           {{"name", name}, {"type", TypeOf(tunnel)}, {"options", OvsdbMap(OptionsOf(tunnel))}});
    Insert("Port", "port" + number,
           {{"name", name},
            {"interfaces", OvsdbNamedUuid("interface" + number)},
            {"external_ids", owner_ids_}});
    Mutate("Bridge", bridge->row.uuid,
           Json::array({Mutation("ports", "insert", OvsdbNamedUuid("port" + number))}));
    new_ports_[name] = "port" + number;
  }

  // --- mirrors ---

  void PlanMirrors() {
    std::map<SwitchWish::InBridge, const SwitchMirror*> own;
    std::set<SwitchWish::InBridge> taken;
    for (const SwitchBridge& bridge : view_.bridges) {
      for (const SwitchMirror& mirror : bridge.mirrors) {
        const SwitchWish::InBridge name(bridge.name, mirror.name);
        if (mirror.owner != owner_) {
          taken.insert(name);
        } else if (wish_.mirrors.count(name) == 0 || !own.emplace(name, &mirror).second) {
          RemoveMirror(bridge, mirror);
        }
      }
    }
    for (const auto& [name, mirror] : wish_.mirrors) {
      const auto found = own.find(name);
      PlanMirror(name, mirror, found == own.end() ? nullptr : found->second,
                 taken.count(name) != 0);
    }
  }

  void RemoveMirror(const SwitchBridge& bridge, const SwitchMirror& mirror) {
    Mutate("Bridge", bridge.row.uuid,
           Json::array({Mutation("mirrors", "delete", OvsdbUuid(mirror.uuid))}));
  }

  // A reference to the port, if it is there or about to be.
  std::optional<Json> FindPort(const std::string& bridge, const std::string& name) const {
    const auto made = new_ports_.find(name);
    if (made != new_ports_.end() && wish_.tunnels.at(name).bridge == bridge) {
      return OvsdbNamedUuid(made->second);
    }
    const SwitchPort* const port = view_.FindPort(bridge, name);
    const bool stays = port != nullptr && (port->owner != owner_ || kept_.count(name) != 0);
    return stays ? std::optional<Json>(OvsdbUuid(port->uuid)) : std::nullopt;
  }

  // Empty if all could be found; else the one that could not.
  std::string FindPorts(const std::string& bridge, const std::vector<std::string>& names,
                        std::vector<Json>* ports) const {
    for (const std::string& name : names) {
      const auto port = FindPort(bridge, name);
      if (!port) return name;
      ports->push_back(*port);
    }
    std::sort(ports->begin(), ports->end());
    ports->erase(std::unique(ports->begin(), ports->end()), ports->end());
    return "";
  }

  void PlanMirror(const SwitchWish::InBridge& name, const WantedMirror& wanted,
                  const SwitchMirror* present, bool is_taken) {
    const std::string key = ObstacleKey("mirror", name);
    const SwitchBridge* const bridge = view_.FindBridge(name.first);
    if (bridge == nullptr) return Obstacle(key, "there is no bridge " + name.first);
    if (is_taken) return Obstacle(key, "there is a mirror of this name, which is not ours");
    std::vector<Json> sources, destinations, output;
    std::string missing = FindPorts(name.first, wanted.sources, &sources);
    if (missing.empty()) missing = FindPorts(name.first, wanted.destinations, &destinations);
    if (missing.empty()) missing = FindPorts(name.first, {wanted.output_port}, &output);
    if (!missing.empty()) {
      // What is left of it would send nowhere.
      if (present != nullptr) RemoveMirror(*bridge, *present);
      return Obstacle(key, "there is no port " + missing + " on bridge " + name.first);
    }
    Json row = {{"select_all", wanted.selects_all},
                {"select_src_port", OvsdbSet(std::move(sources))},
                {"select_dst_port", OvsdbSet(std::move(destinations))},
                {"output_port", output.front()},
                {"snaplen", wanted.snap_bytes == 0 ? OvsdbSet({}) : Json(wanted.snap_bytes)}};
    if (present != nullptr) {
      if (row != RowOf(*present)) Update("Mirror", present->uuid, std::move(row));
      return;
    }
    row["name"] = name.second;
    row["external_ids"] = owner_ids_;
    const std::string id = "mirror" + std::to_string(new_mirrors_++);
    Insert("Mirror", id, std::move(row));
    Mutate("Bridge", bridge->row.uuid,
           Json::array({Mutation("mirrors", "insert", OvsdbNamedUuid(id))}));
  }

  static Json RowOf(const SwitchMirror& mirror) {
    const auto set = [](const std::vector<std::string>& uuids) {
      std::vector<Json> ports;
      for (const std::string& uuid : uuids) ports.push_back(OvsdbUuid(uuid));
      return OvsdbSet(std::move(ports));
    };
    return {{"select_all", mirror.selects_all},
            {"select_src_port", set(mirror.sources)},
            {"select_dst_port", set(mirror.destinations)},
            {"output_port", mirror.output_port.empty() ? Json() : OvsdbUuid(mirror.output_port)},
            {"snaplen", mirror.snap_bytes == 0 ? OvsdbSet({}) : Json(mirror.snap_bytes)}};
  }

  // --- other_config ---

  void PlanConfig() {
    PlanStrayConfig("Open_vSwitch", "", view_.row);
    for (const SwitchBridge& bridge : view_.bridges) {
      PlanStrayConfig("Bridge", bridge.name, bridge.row);
    }
    for (const auto& [name, value] : wish_.config) {
      const SwitchBridge* const bridge =
          name.first.empty() ? nullptr : view_.FindBridge(name.first);
      if (!name.first.empty() && bridge == nullptr) {
        Obstacle(ObstacleKey("other_config", name), "there is no bridge " + name.first);
      } else if (bridge == nullptr) {
        PlanKey("Open_vSwitch", view_.row, name, value);
      } else {
        PlanKey("Bridge", bridge->row, name, value);
      }
    }
  }

  static std::string MarkOf(const std::string& key) { return std::string(kOwnerKey) + "." + key; }

  void PlanStrayConfig(const char* table, const std::string& bridge, const ConfigRow& row) {
    const std::string prefix = MarkOf("");
    for (const auto& [mark, owner] : row.external_ids) {
      if (owner != owner_ || mark.compare(0, prefix.size(), prefix) != 0) continue;
      const std::string key = mark.substr(prefix.size());
      if (wish_.config.count({bridge, key}) != 0) continue;
      Mutate(table, row.uuid,
             Json::array({Mutation("other_config", "delete", OvsdbSet({key})),
                          Mutation("external_ids", "delete", OvsdbSet({mark}))}));
    }
  }

  // What others may have set meanwhile is not to be taken for ours.  Stands before what changes the
  // row in the same transaction.
  void Expect(const char* table, const ConfigRow& row) {
    const Json wait = {{"op", "wait"},
                       {"timeout", 0},
                       {"table", table},
                       {"where", ById(row.uuid)},
                       {"columns", {"other_config"}},
                       {"until", "=="},
                       {"rows", {{{"other_config", OvsdbMap(row.other_config)}}}}};
    plan_.operations.insert(plan_.operations.begin(), wait);
  }

  void PlanKey(const char* table, const ConfigRow& row, const SwitchWish::InBridge& name,
               const std::string& value) {
    const std::string& key = name.second;
    const auto present = row.other_config.find(key);
    const bool is_there = present != row.other_config.end();
    const bool is_ours = FindOvsdbPair(row.external_ids, MarkOf(key)) == owner_;
    if (is_there && present->second == value) return;
    if (is_there && !is_ours) {
      return Obstacle(ObstacleKey("other_config", name),
                      "it is '" + present->second + "' already, and not by us");
    }
    if (expected_.insert(row.uuid).second) Expect(table, row);
    Mutate(table, row.uuid,
           Json::array({Mutation("other_config", "delete", OvsdbSet({key})),
                        Mutation("other_config", "insert", OvsdbMap({{key, value}})),
                        Mutation("external_ids", "insert", OvsdbMap({{MarkOf(key), owner_}}))}));
  }

  const SwitchView& view_;
  const SwitchWish& wish_;
  const std::string& owner_;
  const Json owner_ids_;
  SwitchPlan plan_;
  std::map<std::string, std::string> kept_;       // ports of ours that stay: name, UUID
  std::map<std::string, std::string> new_ports_;  // name, name of its UUID in the transaction
  size_t new_mirrors_ = 0;
  std::set<std::string> expected_;  // rows that must still be as they were
};

}  // namespace

std::string ObstacleKey(const char* what, const std::string& name) {
  return std::string(what) + " " + name;
}

std::string ObstacleKey(const char* what, const SwitchWish::InBridge& name) {
  return ObstacleKey(what, name.first + "/" + name.second);
}

SwitchPlan PlanSwitch(const SwitchView& view, const SwitchWish& wish, const std::string& owner) {
  return Planner(view, wish, owner).Plan();
}

std::string TunnelPortName(const WantedTunnel& tunnel) {
  const std::string text = tunnel.bridge + '\0' + TypeOf(tunnel) + '\0' + tunnel.remote;
  char name[16];
  std::snprintf(name, sizeof name, "trumpet%08x", static_cast<unsigned>(HashOf(text)));
  return name;
}

}  // namespace trumpet
