// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/ovsdb/analyzer_ports.h"

#include <utility>

namespace trumpet {

AnalyzerPorts::AnalyzerPorts(const std::vector<WantedAnalyzerPort>& wanted, Log log)
    : log_(std::move(log)) {
  for (const WantedAnalyzerPort& one : wanted) ports_.emplace(one.datapath_id, Port{one, {}, {}});
}

uint32_t AnalyzerPorts::NumberOf(uint64_t datapath_id) const {
  const auto found = ports_.find(datapath_id);
  return found == ports_.end() ? 0 : found->second.number;
}

void AnalyzerPorts::OnRemoteSwitch(RemoteSwitch* one) {
  if (!one->is_connected()) return;  // its ports are there all the same
  for (auto& [id, port] : ports_) {
    if (port.at != one) continue;
    const SwitchBridge* const bridge = one->view().FindBridge(port.bridge);
    if (bridge != nullptr && bridge->datapath_id == id) continue;
    one->DropAnalyzerPort(port.bridge, port.wanted.address, port.wanted.kind);
    port.at = nullptr;
    port.number = 0;
  }
  for (const SwitchBridge& bridge : one->view().bridges) {
    const auto found = ports_.find(bridge.datapath_id);
    if (found == ports_.end()) continue;
    if (found->second.at == nullptr) Want(&found->second, one, bridge.name);
    if (found->second.at == one) Look(&found->second);
  }
}

void AnalyzerPorts::Want(Port* port, RemoteSwitch* at, const std::string& bridge) {
  port->at = at;
  port->bridge = bridge;
  const std::string head = "switch " + port->wanted.name + " has no port to the analyzer " +
                           port->wanted.address + " yet: ";
  at->EnsureAnalyzerPort(bridge, port->wanted.address, port->wanted.kind,
                         [this, head](const Result<AnalyzerPort>& answer) {
                           if (answer.ok() || ports_.empty()) return;
                           log_("warn", head + answer.message());
                         });
}

void AnalyzerPorts::Look(Port* port) {
  const std::string name = TunnelPortName({port->bridge, port->wanted.kind, port->wanted.address});
  const SwitchPort* const there = port->at->view().FindPort(port->bridge, name);
  const bool is_ours = there != nullptr && there->owner == port->at->owner();
  const uint32_t number = is_ours ? there->of_port() : 0;
  if (number == port->number) return;
  port->number = number;
  const std::string what = "port " + name + " to the analyzer " + port->wanted.address;
  if (number == 0) {
    log_("warn", "switch " + port->wanted.name + " has lost its " + what);
  } else {
    log_("info",
         "switch " + port->wanted.name + ": " + what + " has the number " + std::to_string(number));
  }
}

}  // namespace trumpet
