// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// PlanSlices: from what a campaign asks for to where and when to mirror.
//
// Pure: nothing is measured or installed.  Threads: no state, but see LinearProgram.

#ifndef TRUMPET_CONTROLLER_PLAN_SLICE_PLANNER_H
#define TRUMPET_CONTROLLER_PLAN_SLICE_PLANNER_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "controller/plan/slice/key_points.h"
#include "controller/plan/slice/network.h"
#include "controller/plan/slice/paths.h"
#include "controller/plan/slice/schedule.h"
#include "lib/lang/event/source.h"
#include "lib/lang/slice/slice_language.h"

namespace trumpet::slice {

// Where traffic to a prefix leaves the network.
struct RoutedPrefix {
  Prefix prefix;
  std::vector<int> egresses;
};

// What one router copies of this prefix, tunnel headers included.
struct PrefixRate {
  Prefix prefix;
  int64_t rate_bps = 0;
};

struct SlicePlanOptions {
  std::vector<int> borders;          // where traffic enters; leaves, for want of a route
  std::vector<RoutedPrefix> routes;  // the longest that covers a query's prefix counts
  int64_t rate_bps = 50'000'000;     // of a prefix that is not among `rates`
  std::vector<PrefixRate> rates;     // as measured
  // Whoever copies stops at the budget: a query that takes more than it counts as the whole of it,
  // and is no error.
  bool is_capped = false;
  double longest_path_ms = 0;
  double shortest_slice_ms = 25;
  double spacing_ms = 0;
  double seconds = 5;  // for the solvers, all together
  // Of all searches for key points, some seconds of work; behind them all of a path are key points.
  uint64_t most_steps = 3 * kMaxPathSteps;
};

// A MIRROR query on one path, or a CONFINE query on one region.
struct PlannedQuery {
  size_t query = 0;   // of the campaign
  size_t region = 0;  // of that query
  Prefix prefix;
  Path routers;                // MIRROR: along the path; CONFINE: of the region, rising
  std::vector<int> locations;  // where packets are copied
  std::string why;             // these locations are enough
  int64_t cost_bps = 0;        // of all its locations together; CONFINE: 0
  bool is_capped = false;      // it would cost more than the budget
};

struct SlicePlan {
  std::vector<PlannedQuery> confined;  // in every slot
  std::vector<PlannedQuery> mirrored;  // numbered as in the schedule
  uint64_t steps = 0;                  // of searches for key points
  SlotTimes times;
  Packing packing;    // of `mirrored`
  Schedule schedule;  // likewise
  std::vector<std::string> warnings;
};

// Errors carry their place in `source`, of which `campaign` was read.
Result<SlicePlan> PlanSlices(const SliceCampaign& campaign, const event_lang::Source& source,
                             const Network& network, const SlicePlanOptions& options);

// The plan for people: paths, locations and why, slots, and what solver or theorem proves what.
std::string ExplainPlan(const SlicePlan& plan, const SliceCampaign& campaign,
                        const Network& network);

}  // namespace trumpet::slice

#endif  // TRUMPET_CONTROLLER_PLAN_SLICE_PLANNER_H
