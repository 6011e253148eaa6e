// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// EpochState: the epoch being counted on one packet thread, and the programs its flows belong to.
// Phase 1 writes what it saw; PacketThread begins and ends the epochs.
//
// Threads: one packet thread.

#ifndef TRUMPET_LIB_TPM_EPOCH_STATE_H
#define TRUMPET_LIB_TPM_EPOCH_STATE_H

#include <cstdint>

#include "lib/base/page_buffer.h"
#include "lib/tpm/delivery.h"
#include "lib/tpm/flow_table.h"
#include "lib/tpm/generation.h"

namespace trumpet {

struct EpochState {
  uint32_t bank() const { return number & 1; }

  // Whose entry this is; null when two changes of program in one epoch left it behind.
  Generation* GenerationOf(const FlowEntry& entry) const {
    if (running->number == entry.generation) return running;
    if (previous != nullptr && previous->number == entry.generation) return previous;
    return nullptr;
  }

  // What happened then lacks something; it may have been before this epoch.
  void Mark(Nanos time, uint32_t reason) {
    if (time >= span.start) {
      reasons |= reason;
    } else {
      late.Add({time, time + 1}, reason);
    }
  }

  EpochSpan span;
  uint32_t number = FlowTable::kFirstEpoch;  // sequence; the lowest bit is the bank
  // Sequence number of the oldest epoch with cells not yet swept: this one or the one before.
  uint32_t oldest_pending = FlowTable::kFirstEpoch;
  uint32_t reasons = 0;      // IncompleteReason bits
  IncompleteSpan late;       // before this epoch: what is to be told of that, too
  bool is_withheld = false;  // no packet is looked at: see FloodRelief
  uint64_t packets = 0;  // and messages of other threads taken in: there is something to deliver
  Nanos doubtful_until = INT64_MIN;  // epochs that begin before are marked kSplitConnection
  PageBuffer<FlowIndex> touched[2];  // per bank: flows touched in the epoch
  uint32_t touched_count[2] = {0, 0};
  Generation* running = nullptr;
  Generation* previous = nullptr;  // may be null
  bool adds_rtt_events = false;    // `running` may have some that `previous` had not
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_EPOCH_STATE_H
