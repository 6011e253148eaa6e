// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ProbeRate: packets per second of all that probes send together, in bursts of a tenth of a second.
//
// Threads: one.  Time comes in with each call.

#ifndef TRUMPET_CONTROLLER_PROBE_PROBE_RATE_H
#define TRUMPET_CONTROLLER_PROBE_PROBE_RATE_H

#include <algorithm>
#include <cstdint>
#include <string>

#include "lib/base/units.h"

namespace trumpet {

class ProbeRate {
 public:
  static constexpr Nanos kBurst = 100 * kNanosPerMilli;

  explicit ProbeRate(uint32_t per_second) : per_second_(per_second) {}

  uint32_t per_second() const { return per_second_; }

  // Why nobody may send so many; empty: they may.
  std::string WhyNot(uint32_t asked) const {
    if (asked <= per_second_) return "";
    return "'rate' is " + std::to_string(asked) + "; this controller sends " +
           std::to_string(per_second_) + " packets of probes per second at most";
  }

  // Whether a packet may go now; its share is used up then.
  bool Take(Nanos now) {
    free_at_ = std::max(free_at_, now);
    if (free_at_ > now + kBurst) return false;
    free_at_ += kNanosPerSecond / per_second_;
    return true;
  }

 private:
  const uint32_t per_second_;
  Nanos free_at_ = 0;  // when all packets that were sent have had their share
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_PROBE_PROBE_RATE_H
