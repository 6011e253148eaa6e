// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// LatencyHistogram: counts of spans of time, in the buckets that /metrics shows.
//
// Threads: one.  Memory: fixed.

#ifndef TRUMPET_CONTROLLER_TEM_LATENCY_HISTOGRAM_H
#define TRUMPET_CONTROLLER_TEM_LATENCY_HISTOGRAM_H

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "lib/base/units.h"

namespace trumpet {

struct LatencyHistogram {
  // Upper bounds, inclusive; one more count is for what is beyond.
  static constexpr std::array<Nanos, 15> kBounds = {
      kNanosPerMilli / 10, kNanosPerMilli / 4,   kNanosPerMilli / 2,   kNanosPerMilli,
      2 * kNanosPerMilli,  5 * kNanosPerMilli,   10 * kNanosPerMilli,  20 * kNanosPerMilli,
      50 * kNanosPerMilli, 100 * kNanosPerMilli, 200 * kNanosPerMilli, 500 * kNanosPerMilli,
      kNanosPerSecond,     2 * kNanosPerSecond,  5 * kNanosPerSecond};

  std::array<uint64_t, kBounds.size() + 1> counts{};
  uint64_t count = 0;
  Nanos sum_ns = 0;

  // Clocks of two hosts may give less than nothing: that counts as nothing.
  void Add(Nanos span, uint64_t times = 1) {
    span = std::max<Nanos>(span, 0);
    const auto bound = std::lower_bound(kBounds.begin(), kBounds.end(), span);
    counts[static_cast<size_t>(bound - kBounds.begin())] += times;
    count += times;
    sum_ns += span * static_cast<Nanos>(times);
  }
};

// From the end of an interval to its reports, in three steps; per report.
struct VerdictLatencies {
  LatencyHistogram end_to_delivery;  // until the last host delivered that anybody waited for
  LatencyHistogram delivery_to_verdict;
  LatencyHistogram verdict_to_publication;  // to the store and all subscribers
  LatencyHistogram end_to_publication;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TEM_LATENCY_HISTOGRAM_H
