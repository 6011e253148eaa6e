// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Trace rules as the flows and meters of one switch (ADR 0037).
//
// In table 0, before the flows of others, lie flows that a packet meets once, for it goes through
// table 0 again at once, with one bit of reg13 set: it is forwarded as if we were not there, and
// before anything is copied.  Only packets that a rule may want meet one.  Then the rules are
// looked through in table 251, in order; the first that fits sends the copy, table 252 if the
// switch has a budget.  Tunnels to analyzers are never copied.  Before all of that packets of hosts
// get their marks: they go through table 0 once more, with another bit of reg13.
//
// What OpenFlow cannot mask or match is brought into registers first: the DSCP in reg13, and in
// reg12 a hash of the connection, the same in both directions and on switches of the same build.
//
// Threads: pure functions.

#ifndef TRUMPET_CONTROLLER_PLAN_TRACE_TRACE_FLOWS_H
#define TRUMPET_CONTROLLER_PLAN_TRACE_TRACE_FLOWS_H

#include <cstdint>
#include <string>
#include <vector>

#include "lib/base/status.h"
#include "lib/model/trace_rule.h"
#include "lib/packet/prefix.h"

namespace trumpet {

constexpr uint8_t kTraceRuleTable = 251;
constexpr uint8_t kTraceBudgetTable = 252;
constexpr uint16_t kTracePriority = 64900;    // of the first flows in table 0, and up to 99 more
constexpr uint32_t kFirstTraceMeter = 60100;  // the switch's, then those of rules
constexpr int kTraceDscpShift = 2;            // of the debug bit within the IP header's second byte

// A host of the topology that is attached to the switch.
struct TraceHost {
  std::string id;
  std::vector<Prefix> prefixes;
};

// What the flows must know of their switch.
struct TraceSwitch {
  uint16_t number = 0;  // 1 to kMaxSwitchNumber
  uint32_t port = 0;    // to the analyzers
  bool is_erspan = false;
  std::vector<Prefix> analyzers;  // of the whole network; tunnels there are no traffic
  std::vector<Prefix> local;      // whom packets leave the network to here
  std::vector<TraceHost> hosts;   // whose packets may be marked here
  uint32_t switch_count = 1;      // that share the network's budget
};

struct TraceFlow {
  std::string text;  // as ovs-ofctl takes it
  int rule = -1;     // whose copies it counts; -1: it counts none
};

struct TraceFlows {
  std::vector<std::string> meters;
  std::vector<TraceFlow> flows;
};

// What a rule takes, but for what lies in registers.
FilterExpr Visible(const TraceRule& rule);

// The error names the rule that switches cannot be told.
Result<TraceFlows> CompileTraceRules(const TraceRules& rules, const TraceSwitch& at);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_PLAN_TRACE_TRACE_FLOWS_H
