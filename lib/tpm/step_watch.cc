// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/step_watch.h"

#include <algorithm>
#include <cmath>

namespace trumpet {
namespace {

constexpr Nanos kNever = INT64_MAX / 4;

}  // namespace

StepWatch::StepWatch(const StepClock* clock, Nanos budget_ns, std::atomic<bool>* gate,
                     uint32_t wild_factor)
    : clock_(clock),
      gate_(gate),
      wild_ns_(wild_factor == 0 ? kNever : wild_factor * budget_ns),
      budget_ticks_(TicksOf(budget_ns)),
      wild_ticks_(wild_factor == 0 ? UINT64_MAX : TicksOf(wild_ns_)),
      baseline_ticks_(TicksOf(kBaselineAge)),
      doubt_baseline_ticks_(TicksOf(kBaselineAgeInDoubt)),
      window_ticks_(TicksOf(kNanosPerSecond)),
      pauses_(TicksOf(wild_factor == 0 ? 0 : wild_ns_), window_ticks_),
      histogram_(budget_ns + kGrace) {
  overruns_.budget_ns = budget_ns;
  overruns_.factor = wild_factor;
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
  const uint64_t own = std::min(elapsed, budget_ticks_);  // the rest is to be judged
  in_steps_ += own;
  if (__builtin_expect(elapsed > wild_ticks_, 0)) NoteWildStep(ticks, step_ns, now);
  return elapsed;
}

void StepWatch::NotePause(Nanos length) {
  const uint64_t away = TicksOf(std::min(length, kNanosPerSecond));
  const uint64_t met = std::min(away, unmet_);
  unmet_ = 0;
  pauses_.Note(clock_->Ticks(), in_steps_, away - met);
}

void StepWatch::Reset() {
  wild_count_ = 0;
  unmet_ = 0;
  pauses_.Reset();
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
  if (step_ns - std::max<Nanos>(0, absent) > wild_ns_) return true;
  is_in_doubt_ = true;
  doubt_start_ = ticks;
  return false;
}

void StepWatch::NoteWildStep(uint64_t ticks, Nanos step_ns, Nanos now) {
  unmet_ += ticks - start_;
  if (has_tripped() || !IsConfirmed(step_ns)) return;
  wild_[wild_count_++ % wild_.size()] = {ticks, ticks - start_, in_steps_ - budget_ticks_};
  for (int i = 0; i < PauseRate::kClasses; i++) {
    const WildStep* oldest = nullptr;
    const int count = CountWildOf(i, ticks, &oldest);
    if (count < kWildSteps || IsExplained(i, count, *oldest, ticks)) continue;
    return Trip(count, now);
  }
}

// Within the last second.
int StepWatch::CountWildOf(int its_class, uint64_t ticks, const WildStep** oldest) const {
  const uint64_t known = std::min<uint64_t>(wild_count_, wild_.size());
  int count = 0;
  for (uint64_t age = 0; age < known; age++) {
    const WildStep& wild = LastWild(age);
    if (ticks - wild.end > window_ticks_) break;
    if (wild.ticks <= pauses_.LimitOf(its_class)) continue;
    *oldest = &wild;
    count++;
  }
  return count;
}

// With `expected` pauses in the steps of a second, so many or more come in one of 10^8 seconds
// or less (Poisson, for 0.001 to 100 expected).
bool StepWatch::IsExplained(int its_class, int count, const WildStep& oldest, uint64_t ticks) {
  if (count > kMostExcused) return false;
  const double usual = pauses_.ShareOfSteps(ticks, in_steps_) * static_cast<double>(window_ticks_);
  const double steps = std::max(usual, static_cast<double>(in_steps_ - oldest.in_steps));
  const double expected = pauses_.PerTick(its_class, ticks, in_steps_) * steps;
  return count < kWildSteps + expected + 8 * std::sqrt(expected);
}

void StepWatch::Trip(int count, Nanos now) {
  for (int i = 0; i < kWildSteps; i++) {
    overruns_.step_ns[i] = NanosOf(LastWild(static_cast<uint64_t>(kWildSteps - 1 - i)).ticks);
  }
  overruns_.count = count;
  overruns_.at_ns = now;
  has_tripped_.store(true, std::memory_order_release);
  if (gate_ != nullptr) gate_->store(false, std::memory_order_seq_cst);
}

}  // namespace trumpet
