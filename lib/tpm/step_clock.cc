// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/step_clock.h"

#include <time.h>
#include <x86intrin.h>

namespace trumpet {
namespace {

Nanos ReadClock(clockid_t id) {
  timespec time;
  clock_gettime(id, &time);
  return time.tv_sec * kNanosPerSecond + time.tv_nsec;
}

// Both clocks at one instant: of several tries the one that was interrupted least.
struct Reading {
  uint64_t ticks = 0;
  Nanos nanos = 0;
};

Reading ReadBoth() {
  Reading best;
  uint64_t shortest = UINT64_MAX;
  for (int i = 0; i < 16; i++) {
    const uint64_t before = __rdtsc();
    const Nanos nanos = ReadClock(CLOCK_MONOTONIC);
    const uint64_t after = __rdtsc();
    if (after - before >= shortest) continue;
    shortest = after - before;
    best = {before + shortest / 2, nanos};
  }
  return best;
}

double MeasureTicksPerNano() {
  constexpr Nanos kSpan = 3 * kNanosPerMilli;
  const Reading first = ReadBoth();
  Reading last = ReadBoth();
  while (last.nanos - first.nanos < kSpan) last = ReadBoth();
  return static_cast<double>(last.ticks - first.ticks) /
         static_cast<double>(last.nanos - first.nanos);
}

class SystemClock : public StepClock {
 public:
  uint64_t Ticks() const override { return __rdtsc(); }
  double ticks_per_nano() const override { return ticks_per_nano_; }
  Nanos ThreadCpuNs() const override { return ReadClock(CLOCK_THREAD_CPUTIME_ID); }

 private:
  const double ticks_per_nano_ = MeasureTicksPerNano();
};

}  // namespace

const StepClock* StepClock::System() {
  static const SystemClock clock;
  return &clock;
}

}  // namespace trumpet
