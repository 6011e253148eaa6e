// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// MirrorCopy: a packet that a switch copied into a tunnel, taken out of it again.
//
// Read are ERSPAN I, II and III, and GRE that carries Ethernet or IP, over IPv4 or IPv6.  Who made
// the copy and for what stands in the GRE key or the ERSPAN header; lib/model/slice_spec.h says
// how its bits are used.
//
// Threads: pure function.  Cost: no allocation.  Never reads beyond the captured bytes.

#ifndef TRUMPET_LIB_PACKET_MIRROR_COPY_H
#define TRUMPET_LIB_PACKET_MIRROR_COPY_H

#include <cstdint>

#include "lib/packet/parse.h"
#include "lib/packet/parsed_packet.h"

namespace trumpet {

enum class CopyKind : uint8_t { kErspan1, kErspan2, kErspan3, kGre };

struct MirrorCopy {
  CopyKind kind = CopyKind::kGre;
  Headers outer;  // of the tunnel, up to IP
  bool has_key = false;
  uint32_t key = 0;  // of GRE
  bool has_sequence = false;
  uint32_t sequence = 0;  // of GRE

  // ERSPAN II and III.
  uint16_t session = 0;       // ten bits
  uint16_t vlan = 0;          // of the original frame; 0: none
  uint8_t cos = 0;            // likewise
  uint8_t encapsulation = 0;  // II: En; III: BSO
  bool is_truncated = false;
  uint32_t index = 0;  // II: 20 bits
  // ERSPAN III.
  uint32_t timestamp = 0;  // in units of `granularity`
  uint8_t granularity = 0;
  uint16_t group_tag = 0;
  uint8_t frame_type = 0;
  uint8_t hardware_id = 0;
  bool is_egress = false;
  bool has_platform = false;
  uint64_t platform = 0;

  // The packet that was copied; borrowed from the frame.
  bool is_ethernet = true;  // else it begins with IP
  const uint8_t* inner = nullptr;
  uint32_t inner_captured = 0;
  uint32_t inner_bytes = 0;  // on the wire, as far as its own headers tell when it was cut
};

enum class CopyVerdict : uint8_t {
  kCopy,
  kOther,        // no tunnel of these kinds
  kFragment,     // of one; not put together again
  kMalformed,    // cut short, or not what its headers announce
  kUnsupported,  // GRE with routing or another version, ERSPAN of another version
};

// Fills `copy` if the verdict is kCopy.
CopyVerdict ReadMirrorCopy(const Frame& frame, MirrorCopy* copy);

}  // namespace trumpet

#endif  // TRUMPET_LIB_PACKET_MIRROR_COPY_H
