// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// FillProblem: what room a schedule has left, and what is put there (phase 2).
//
// What counts are the additional allocations, each by the weight of its query, and kFairness for
// every time that even the least repeated query is repeated once more.

#ifndef TRUMPET_CONTROLLER_PLAN_SLICE_FILL_PROBLEM_H
#define TRUMPET_CONTROLLER_PLAN_SLICE_FILL_PROBLEM_H

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
  bool is_cut_short = false;          // time ran out before it was proven
};

// What `patterns` are worth; the bound is not known.  Below 0 in `repeated`: not as required.
FillResult JudgeFill(const FillProblem& problem, std::vector<FillPattern> patterns);

// A fill as required goes before one that is not, then the higher objective counts.
bool IsBetterFill(const FillResult& a, const FillResult& b);

// Value for cost.  What costs nothing is beyond any other.
double WorthOf(double value, int64_t cost);

}  // namespace trumpet::slice

#endif  // TRUMPET_CONTROLLER_PLAN_SLICE_FILL_PROBLEM_H
