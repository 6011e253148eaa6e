// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Messages by which the controller turns slices on and off in the datapath of a host, and what the
// host tells of them; lib/wire/trumpet.proto says what each is for.

#ifndef TRUMPET_LIB_WIRE_SLICE_ORDER_H
#define TRUMPET_LIB_WIRE_SLICE_ORDER_H

#include <cstdint>
#include <string>

#include "lib/base/units.h"
#include "lib/model/slice_spec.h"

namespace trumpet {

struct SliceOn {
  SliceSpec slice;
};

// A slice is known by its bridge and its tag.
struct SliceOff {
  std::string bridge;  // empty: that of any bridge
  uint32_t tag = 0;
};

struct SliceAck {
  std::string bridge;
  uint32_t tag = 0;
  bool is_on = false;
  std::string error;  // why it is not on although it was to be
};

struct HostSliceEnd {
  std::string bridge;
  uint32_t tag = 0;
  uint64_t packets = 0;
  uint64_t bytes = 0;
  uint64_t withheld = 0;
  Nanos lasted_ns = 0;
  Nanos span_ns = 0;  // from the first packet marked to the last
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_WIRE_SLICE_ORDER_H
