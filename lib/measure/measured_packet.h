// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// MeasuredPacket: one packet of a burst that goes through measurement programs.
//
// Threads: values; the fields are borrowed.

#ifndef TRUMPET_LIB_MEASURE_MEASURED_PACKET_H
#define TRUMPET_LIB_MEASURE_MEASURED_PACKET_H

#include <cstdint>

#include "lib/measure/packet_values.h"

namespace trumpet {

constexpr uint32_t kMaxMeasureBurst = 32;

// Where a packet is on its way through the network, by the ports it takes.
enum PacketHop : uint8_t { kFirstHopBit = 1, kLastHopBit = 2 };

struct MeasuredPacket {
  PacketValues* values = nullptr;
  uint64_t now = 0;  // ns, of the switch's clock
  MeasureIndex stream = kPktsStream;
  uint8_t hops = 0;  // PacketHop bits; none: intermediate
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_MEASURED_PACKET_H
