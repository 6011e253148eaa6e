// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Backoff: how long to wait before the next attempt.
//
// Each wait is drawn from the upper half of a span that doubles up to a limit, so that a thousand
// agents whose controller was restarted do not come back all at once, again and again.

#ifndef TRUMPET_LIB_BASE_BACKOFF_H
#define TRUMPET_LIB_BASE_BACKOFF_H

#include <algorithm>
#include <cstdint>
#include <random>

#include "lib/base/units.h"

namespace trumpet {

class Backoff {
 public:
  Backoff(Nanos first, Nanos longest, uint64_t seed)
      : first_(first), longest_(longest), span_(first), random_(seed) {}

  Nanos Next() {
    const Nanos half = span_ / 2;
    const Nanos wait = half + static_cast<Nanos>(random_() % static_cast<uint64_t>(half + 1));
    span_ = std::min(longest_, span_ * 2);
    return wait;
  }

  // After a success.
  void Reset() { span_ = first_; }

 private:
  const Nanos first_;
  const Nanos longest_;
  Nanos span_;
  std::mt19937_64 random_;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_BASE_BACKOFF_H
