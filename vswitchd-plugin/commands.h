// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Commands: `ovs-appctl trumpet/...`, as text for people or, after the argument `json`, for
// programs.
//
// A command with a wrong argument answers one clear line and changes nothing.
//
// Threads: the main thread.

#ifndef TRUMPET_VSWITCHD_PLUGIN_COMMANDS_H
#define TRUMPET_VSWITCHD_PLUGIN_COMMANDS_H

#include <map>
#include <string>
#include <vector>

#include "lib/base/status.h"
#include "vswitchd-plugin/agent.h"
#include "vswitchd-plugin/event_registry.h"
#include "vswitchd-plugin/host.h"
#include "vswitchd-plugin/perf_table.h"
#include "vswitchd-plugin/port_table.h"
#include "vswitchd-plugin/report_log.h"

namespace trumpet {

class Commands {
 public:
  // All must outlive the commands.
  Commands(const Host* host, EventRegistry* events, const PortTable* ports,
           const ReportLog* reports, Agent* agent);

  // Makes the commands known to the switch.  Once.
  void Register() const;

  // Answers `name` ("trumpet/status") with its arguments.
  Result<std::string> Run(const std::string& name, std::vector<std::string> arguments);

 private:
  using Arguments = std::vector<std::string>;
  using Answer = Result<std::string>;
  struct Entry {
    const char* name;
    const char* usage;
    int min_args;  // `json` included
    int max_args;
    Answer (Commands::*run)(const Arguments& arguments, bool as_json);
  };
  static const std::vector<Entry>& Table();

  Answer ShowStatus(const Arguments& arguments, bool as_json);
  Answer AddEvents(const Arguments& arguments, bool as_json);
  Answer DeleteEvents(const Arguments& arguments, bool as_json);
  Answer ListEvents(const Arguments& arguments, bool as_json);
  Answer ShowEvent(const Arguments& arguments, bool as_json);
  Answer ShowReports(const Arguments& arguments, bool as_json);
  Answer ShowFlowTables(const Arguments& arguments, bool as_json);
  Answer ShowPerf(const Arguments& arguments, bool as_json);
  Answer TurnOnSlice(const Arguments& arguments, bool as_json);
  Answer TurnOffSlice(const Arguments& arguments, bool as_json);
  Answer ShowSlices(const Arguments& arguments, bool as_json);
  Answer AddProgram(const Arguments& arguments, bool as_json);
  Answer DeleteProgram(const Arguments& arguments, bool as_json);
  Answer ListPrograms(const Arguments& arguments, bool as_json);
  Answer ShowProgram(const Arguments& arguments, bool as_json);
  Answer ReadProgram(const Arguments& arguments, bool as_json);
  Answer AskProgram(const Arguments& arguments, bool as_json);
  Answer ProgramBudget(const Arguments& arguments, bool as_json);
  Answer Enable(const Arguments& arguments, bool as_json);
  Answer Disable(const Arguments& arguments, bool as_json);
  Nanos Now() const;

  const Host* host_;
  EventRegistry* events_;
  const PortTable* ports_;
  const ReportLog* reports_;
  Agent* agent_;
  PerfTable perf_;
};

}  // namespace trumpet

#endif  // TRUMPET_VSWITCHD_PLUGIN_COMMANDS_H
