// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Pattern packing: the fewest slots by column generation (Gilmore and Gomory, 1961).
//
// A pattern is what fits into one slot.  The linear program over all patterns, of which only the
// useful ones are ever made, has an optimum that rounds up to the fewest slots in nearly every
// case.  Prices rounded to whole numbers make the bound proof against the solver's rounding.

#ifndef TRUMPET_CONTROLLER_PLAN_SLICE_PATTERN_PACKING_H
#define TRUMPET_CONTROLLER_PLAN_SLICE_PATTERN_PACKING_H

#include <cstdint>
#include <vector>

#include "controller/plan/slice/packing.h"

namespace trumpet::slice {

// Improves `packing`, its slots and its bound, until they meet or the deadline has come.
void PackByPatterns(const std::vector<int64_t>& costs, int64_t budget, Deadline deadline,
                    Packing* packing);

}  // namespace trumpet::slice

#endif  // TRUMPET_CONTROLLER_PLAN_SLICE_PATTERN_PACKING_H
