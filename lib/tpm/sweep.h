// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Sweep: delivers what was counted in the epoch that has just ended, a step at a time.
//
// Visits only the flows touched in that epoch, by index (paper, section 5.4, with a dirty list in
// place of the triggers' flow lists).  A flow's cells are added to the sum of its set, once for all
// triggers without granularity; triggers with one are delivered flow by flow.  Then the sums of the
// sets are added to those of the triggers, and these are delivered.  Then come the changes of TCP
// state and the end-of-epoch record.
//
// Threads: the packet thread.  Time: Step() looks at the clock after every little work and returns
// soon after its budget; it also returns when the ring is full, and goes on where it stopped.

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

namespace trumpet {

// The epoch to deliver.  `flows` are the touched ones.
struct SweepJob {
  EpochSpan epoch;
  uint32_t number = 0;  // sequence number; its lowest bit is the bank
  const FlowIndex* flows = nullptr;
  uint32_t flow_count = 0;
  uint32_t reasons = 0;  // IncompleteReason bits
  Generation* running = nullptr;
  Generation* previous = nullptr;  // may be null
};

struct SweepCounters {
  uint64_t steps = 0;
  uint64_t flows = 0;
  uint64_t partials = 0;
  uint64_t dropped = 0;  // partials given up by Abandon(), at least one per flow left
};

class Sweep {
 public:
  // All must outlive the sweep.
  Sweep(FlowTable* flows, ConnectionTable* connections, SpscRing* ring)
      : flows_(flows), connections_(connections), ring_(ring) {}

  bool is_active() const { return stage_ != Stage::kDone; }
  const SweepJob& job() const { return job_; }

  void Start(const SweepJob& job);

  // Goes on for `budget_ns`; INT64_MAX: until done or the ring is full.
  void Step(Nanos budget_ns);

  // Whether the last step stopped because the ring was full.
  bool is_blocked() const { return is_blocked_; }

  // Gives up what is left because the ring stayed full; the epoch is reported as incomplete later.
  void Abandon();

  // With the next job: packets of this span were not all counted.
  void ReportLater(const EpochSpan& span, uint32_t reasons);
  bool has_unreported() const { return unreported_reasons_ != 0; }

  // Everything before this instant is delivered, marks of what is missing included.  Only if
  // is_active().
  Nanos delivered_until() const {
    return has_unreported() ? std::min(unreported_.start, job_.epoch.start) : job_.epoch.start;
  }

  const SweepCounters& counters() const { return counters_; }

 private:
  enum class Stage : uint8_t { kFlows, kSets, kWholeBuckets, kFlowStates, kEpochEnd, kDone };

  bool Advance();  // one item of the current stage; false: the ring is full
  bool SweepFlow(FlowIndex flow);
  void PrefetchFlows() const;
  bool DeliverFlow(Generation* generation, const TriggerSet& set, const FlowEntry& entry,
                   const uint64_t* bank, bool is_unscaled);
  bool DeliverPartial(const WholeBucket& trigger, const BucketKey& key, bool is_unscaled,
                      const uint64_t* bank, const uint16_t* places);
  void AddToSet(Generation* generation, const FlowEntry& entry, const uint64_t* bank,
                bool is_unscaled);
  void SweepSet();
  void AddToTriggers(Generation* generation, uint32_t set_index);
  void AddToWholeBucket(Generation* generation, uint32_t trigger, const uint64_t* bank,
                        const uint16_t* places, bool is_unscaled);
  bool SweepWholeBucket();
  bool SweepFlowState();
  Generation* GenerationOf(const FlowEntry& entry) const;

  FlowTable* flows_;
  ConnectionTable* connections_;
  SpscRing* ring_;
  SweepJob job_;
  SweepCounters counters_;
  Stage stage_ = Stage::kDone;
  uint32_t next_flow_ = 0;
  uint32_t next_trigger_ = 0;  // within the flow or set, when it takes more than one item
  const uint16_t* next_place_ = nullptr;  // of that trigger
  int work_ = 0;                          // since the clock was read
  FlowStateUpdate held_state_;            // read from the connections, not yet delivered
  bool holds_state_ = false;
  bool is_blocked_ = false;
  EpochSpan unreported_;  // see ReportLater(); several spans become one that covers them
  uint32_t unreported_reasons_ = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_SWEEP_H
