// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// TagPool: the numbers by which copies tell their slices apart.
//
// Tags go round, so that one comes again as late as can be, and never before kRest has gone by
// since its slice was over: copies may still be on their way.
//
// Threads: one.  Time comes in with each call.

#ifndef TRUMPET_CONTROLLER_SLICE_TAG_POOL_H
#define TRUMPET_CONTROLLER_SLICE_TAG_POOL_H

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_set>
#include <utility>

#include "lib/base/units.h"
#include "lib/model/trace_rule.h"

namespace trumpet {

class TagPool {
 public:
  static constexpr Nanos kRest = 60 * kNanosPerSecond;
  static constexpr uint32_t kLast = kFirstTraceTag - 1;
  // Of all, so that a free one is found after few steps.
  static constexpr size_t kMaxTaken = kLast / 2;

  // A restarted controller begins elsewhere: copies of its last life may still come.
  explicit TagPool(uint32_t first) : next_(first % kLast + 1) {}

  // 0: all are taken.
  uint32_t Take(Nanos now) {
    while (!resting_.empty() && resting_.front().first <= now) {
      taken_.erase(resting_.front().second);
      resting_.pop_front();
    }
    if (taken_.size() >= kMaxTaken) return 0;
    while (!taken_.insert(next_).second) Advance();
    const uint32_t tag = next_;
    Advance();
    return tag;
  }

  // Its slice is over.
  void Release(uint32_t tag, Nanos now) { resting_.emplace_back(now + kRest, tag); }

  size_t taken() const { return taken_.size(); }  // with those that rest

 private:
  void Advance() { next_ = next_ % kLast + 1; }

  uint32_t next_;
  std::unordered_set<uint32_t> taken_;
  std::deque<std::pair<Nanos, uint32_t>> resting_;  // until when
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_SLICE_TAG_POOL_H
