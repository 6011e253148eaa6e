// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Commands of trumpet-analyzer's control socket: `ovs-appctl -t trumpet-analyzer analyzer/show`, as
// text for people or, after the argument `json`, for programs.
//
// Threads: that of the libevent loop.

#ifndef TRUMPET_CONTROLLER_DAEMON_ANALYZER_COMMANDS_H
#define TRUMPET_CONTROLLER_DAEMON_ANALYZER_COMMANDS_H

#include <string>
#include <vector>

#include "controller/analyzer/analyzer.h"
#include "controller/analyzer/copy_source.h"
#include "controller/daemon/daemon.h"
#include "controller/traces/live_traces.h"

namespace trumpet {

struct NamedSource {
  std::string name;  // of the interface, or of DPDK's port
  CopySource* source = nullptr;
};

// All must outlive the commands.
std::vector<DaemonCommand> MakeAnalyzerCommands(const Analyzer* analyzer,
                                                const std::vector<NamedSource>* sources);
// trace/status, trace/list and trace/show; `traces` is null where none are made.
std::vector<DaemonCommand> MakeTraceCommands(LiveTraces* traces);

// For coverage/show and memory/show.
DaemonFigures MakeAnalyzerFigures(const Analyzer& analyzer, const std::vector<NamedSource>& sources,
                                  const LiveTraces* traces);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_DAEMON_ANALYZER_COMMANDS_H
