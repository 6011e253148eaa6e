// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Packets by which it is tried whether a switch copies what its trace rules say (trace_flows.h).
//
// A test packet comes from the controller, with bit 1 of reg13 set, which says that it is forwarded
// nowhere.  It goes through table 0 as any packet does.  Whether a sampled rule would take it only
// the switch's hash knows, and which port it comes from only a link: those go to the table of rules
// at once.
//
// Threads: pure functions.

#ifndef TRUMPET_CONTROLLER_PLAN_TRACE_TRACE_TESTS_H
#define TRUMPET_CONTROLLER_PLAN_TRACE_TRACE_TESTS_H

#include <cstdint>
#include <string>
#include <vector>

#include "lib/base/status.h"
#include "lib/model/trace_rule.h"

namespace trumpet {

struct TraceTest {
  uint32_t rule = 0;    // that the packet is for; one before may take it
  std::string match;    // that the packet fits
  uint8_t tos = 0;      // bits to set in the IP header's second byte
  std::string actions;  // to send it with
};

// One for each match of each rule.  The error names the rule that switches cannot be told.
Result<std::vector<TraceTest>> TraceTests(const TraceRules& rules);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_PLAN_TRACE_TRACE_TESTS_H
