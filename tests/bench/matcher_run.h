// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// MatcherRun: what it takes to find the triggers of a new flow, beside a plain tuple space search.
//
// Triggers under 1 to 64 masks, of which 8, 1 or none match a flow; 20,000 random flows per round.
// Times are CPU nanoseconds per look-up, of the best round and of the middle one.  Ours takes a
// flow at a time; the plain one does, too, or 32 at a time, which the packets of a switch that are
// of new flows only now and then cannot have.
//
// Both must name the same triggers in the first round, and in each round as many as match.

#ifndef TRUMPET_TESTS_BENCH_MATCHER_RUN_H
#define TRUMPET_TESTS_BENCH_MATCHER_RUN_H

#include <vector>

#include "tests/bench/case_run.h"

namespace trumpet::bench {

// One object per number of masks and of hits.
std::vector<Json> RunMatcher(const BenchCase& bench_case);

}  // namespace trumpet::bench

#endif  // TRUMPET_TESTS_BENCH_MATCHER_RUN_H
