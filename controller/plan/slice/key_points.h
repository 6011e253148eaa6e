// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Key points: the routers of a path that have to mirror so that the copies prove the path.
//
// Theorem 1 of the paper: a path is proven by copies at the ends of its segments when every
// segment is the only simple path of its length between its ends, for every router takes one off
// the TTL.  Adjacent routers are always fine.  The fewest segments are found by dynamic programming
// over the path: each segment is judged at most once, not each of the 2^(n-2) ways to cut.

#ifndef TRUMPET_CONTROLLER_PLAN_SLICE_KEY_POINTS_H
#define TRUMPET_CONTROLLER_PLAN_SLICE_KEY_POINTS_H

#include <cstdint>
#include <vector>

#include "controller/plan/slice/network.h"

namespace trumpet::slice {

// To judge one segment is to search for a second simple path of a given length, which is hard in
// general.  A search that took this many steps counts the segment as ambiguous; a step looks at one
// link.
constexpr uint64_t kMaxSegmentSteps = 4'000'000;
// Of all searches of one path together, about a second of work; what comes behind them in the path
// is a key point.
constexpr uint64_t kMaxPathSteps = 200'000'000;

struct KeyPoints {
  std::vector<int> positions;  // in the path, rising; its first and last are among them
  bool is_minimal = true;      // false: some search was cut short; valid all the same
  uint64_t steps = 0;          // of all searches, little more than there may be
};

// `path` has passed CheckSimplePath().
KeyPoints FindKeyPoints(const Network& network, const std::vector<int>& path,
                        uint64_t most_steps = kMaxPathSteps);

}  // namespace trumpet::slice

#endif  // TRUMPET_CONTROLLER_PLAN_SLICE_KEY_POINTS_H
