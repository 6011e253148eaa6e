// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/analyzer/sample_estimate.h"

#include <algorithm>
#include <cmath>

namespace trumpet {

// Score interval: of M connections Mp are expected in the sample, with a variance of Mp(1 - p); all
// M for which k is no farther from that than `reach` deviations.  Heaps of different sizes count as
// fewer heaps of one size: sum^2 / squares of them, of squares / sum each.
Estimate EstimateFromSample(const SampleSums& sums, unsigned bits, double reach) {
  const double p = std::ldexp(1, -static_cast<int>(bits));
  const double size = sums.sum > 0 ? sums.squares / sums.sum : 1;
  const double k = sums.sum / size;
  const double spread = reach * reach * (1 - p);
  const double middle = k + spread / 2;
  const double off = std::sqrt(spread * (k + spread / 4));
  Estimate estimate;
  estimate.is_known = true;
  estimate.value = sums.sum / p;
  estimate.low = std::max(sums.sum, size * (middle - off) / p);
  estimate.high = std::max(estimate.value, size * (middle + off) / p);
  estimate.low = std::min(estimate.low, estimate.value);
  return estimate;
}

}  // namespace trumpet
