// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// DemandBook: what copies of a prefix are likely to cost at one router.
//
// Asked in this order: the most that slices have measured within the last minutes; sources that
// others feed (counters of flows, samples).  Where none knows, somebody has to look: a slot of
// its own.
//
// Threads: one.  Times are monotonic.
// Memory: kMaxPrefixes; of more, the ones measured longest ago are forgotten.

#ifndef TRUMPET_CONTROLLER_SLICE_DEMAND_BOOK_H
#define TRUMPET_CONTROLLER_SLICE_DEMAND_BOOK_H

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "lib/base/units.h"
#include "lib/packet/prefix.h"

namespace trumpet {

// Bits per second of a prefix, as others than slices know it.
class DemandSource {
 public:
  virtual ~DemandSource() = default;
  virtual const char* name() const = 0;
  // None: it cannot tell.
  virtual std::optional<int64_t> RateOf(const Prefix& prefix, Nanos now) = 0;
};

struct Demand {
  int64_t rate_bps = 0;
  std::string source;  // "slices", or that of a DemandSource
};

class DemandBook {
 public:
  static constexpr size_t kMaxPrefixes = 65536;
  static constexpr Nanos kDefaultMemory = 300 * kNanosPerSecond;

  explicit DemandBook(Nanos memory = kDefaultMemory) : memory_(memory) {}

  // Asked in this order; must outlive the book.
  void AddSource(DemandSource* source) { sources_.push_back(source); }

  // A slice has measured it.
  void Measured(const Prefix& prefix, int64_t rate_bps, Nanos now);
  std::optional<Demand> Estimate(const Prefix& prefix, Nanos now);

  size_t prefix_count() const { return peaks_.size(); }

 private:
  struct Sample {
    Nanos at;
    int64_t rate_bps;
  };
  // Falling: what is later and larger makes the earlier ones irrelevant.
  using Peaks = std::deque<Sample>;

  void MakeRoom(Nanos now);

  const Nanos memory_;
  std::vector<DemandSource*> sources_;
  std::unordered_map<std::string, Peaks> peaks_;  // by the prefix, printed
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_SLICE_DEMAND_BOOK_H
