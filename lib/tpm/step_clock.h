// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// StepClock: how long a step takes on a packet thread, and how much of that the thread really ran.
//
// Ticks are cycles of the time stamp counter: some 10 ns to read, where the system's clocks take
// several times that, and on machines without a trusted counter a system call.
//
// Threads: immutable; any.  Tests bring their own clock.

#ifndef TRUMPET_LIB_TPM_STEP_CLOCK_H
#define TRUMPET_LIB_TPM_STEP_CLOCK_H

#include <cstdint>

#include "lib/base/units.h"

namespace trumpet {

class StepClock {
 public:
  virtual ~StepClock() = default;

  virtual uint64_t Ticks() const = 0;
  virtual double ticks_per_nano() const = 0;

  // Processor time of the calling thread.  A system call, of 0.2 us to some microseconds.
  virtual Nanos ThreadCpuNs() const = 0;

  // The machine's.  The first call takes some milliseconds to learn the counter's rate.
  static const StepClock* System();
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_STEP_CLOCK_H
