// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ProgramRun: a measurement program over packets of a capture, as on one switch or, if it has
// roles, on three in a row.  Packets go through in bursts, as in a switch.
//
// Lifetime: the program must outlive it.

#ifndef TRUMPET_UTILITIES_REPLAY_PROGRAM_RUN_H
#define TRUMPET_UTILITIES_REPLAY_PROGRAM_RUN_H

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <vector>

#include "lib/base/status.h"
#include "lib/measure/program_set.h"
#include "lib/packet/pcap_reader.h"
#include "utilities/replay/packet_meta.h"

namespace trumpet {

class ProgramRun {
 public:
  using OnCollected = std::function<void(size_t switch_index, const CollectedPacket& packet)>;
  using OnForwarded = std::function<void(const PacketValues& packet)>;

  // Tells of what it collects, and of each packet behind the last switch.
  ProgramRun(const CompiledProgram* program, OnCollected on_collected, OnForwarded on_forwarded);

  // Takes up to `batch` packets at once, which makes no difference to what it tells.
  Status Start(uint32_t batch);
  void Add(const TimedFrame& frame, const PacketMeta& meta);
  // All that were added are measured then.
  void Flush();

  static size_t SwitchCountOf(const CompiledProgram& program);
  const CompiledProgram& program() const { return *program_; }
  // One for each switch, which change with each packet.
  std::vector<const ProgramState*> states() const;

  void PrintStats(std::FILE* err) const;

 private:
  struct Hop {
    std::unique_ptr<ProgramState> state;
    std::unique_ptr<ProgramSet> set;
  };
  // A packet between two hops.
  struct Traveller {
    PacketValues values;
    std::vector<uint8_t> payload;
    uint64_t time = 0;
    PacketMeta meta;
  };

  void RunHop(size_t index);
  bool IsAsked(const Traveller& traveller) const;
  void PlaceAt(size_t index, Traveller* traveller) const;

  const CompiledProgram* const program_;
  const OnCollected on_collected_;
  const OnForwarded on_forwarded_;
  const size_t hop_count_;
  size_t burst_ = 1;
  std::vector<Hop> hops_;
  std::vector<Traveller> waiting_;
};

}  // namespace trumpet

#endif  // TRUMPET_UTILITIES_REPLAY_PROGRAM_RUN_H
