// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Delivery: the records that a sweep puts on the ring towards the agent thread.
//
// Writers answer false when the ring has no room now; nothing was written then.

#ifndef TRUMPET_LIB_TPM_DELIVERY_H
#define TRUMPET_LIB_TPM_DELIVERY_H

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "lib/base/spsc_ring.h"
#include "lib/base/units.h"
#include "lib/model/bucket_key.h"
#include "lib/model/flow_state.h"
#include "lib/verdict/trigger_plan.h"

namespace trumpet {

class DeliverySink;
class EpochSums;
struct Generation;

struct EpochSpan {
  Nanos start = 0;
  Nanos end = 0;
};

// What reports lack, and of which time: several spans become one that covers them.
struct IncompleteSpan {
  void Add(const EpochSpan& more, uint32_t more_reasons) {
    span.start = reasons != 0 ? std::min(span.start, more.start) : more.start;
    span.end = reasons != 0 ? std::max(span.end, more.end) : more.end;
    reasons |= more_reasons;
  }

  EpochSpan span;
  uint32_t reasons = 0;  // IncompleteReason bits; 0: they lack nothing
};

// What a set of triggers holds at the end of an epoch, or some of its words.
struct SetTotals {
  Generation* generation = nullptr;  // whose set it is
  uint32_t set = 0;
  uint16_t first_word = 0;  // of all the set's words
  uint16_t word_count = 0;
  bool is_unscaled = false;
  const uint64_t* words = nullptr;
};

// The most bytes of ring that a partial of the event takes.
size_t MaxPartialBytes(const TriggerPlan& plan);

// The partials and sets that follow are of this epoch.
bool DeliverEpochBegin(SpscRing* ring, const EpochSpan& epoch);

// Room for one partial with `word_count` cells' words; null when the ring is full.  The
// caller fills the words, then calls SpscRing::Commit().
uint64_t* ReservePartial(SpscRing* ring, uint32_t event_id, bool is_unscaled,
                         const BucketKey& bucket, size_t word_count);

// The same of an epoch of its own, at any time.
uint64_t* ReserveLatePartial(SpscRing* ring, const EpochSpan& epoch, uint32_t event_id,
                             const BucketKey& bucket, size_t word_count);

// At most kMaxTotalsWords; one set's in their order, nothing else in between.
constexpr uint16_t kMaxTotalsWords = 128;
bool DeliverSetTotals(SpscRing* ring, const SetTotals& totals);

bool DeliverFlowState(SpscRing* ring, const FlowStateUpdate& update);
bool DeliverEpochEnd(SpscRing* ring, const EpochSpan& epoch, uint32_t reasons);

// Hands all partials, states and ends that are there to `sink`, in order, and the partials that
// come of sets before the end of their epoch; returns how many records there were.  What comes
// meanwhile is left for the next call: an agent that is slower than its packet threads would never
// come back, and keep all of it.  `sums` remembers from call to call what it must.
size_t DrainRecords(SpscRing* ring, EpochSums* sums, DeliverySink* sink);

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_DELIVERY_H
