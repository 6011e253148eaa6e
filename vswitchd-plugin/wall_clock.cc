// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/wall_clock.h"

#include <time.h>

#include <algorithm>

namespace trumpet {
namespace {

constexpr Nanos kSlewDivisor = 16;

Nanos ReadClock(clockid_t id) {
  timespec now{};
  clock_gettime(id, &now);
  return Nanos{now.tv_sec} * kNanosPerSecond + now.tv_nsec;
}

}  // namespace

ClockReading ReadSystemClocks() {
  // Being scheduled away between the reads would look like a step: keep the closest of a few pairs.
  ClockReading best;
  Nanos best_gap = INT64_MAX;
  for (int i = 0; i < 4 && best_gap > 2 * kNanosPerMicro; ++i) {
    const Nanos before = ReadClock(CLOCK_MONOTONIC);
    const Nanos wall = ReadClock(CLOCK_REALTIME);
    const Nanos gap = ReadClock(CLOCK_MONOTONIC) - before;
    if (gap >= best_gap) continue;
    best_gap = gap;
    best = {before + gap / 2, wall};
  }
  return best;
}

ClockStep WallClock::Follow(const ClockReading& reading) {
  const Nanos target = reading.wall_ns - reading.monotonic_ns;
  if (!is_set_) {
    is_set_ = true;
    offset_ns_.store(target, std::memory_order_relaxed);
    last_monotonic_ns_ = reading.monotonic_ns;
    return ClockStep::kNone;
  }
  Slew(std::max<Nanos>(0, reading.monotonic_ns - last_monotonic_ns_));
  last_monotonic_ns_ = std::max(last_monotonic_ns_, reading.monotonic_ns);
  return Step(target);
}

// Gives back part of what we are ahead.
void WallClock::Slew(Nanos elapsed) {
  const Nanos ahead = ahead_ns();
  const Nanos given_back = std::min(ahead, elapsed / kSlewDivisor);
  if (given_back == 0) return;
  ahead_ns_.store(ahead - given_back, std::memory_order_relaxed);
  offset_ns_.fetch_sub(given_back, std::memory_order_relaxed);
}

ClockStep WallClock::Step(Nanos target) {
  const Nanos offset = offset_ns_.load(std::memory_order_relaxed);
  const Nanos ahead = ahead_ns();
  const Nanos step = target - (offset - ahead);  // against where the wall clock was thought to be
  if (step >= -kTolerance && step <= kTolerance) return ClockStep::kNone;
  (step > 0 ? steps_forward_ : steps_back_).fetch_add(1, std::memory_order_relaxed);
  const Nanos now_ahead = offset - target;
  if (now_ahead > kLargestSlew) {
    restarts_.fetch_add(1, std::memory_order_relaxed);
    offset_ns_.store(target, std::memory_order_relaxed);
    ahead_ns_.store(0, std::memory_order_relaxed);
    return ClockStep::kRestart;
  }
  if (now_ahead > 0) {
    ahead_ns_.store(now_ahead, std::memory_order_relaxed);
    return ClockStep::kSlewing;
  }
  offset_ns_.store(target, std::memory_order_relaxed);
  ahead_ns_.store(0, std::memory_order_relaxed);
  return ClockStep::kForward;
}

WallClockCounters WallClock::counters() const {
  return {steps_forward_.load(std::memory_order_relaxed),
          steps_back_.load(std::memory_order_relaxed), restarts_.load(std::memory_order_relaxed)};
}

}  // namespace trumpet
