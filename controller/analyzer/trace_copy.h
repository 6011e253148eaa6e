// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// TraceCopy: what a trace keeps of one copy that a switch made of a packet on its way.
//
// The copy arrives in a tunnel (ERSPAN, GRE, VXLAN or Geneve), whose header says which switch made
// it and for which rule and port (lib/model/slice_spec.h; a VNI has ten bits for the switch and 14
// for the tag, and ERSPAN III none for the tag).  The packet inside is known again by its
// innermost IP header and what follows (packet_identity.h), so copies from before and from behind a
// load balancer that encapsulates are of one packet; IP ID 0 and IPv6 do as well.  A packet without
// IP is known by all of its first bytes.
//
// Threads: pure function.  Cost: no allocation.

#ifndef TRUMPET_CONTROLLER_ANALYZER_TRACE_COPY_H
#define TRUMPET_CONTROLLER_ANALYZER_TRACE_COPY_H

#include <cstdint>

#include "controller/analyzer/address_pairs.h"
#include "controller/analyzer/trace_packet.h"
#include "lib/base/units.h"
#include "lib/packet/layers.h"

namespace trumpet {

// One pass of a packet through a switch.
struct TraceHop {
  Nanos time = 0;         // of arrival at the analyzer
  uint32_t tag = 0;       // rule and port, 20 bits
  uint32_t sequence = 0;  // of the copy, as its switch counts them
  uint16_t switch_number = 0;
  uint8_t ttl = 0;        // of the innermost IP header; 0: none
  uint8_t outer_ttl = 0;  // of the outermost of the packet, the copy's tunnel not counted
  bool has_sequence = false;
  bool is_encapsulated = false;  // the packet is in a tunnel of the network itself
};

struct TraceCopy {
  Uint128 key = 0;    // of the packet
  uint64_t flow = 0;  // of its innermost addresses, protocol and ports
  TraceHop hop;
  TracePacket packet;
  // From its first header on; borrowed from the frame.
  const uint8_t* bytes = nullptr;
  uint32_t captured = 0;
};

enum class TraceVerdict : uint8_t {
  kCopy,
  kOther,      // no tunnel
  kNoOrigin,   // a tunnel that does not say which switch: without key, ERSPAN I, Mellanox
  kMalformed,  // nothing of a packet is left in it
  kSlice,      // a copy of a slice; only its hop is set
};

struct TraceCopyOptions {
  LayerOptions layers;
  uint64_t seed = 0;  // from the machine's random source: nobody outside can make keys equal
  uint8_t debug_dscp = 0;
  AddressPairs pairs;  // packets are one before and behind a middlebox that replaces these
  // Copies whose tag is none of a trace rule (lib/model/trace_rule.h) are kSlice, and so are those
  // of the controller's test packets, which it asks for like slices.  ERSPAN III and a VNI have no
  // room for such a tag; slices do not use them.
  bool leaves_slices = false;
};

// Usual copies (usual_copy.h) are read a shorter way.
TraceVerdict ReadTraceCopy(const Frame& frame, Nanos time, const TraceCopyOptions& options,
                           TraceCopy* copy);
// The same of any copy, header by header.
TraceVerdict ReadAnyTraceCopy(const Frame& frame, Nanos time, const TraceCopyOptions& options,
                              TraceCopy* copy);
// The same of a frame as it came to the switch, captured there: kCopy or kMalformed.
TraceVerdict ReadTraceFrame(const Frame& frame, Nanos time, uint16_t switch_number,
                            const TraceCopyOptions& options, TraceCopy* copy);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_ANALYZER_TRACE_COPY_H
