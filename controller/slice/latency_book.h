// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// LatencyBook: how long copies of each switch take to the analyzer, from probes of the last minute.
//
// A probe leaves the controller at t0, and the switch sends it to the analyzer, where it arrives at
// t1, and back, where it arrives at t2.  When the switch did so is not known but for lying between
// t0 and t2; half of the way there and back is taken: t1 - t0 - (t2 - t0) / 2.  Of the half of the
// probes that were back soonest, which waited least on their way there, the median counts: copies
// queue as probes do, so it is what copies usually take.  It lies between the medians of t1 - t2
// and t1 - t0, and this is its error.
//
// Threads: one.

#ifndef TRUMPET_CONTROLLER_SLICE_LATENCY_BOOK_H
#define TRUMPET_CONTROLLER_SLICE_LATENCY_BOOK_H

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/units.h"
#include "lib/model/slice_copies.h"

namespace trumpet {

// What came of a probe.
struct LatencySample {
  Nanos taken_at = 0;     // monotonic
  Nanos to_analyzer = 0;  // t1 - t0, by two clocks
  Nanos round_trip = 0;   // t2 - t0, by one
  Nanos clock_error = 0;  // of t1 at most
};

struct LatencyView {
  CopyLatency latency;  // may be negative by as much as its error
  Nanos age = 0;        // of the newest sample
  size_t samples = 0;
};

class LatencyBook {
 public:
  static constexpr Nanos kMemory = 60 * kNanosPerSecond;

  // Samples come in the order of time.
  void Add(const std::string& switch_name, const LatencySample& sample);
  // What copies usually take; none if there was no probe in the last minute.
  std::optional<LatencyView> Find(const std::string& switch_name, Nanos now) const;
  // Of all switches, by name.
  std::vector<LatencyView> All(Nanos now) const;

 private:
  std::map<std::string, std::deque<LatencySample>> samples_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_SLICE_LATENCY_BOOK_H
