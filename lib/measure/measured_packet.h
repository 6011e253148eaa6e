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

// Where the packets of a burst come from if they are of pkts, have all come by the same port at the
// time of the first one, and only those of their fields are set that programs read as a rule: the
// size of each is that of its frame, and the others are read when a packet is copied.  Null: all
// fields are set, and nothing is known.
struct BurstSource {
  const Frame* frames = nullptr;  // of each packet
};

// A burst on its way through one program.
struct ProgramBurst {
  const MeasuredPacket* packets = nullptr;
  uint32_t count = 0;
  uint32_t* slots = nullptr;  // of packet i they begin at i * `stride`
  uint32_t stride = 0;
  const uint64_t* roles = nullptr;  // by hops, a bit per role
  BurstSource source;
  // Of each key of the program (null for one that is not used so), of each packet; not null: no
  // slots are set, kernels take them from here.
  const uint64_t* const* hashes = nullptr;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_MEASURED_PACKET_H
