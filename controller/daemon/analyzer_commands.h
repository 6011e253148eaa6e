// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Commands of trumpet-analyzer's control socket: `ovs-appctl -t trumpet-analyzer analyzer/show`, as
// text for people or, after the argument `json`, for programs.
//
// Threads: that of the libevent loop.

#ifndef TRUMPET_CONTROLLER_DAEMON_ANALYZER_COMMANDS_H
#define TRUMPET_CONTROLLER_DAEMON_ANALYZER_COMMANDS_H

#include <memory>
#include <string>
#include <vector>

#include "controller/analyzer/analyzer.h"
#include "controller/analyzer/copy_receiver.h"
#include "controller/daemon/daemon.h"
#include "controller/traces/live_traces.h"

namespace trumpet {

struct NamedReceiver {
  std::string interface;
  std::unique_ptr<CopyReceiver> receiver;
};

// All must outlive the commands.
std::vector<DaemonCommand> MakeAnalyzerCommands(const Analyzer* analyzer,
                                                const std::vector<NamedReceiver>* receivers);
// trace/status, trace/list and trace/show; `traces` is null where none are made.
std::vector<DaemonCommand> MakeTraceCommands(LiveTraces* traces);

// For coverage/show and memory/show.
DaemonFigures MakeAnalyzerFigures(const Analyzer& analyzer,
                                  const std::vector<NamedReceiver>& receivers,
                                  const LiveTraces* traces);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_DAEMON_ANALYZER_COMMANDS_H
