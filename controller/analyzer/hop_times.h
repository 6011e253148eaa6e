// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// HopTimes: how long packets have taken of late from one switch to the next: where switches are
// busy, far longer than usual.  What is missing is looked for as long behind as the slowest took.
//
// Threads: one.

#ifndef TRUMPET_CONTROLLER_ANALYZER_HOP_TIMES_H
#define TRUMPET_CONTROLLER_ANALYZER_HOP_TIMES_H

#include <algorithm>

#include "controller/analyzer/set_back.h"
#include "lib/base/units.h"

namespace trumpet {

class HopTimes {
 public:
  // A slower one is no hop: the same bytes were sent again.
  static constexpr Nanos kSlowest = 20 * kNanosPerMilli;
  // Remembered for so long, and at most twice that.
  static constexpr Nanos kRemembered = 10 * kNanosPerSecond;

  // A slower one in a hundred shows it at once, a quicker one little by little.
  static constexpr Nanos kShare = 100;

  // A packet was copied by one switch, and at `time` by the next.
  void Take(Nanos time, Nanos hop) {
    if (time - begin_ >= kRemembered || WasSetBack(begin_, time)) {
      before_ = time - begin_ < 2 * kRemembered ? now_ : 0;
      now_ = 0;
      begin_ = time;
    }
    if (hop > kSlowest) return;
    now_ = std::max(now_, hop);
    const Nanos step = slow_ / (16 * kShare) + 1;
    slow_ = hop > slow_ ? std::min(hop, slow_ + (kShare - 1) * step) : slow_ - step;
  }

  Nanos slowest() const { return std::max(now_, before_); }
  // About one in a hundred is slower.
  Nanos slow() const { return std::max<Nanos>(slow_, 0); }

 private:
  Nanos begin_ = 0;
  Nanos now_ = 0;     // since then
  Nanos before_ = 0;  // and in the time before
  Nanos slow_ = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_ANALYZER_HOP_TIMES_H
