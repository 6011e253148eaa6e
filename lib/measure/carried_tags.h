// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// CarriedTags: how the tags of a measurement program travel in the IPv4 headers of forwarded
// packets, and how the last hop takes them out again.  Those that travel beside the packet's own
// bytes are carrier_shim.h's.
//
// A packet that carries tags has the reserved bit of its IPv4 flags set, which must be zero
// otherwise (RFC 791) and which no lookup of a switch sees.  The first hop sets it only on packets
// that the last hop can give back as they came: the header checksum is right, a tagged type of
// service is 0, and so is a tagged identification, which fragments never lend.  Checksums follow
// each change (RFC 1624), so routers and hosts between find them right.
//
// Nor on packets in a tunnel, whose outer header no last hop sees: the tunnel's end takes it for
// its own, drops what it finds wrong, and passes marks of congestion on to the packet within.
//
// In a laboratory, where nothing between the first and the last hop looks at header checksums,
// they need not be right there: they may carry tags themselves, and the last hop makes them anew;
// or, left as they came, they tell the last hop which identification was there before a tag.
//
// Threads: pure functions.

#ifndef TRUMPET_LIB_MEASURE_CARRIED_TAGS_H
#define TRUMPET_LIB_MEASURE_CARRIED_TAGS_H

#include <cstdint>

#include "lib/base/status.h"
#include "lib/measure/compiled_program.h"
#include "lib/measure/packet_values.h"
#include "lib/packet/parse.h"

namespace trumpet {

// Which fields of forwarded packets a program tags.
struct TagCarriage {
  bool has_tos = false;
  bool has_id = false;
  bool has_checksum = false;
  bool is_lab = false;
  bool has_payload = false;  // lib/measure/payload_tags.h: not carried, but there to stay
  bool has_vid = false;      // lib/measure/carrier_shim.h
  bool has_option = false;

  bool has_header() const { return has_tos || has_id || has_checksum; }
  bool has_shim() const { return has_vid || has_option; }
  // Some are carried, and taken out again.
  bool has_any() const { return has_header() || has_shim(); }
};

// An error if a tag can not be carried.
Result<TagCarriage> PlanTagCarriage(const CompiledProgram& program, bool is_lab);

// All take a whole header, whose length is that of its first byte: 20 to 60 bytes.
bool CarriesTags(const uint8_t* header);

// May the first hop tag this packet?  No for one that claims to carry tags already.
bool CanCarryTags(const TagCarriage& carriage, const uint8_t* header);

// Whether the header is the outer one of a tunnel that a switch may end: GRE, or UDP to a port
// of VXLAN or Geneve in `parse`, or to VXLAN's old one or that of GTP-U.  `values`: of the same
// packet.
bool IsOfTunnel(const PacketValues& values, const ParseOptions& parse);

// Puts in what is tagged in `values`; the packet carries tags from now on.
void WriteCarriedTags(const TagCarriage& carriage, const PacketValues& values, uint8_t* header);

// Makes the header of a packet that carries tags what it was before.
void RemoveCarriedTags(const TagCarriage& carriage, uint8_t* header);

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_CARRIED_TAGS_H
