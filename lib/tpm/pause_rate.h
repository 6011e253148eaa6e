// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// PauseRate: how often a packet thread stands still outside its steps, so that the watchdog can
// tell a machine that pauses from a step that is long (docs/adr/0006).
//
// A pause of a hypervisor, an interrupt, a debugger hits a thread at any time: in its steps as
// often as outside, in proportion to the time spent in each.  What is outside the steps is the
// control. A pause counts in each class that it is as long as, one limit, eight and sixty-four:
// short pauses say little of long steps.
//
// Times are ticks.  `in_steps` is the time spent in steps so far, as it is at the instant `now`.
//
// Threads: the packet thread.  Time: some nanoseconds; called only when something took long.

#ifndef TRUMPET_LIB_TPM_PAUSE_RATE_H
#define TRUMPET_LIB_TPM_PAUSE_RATE_H

#include <array>
#include <cstdint>

namespace trumpet {

class PauseRate {
 public:
  static constexpr int kClasses = 3;
  // The two memories: a machine that begins to pause, and one that does so seldom.
  static constexpr uint64_t kShortSeconds = 2;
  static constexpr uint64_t kLongSeconds = 64;

  PauseRate(uint64_t limit, uint64_t second);

  // Of each class, the ticks beyond which something belongs to it.
  uint64_t LimitOf(int its_class) const { return limit_ << (3 * its_class); }

  // The thread did nothing of its own steps for `length`, up to `now`.
  void Note(uint64_t now, uint64_t in_steps, uint64_t length);

  // Pauses of the class per tick outside the steps, by the memory that tells of more; at least an
  // eighth of the class below.
  double PerTick(int its_class, uint64_t now, uint64_t in_steps);

  // The part of its time that the thread lately spent in steps.
  double ShareOfSteps(uint64_t now, uint64_t in_steps);

  void Reset();

 private:
  struct Span {
    uint64_t start = 0;
    uint64_t in_steps = 0;  // at its start
    std::array<uint32_t, kClasses> counts{};
  };
  // The running span and the one before, so that what is known is one to two spans old.
  struct Memory {
    uint64_t span = 0;
    bool has_begun = false;
    Span before, running;
  };

  static void Advance(Memory* memory, uint64_t now, uint64_t in_steps);

  const uint64_t limit_;
  std::array<Memory, 2> memories_;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_PAUSE_RATE_H
