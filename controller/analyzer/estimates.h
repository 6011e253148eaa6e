// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Estimates: proportions, and quotients of them, with intervals that hold the truth in a stated
// share of cases (docs/adr/0020).
//
// Threads: pure functions.

#ifndef TRUMPET_CONTROLLER_ANALYZER_ESTIMATES_H
#define TRUMPET_CONTROLLER_ANALYZER_ESTIMATES_H

#include <cstdint>

namespace trumpet {

// low <= value <= high; not known: nothing was seen that tells.
struct Estimate {
  bool is_known = false;
  double value = 0;
  double low = 0;
  double high = 1;
};

// How far a normal deviate goes to either side in a share `confidence` of cases: 1.96 for 0.95.
double NormalReach(double confidence);

// `hits` of `trials`: Wilson's score interval.
Estimate Proportion(uint64_t hits, uint64_t trials, double reach);

// 1 - x, and x to the power of n.
Estimate Complement(const Estimate& x);
Estimate Power(const Estimate& x, unsigned n);

// a / b of two independent ones, at most 1: the interval is recovered from theirs (Donner and Zou's
// MOVER).  If b is not known, only that it is at most 1, and so the quotient a or more.
Estimate Quotient(const Estimate& a, const Estimate& b);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_ANALYZER_ESTIMATES_H
