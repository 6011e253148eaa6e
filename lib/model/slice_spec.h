// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// SliceSpec: what one switch copies for a moment (Stroboscope, section 3), and how its copies are
// told apart.
//
// A copy travels in a tunnel to an analyzer and says in its header which switch made it and for
// which slice: in GRE the upper 12 bits of the key are the switch's number and the lower 20 the
// tag; in ERSPAN the session id is the number and the index the tag.
//
// Threads: values; no state.

#ifndef TRUMPET_LIB_MODEL_SLICE_SPEC_H
#define TRUMPET_LIB_MODEL_SLICE_SPEC_H

#include <cstdint>
#include <string>

#include "lib/base/units.h"
#include "lib/model/filter.h"

namespace trumpet {

constexpr uint32_t kSliceTagBits = 20;
constexpr uint32_t kMaxSliceTag = (1u << kSliceTagBits) - 1;
// The last tags are for probes, never for slices.
constexpr uint32_t kProbeTags = 8;
constexpr uint32_t kFirstProbeTag = kMaxSliceTag - kProbeTags + 1;
constexpr uint16_t kMaxSwitchNumber = 1023;  // an ERSPAN session id has ten bits
// Of packets that only say who they are.
constexpr uint16_t kSliceSnapBytes = 192;
constexpr uint16_t kMaxSliceMark = (1u << (32 - kSliceTagBits)) - 1;

constexpr uint32_t SliceGreKey(uint16_t switch_number, uint32_t tag) {
  return (uint32_t{switch_number} << kSliceTagBits) | tag;
}

// A limit of 0 is none.
struct SliceSpec {
  uint32_t tag = 0;    // 1 to kMaxSliceTag; of no two slices of a bridge that are on together
  std::string bridge;  // packets that arrive there, on any port but tunnels to analyzers
  FilterExpr filter;   // which of them are copied
  Nanos duration = 0;  // from the moment it is on; then the switch turns it off by itself
  uint64_t max_packets = 0;
  uint64_t max_bytes = 0;           // of the packets copied, on the wire
  uint32_t packets_per_second = 0;  // of the copies: CONFINE is rate-limited
  uint16_t snap_bytes = 0;          // of each packet
  uint16_t mark =
      0;  // in the datapath: what packets are marked with above the tag; 0: as is set there
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_MODEL_SLICE_SPEC_H
