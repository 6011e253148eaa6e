// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// LinkRates: what the copies of a plan put on each link on their way to the analyzer.

#ifndef TRUMPET_CONTROLLER_PLAN_SLICE_LINK_RATES_H
#define TRUMPET_CONTROLLER_PLAN_SLICE_LINK_RATES_H

#include <cstdint>
#include <vector>

#include "controller/plan/slice/network.h"
#include "controller/plan/slice/planner.h"

namespace trumpet::slice {

struct LinkRate {
  int from = 0;
  int to = 0;
  int64_t bps = 0;  // in the slot that puts most on it
};

// Copies take a shortest path by weight; of several the first.  Routers without a way to
// `analyzer` add nothing.  By router.
std::vector<LinkRate> ExpectedLinkRates(const Network& network, const SlicePlan& plan,
                                        int analyzer);

}  // namespace trumpet::slice

#endif  // TRUMPET_CONTROLLER_PLAN_SLICE_LINK_RATES_H
