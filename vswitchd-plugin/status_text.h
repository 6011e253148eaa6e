// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The answers of trumpet/status and flow-table-show: values in, text or JSON out.

#ifndef TRUMPET_VSWITCHD_PLUGIN_STATUS_TEXT_H
#define TRUMPET_VSWITCHD_PLUGIN_STATUS_TEXT_H

#include <string>
#include <vector>

#include "vswitchd-plugin/agent_status.h"
#include "vswitchd-plugin/port_table.h"

namespace trumpet {

struct StatusInput {
  AgentStatus agent;
  size_t event_count = 0;
  std::vector<PortInfo> ports;
  uint64_t reports_total = 0;
  uint64_t reports_forgotten = 0;
  std::string ovs_version;
};

std::string FormatStatus(const StatusInput& input, bool as_json);
std::string FormatFlowTables(const AgentStatus& agent, bool as_json);

}  // namespace trumpet

#endif  // TRUMPET_VSWITCHD_PLUGIN_STATUS_TEXT_H
