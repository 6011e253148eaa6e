// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// FlowState: what TCP tracking knows of one direction at the end of an epoch.

#ifndef TRUMPET_LIB_MODEL_FLOW_STATE_H
#define TRUMPET_LIB_MODEL_FLOW_STATE_H

#include <cstdint>

#include "lib/base/units.h"
#include "lib/packet/flow_key.h"

namespace trumpet {

// ack, seq and dup of one direction (see the contract); valid at one instant.
struct FlowState {
  int64_t ack = 0;
  int64_t seq = 0;
  int64_t dup = 0;
  Nanos last_packet_ns = 0;  // of either direction; the state dies flow_timeout later
  uint32_t incarnation = 0;  // changes whenever the connection's state is started anew
  bool has_ack = false;
  bool has_seq = false;
};

// The state of `flow` as it was at `epoch_end`, sent when anything in it changed in the epoch.
struct FlowStateUpdate {
  FlowKey flow;
  FlowState state;
  Nanos epoch_start = 0;
  Nanos epoch_end = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_MODEL_FLOW_STATE_H
