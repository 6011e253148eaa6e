// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Which packets of probes a tenant may send.
//
// Threads: pure function.

#ifndef TRUMPET_CONTROLLER_REST_TENANT_PACKETS_H
#define TRUMPET_CONTROLLER_REST_TENANT_PACKETS_H

#include <string>

#include "controller/tem/event_manager.h"
#include "lib/packet/probe_frame.h"

namespace trumpet {

// Why the caller may not send it; empty: it may.  A tenant's packets go from its addresses to its
// addresses, where whoever sends nothing else could have them as well: another source on Ethernet
// would teach bridges that somebody has moved, and another VLAN is somebody else's.
std::string WhyTenantMayNotSend(const Caller& caller, const ProbePacket& packet);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_REST_TENANT_PACKETS_H
