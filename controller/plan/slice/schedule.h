// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Schedule: which MIRROR query is active in which slot of a campaign.
//
// Phase 1 packs every query once into as few slots as possible; phase 2 repeats that as often as
// the campaign lasts and fills what room is left.  CONFINE queries cost nothing and are active in
// every slot, so they are no concern of the schedule.

#ifndef TRUMPET_CONTROLLER_PLAN_SLICE_SCHEDULE_H
#define TRUMPET_CONTROLLER_PLAN_SLICE_SCHEDULE_H

#include <cstdint>
#include <vector>

#include "controller/plan/slice/fill.h"
#include "controller/plan/slice/network.h"
#include "controller/plan/slice/packing.h"
#include "lib/base/units.h"

namespace trumpet::slice {

constexpr size_t kMaxQueries = 100'000;
constexpr int kMaxSlots = 100'000;
constexpr int64_t kMaxCost = 1'000'000'000'000;  // a terabit per second
constexpr size_t kMaxAllocations = 10'000'000;   // queries times slots

struct ScheduleProblem {
  std::vector<int64_t> costs;   // by MIRROR query, 0 to kMaxCost
  std::vector<double> weights;  // by MIRROR query, above 0
  int64_t budget = 0;           // of one slot, 1 to kMaxCost
  int slots = 0;                // at least 1
  size_t confined = 0;          // CONFINE queries that whoever asks adds to every slot
};

// The error: "a campaign of 0 slots; it takes 1 to 100000".
Status CheckSlotCount(double slots);

// Numbers within the limits, and no query above the budget.  The error names the query by number.
Status CheckScheduleProblem(const ScheduleProblem& problem);

struct Schedule {
  std::vector<Slot> slots;
  FillResult fill;
};

// Phase 2 as in the paper: the packing is repeated as it is, what room it leaves is filled.  The
// packing has at most as many slots as the problem.
Schedule FillAroundPacking(const ScheduleProblem& problem, const std::vector<Slot>& pack,
                           Deadline deadline);

// Phase 2 with more choice: every query is there at least as often as the packing would be
// repeated, but the packing itself need not be.  Never less than the above.
Schedule FillFreely(const ScheduleProblem& problem, const std::vector<Slot>& pack,
                    Deadline deadline);

// Slots of a campaign (section 4.3): each lasts as long as the shortest slice that routers can
// make, or the longest path if that takes longer, and copies of two slots do not mix.
struct SlotTimes {
  double slot_ms = 0;
  int slots = 0;
};
// By the formula of the authors' program, in floating point; there may be no slot at all.  The
// error: a slot takes no time, or there are more than kMaxSlots.
Result<SlotTimes> CountSlots(double during_s, double longest_path_ms, double shortest_slice_ms,
                             double spacing_ms);
// To the nearest.
Nanos NanosOf(double ms);
// The same in whole nanoseconds, to which the times of a slot are rounded: none is lost.
Result<SlotTimes> CountWholeSlots(Nanos during, double longest_path_ms, double shortest_slice_ms,
                                  double spacing_ms);

}  // namespace trumpet::slice

#endif  // TRUMPET_CONTROLLER_PLAN_SLICE_SCHEDULE_H
