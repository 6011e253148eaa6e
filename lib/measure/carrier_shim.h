// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// CarrierShim: bytes that one switch puts into a frame, and the next one takes out before it looks
// at the frame at all, so that no lookup sees them; they carry tags of measurement programs.
//
// There are two, and a frame may have both:
//   vlan.vid       in front of what follows the addresses: an 802.1ad tag whose VID is the value,
//                  and an 802.1Q tag whose priority and VID are a check.  8 bytes.
//   geneve.option  behind the base header of a packet in Geneve: an option of the experimental
//                  class 0xff54 with the value and a check.  12 bytes; lengths and checksums of the
//                  outer headers follow.
//
// Checks depend on a key that switches share and on bytes behind the shim: a frame that happens to
// look like one is taken for one in one of 32,768 cases (2^32 in Geneve).  Where a sender finds a
// frame that the next switch would take for one, it puts an escape around it: a shim that carries
// nothing.  So all that is taken out is what was put in, as long as there is room for escapes.
// The DEI bits of tags are neither set nor looked at, as Open vSwitch clears them on some ports.
//
// Only frames of 60 bytes or more carry shims: what shorter ones would be padded to on the way
// depends on their length.
//
// Threads: pure functions.

#ifndef TRUMPET_LIB_MEASURE_CARRIER_SHIM_H
#define TRUMPET_LIB_MEASURE_CARRIER_SHIM_H

#include <cstdint>

namespace trumpet {

constexpr uint32_t kVlanShimBytes = 8;
constexpr uint32_t kOptionShimBytes = 12;
constexpr uint32_t kMaxShimBytes = kVlanShimBytes + kOptionShimBytes;

// What travels with a packet beside its own bytes.
struct CarriedValues {
  bool has_vid = false;
  bool has_option = false;
  uint16_t vid = 0;     // 12 bits
  uint32_t option = 0;  // 0 without

  bool has_any() const { return has_vid || has_option; }
};

// The bytes of a frame from the Ethernet header on, all of them.
struct ShimFrame {
  uint8_t* bytes = nullptr;
  uint32_t length = 0;
};

// Whether there is a place in the frame, however long it would become.
bool CanCarryVid(const ShimFrame& frame);
bool CanCarryOption(const ShimFrame& frame);
// A packet in Geneve, which may have no place for another option.
bool IsInGeneve(const ShimFrame& frame);

// Would TakeShims() take something out?
bool HasShims(uint64_t key, const ShimFrame& frame);

// Takes shims out.  What stays begins later by the number of bytes that is returned: 0 in nearly
// all frames, of which nothing is changed then.
uint32_t TakeShims(uint64_t key, const ShimFrame& frame, CarriedValues* values);

struct ShimsPut {
  uint32_t vlan_bytes = 0;    // the frame begins so much earlier; its headers stay where they are
  uint32_t option_bytes = 0;  // likewise; the outer headers go with its beginning
  bool is_lost = false;       // a value found no place or no room
  bool is_escaped = false;    // the frame looked like one with shims
  bool is_exposed = false;    // likewise, and there was no room
};

// Puts `values` in, or an escape where there is none and the frame needs it.  `room` bytes in front
// of the frame are free, and it may become longer by so many.
ShimsPut PutShims(uint64_t key, const CarriedValues& values, uint32_t room, const ShimFrame& frame);

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_CARRIER_SHIM_H
