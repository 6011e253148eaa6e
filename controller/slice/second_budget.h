// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// SecondBudget: how much has been copied within the last second, of what may be.
//
// Any second counts, wherever it begins.  What a slot may copy is reserved before it begins, and
// what it did copy counts for a second from its end, so that the figure is never too low.
//
// Threads: one.  Times are monotonic.

#ifndef TRUMPET_CONTROLLER_SLICE_SECOND_BUDGET_H
#define TRUMPET_CONTROLLER_SLICE_SECOND_BUDGET_H

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>

#include "lib/base/units.h"

namespace trumpet {

class SecondBudget {
 public:
  // Bits per second; 0: no limit.
  explicit SecondBudget(int64_t bps) : bytes_(bps / 8), is_limited_(bps > 0) {}

  // The first time from `now` on at which so many bytes more fit; what is reserved meanwhile counts
  // as if it stayed.  More than fit at all wait for an empty second.
  Nanos RoomAt(int64_t bytes, Nanos now) const {
    if (!is_limited_) return now;
    int64_t used = used_ + reserved_;
    const int64_t most = std::max(bytes_ - std::min(bytes, bytes_), reserved_);
    for (const auto& [until, spent] : spent_) {
      if (used <= most) break;
      used -= spent;
      now = std::max(now, until);
    }
    return now;
  }

  // Is more than a second's worth in the last second?
  bool is_exceeded(Nanos now) {
    Forget(now);
    return is_limited_ && used_ > bytes_;
  }

  void Reserve(int64_t bytes) { reserved_ += bytes; }
  // Instead of what was reserved, so much was copied up to `now`.
  void Spend(int64_t reserved, int64_t bytes, Nanos now) {
    Forget(now);
    reserved_ -= reserved;
    if (bytes <= 0) return;
    spent_.emplace_back(now + kNanosPerSecond, bytes);
    used_ += bytes;
  }

  int64_t used(Nanos now) {
    Forget(now);
    return used_;
  }
  int64_t reserved() const { return reserved_; }

 private:
  void Forget(Nanos now) {
    while (!spent_.empty() && spent_.front().first <= now) {
      used_ -= spent_.front().second;
      spent_.pop_front();
    }
  }

  int64_t bytes_;  // of a second
  bool is_limited_;
  int64_t used_ = 0;
  int64_t reserved_ = 0;
  std::deque<std::pair<Nanos, int64_t>> spent_;  // until when they count
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_SLICE_SECOND_BUDGET_H
