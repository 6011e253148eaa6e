// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Plugin: the monitor inside ovs-vswitchd, all parts put together.  plugin.cc defines the functions
// of glue.h on the one plug-in of the process; tests make their own.

#ifndef TRUMPET_VSWITCHD_PLUGIN_PLUGIN_H
#define TRUMPET_VSWITCHD_PLUGIN_PLUGIN_H

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "vswitchd-plugin/agent.h"
#include "vswitchd-plugin/carrier_ports.h"
#include "vswitchd-plugin/commands.h"
#include "vswitchd-plugin/event_registry.h"
#include "vswitchd-plugin/host.h"
#include "vswitchd-plugin/port_table.h"
#include "vswitchd-plugin/report_log.h"
#include "vswitchd-plugin/settings.h"

namespace trumpet {

class Plugin {
 public:
  // `ops` must outlive the plug-in.  `parts` replaces clocks and the like in tests; its references
  // are set here.
  explicit Plugin(const trumpet_host* ops, AgentParts parts = AgentParts());

  // The main thread; see glue.h.
  void SetConfig(const ConfigPairs& pairs);
  void UpdatePort(uint32_t number, const char* name, const char* type, bool added);
  Result<std::string> RunCommand(const std::string& name, std::vector<std::string> arguments);
  void RegisterCommands() const { commands_.Register(); }

  Agent& agent() { return agent_; }
  EventRegistry& events() { return events_; }
  ReportLog& reports() { return reports_; }
  CarrierPorts& carriers() { return carriers_; }

 private:
  AgentParts Complete(AgentParts parts);

  Host host_;
  EventRegistry events_;
  PortTable ports_;
  CarrierPorts carriers_;
  ReportLog reports_;
  Agent agent_;
  Commands commands_;
  std::optional<Settings> settings_;  // the last ones
  std::set<std::string> complaints_;  // about the last ones: said once
  std::set<std::string> waiting_;     // keys that were said to wait for the next start
};

}  // namespace trumpet

#endif  // TRUMPET_VSWITCHD_PLUGIN_PLUGIN_H
