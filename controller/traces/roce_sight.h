// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// RoceSight: what one copy says to whom debugs RoCE: a packet of it, or a frame that stops a
// sender, as it came to a switch.
//
// Threads: pure functions.

#ifndef TRUMPET_CONTROLLER_TRACES_ROCE_SIGHT_H
#define TRUMPET_CONTROLLER_TRACES_ROCE_SIGHT_H

#include <array>
#include <cstdint>
#include <optional>

#include "controller/store/trace_store.h"
#include "lib/base/units.h"
#include "lib/packet/flow_key.h"
#include "lib/packet/layers.h"
#include "lib/packet/roce.h"

namespace trumpet {

struct RoceSight {
  Nanos time = 0;
  uint16_t switch_number = 0;
  uint32_t port = 0;  // of arrival, as OpenFlow numbers them; 0: not known
  // One of these.
  std::optional<RocePacket> roce;
  std::optional<MacControl> control;
  // Of RoCE.
  FlowKey flow;
  uint32_t bytes = 0;       // of IP
  bool is_marked = false;   // "congestion experienced"
  bool is_corrupt = false;  // its checksum is wrong
  // Of a frame.
  std::array<uint8_t, 6> source{};
};

// Sets all but time, switch and port; nullopt: it is neither.
std::optional<RoceSight> ReadRoceSight(const uint8_t* bytes, uint32_t captured, LayerKind first);
// Of a tag of a copy.
uint32_t PortOfTag(uint32_t tag);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACES_ROCE_SIGHT_H
