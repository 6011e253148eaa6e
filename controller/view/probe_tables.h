// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What the API says of probes, for people.
//
// Threads: pure functions.

#ifndef TRUMPET_CONTROLLER_VIEW_PROBE_TABLES_H
#define TRUMPET_CONTROLLER_VIEW_PROBE_TABLES_H

#include <string>

#include "controller/view/api_tables.h"

namespace trumpet {

std::string ProbeTable(const ApiJson& probes);
// One probe, with what became of each of its packets.
std::string ProbeText(const ApiJson& probe);

// The packet of whatever has one: "Protocol=UDP srcIP=...", as it can be sent again.
std::string ProbePacketText(const ApiJson& probe);
// "UDP 10.0.1.1 > 10.0.2.2"
std::string ProbeFlowText(const ApiJson& probe);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_VIEW_PROBE_TABLES_H
