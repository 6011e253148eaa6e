// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// TraceNetwork: what the controller tells analyzers of the network: the topology, the numbers that
// switches put into copies, and the rules by which they copy.
//
//   {"switches": {"leaf1": 1}, "topology": {"hosts": [...], "switches": [...], "links": [...]},
//    "rules": [{"name": "web", "sample_bits": 10, "truncate": 192}], "changing": [1]}
//
// Rules of the switches with these numbers are changing just now.
//
// The topology has the keys of docs/topology.md that say where packets go.
//
// Threads: pure functions.

#ifndef TRUMPET_CONTROLLER_TRACES_TRACE_NETWORK_H
#define TRUMPET_CONTROLLER_TRACES_TRACE_NETWORK_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "controller/plan/topology.h"
#include "controller/traces/switch_book.h"
#include "lib/base/status.h"
#include "lib/model/trace_rule.h"

namespace trumpet {

struct ToldRule {
  std::string name;
  uint8_t sample_bits = 0;  // of connections one in 2^n; 0: all
  uint16_t snap_bytes = 0;  // of each packet; 0: all

  bool operator==(const ToldRule& other) const {
    return name == other.name && sample_bits == other.sample_bits && snap_bytes == other.snap_bytes;
  }
};

std::vector<ToldRule> ToldRulesOf(const TraceRules& rules);

struct ToldNetwork {
  Topology topology;
  SwitchBook switches;             // those that copy
  std::vector<ToldRule> rules;     // by which they do, in their order
  std::vector<uint16_t> changing;  // switches of which that is not sure now; rising
};

std::string PrintToldNetwork(const ToldNetwork& network);
Result<ToldNetwork> ParseToldNetwork(std::string_view text);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACES_TRACE_NETWORK_H
