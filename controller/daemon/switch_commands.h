// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The commands of trumpet-controller about the switches whose databases it follows.

#ifndef TRUMPET_CONTROLLER_DAEMON_SWITCH_COMMANDS_H
#define TRUMPET_CONTROLLER_DAEMON_SWITCH_COMMANDS_H

#include <vector>

#include "controller/daemon/daemon.h"
#include "controller/ovsdb/analyzer_ports.h"
#include "controller/ovsdb/remote_switches.h"

namespace trumpet {

// Both must outlive them.
std::vector<DaemonCommand> MakeSwitchCommands(RemoteSwitches* switches, AnalyzerPorts* ports);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_DAEMON_SWITCH_COMMANDS_H
