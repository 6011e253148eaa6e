// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Delivery: the records that a sweep puts on the ring towards the agent thread.
//
// Writers answer false when the ring has no room now; nothing was written then.

#ifndef TRUMPET_LIB_TPM_DELIVERY_H
#define TRUMPET_LIB_TPM_DELIVERY_H

#include <cstddef>
#include <cstdint>

#include "lib/base/spsc_ring.h"
#include "lib/base/units.h"
#include "lib/model/bucket_key.h"
#include "lib/model/flow_state.h"
#include "lib/verdict/trigger_plan.h"

namespace trumpet {

class DeliverySink;

struct EpochSpan {
  Nanos start = 0;
  Nanos end = 0;
};

// The most bytes of ring that a partial of the event takes.
size_t MaxPartialBytes(const TriggerPlan& plan);

// The partials that follow are of this epoch.
bool DeliverEpochBegin(SpscRing* ring, const EpochSpan& epoch);

// Room for one partial with `word_count` cells' words; null when the ring is full.  The
// caller fills the words, then calls SpscRing::Commit().
uint64_t* ReservePartial(SpscRing* ring, uint32_t event_id, bool is_unscaled,
                         const BucketKey& bucket, size_t word_count);

// The same of an epoch of its own, at any time.
uint64_t* ReserveLatePartial(SpscRing* ring, const EpochSpan& epoch, uint32_t event_id,
                             const BucketKey& bucket, size_t word_count);
bool DeliverFlowState(SpscRing* ring, const FlowStateUpdate& update);
bool DeliverEpochEnd(SpscRing* ring, const EpochSpan& epoch, uint32_t reasons);

// Hands all partials, states and ends that are there to `sink`, in order; returns their number.
// What comes meanwhile is left for the next call: an agent that is slower than its packet threads
// would never come back, and keep all of it.  `epoch` remembers from call to call which one began
// last.
size_t DrainRecords(SpscRing* ring, EpochSpan* epoch, DeliverySink* sink);

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_DELIVERY_H
