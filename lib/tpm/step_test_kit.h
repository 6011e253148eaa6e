// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// For tests of what happens within a step: a clock that moves by hand, or with every look at it.

#ifndef TRUMPET_LIB_TPM_STEP_TEST_KIT_H
#define TRUMPET_LIB_TPM_STEP_TEST_KIT_H

#include <cstdint>

#include "lib/tpm/step_clock.h"

namespace trumpet::testing {

class HandClock : public StepClock {
 public:
  uint64_t Ticks() const override {
    if (!has_read_cpu) Pass(per_look);
    has_read_cpu = false;
    return static_cast<uint64_t>(now);
  }
  double ticks_per_nano() const override { return 1.0; }
  Nanos ThreadCpuNs() const override {
    cpu_readings++;
    has_read_cpu = true;
    return cpu;
  }

  // The thread ran all the time, or only for `ran`.
  void Pass(Nanos wall) const { Pass(wall, wall); }
  void Pass(Nanos wall, Nanos ran) const {
    now += wall;
    cpu += ran;
  }

  // So much time passes up to each look, for the work before it; none between a reading of the
  // processor time and the look that goes with it.
  Nanos per_look = 0;
  mutable bool has_read_cpu = false;
  mutable Nanos now = 1000;
  mutable Nanos cpu = 7;
  mutable int cpu_readings = 0;
};

}  // namespace trumpet::testing

#endif  // TRUMPET_LIB_TPM_STEP_TEST_KIT_H
