// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What one switch is told of trace rules, and what of it another set changes.
//
// Threads: pure functions.

#ifndef TRUMPET_CONTROLLER_TRACE_SWITCH_RULES_H
#define TRUMPET_CONTROLLER_TRACE_SWITCH_RULES_H

#include <vector>

#include "controller/openflow/openflow_commit.h"
#include "controller/plan/trace/trace_flows.h"
#include "lib/base/status.h"

namespace trumpet {

// What the trace rules of all switches are known by.
OpenflowClaim TraceRuleClaim();

// Flows say when somebody removes them, and are put back then.
Result<std::vector<OpenflowRule>> CompileAt(const TraceRules& rules, const TraceSwitch& at);

OpenflowChange ChangeOf(const std::vector<OpenflowRule>& before,
                        const std::vector<OpenflowRule>& after);
inline bool IsEmpty(const OpenflowChange& change) {
  return change.add.empty() && change.remove.empty();
}

// Whatever a packet meets while one set takes the place of the other, it has all copies or none.
bool IsDecidedAtEdges(const TraceRules& before, const TraceRules& after);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACE_SWITCH_RULES_H
