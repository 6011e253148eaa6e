// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What no program can do anything about: each of the first two processors looks at the clock all
// the time, and finds how much of it was given to others (a hypervisor, the kernel).

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <thread>

#include "lib/wire/wire_clock.h"
#include "tests/bench/tem_cases.h"

namespace trumpet {
namespace {

constexpr Nanos kLookedAway = 50 * kNanosPerMicro;  // longer than an interrupt takes
constexpr Nanos kInterval = 10 * kNanosPerMilli;
// In which a verdict is made: what is taken then delays it.
constexpr Nanos kVerdictTakes = 3 * kNanosPerMilli;

// Taken away from one processor, in each interval.
struct Taken {
  std::vector<Nanos> in_interval;  // of its first part
  Nanos longest = 0;
};

void RunOn(int processor) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(processor, &one);
  (void)pthread_setaffinity_np(pthread_self(), sizeof one, &one);  // fails where there is but one
}

void Watch(int processor, Nanos from, Taken* taken) {
  RunOn(processor);
  const SystemWireClock clock;
  const Nanos until = from + static_cast<Nanos>(taken->in_interval.size()) * kInterval;
  Nanos last = from;
  while (last < until) {
    const Nanos now = std::max(last, clock.MonotonicNow());
    if (now - last > kLookedAway && last > from) {
      taken->longest = std::max(taken->longest, now - last);
      for (Nanos at = last; at < std::min(now, until);) {
        const Nanos start = from + (at - from) / kInterval * kInterval;
        const Nanos end = std::min({now, until, start + kInterval});
        const Nanos counts_until = std::min(end, start + kVerdictTakes);
        if (counts_until > at) {
          taken->in_interval[static_cast<size_t>((at - from) / kInterval)] += counts_until - at;
        }
        at = end;
      }
    }
    last = now;
  }
}

}  // namespace

TemFigures MeasureMachine(const TemPlan& plan) {
  TemFigures figures;
  for (int i = 0; i < plan.repeats; ++i) {
    const auto intervals = static_cast<size_t>(std::max<Nanos>(1, plan.run_ns / kInterval));
    std::array<Taken, 2> taken;
    for (Taken& one : taken) one.in_interval.resize(intervals);
    const Nanos from = SystemWireClock().MonotonicNow() + kInterval;
    std::thread other(Watch, 1, from, &taken[1]);
    std::thread first(Watch, 0, from, &taken[0]);
    first.join();
    other.join();
    std::vector<Nanos> both(intervals);
    for (size_t n = 0; n < intervals; ++n) {
      both[n] = taken[0].in_interval[n] + taken[1].in_interval[n];
    }
    const TemLatency latency = LatencyOf(both);
    figures.Add("taken_p50_ms", Millis(latency.p50));
    figures.Add("taken_p99_ms", Millis(latency.p99));
    figures.Add("longest_ms", Millis(std::max(taken[0].longest, taken[1].longest)));
  }
  return figures;
}

}  // namespace trumpet
