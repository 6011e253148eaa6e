// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// IncompleteRanges: when packets were not counted, and why.
//
// Threads: one.  Memory: bounded; beyond kMaxRanges the oldest are joined, which claims a little
// too much rather than too little.

#ifndef TRUMPET_LIB_VERDICT_INCOMPLETE_RANGES_H
#define TRUMPET_LIB_VERDICT_INCOMPLETE_RANGES_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "lib/base/units.h"

namespace trumpet {

class IncompleteRanges {
 public:
  static constexpr size_t kMaxRanges = 4096;

  // [start, end); an empty range stands for its instant.
  void Add(Nanos start, Nanos end, uint32_t reasons) {
    if (reasons == 0) return;
    end = std::max(end, start + 1);
    if (!ranges_.empty()) {
      Range& last = ranges_.back();
      if (last.reasons == reasons && start <= last.end && end >= last.start) {
        last.start = std::min(last.start, start);
        last.end = std::max(last.end, end);
        return;
      }
    }
    ranges_.push_back({start, end, reasons});
    if (ranges_.size() > kMaxRanges) JoinOldest();
  }

  // The reasons of all ranges that overlap [start, end).
  uint32_t ReasonsIn(Nanos start, Nanos end) const {
    uint32_t reasons = 0;
    for (const Range& range : ranges_) {
      if (range.start < end && range.end > start) reasons |= range.reasons;
    }
    return reasons;
  }

  // Nothing before `instant` will be asked for.
  void Forget(Nanos instant) {
    ranges_.erase(std::remove_if(ranges_.begin(), ranges_.end(),
                                 [instant](const Range& range) { return range.end <= instant; }),
                  ranges_.end());
  }

 private:
  struct Range {
    Nanos start;
    Nanos end;
    uint32_t reasons;
  };

  void JoinOldest() {
    const Range oldest = ranges_.front();
    ranges_.pop_front();
    Range& next = ranges_.front();
    next.start = std::min(next.start, oldest.start);
    next.end = std::max(next.end, oldest.end);
    next.reasons |= oldest.reasons;
  }

  std::deque<Range> ranges_;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_VERDICT_INCOMPLETE_RANGES_H
