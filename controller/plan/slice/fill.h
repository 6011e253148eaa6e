// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Fill: what else fits into a schedule (phase 2): the most additional allocations, each counted by
// the weight of its query, and kFairness for every time that even the least repeated query is
// repeated once more.
//
// Slots of the same kind are solved together: a pattern is a set of queries that fits into the room
// of one kind, and column generation finds how often each is used.

#ifndef TRUMPET_CONTROLLER_PLAN_SLICE_FILL_H
#define TRUMPET_CONTROLLER_PLAN_SLICE_FILL_H

#include <cstdint>
#include <vector>

#include "controller/plan/slice/packing.h"

namespace trumpet::slice {

constexpr int kFairness = 10;  // Omega, or sigma, in the paper's experiments

// Slots with the same room that hold the same queries already.
struct SlotKind {
  int64_t room = 0;
  Slot holds;  // these cannot be added again
  int count = 0;
};

struct FillProblem {
  std::vector<int64_t> costs;   // by query
  std::vector<double> weights;  // by query, above 0
  std::vector<SlotKind> kinds;
  int required = 0;  // each query is to be added so often at least
};

// What a kind gets in one of its slots.
struct FillPattern {
  size_t kind = 0;
  Slot queries;
  int count = 0;  // of slots
};

struct FillResult {
  std::vector<FillPattern> patterns;  // at most as many slots of each kind as there are
  int repeated = 0;                   // each query is added at least required + repeated times
  double objective = 0;               // weights added + kFairness * repeated
  double bound = 0;                   // no fill has more
  bool is_proven = false;             // objective == bound
};

// `start` meets `required`; it is what the result is if time runs out at once.
FillResult Fill(const FillProblem& problem, const std::vector<FillPattern>& start,
                Deadline deadline);

}  // namespace trumpet::slice

#endif  // TRUMPET_CONTROLLER_PLAN_SLICE_FILL_H
