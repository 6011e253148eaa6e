// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// TriggerSums: what the sets of an epoch hold, added up for each trigger without granularity
// (paper, section 5: gather).  The packet thread only tells what each set holds (delivery.h); the
// triggers of a set, often many for each set, are the agent's work (docs/adr/0063).
//
// Threads: the agent.  It reads lists of sets that the packet thread has made, which never change.

#ifndef TRUMPET_LIB_TPM_TRIGGER_SUMS_H
#define TRUMPET_LIB_TPM_TRIGGER_SUMS_H

#include <atomic>
#include <cstdint>
#include <vector>

#include "lib/tpm/delivery.h"
#include "lib/tpm/trigger_program.h"
#include "lib/tpm/trigger_set.h"

namespace trumpet {

// The triggers of one program.
class TriggerSums {
 public:
  explicit TriggerSums(const TriggerProgram& program);

  // Adds what `set`, one of `sets`, holds, when all of its words have come.
  void Add(const TriggerSetTable& sets, const SetTotals& totals);

  // Hands the sums to `sink` as partials of `epoch`, and begins anew.  Returns how many there were.
  size_t HandOver(const EpochSpan& epoch, DeliverySink* sink);

  bool is_empty() const { return touched_.empty(); }
  static constexpr size_t BytesPerTrigger() { return sizeof(Sum) + sizeof(uint32_t); }

 private:
  // With what is needed of the trigger's plan: thousands of these are gone through in each epoch.
  struct Sum {
    uint32_t event_id;
    uint32_t first_cell;  // in cells_
    uint32_t first_word;  // in words_
    uint16_t word_count;
    uint16_t cell_count;
    bool is_whole : 1;  // the trigger has no granularity: others are told flow by flow
    bool uses_rtt : 1;
    bool uses_rwnd : 1;
    bool is_touched : 1;
    bool is_unscaled : 1;
  };

  void AddToTriggers(const InternedSet& set, bool is_unscaled);
  void AddTo(uint32_t trigger, const uint16_t* places);

  std::vector<Sum> sums_;        // by trigger
  std::vector<CellSpec> cells_;  // of those that are whole, side by side
  std::vector<uint64_t> words_;
  std::vector<uint32_t> touched_;  // triggers
  std::vector<uint64_t> totals_;   // of the set that is being told
};

// Those of the programs that the epoch drained last belongs to.
class EpochSums {
 public:
  // Partials that follow are of `epoch`.  Of one that was given up there may be sums left.
  void Begin(const EpochSpan& epoch, DeliverySink* sink);
  void Add(const SetTotals& totals);
  void HandOver(DeliverySink* sink);
  // Before a generation is freed: its epoch may not have been told to its end yet.
  void GiveUp(Generation* generation, DeliverySink* sink);

  const EpochSpan& epoch() const { return epoch_; }
  // Handed over so far.  Any thread.
  uint64_t partials() const { return partials_.load(std::memory_order_relaxed); }

 private:
  void HandOverOf(Generation* generation, DeliverySink* sink);

  EpochSpan epoch_;
  std::vector<Generation*> summed_;  // have sums; one or two
  std::atomic<uint64_t> partials_{0};
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_TRIGGER_SUMS_H
