// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// PeerMessage: what one packet thread tells another about a TCP connection of which each sees a
// direction (docs/adr/0009).

#ifndef TRUMPET_LIB_TPM_PEER_MESSAGE_H
#define TRUMPET_LIB_TPM_PEER_MESSAGE_H

#include <cstdint>
#include <type_traits>

#include "lib/base/units.h"
#include "lib/packet/flow_key.h"
#include "lib/packet/parsed_packet.h"
#include "lib/tpm/tcp_tracker.h"

namespace trumpet {

enum class PeerMessageKind : uint8_t {
  kPacket,   // the sender received `segment` of `flow` at `time`
  kSummary,  // an answer: what the sender knew when it took in the question asked at `time`
  kNothing,  // an answer: it knows nothing
  kNotYet,   // an answer: it is waiting for one itself
};

struct PeerMessage {
  FlowKey flow;       // of the packet that is told, or that asked
  uint64_t hash = 0;  // ConnectionTable::HashOf(flow)
  Nanos time = 0;
  PeerMessageKind kind = PeerMessageKind::kPacket;
  uint8_t from = 0;         // number of the sending thread
  bool asks = false;        // an answer is wanted
  uint8_t question = 0;     // which one it asks, or answers
  bool after_loss = false;  // a message about this connection was lost before
  union {
    TcpSegment segment{};
    TcpSummary summary;
  };
};
static_assert(std::is_trivially_copyable_v<PeerMessage>);

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_PEER_MESSAGE_H
