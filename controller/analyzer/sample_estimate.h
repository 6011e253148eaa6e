// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What a sample of connections says of all of them: a rule that takes one connection in 2^n takes
// all its packets, so connections are what is drawn by chance, and packets and bytes come in heaps
// of different sizes (docs/adr/0061).
//
// Threads: pure functions.

#ifndef TRUMPET_CONTROLLER_ANALYZER_SAMPLE_ESTIMATE_H
#define TRUMPET_CONTROLLER_ANALYZER_SAMPLE_ESTIMATE_H

#include "controller/analyzer/estimates.h"

namespace trumpet {

// Of the connections in the sample: the sum of what each has (packets, bytes, or 1), and the sum of
// its squares.
struct SampleSums {
  double sum = 0;
  double squares = 0;

  void Add(double value) {
    sum += value;
    squares += value * value;
  }
};

// The sum of all connections, of which each is in the sample with a probability of 1 / 2^bits:
// unbiased, with the interval in which it lies in about the share of cases that `reach` stands for
// (1.96: 95 %).  With nothing in the sample it is 0 and at most `high`, in connections.  Where few
// connections have most of the sum, and none of them is in the sample, no sample can know: then the
// interval holds the truth less often.
Estimate EstimateFromSample(const SampleSums& sums, unsigned bits, double reach);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_ANALYZER_SAMPLE_ESTIMATE_H
