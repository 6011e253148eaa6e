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
//
// A packet thread that sees one direction only knows the other from hearsay, so each half says as
// of when it is: seq of the direction's own packets, ack and dup of the packets that answer them.
struct FlowState {
  int64_t ack = 0;
  int64_t seq = 0;
  int64_t dup = 0;
  Nanos last_packet_ns = 0;  // of either direction; the state dies flow_timeout later
  Nanos incarnation = 0;     // when the connection's state was started; alike on all threads
  bool has_ack = false;
  bool has_seq = false;
  bool doubts_seq = false;    // something may be missing: IncompleteReason kSplitConnection
  bool doubts_ack = false;    // likewise, in ack or dup
  bool sees_sender = true;    // the thread receives the direction's own packets
  bool sees_receiver = true;  // and those that answer them
  Nanos sender_ns = 0;        // the last packet of the direction that the thread knows of
  Nanos receiver_ns = 0;      // and of the other one
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
