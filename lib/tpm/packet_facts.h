// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// PacketFacts: what connection tracking adds to a packet's own headers.

#ifndef TRUMPET_LIB_TPM_PACKET_FACTS_H
#define TRUMPET_LIB_TPM_PACKET_FACTS_H

#include <cstdint>

#include "lib/base/units.h"

namespace trumpet {

// Bits of PacketFacts::defined.
constexpr uint8_t kHasRwnd = 1;
constexpr uint8_t kHasAck = 2;
constexpr uint8_t kHasSeq = 4;
constexpr uint8_t kHasDup = 8;

// ack, seq and dup are the values of the packet's direction just after the packet.
struct PacketFacts {
  uint8_t defined = 0;
  bool is_burst = false;
  bool is_lost = false;
  bool lost_in_burst = false;  // is_lost, and the first sending of the byte was in a burst
  bool lacks_history = false;  // is_lost, and nobody can tell any more how the byte was first sent
  bool rwnd_unscaled = false;  // rwnd is defined but was not scaled
  int64_t rwnd = 0;            // bytes
  int64_t ack = 0;
  int64_t seq = 0;
  int64_t dup = 0;  // bytes
};

// A round-trip time measured by an ACK.  It belongs to the segment that was acknowledged.
struct RttSample {
  Nanos rtt_ns = 0;
  uint64_t owner = 0;  // what Observe() was given as `owner` for that segment
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_PACKET_FACTS_H
