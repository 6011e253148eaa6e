// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// A filter as OpenFlow matches: a packet passes the filter if it fits one of them.
//
// A switch sees the outermost headers only, so fields without a level mean those here.  What no
// small number of matches can say (`not`, `inner.`, the presence of most fields) is an error.
//
// Threads: pure functions.

#ifndef TRUMPET_CONTROLLER_PLAN_FLOW_MATCH_H
#define TRUMPET_CONTROLLER_PLAN_FLOW_MATCH_H

#include <string>
#include <vector>

#include "lib/base/status.h"
#include "lib/model/filter.h"

namespace trumpet {

constexpr size_t kMaxFlowMatches = 64;

// "tcp,nw_dst=10.0.0.0/8,tp_dst=80"; "" fits every packet.  None: no packet passes.
Result<std::vector<std::string>> FlowMatches(const FilterExpr& filter);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_PLAN_FLOW_MATCH_H
