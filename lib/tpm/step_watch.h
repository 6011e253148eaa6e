// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// StepWatch: times the steps of a packet thread, everything outside the work of a packet, and is
// the watchdog over them (docs/adr/0006).
//
//   watch.Begin(); while (work && !watch.IsOver()) do a little; watch.End(now);
//
// Watchdog: kWildSteps steps of more than kWildFactor budgets within a second, each confirmed by
// the thread's processor time, close the gate.  Time in which the thread did not run is subtracted:
// being preempted is no overrun.  That time is known for the span since the processor time was last
// read, so what the thread did not run before the step is subtracted as well: a doubtful step is
// let pass.  A thread with a processor of its own always runs, and is never in doubt.  Of one that
// sleeps, the first wild step is let pass; for a second from then on the processor time is read
// every millisecond, so that the next ones are judged.
//
// Threads: the packet thread, unless said otherwise.  Time: three readings of the tick counter a
// step.  The system call takes 0.5 us, and 2 to 9 when the kernel's memory has left the caches, as
// at the beginning of each sweep: so it comes seldom.

#ifndef TRUMPET_LIB_TPM_STEP_WATCH_H
#define TRUMPET_LIB_TPM_STEP_WATCH_H

#include <atomic>
#include <cstdint>

#include "lib/base/units.h"
#include "lib/tpm/step_clock.h"
#include "lib/tpm/step_histogram.h"

namespace trumpet {

constexpr int kWildSteps = 3;
constexpr Nanos kWildFactor = 10;

// Why the watchdog closed the gate.
struct StepOverruns {
  Nanos step_ns[kWildSteps] = {};  // as they lasted, the oldest first
  Nanos budget_ns = 0;
  Nanos at_ns = 0;  // Unix time of the last one
};

class StepWatch {
 public:
  // What a step may last beyond its budget without being counted: the last piece of its work.
  static constexpr Nanos kGrace = 2 * kNanosPerMicro;
  // How old the known processor time may be; clocks drift.
  static constexpr Nanos kBaselineAge = 10 * kNanosPerSecond;
  static constexpr Nanos kBaselineAgeInDoubt = kNanosPerMilli;

  // `gate` is what the watchdog closes; null: it only says so.  Both must outlive the watch.
  StepWatch(const StepClock* clock, Nanos budget_ns, std::atomic<bool>* gate);

  void Begin();
  bool IsOver() const { return clock_->Ticks() >= stop_; }
  // Returns the ticks since Begin(); `now` is Unix time.
  uint64_t End(Nanos now);

  // --- any thread ---
  StepCounts counts() const { return histogram_.Read(); }
  bool has_tripped() const { return has_tripped_.load(std::memory_order_acquire); }
  const StepOverruns& overruns() const { return overruns_; }  // only if has_tripped()

  // Begins anew.  Any thread, while the packet thread is not between Begin() and End().
  void Reset();

 private:
  uint64_t TicksOf(Nanos span) const {
    return static_cast<uint64_t>(static_cast<double>(span) * clock_->ticks_per_nano());
  }
  Nanos NanosOf(uint64_t ticks) const {
    return static_cast<Nanos>(static_cast<double>(ticks) / clock_->ticks_per_nano());
  }
  void TakeBaseline(uint64_t ticks);
  bool IsConfirmed(Nanos step_ns);
  void NoteWildStep(uint64_t ticks, Nanos step_ns, Nanos now);

  const StepClock* clock_;
  const Nanos budget_ns_;
  std::atomic<bool>* gate_;
  const uint64_t budget_ticks_;
  const uint64_t wild_ticks_;
  const uint64_t baseline_ticks_;
  const uint64_t doubt_baseline_ticks_;
  const uint64_t window_ticks_;
  uint64_t start_ = 0;
  uint64_t stop_ = 0;

  bool has_baseline_ = false;
  uint64_t base_ticks_ = 0;  // read before the processor time
  Nanos base_cpu_ns_ = 0;
  bool is_in_doubt_ = false;
  uint64_t doubt_start_ = 0;  // in ticks

  int wild_count_ = 0;                // of the last wild steps kept below
  uint64_t wild_ends_[kWildSteps]{};  // in ticks, the oldest first
  StepOverruns overruns_;             // theirs; published by has_tripped_
  std::atomic<bool> has_tripped_{false};
  StepHistogram histogram_;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_STEP_WATCH_H
