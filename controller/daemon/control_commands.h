// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Commands of the control socket: `ovs-appctl -t trumpet-controller event/list`, as text for people
// or, after the argument `json`, as the API says it.
//
// The socket has the rights of Open vSwitch's own: whoever may open it may do everything.  A
// command with a wrong argument answers one clear line and changes nothing.
//
// Threads: that of the libevent loop.

#ifndef TRUMPET_CONTROLLER_DAEMON_CONTROL_COMMANDS_H
#define TRUMPET_CONTROLLER_DAEMON_CONTROL_COMMANDS_H

#include <functional>
#include <vector>

#include "controller/daemon/daemon.h"
#include "controller/measure/measurement_manager.h"
#include "controller/notify/notifier.h"
#include "controller/plan/topology.h"
#include "controller/slice/campaign_manager.h"
#include "controller/tem/event_manager.h"
#include "controller/tem/report_hub.h"

namespace trumpet {

// All must outlive the commands; `notifier` may be null.
std::vector<DaemonCommand> MakeControlCommands(EventManager* manager, const ReportHub* hub,
                                               const Notifier* notifier,
                                               std::function<Topology()> topology);
// measure/list, measure/show.
std::vector<DaemonCommand> MakeMeasurementCommands(const MeasurementManager* measurements);
// slice/list, slice/schedule-show.
std::vector<DaemonCommand> MakeSliceCommands(const CampaignManager* campaigns);

// For coverage/show and memory/show.
DaemonFigures MakeDaemonFigures(const EventManager& manager, const ReportHub& hub,
                                const Notifier* notifier);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_DAEMON_CONTROL_COMMANDS_H
