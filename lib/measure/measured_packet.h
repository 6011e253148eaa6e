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
  uint8_t hops = 0;             // PacketHop bits; none: intermediate
  bool has_all_fields = false;  // those of declared headers, too: a request, not read from a frame
};

// Where the packets of a burst come from if they are of pkts, have all come by the same port at the
// time of the first one, and only those of their fields are set that programs read as a rule: the
// size of each is that of its frame, and the others are read when a copy is run.  Null: all
// fields are set, and nothing is known.
struct BurstSource {
  const Frame* frames = nullptr;  // of each packet
  PacketPlace place;              // of all
};

class BurstKeys;
class FieldColumns;
struct CompiledProgram;

// A burst on its way through one program.
struct ProgramBurst {
  const MeasuredPacket* packets = nullptr;
  uint32_t count = 0;
  uint32_t* slots = nullptr;  // room for them; of packet i they begin at i * `stride`
  uint32_t stride = 0;
  const uint64_t* roles = nullptr;  // by hops, a bit per role
  bool has_same_hops = false;       // all packets
  const BurstSource* source = nullptr;
  BurstKeys* keys = nullptr;
  FieldColumns* columns = nullptr;
  const uint32_t* key_numbers = nullptr;  // in `keys`, of each key of the program
  uint64_t filled = 0;                    // bit per key of the program whose slots are there

  // Sees to it that the slots of these keys are there, of the packets from `first` on.
  void FillSlots(const CompiledProgram& program, uint64_t wanted, uint32_t first = 0);
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_MEASURED_PACKET_H
