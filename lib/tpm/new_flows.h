// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// NewFlows: what happens to a packet whose flow has no entry (paper, section 5: match).
//
// The flow is matched once, against all triggers, and gets an entry that names the set of those
// that want it; a flow that none wants gets one too, so that it is not matched again.
//
// Threads: one packet thread.  Never allocates.

#ifndef TRUMPET_LIB_TPM_NEW_FLOWS_H
#define TRUMPET_LIB_TPM_NEW_FLOWS_H

#include <cstdint>

#include "lib/tpm/epoch_state.h"
#include "lib/tpm/flow_table.h"
#include "lib/tpm/monitor_counters.h"

namespace trumpet {

class NewFlows {
 public:
  // All must outlive it.
  NewFlows(FlowTable* flows, EpochState* epoch, MonitorCounters* counters)
      : flows_(flows), epoch_(epoch), counters_(counters) {}

  // An entry for the flow of `packet`; kNoFlow when there is no room.  `extension` has the bytes
  // that the running program's layout asks for.
  FlowIndex Add(const ParsedPacket& packet, const FlowKey& entry_key, const uint8_t* extension,
                uint64_t hash);

 private:
  FlowTable* flows_;
  EpochState* epoch_;
  MonitorCounters* counters_;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_NEW_FLOWS_H
