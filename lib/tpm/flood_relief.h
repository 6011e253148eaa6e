// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// FloodRelief: how much of a flood the switch is spared looking at.  (docs/adr/0008)
//
// A packet that is withheld still costs what it takes to see that its flow is unknown.  Where
// forwarding is cheap and the thread has no time left, that alone may slow the switch down.  Then
// whole epochs are withheld, so many of eight that the monitor takes no more than its share of the
// time, and at most every other one.  Events whose interval is an epoch go on being judged by whole
// intervals.  Which epochs these are depends on nothing but their number and how many they are, so
// that threads under the same flood look at the same ones.
//
// Threads: none.  The answer depends on nothing but the epochs so far.

#ifndef TRUMPET_LIB_TPM_FLOOD_RELIEF_H
#define TRUMPET_LIB_TPM_FLOOD_RELIEF_H

#include <cstdint>

#include "lib/base/units.h"

namespace trumpet {

// What a packet thread did in an epoch at whose packets it looked.  Cycles are of one clock.
struct EpochLoad {
  Nanos length = 0;
  uint64_t cycles = 0;          // that passed
  uint64_t free_cycles = 0;     // of these, spent waiting for packets
  uint64_t monitor_cycles = 0;  // of these, spent in batches
  uint64_t packets = 0;
  uint64_t withheld = 0;  // of these

  friend EpochLoad operator-(const EpochLoad& a, const EpochLoad& b) {
    return {a.length - b.length,           a.cycles - b.cycles,
            a.free_cycles - b.free_cycles, a.monitor_cycles - b.monitor_cycles,
            a.packets - b.packets,         a.withheld - b.withheld};
  }
};

class FloodRelief {
 public:
  static constexpr uint64_t kEpochs = 8;
  static constexpr uint64_t kMaxWithheld = kEpochs / 2;  // of these

  void NoteEpoch(const EpochLoad& load);

  // Of eight epochs in a row, as many are withheld from now on.
  uint64_t withheld_epochs() const { return withheld_epochs_; }

  // Whether the epoch is that begins in this multiple of the epochs' length, in Unix time.  No two
  // in a row are.
  bool Withholds(int64_t cell) const {
    return static_cast<uint64_t>(cell) * withheld_epochs_ % kEpochs < withheld_epochs_;
  }

 private:
  double share_ = 0;  // of the time, that the monitor takes in floods; smoothed
  uint64_t withheld_epochs_ = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_FLOOD_RELIEF_H
