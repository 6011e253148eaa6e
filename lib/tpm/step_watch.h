// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// StepWatch: times the steps of a packet thread, everything outside the work of a packet, and is
// the watchdog over them (docs/adr/0006).
//
//   watch.Begin(); while (work && !watch.IsOver()) do a little; watch.End(now);
//
// Watchdog: kWildSteps steps of more than `wild_factor` budgets within a second, each confirmed by
// the thread's processor time, close the gate.  Time in which the thread did not run is subtracted:
// being preempted is no overrun.  That time is known for the span since the processor time was last
// read, so what the thread did not run before the step is subtracted as well: a doubtful step is
// let pass.  A thread with a processor of its own always runs, and is never in doubt.  Of one that
// sleeps, the first wild step is let pass; for a second from then on the processor time is read
// every millisecond, so that the next ones are judged.
//
// Pauses: a hypervisor may stop the processor without the kernel's knowing.  Such time looks like
// the thread's own, and is known only by that it comes outside the steps as well: NotePause() tells
// of it.  The wild steps that pauses at that rate explain are let pass, kMostExcused a second at
// most; of steps that are eight and sixty-four times as long fewer, unless pauses are as long.
//
// Threads: the packet thread, unless said otherwise.  Time: three readings of the tick counter a
// step.  The system call takes 0.5 us, and 2 to 9 when the kernel's memory has left the caches, as
// at the beginning of each sweep: so it comes seldom.

#ifndef TRUMPET_LIB_TPM_STEP_WATCH_H
#define TRUMPET_LIB_TPM_STEP_WATCH_H

#include <array>
#include <atomic>
#include <cstdint>

#include "lib/base/units.h"
#include "lib/tpm/pause_rate.h"
#include "lib/tpm/step_clock.h"
#include "lib/tpm/step_histogram.h"

namespace trumpet {

constexpr int kWildSteps = 3;
constexpr uint32_t kWildFactor = 10;  // unless said otherwise

// Why the watchdog closed the gate.
struct StepOverruns {
  Nanos step_ns[kWildSteps] = {};  // the last of them, the oldest first
  int count = 0;                   // within a second; more than kWildSteps where pauses are known
  Nanos budget_ns = 0;
  uint32_t factor = 0;
  Nanos at_ns = 0;  // Unix time of the last one
};

class StepWatch {
 public:
  // What a step may last beyond its budget without being counted: the last piece of its work.
  static constexpr Nanos kGrace = 2 * kNanosPerMicro;
  // How old the known processor time may be; clocks drift.
  static constexpr Nanos kBaselineAge = 10 * kNanosPerSecond;
  static constexpr Nanos kBaselineAgeInDoubt = kNanosPerMilli;

  // Wild steps of a second that nothing excuses.
  static constexpr int kMostExcused = 127;

  // `gate` is what the watchdog closes; null: it only says so.  Both must outlive the watch.  A
  // factor of 0 watches nothing.
  StepWatch(const StepClock* clock, Nanos budget_ns, std::atomic<bool>* gate,
            uint32_t wild_factor = kWildFactor);

  void Begin();
  bool IsOver() const { return clock_->Ticks() >= stop_; }
  // Returns the ticks since Begin(); `now` is Unix time.
  uint64_t End(Nanos now);

  // A thread that never sleeps: between two calls from outside it was away for so long.  Wild steps
  // since the last such call are subtracted here.
  void NotePause(Nanos length);
  // What is worth telling.
  Nanos pause_limit_ns() const { return wild_ns_; }

  // --- any thread ---
  StepCounts counts() const { return histogram_.Read(); }
  bool has_tripped() const { return has_tripped_.load(std::memory_order_acquire); }
  const StepOverruns& overruns() const { return overruns_; }  // only if has_tripped()

  // Begins anew.  Any thread, while the packet thread is not between Begin() and End().
  void Reset();

 private:
  struct WildStep {
    uint64_t end = 0;       // in ticks
    uint64_t ticks = 0;     // how long it took
    uint64_t in_steps = 0;  // as of its beginning
  };

  uint64_t TicksOf(Nanos span) const {
    return static_cast<uint64_t>(static_cast<double>(span) * clock_->ticks_per_nano());
  }
  Nanos NanosOf(uint64_t ticks) const {
    return static_cast<Nanos>(static_cast<double>(ticks) / clock_->ticks_per_nano());
  }
  void TakeBaseline(uint64_t ticks);
  bool IsConfirmed(Nanos step_ns);
  void NoteWildStep(uint64_t ticks, Nanos step_ns, Nanos now);
  const WildStep& LastWild(uint64_t age) const {
    return wild_[(wild_count_ - 1 - age) % wild_.size()];
  }
  int CountWildOf(int its_class, uint64_t ticks, const WildStep** oldest) const;
  bool IsExplained(int its_class, int count, const WildStep& oldest, uint64_t ticks);
  void Trip(int count, Nanos now);

  const StepClock* clock_;
  std::atomic<bool>* gate_;
  const Nanos wild_ns_;
  const uint64_t budget_ticks_;
  const uint64_t wild_ticks_;
  const uint64_t baseline_ticks_;
  const uint64_t doubt_baseline_ticks_;
  const uint64_t window_ticks_;
  uint64_t start_ = 0;
  uint64_t stop_ = 0;
  uint64_t in_steps_ = 0;  // ticks, of all steps within their budgets

  bool has_baseline_ = false;
  uint64_t base_ticks_ = 0;  // read before the processor time
  Nanos base_cpu_ns_ = 0;
  bool is_in_doubt_ = false;
  uint64_t doubt_start_ = 0;  // in ticks

  // The last ones, a ring.
  std::array<WildStep, kMostExcused + 1> wild_{};
  uint64_t wild_count_ = 0;  // ever
  uint64_t unmet_ = 0;       // in wild steps since the last pause
  PauseRate pauses_;
  StepOverruns overruns_;  // published by has_tripped_
  std::atomic<bool> has_tripped_{false};
  StepHistogram histogram_;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_STEP_WATCH_H
