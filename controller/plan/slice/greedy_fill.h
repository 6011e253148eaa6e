// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Greedy fill: a good fill at once, without a solver.
//
// A step takes some queries times slots of different kinds or patterns, which are far fewer than
// slots.

#ifndef TRUMPET_CONTROLLER_PLAN_SLICE_GREEDY_FILL_H
#define TRUMPET_CONTROLLER_PLAN_SLICE_GREEDY_FILL_H

#include <vector>

#include "controller/plan/slice/fill_problem.h"

namespace trumpet::slice {

// Adds to `start`: first to queries that are there less than required + `repeated` times, the
// dearest of them first, then to every slot what is worth most for its cost, until nothing fits.
// The better of two ways, or the first, if the deadline is over then.
FillResult TopUp(const FillProblem& problem, const std::vector<FillPattern>& start, int repeated,
                 Deadline deadline);

// Adds to `start`, slot by slot, what is there least often, and of that what is worth most for its
// cost.
FillResult FillInTurn(const FillProblem& problem, const std::vector<FillPattern>& start);

// The best of both, tried over all numbers of repetitions, added to `start` and from nothing; at
// least with none, if the deadline is over.  Never worse than `start`.
FillResult FillGreedily(const FillProblem& problem, const std::vector<FillPattern>& start,
                        Deadline deadline);

}  // namespace trumpet::slice

#endif  // TRUMPET_CONTROLLER_PLAN_SLICE_GREEDY_FILL_H
