// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ReportRate: how many reports of an event its subscribers are told; a token bucket.
//
// Threads: one.  Time comes in with each call and may stand still; backwards counts as still.

#ifndef TRUMPET_CONTROLLER_TEM_REPORT_RATE_H
#define TRUMPET_CONTROLLER_TEM_REPORT_RATE_H

#include <algorithm>
#include <cstdint>

#include "lib/base/units.h"

namespace trumpet {

class ReportRate {
 public:
  // `per_second` 0: no limit.  `burst` reports may come at once; at least 1.
  ReportRate(uint32_t per_second, uint32_t burst)
      : per_second_(per_second), full_(Tokens(std::max<uint32_t>(burst, 1))), tokens_(full_) {}

  // May another report go out at `now`?  Refusals are counted.
  bool Take(Nanos now) {
    if (per_second_ == 0) return true;
    Fill(now);
    if (tokens_ < kToken) {
      ++suppressed_;
      return false;
    }
    tokens_ -= kToken;
    return true;
  }

  // Refusals since the last call: what the next report tells.
  uint64_t TakeSuppressed() {
    const uint64_t suppressed = suppressed_;
    suppressed_ = 0;
    return suppressed;
  }

 private:
  // A token is the time in which one comes at 1 per second, so that nothing is rounded.
  static constexpr Int128 kToken = kNanosPerSecond;
  static constexpr Int128 Tokens(uint32_t count) { return count * kToken; }

  void Fill(Nanos now) {
    if (last_ != INT64_MIN && now > last_) {
      tokens_ = std::min(full_, tokens_ + static_cast<Int128>(now - last_) * per_second_);
    }
    last_ = std::max(last_, now);
  }

  uint32_t per_second_;
  Int128 full_;
  Int128 tokens_;
  Nanos last_ = INT64_MIN;
  uint64_t suppressed_ = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TEM_REPORT_RATE_H
