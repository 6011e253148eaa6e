// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The answers of trumpet/event-list, event-show and reports: values in, text or JSON out.

#ifndef TRUMPET_VSWITCHD_PLUGIN_EVENT_TEXT_H
#define TRUMPET_VSWITCHD_PLUGIN_EVENT_TEXT_H

#include <string>
#include <vector>

#include "lib/model/report.h"
#include "vswitchd-plugin/agent_status.h"
#include "vswitchd-plugin/event_registry.h"

namespace trumpet {

std::string FormatEventList(const std::vector<InstalledEvent>& events, const AgentStatus& agent,
                            Nanos now, bool as_json);
std::string FormatEvent(const InstalledEvent& event, const AgentStatus& agent, Nanos now,
                        bool as_json);
std::string FormatReports(const std::vector<Report>& reports, bool as_json);

}  // namespace trumpet

#endif  // TRUMPET_VSWITCHD_PLUGIN_EVENT_TEXT_H
