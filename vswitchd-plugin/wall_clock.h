// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// WallClock: Unix time from the monotonic microseconds of the switch.
//
// Epochs follow the wall clock so that hosts agree on them.  NTP slews both clocks alike, so only a
// step moves them apart.  A step forward is followed at once.  A step back must not repeat
// intervals: up to one second is made up for by letting our time run 1/16 slower; beyond that
// Follow() answers kRestart and the caller starts anew.
//
// Threads: Follow() by one thread (the agent); UnixNs() by all, at any time.

#ifndef TRUMPET_VSWITCHD_PLUGIN_WALL_CLOCK_H
#define TRUMPET_VSWITCHD_PLUGIN_WALL_CLOCK_H

#include <atomic>
#include <cstdint>

#include "lib/base/units.h"

namespace trumpet {

// Both clocks at (nearly) one instant.
struct ClockReading {
  Nanos monotonic_ns = 0;
  Nanos wall_ns = 0;
};

// CLOCK_MONOTONIC and CLOCK_REALTIME, read closely together.
ClockReading ReadSystemClocks();

enum class ClockStep : uint8_t {
  kNone,     // in step, or catching up
  kForward,  // time jumped ahead: the interval before it was cut short
  kSlewing,  // a small step back was found and is being made up for
  kRestart,  // a large step back: times before and after it do not compare
};

struct WallClockCounters {
  uint64_t steps_forward = 0;
  uint64_t steps_back = 0;
  uint64_t restarts = 0;
};

class WallClock {
 public:
  static constexpr Nanos kTolerance = 50 * kNanosPerMicro;  // what reading two clocks may cost
  static constexpr Nanos kLargestSlew = kNanosPerSecond;

  // Takes in a reading; the first one sets the clock and answers kNone.
  ClockStep Follow(const ClockReading& reading);

  // Unix time of a monotonic instant.
  Nanos UnixNs(Nanos monotonic_ns) const {
    return monotonic_ns + offset_ns_.load(std::memory_order_relaxed);
  }
  Nanos MonotonicNs(Nanos unix_ns) const {
    return unix_ns - offset_ns_.load(std::memory_order_relaxed);
  }

  // How far our time is ahead of the wall clock; 0 when in step.
  Nanos ahead_ns() const { return ahead_ns_.load(std::memory_order_relaxed); }
  WallClockCounters counters() const;

 private:
  ClockStep Step(Nanos target);
  void Slew(Nanos elapsed);

  std::atomic<Nanos> offset_ns_{0};
  std::atomic<Nanos> ahead_ns_{0};
  std::atomic<uint64_t> steps_forward_{0};
  std::atomic<uint64_t> steps_back_{0};
  std::atomic<uint64_t> restarts_{0};
  bool is_set_ = false;
  Nanos last_monotonic_ns_ = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_VSWITCHD_PLUGIN_WALL_CLOCK_H
