// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/step_watch.h"

#include <algorithm>

namespace trumpet {

StepWatch::StepWatch(const StepClock* clock, Nanos budget_ns, std::atomic<bool>* gate)
    : clock_(clock),
      budget_ns_(budget_ns),
      gate_(gate),
      budget_ticks_(TicksOf(budget_ns)),
      wild_ticks_(TicksOf(kWildFactor * budget_ns)),
      baseline_ticks_(TicksOf(kBaselineAge)),
      doubt_baseline_ticks_(TicksOf(kBaselineAgeInDoubt)),
      window_ticks_(TicksOf(kNanosPerSecond)),
      histogram_(budget_ns + kGrace) {
  overruns_.budget_ns = budget_ns;
}

// The system call of the baseline is part of the step: it is time that the packets wait.
void StepWatch::Begin() {
  start_ = clock_->Ticks();
  stop_ = start_ + budget_ticks_;
  if (is_in_doubt_ && start_ - doubt_start_ > window_ticks_) is_in_doubt_ = false;
  const uint64_t age = is_in_doubt_ ? doubt_baseline_ticks_ : baseline_ticks_;
  if (!has_baseline_ || start_ - base_ticks_ > age) TakeBaseline(start_);
}

uint64_t StepWatch::End(Nanos now) {
  const uint64_t ticks = clock_->Ticks();
  const uint64_t elapsed = ticks - start_;
  const Nanos step_ns = NanosOf(elapsed);
  histogram_.Add(step_ns);
  if (__builtin_expect(elapsed > wild_ticks_, 0)) NoteWildStep(ticks, step_ns, now);
  return elapsed;
}

void StepWatch::Reset() {
  wild_count_ = 0;
  has_baseline_ = false;
  is_in_doubt_ = false;
  has_tripped_.store(false, std::memory_order_release);
}

void StepWatch::TakeBaseline(uint64_t ticks) {
  base_ticks_ = ticks;
  base_cpu_ns_ = clock_->ThreadCpuNs();
  has_baseline_ = true;
}

// Did the thread itself use more than the ten budgets?  It was away for at most `absent` of the
// step: both readings count themselves as absence, to be on the safe side.
bool StepWatch::IsConfirmed(Nanos step_ns) {
  const Nanos cpu_ns = clock_->ThreadCpuNs();
  const uint64_t ticks = clock_->Ticks();
  const Nanos absent = NanosOf(ticks - base_ticks_) - (cpu_ns - base_cpu_ns_);
  base_ticks_ = ticks;
  base_cpu_ns_ = cpu_ns;
  if (step_ns - std::max<Nanos>(0, absent) > kWildFactor * budget_ns_) return true;
  is_in_doubt_ = true;
  doubt_start_ = ticks;
  return false;
}

void StepWatch::NoteWildStep(uint64_t ticks, Nanos step_ns, Nanos now) {
  if (has_tripped() || !IsConfirmed(step_ns)) return;
  if (wild_count_ == kWildSteps) {
    std::move(wild_ends_ + 1, wild_ends_ + kWildSteps, wild_ends_);
    std::move(overruns_.step_ns + 1, overruns_.step_ns + kWildSteps, overruns_.step_ns);
    wild_count_--;
  }
  wild_ends_[wild_count_] = ticks;
  overruns_.step_ns[wild_count_] = step_ns;
  if (++wild_count_ < kWildSteps || ticks - wild_ends_[0] > window_ticks_) return;
  overruns_.at_ns = now;
  has_tripped_.store(true, std::memory_order_release);
  if (gate_ != nullptr) gate_->store(false, std::memory_order_seq_cst);
}

}  // namespace trumpet
