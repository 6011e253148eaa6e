// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// LateSamples: RTT samples of an epoch that was closed when they became known.
//
// An ACK that another packet thread received just before the end of an epoch may be told just after
// it.  Partials merge in any order, so the sample goes to the agent as partials of its own.
//
// Threads: one packet thread.  Never allocates.

#ifndef TRUMPET_LIB_TPM_LATE_SAMPLES_H
#define TRUMPET_LIB_TPM_LATE_SAMPLES_H

#include "lib/base/page_buffer.h"
#include "lib/base/spsc_ring.h"
#include "lib/tpm/flow_table.h"
#include "lib/tpm/generation.h"
#include "lib/tpm/packet_facts.h"

namespace trumpet {

class LateSamples {
 public:
  // Both must outlive it.
  LateSamples(FlowTable* flows, SpscRing* ring) : flows_(flows), ring_(ring) {
    PageSource source({/*touches=*/true, /*takes_reserved=*/false});
    has_memory_ = bank_.Allocate(kMaxSetWords, &source);
  }

  // Delivers a sample of `flow`, an entry of `generation`, measured at `time`.  False when it could
  // not: no memory, the ring is full, or the flow has more triggers than this may cost.
  [[nodiscard]] bool Deliver(FlowIndex flow, const Generation& generation, const RttSample& sample,
                             Nanos time);

 private:
  FlowTable* flows_;
  SpscRing* ring_;
  PageBuffer<uint64_t> bank_;  // of one sample
  bool has_memory_ = false;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_LATE_SAMPLES_H
