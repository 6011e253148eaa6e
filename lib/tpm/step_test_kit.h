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
    const auto ticks = static_cast<uint64_t>(now);
    Pass(per_look);
    if (next_jump != 0 && --looks_to_jump == 0) {
      Pass(next_jump);
      looks_to_jump = jump_every;
    }
    return ticks;
  }
  double ticks_per_nano() const override { return 1.0; }
  Nanos ThreadCpuNs() const override {
    cpu_readings++;
    return cpu;
  }

  // The thread ran all the time, or only for `ran`.
  void Pass(Nanos wall) const { Pass(wall, wall); }
  void Pass(Nanos wall, Nanos ran) const {
    now += wall;
    cpu += ran;
  }

  // Every look makes as much time pass: what the work between two looks takes.
  Nanos per_look = 0;
  // Each `jump_every`-th look comes so much later: a step that is stuck.
  Nanos next_jump = 0;
  int jump_every = 0;
  mutable int looks_to_jump = 0;
  mutable Nanos now = 1000;
  mutable Nanos cpu = 7;
  mutable int cpu_readings = 0;
};

}  // namespace trumpet::testing

#endif  // TRUMPET_LIB_TPM_STEP_TEST_KIT_H
