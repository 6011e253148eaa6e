// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Fill: what else fits into a schedule (phase 2).
//
// A greedy fill is where it starts, and stays the result if nothing better is found in time.  Slots
// of the same kind are solved together: a pattern is a set of queries that fits into the room of
// one kind, and column generation finds how often each is used.

#ifndef TRUMPET_CONTROLLER_PLAN_SLICE_FILL_H
#define TRUMPET_CONTROLLER_PLAN_SLICE_FILL_H

#include <vector>

#include "controller/plan/slice/fill_problem.h"

namespace trumpet::slice {

// `start` meets `required`; the result is never worse than that and than a greedy fill.
FillResult Fill(const FillProblem& problem, const std::vector<FillPattern>& start,
                Deadline deadline);

}  // namespace trumpet::slice

#endif  // TRUMPET_CONTROLLER_PLAN_SLICE_FILL_H
