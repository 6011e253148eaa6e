// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// How likely what was counted is by chance, exactly: for few packets no approximation will do.
//
// Threads: pure functions.

#ifndef TRUMPET_CONTROLLER_PROBE_CHANCES_H
#define TRUMPET_CONTROLLER_PROBE_CHANCES_H

#include <cstdint>

namespace trumpet {

// That of `trials`, each a hit with probability `rate`, so many or more are hits.
double ChanceOfSoMany(uint64_t hits, uint64_t trials, double rate);

struct RateRange {
  double low = 0;
  double high = 1;
};

// Holds the rate behind the hits in a share `confidence` of cases or more (Clopper and Pearson).
RateRange RateOf(uint64_t hits, uint64_t trials, double confidence);

// That a group has so few hits or fewer, if it is of one kind with the others (Fisher).
double ChanceOfSoFew(uint64_t hits, uint64_t trials, uint64_t other_hits, uint64_t other_trials);

// That hits and misses, in any order alike, make so few runs of equal ones or fewer (Wald and
// Wolfowitz).
double ChanceOfSoFewRuns(uint64_t runs, uint64_t hits, uint64_t misses);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_PROBE_CHANCES_H
