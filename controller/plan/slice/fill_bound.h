// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What no fill can have more than, without a solver.

#ifndef TRUMPET_CONTROLLER_PLAN_SLICE_FILL_BOUND_H
#define TRUMPET_CONTROLLER_PLAN_SLICE_FILL_BOUND_H

#include "controller/plan/slice/fill_problem.h"

namespace trumpet::slice {

// No fill has more: the room of each slot is shared out to fractions of queries, and what the least
// repeated query brings is shared out to all (Lagrange).
double BoundFill(const FillProblem& problem);

}  // namespace trumpet::slice

#endif  // TRUMPET_CONTROLLER_PLAN_SLICE_FILL_BOUND_H
