// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// TraceNetwork: what the controller tells analyzers of the network: the topology, and the numbers
// that switches put into copies.
//
//   {"switches": {"leaf1": 1}, "topology": {"hosts": [...], "switches": [...], "links": [...]}}
//
// The topology has the keys of docs/topology.md that say where packets go.
//
// Threads: pure functions.

#ifndef TRUMPET_CONTROLLER_TRACES_TRACE_NETWORK_H
#define TRUMPET_CONTROLLER_TRACES_TRACE_NETWORK_H

#include <string>
#include <string_view>

#include "controller/plan/topology.h"
#include "controller/traces/switch_book.h"
#include "lib/base/status.h"

namespace trumpet {

struct ToldNetwork {
  Topology topology;
  SwitchBook switches;  // those that copy
};

std::string PrintToldNetwork(const ToldNetwork& network);
Result<ToldNetwork> ParseToldNetwork(std::string_view text);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACES_TRACE_NETWORK_H
