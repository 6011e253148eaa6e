// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/wire/clock_estimate.h"

#include <algorithm>
#include <cstdlib>

namespace trumpet {
namespace {

constexpr Nanos kMaxOffset = Nanos{1} << 60;  // 36 years; sums of two do not overflow

}  // namespace

Nanos ClockEstimate::BoundOf(const Sample& sample, Nanos now) {
  const Nanos age = std::max<Nanos>(0, now - sample.at);
  return (sample.delay + 1) / 2 + age / 1000000 * kDriftPpm + age % 1000000 * kDriftPpm / 1000000;
}

const ClockEstimate::Sample& ClockEstimate::Best(Nanos now) const {
  return *std::min_element(
      samples_.begin(), samples_.begin() + static_cast<std::ptrdiff_t>(count_),
      [now](const Sample& a, const Sample& b) { return BoundOf(a, now) < BoundOf(b, now); });
}

bool ClockEstimate::Add(Nanos t1, Nanos t2, Nanos t3, Nanos round_trip, Nanos now) {
  const Nanos delay = round_trip - (t3 - t2);
  if (t3 < t2 || round_trip < 0 || delay < 0) return false;
  const Int128 offset = (Int128{t2} - t1 + t3 - (Int128{t1} + round_trip)) / 2;
  if (offset > kMaxOffset || offset < -kMaxOffset) return false;
  const Sample sample{static_cast<Nanos>(offset), delay, now};
  if (has_estimate()) {
    const Nanos apart = std::abs(sample.offset - OffsetAt(now));
    if (apart > BoundOf(sample, now) + BoundAt(now)) {
      Clear();
      ++steps_seen_;
    }
  }
  if (count_ == 0) next_ = 0;
  samples_[next_] = sample;
  next_ = (next_ + 1) % kSampleCount;
  count_ = std::min(count_ + 1, kSampleCount);
  last_rtt_ = delay;
  return true;
}

}  // namespace trumpet
