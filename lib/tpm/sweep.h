// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Sweep: delivers what was counted in the epoch that has just ended, a step at a time.
//
// Visits only what was touched in that epoch (paper, section 5.4, with dirty lists in place of the
// triggers' flow lists).  First the flows with cells, by index: a flow's cells are added to the sum
// of its set, once for all triggers without granularity; triggers with one are delivered flow by
// flow.  Then the sets: these sums, and what the other sets counted for their flows; the agent adds
// them to those of the triggers (trigger_sums.h).  Then come the changes of TCP state and the
// end-of-epoch record.
//
// Threads: the packet thread.  Time: all work comes in pieces that can be left and taken up
// anywhere, down to the cells of one flow.  Step() weighs what it did and looks at the clock
// whenever that adds up to some 300 ns (paper, Algorithm 3); it returns soon after its budget, or
// when the ring is full, and goes on where it stopped.

#ifndef TRUMPET_LIB_TPM_SWEEP_H
#define TRUMPET_LIB_TPM_SWEEP_H

#include <algorithm>
#include <cstdint>

#include "lib/base/page_buffer.h"
#include "lib/base/spsc_ring.h"
#include "lib/tpm/connection_table.h"
#include "lib/tpm/delivery.h"
#include "lib/tpm/flow_table.h"
#include "lib/tpm/generation.h"
#include "lib/tpm/step_watch.h"

namespace trumpet {

// The epoch to deliver.  `flows` are the touched ones that have cells.
struct SweepJob {
  EpochSpan epoch;
  uint32_t number = 0;  // sequence number; its lowest bit is the bank
  const FlowIndex* flows = nullptr;
  uint32_t flow_count = 0;
  uint32_t reasons = 0;    // IncompleteReason bits
  bool is_silent = false;  // nothing to deliver: only the flow table is looked after
  Generation* running = nullptr;
  Generation* previous = nullptr;  // may be null
};

struct SweepCounters {
  uint64_t steps = 0;
  uint64_t flows = 0;
  uint64_t sets = 0;
  uint64_t visited() const { return flows + sets; }
  uint64_t partials = 0;
  uint64_t dropped = 0;  // partials given up by Abandon(), at least one per flow left
};

class Sweep {
 public:
  // All must outlive the sweep.
  Sweep(FlowTable* flows, ConnectionTable* connections, SpscRing* ring)
      : flows_(flows), connections_(connections), ring_(ring) {}

  bool is_active() const { return stage_ != Stage::kDone; }
  bool is_delivering() const { return is_active() && !job_.is_silent; }
  const SweepJob& job() const { return job_; }

  void Start(const SweepJob& job);

  // Goes on until `watch` says that the step is over, or without one until done; in any case until
  // the ring is full.
  void Step(const StepWatch* watch);

  // Whether the last step stopped because the ring was full.
  bool is_blocked() const { return is_blocked_; }

  // Gives up what is left because the ring stayed full; the epoch is reported as incomplete later.
  void Abandon();

  // With the next job: packets of this span were not all counted.
  void ReportLater(const EpochSpan& span, uint32_t reasons);
  bool has_unreported() const { return unreported_.reasons != 0; }
  Nanos unreported_since() const { return unreported_.span.start; }

  // Everything before this instant is delivered, marks of what is missing included.  Only if
  // is_delivering().
  Nanos delivered_until() const {
    return has_unreported() ? std::min(unreported_.span.start, job_.epoch.start) : job_.epoch.start;
  }

  const SweepCounters& counters() const { return counters_; }

 private:
  enum class Stage : uint8_t { kStale, kFlows, kSets, kFlowStates, kEpochEnd, kDone };

  bool Advance();  // a piece of the current stage; false: the ring is full
  bool HasWorked() const;
  void ReleaseStale();
  bool SweepFlow(FlowIndex flow);
  void PrefetchFlows() const;
  bool DeliverFlow(Generation* generation, const InternedSet& set, const FlowEntry& entry,
                   const uint64_t* bank, bool is_unscaled);
  const BucketKey* KeyOf(const Generation& generation, uint32_t trigger, const FlowEntry& entry);
  bool Begin();
  bool OpenPartial(const SweptTrigger& trigger, const BucketKey& key, bool is_unscaled);
  void DropLostPartial();
  bool CopyCells(const SweptTrigger& trigger, const uint64_t* bank);
  void CommitPartial();
  bool CopyWords(const uint64_t* from, uint32_t count, uint64_t* into);
  bool AddToSet(Generation* generation, const FlowEntry& entry, const uint64_t* bank,
                bool is_unscaled);
  bool MergeSteps(const InternedSet& set, const uint64_t* bank, uint64_t* into);
  bool SweepSet();
  bool DeliverTotals(Generation* generation, uint32_t set);
  bool SweepFlowState();
  Generation* GenerationOf(const FlowEntry& entry) const;

  FlowTable* flows_;
  ConnectionTable* connections_;
  SpscRing* ring_;
  SweepJob job_;
  SweepCounters counters_;
  Stage stage_ = Stage::kDone;
  uint32_t stale_left_ = 0;  // entries still to look at
  // Where to go on: in the flow or set the trigger, in that the cell.
  uint32_t next_flow_ = 0;
  uint32_t next_trigger_ = 0;
  const uint16_t* next_place_ = nullptr;  // of that trigger
  uint32_t next_cell_ = 0;                // or word, where words are copied
  uint64_t* open_words_ = nullptr;        // of the partial that is being filled on the ring
  size_t open_at_ = 0;                    // its position there
  bool has_begun_ = false;                // partials of the job have been delivered
  BucketKey key_;
  bool holds_five_tuple_ = false;  // key_ is the flow's 5-tuple, which many triggers share
  int work_ = 0;                   // since the clock was read, in nanoseconds by experience
  FlowStateUpdate held_state_;     // read from the connections, not yet delivered
  bool holds_state_ = false;
  bool is_blocked_ = false;
  IncompleteSpan unreported_;  // see ReportLater()
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_SWEEP_H
