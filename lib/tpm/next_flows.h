// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// NextFlows: gives flows their entries in the program that waits for its instant (docs/adr/0007).
//
// After a change of program every flow is matched anew with its next packet, and the first batches
// would pay for 32 flows each.  So while a program waits, a few packets of every batch are looked
// at ahead of time.  Such an entry counts nothing before the instant; a flow that was not met is
// matched after it, like any new flow.
//
// Threads: one packet thread.  Never allocates.  Time: some kMaxCycles a batch, and what the flow
// takes that was begun with before; who calls it stops if that is too long.

#ifndef TRUMPET_LIB_TPM_NEXT_FLOWS_H
#define TRUMPET_LIB_TPM_NEXT_FLOWS_H

#include <cstdint>

#include "lib/base/units.h"
#include "lib/packet/parse.h"
#include "lib/tpm/epoch_state.h"
#include "lib/tpm/flow_table.h"
#include "lib/tpm/key_hash.h"
#include "lib/tpm/key_layout.h"
#include "lib/tpm/match_scatter.h"
#include "lib/tpm/monitor_counters.h"

namespace trumpet {

class NextFlows {
 public:
  static constexpr int kMaxLooks = 8;
  static constexpr uint64_t kMaxCycles = 4096;  // 1.5 us

  // How long it takes at the full rate until most of so many flows have been met and matched.  Of
  // more than kMaxWait is enough for, the others are matched after the instant.
  static constexpr Nanos kWaitPerFlow = 1000;
  static constexpr Nanos kMaxWait = 100 * kNanosPerMilli;
  static constexpr Nanos WaitFor(uint64_t flows) {
    return flows < kMaxWait / kWaitPerFlow ? static_cast<Nanos>(flows) * kWaitPerFlow : kMaxWait;
  }

  // All must outlive it.
  NextFlows(const ParseOptions& parse, uint64_t hash_seed, FlowTable* flows, EpochState* epoch,
            MonitorCounters* counters)
      : parse_(parse), key_hash_(hash_seed), flows_(flows), epoch_(epoch), counters_(counters) {}

  // Looks at a few of the frames, which were counted already.  next->number must be set.  False:
  // no flow was matched.
  bool Prepare(Generation* next, const Frame* frames, int count, const Arrival& arrival);

 private:
  bool PrepareOne(Generation* next, const Frame& frame, const Arrival& arrival);
  uint64_t MakeKey(const TriggerProgram& program, const Arrival& arrival);
  bool IsKnown(const Arrival& arrival);
  bool Add(Generation* next, uint64_t hash);

  const ParseOptions parse_;
  const KeyHash key_hash_;
  FlowTable* flows_;
  EpochState* epoch_;
  MonitorCounters* counters_;
  uint64_t random_ = 1;  // so that flows which come in step with the batches are met, too
  ParsedPacket packet_;
  FlowKey entry_key_;
  alignas(8) uint8_t extension_[kMaxExtensionBytes];
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_NEXT_FLOWS_H
