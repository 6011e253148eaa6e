// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Named counters: sums over the traces that fit a filter, in steps of time, from when the counter
// was made on.  The controller tells analyzers all counters that there are; each analyzer counts
// its traces, and what it has counted survives it (docs/traces.md).
//
//   CounterBook book;
//   book.Set(specs);
//   book.Add(report);                     // for each trace, as it is told the first time
//   file.Append(book.TakeAll(), now);
//
// Threads: one.  Memory: the sums of the steps that were not taken yet, kMaxCounters times some
// hundred at most for each step.

#ifndef TRUMPET_CONTROLLER_TRACES_COUNTER_BOOK_H
#define TRUMPET_CONTROLLER_TRACES_COUNTER_BOOK_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "controller/store/trace_store.h"
#include "controller/traces/switch_book.h"
#include "controller/traces/trace_maker.h"
#include "lib/wire/trace_message.h"

namespace trumpet {

// What is counted of each trace.
enum CountedValue : uint32_t {
  kCountedPackets,
  kCountedBytes,
  kCountedConnections,  // packets with SYN
  kCountedDelivered,    // this and the next four in the order of TraceFault
  kCountedDropped,
  kCountedCopiesLost,
  kCountedLoop,
  kCountedNotKnown,
  kCountedHops,      // copies
  kCountedHopTimes,  // from one switch to the next one
  kCountedHopNanos,  // the sum of those
  kCountedNames,
  kCountedLatency = 64,  // and up: a histogram of those, by LogBucketOf()
};

using CountedValues = std::map<uint32_t, uint64_t>;

void CountTrace(const StoredTrace& trace, CountedValues* values);
// "packets", ..., "b96" of a bucket of latency.
std::string CountedName(uint32_t value);

struct NamedCounter {
  uint64_t id = 0;
  std::string name;
  Nanos step = 0;
  std::vector<TraceWord> words;  // as they were told
  TraceQuery query;              // what they mean
};

// {"counters":[{"id":7,"name":"dns","step_s":10,"words":[["dst-port","53"]]}]}.  A counter whose
// words mean nothing here (a switch that is not known, say) is left out and named in `left_out`.
Result<std::vector<NamedCounter>> ParseNamedCounters(std::string_view text,
                                                     const SwitchBook& switches,
                                                     std::vector<std::string>* left_out);

struct CounterRow {
  uint64_t counter = 0;
  Nanos time = 0;  // of the step's begin
  uint32_t value = 0;
  uint64_t sum = 0;
};

class CounterBook {
 public:
  static constexpr size_t kMaxCounters = 256;

  // What was counted for others is still to be taken.
  void Set(std::vector<NamedCounter> counters) { counters_ = std::move(counters); }
  const std::vector<NamedCounter>& counters() const { return counters_; }
  // Of a trace that is told again nothing is counted: it is as it was told first.
  void Add(const TraceReport& report);
  void Add(const StoredTrace& trace);
  size_t size() const { return rows_.size(); }
  // By counter, time and value.
  std::vector<CounterRow> TakeAll();

 private:
  std::vector<NamedCounter> counters_;
  std::map<std::tuple<uint64_t, Nanos, uint32_t>, uint64_t> rows_;
  StoredTrace trace_;  // its memory is used again
  CountedValues values_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACES_COUNTER_BOOK_H
