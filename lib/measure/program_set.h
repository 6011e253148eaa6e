// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ProgramSet: the measurement programs that one packet thread runs, side by side.
//
// A burst goes through one program after the other, by the stages of burst_stages.h, or packet by
// packet while a window has something to do.  Keys are hashed once for all programs that share one;
// the cells of programs that do not fit the cache are fetched before.  A program sees the tags of
// those before it, as if each packet had gone through all programs alone.
//
// Changing what runs means to make another set off the packet thread, with the states of the
// programs that stay, and to hand it over between two bursts.
//
// Threads: Run() is for the packet thread.  Lifetime: the states must outlive the set.

#ifndef TRUMPET_LIB_MEASURE_PROGRAM_SET_H
#define TRUMPET_LIB_MEASURE_PROGRAM_SET_H

#include <cstdint>
#include <vector>

#include "lib/measure/burst_keys.h"
#include "lib/measure/field_columns.h"
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
  struct BurstTraits {
    bool is_of_pkts = false;
    bool has_same_hops = true;
    uint64_t latest = 0;  // ns
  };
  struct Entry {
    ProgramState* state = nullptr;
    const CompiledProgram* program = nullptr;
    std::vector<uint32_t> key_numbers;  // of each key
    uint64_t roles[4] = {};             // of the program, by PacketHop bits
    bool prefetches = false;
    bool forgets_fields = false;  // those of headers that a program before it declares
    uint64_t changed_fields = 0;  // of packets: tagged, or of headers that it declares
  };

  // `packets` of the burst, which is made ready for the program.
  void RunProgram(const Entry& entry, MeasuredPacket* packets, const BurstTraits& traits,
                  ProgramBurst* burst);
  static void Prefetch(const Entry& entry, const ProgramBurst& burst);

  std::vector<Entry> entries_;
  BurstKeys keys_;
  FieldColumns columns_;
  std::vector<uint32_t> slots_;
  uint32_t slot_stride_ = 0;
  bool has_windows_ = false;  // of any program
  bool has_roles_ = false;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_PROGRAM_SET_H
