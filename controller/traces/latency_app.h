// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The latency profiler: how long packets took from the copy of one switch to that of the next, for
// each link a histogram; which link takes most of the time; and which has become slower.
//
// The times are those at which copies came to the analyzer: a link is told slower or faster than it
// was, and the ways of the copies are the same in both.
//
// Threads: values; one at a time.

#ifndef TRUMPET_CONTROLLER_TRACES_LATENCY_APP_H
#define TRUMPET_CONTROLLER_TRACES_LATENCY_APP_H

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "controller/store/trace_store.h"
#include "controller/traces/switch_book.h"

namespace trumpet {

struct LinkLatency {
  uint64_t packets = 0;
  uint64_t nanos = 0;  // the sum
  uint64_t longest = 0;
  std::map<uint32_t, uint64_t> histogram;  // by LogBucketOf()
};

class LatencyBook {
 public:
  // From each hop to the next one at another switch.
  void Add(const StoredTrace& trace);
  // By (from, to).
  const std::map<std::pair<uint16_t, uint16_t>, LinkLatency>& links() const { return links_; }

 private:
  std::map<std::pair<uint16_t, uint16_t>, LinkLatency> links_;
};

// An object for each link, that with the largest share of all time first; `before` may be null.
nlohmann::ordered_json ProfileLatency(const LatencyBook& now, const LatencyBook* before,
                                      const SwitchBook& switches);

// Where the median of all such packets lies, of which these are a sample: with a probability of 99
// in 100 within these buckets.
std::pair<uint32_t, uint32_t> MedianRange(const LinkLatency& link);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACES_LATENCY_APP_H
