// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// SwitchWish: what a controller wants to be in the database of a switch, and PlanSwitch(): the
// transaction that makes it so.
//
// Only what carries our name is changed or removed, and of that all that is not wished any more; so
// an empty wish uninstalls.  What others have made is never touched: where it stands in the way,
// that is an obstacle.
//
// Threads: values; no state.

#ifndef TRUMPET_CONTROLLER_OVSDB_SWITCH_WISH_H
#define TRUMPET_CONTROLLER_OVSDB_SWITCH_WISH_H

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "controller/ovsdb/switch_view.h"

namespace trumpet {

enum class TunnelKind : uint8_t { kGre, kErspan, kVxlan };

// A port whose packets go to an analyzer; the flow that outputs to it sets the key.
struct WantedTunnel {
  std::string bridge;
  TunnelKind kind = TunnelKind::kGre;
  std::string remote;  // IPv4 or IPv6 address
};

struct WantedMirror {
  bool selects_all = false;
  std::vector<std::string> sources;       // ports of the bridge: what they receive
  std::vector<std::string> destinations;  // what they send
  std::string output_port;
  uint16_t snap_bytes = 0;  // 0: whole packets; else 14 to 65535
};

struct SwitchWish {
  using InBridge = std::pair<std::string, std::string>;  // bridge and name in it

  std::map<std::string, WantedTunnel> tunnels;  // by the name of the port
  std::map<InBridge, WantedMirror> mirrors;
  std::map<InBridge, std::string> config;  // other_config by key; bridge "": of the switch
};

struct SwitchPlan {
  Json operations = Json::array();  // of RFC 7047; none: all is as wished, but for obstacles
  // Why a wish cannot be had now, by ObstacleKey(); those wishes are left out of the operations.
  std::map<std::string, std::string> obstacles;
};

// "port NAME", "mirror BRIDGE/NAME", "other_config BRIDGE/KEY".
std::string ObstacleKey(const char* what, const std::string& name);
std::string ObstacleKey(const char* what, const SwitchWish::InBridge& name);

SwitchPlan PlanSwitch(const SwitchView& view, const SwitchWish& wish, const std::string& owner);

// The same for the same three, another one for others; fit for an interface's name.
std::string TunnelPortName(const WantedTunnel& tunnel);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_OVSDB_SWITCH_WISH_H
