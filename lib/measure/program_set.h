// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ProgramSet: the measurement programs that one packet thread runs, side by side.
//
// A burst goes through one program after the other, in two passes each: first the keys of all
// packets, hashed once for all programs that share a key, with the cells they select prefetched;
// then the operators, packet by packet.  A program sees the tags of those before it, as if each
// packet had gone through all programs alone.
//
// Changing what runs means to make another set off the packet thread, with the states of the
// programs that stay, and to hand it over between two bursts.
//
// Threads: Run() is for the packet thread.  Lifetime: the states must outlive the set.

#ifndef TRUMPET_LIB_MEASURE_PROGRAM_SET_H
#define TRUMPET_LIB_MEASURE_PROGRAM_SET_H

#include <cstdint>
#include <vector>

#include "lib/measure/measured_packet.h"
#include "lib/measure/program_state.h"

namespace trumpet {

class ProgramSet {
 public:
  // `site_roles`: names of roles of the users' own that this switch has.
  ProgramSet(const std::vector<ProgramState*>& states, const std::vector<std::string>& site_roles);

  // At most kMaxMeasureBurst packets.  With a source (only if the set does not change packets)
  // those of their fields must be set that fields_read() says, and those of their place.
  void Run(MeasuredPacket* packets, uint32_t count, const BurstSource& source = {});

  // Bit per field that is read of packets with a source.  The size is only if it is part of a key.
  uint64_t fields_read() const;
  // Whether packets of pkts are tagged, or have headers that programs declare.
  bool changes_packets() const;

 private:
  struct SharedKey {
    const KeyPlan* plan = nullptr;
    uint64_t seed = 0;
    uint64_t changed = 0;      // fields that programs since may have tagged
    bool is_straight = false;  // of a source: from the headers
    uint64_t hashes[kMaxMeasureBurst];
  };
  struct KeyUse {
    uint32_t shared_key = 0;
    uint32_t key = 0;  // of the program
    bool is_first = false;
  };
  struct Entry {
    ProgramState* state = nullptr;
    const CompiledProgram* program = nullptr;
    std::vector<KeyUse> keys;
    std::vector<const uint64_t*> hashes;  // of each key, as ProgramBurst has them
    uint64_t roles[4] = {};               // of the program, by PacketHop bits
    bool prefetches = false;
    bool takes_hashes = false;  // in quiet bursts, instead of slots
  };

  uint32_t ShareKey(const CompiledProgram& program, const KeyPlan& plan, bool* is_first);
  void RunProgram(const Entry& entry, MeasuredPacket* packets, uint32_t count,
                  const BurstSource& source, bool is_of_pkts, uint64_t latest);
  void Hash(const KeyUse& use, const MeasuredPacket* packets, uint32_t count,
            const BurstSource& source);
  void FillSlots(const Entry& entry, const KeyUse& use, const MeasuredPacket* packets,
                 uint32_t count);
  // Programs without keys have no slots at all.
  uint32_t* SlotsOf(uint32_t packet) { return slots_.data() + size_t{packet} * slot_stride_; }

  std::vector<Entry> entries_;
  std::vector<SharedKey> keys_;
  std::vector<uint32_t> slots_;
  uint32_t slot_stride_ = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_PROGRAM_SET_H
