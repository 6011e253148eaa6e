// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ThreadPrograms: the measurement programs of one packet thread, fed from its bursts.
//
// A program takes packets either as they come in, before any lookup, or as they leave, when the
// port is known: once for each port that a packet leaves by.  It changes nothing of them but what
// it tags, and that only between the edge ports: a packet that leaves by one is what it would be
// without.  A program that tags sees only packets that can carry tags (lib/measure/carried_tags.h,
// carrier_shim.h) and, where they have not come in by an edge port, do.  Of tags that travel beside
// a packet's own bytes it only says what they are; who sends puts them there (carrier_ports.h).
// What programs read as the time is Unix time.
//
// Threads: Receive() and Send() are for the packet thread, one burst at a time.  A thread is given
// another object when its programs change; nothing is allocated once it is made.

#ifndef TRUMPET_VSWITCHD_PLUGIN_THREAD_PROGRAMS_H
#define TRUMPET_VSWITCHD_PLUGIN_THREAD_PROGRAMS_H

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "lib/base/units.h"
#include "lib/measure/frame_programs.h"
#include "lib/measure/program_set.h"
#include "lib/packet/parse.h"
#include "vswitchd-plugin/edge_ports.h"
#include "vswitchd-plugin/glue.h"
#include "vswitchd-plugin/measurement_place.h"

namespace trumpet {

// One program on one thread.  `untagged` counts packets at the first hop that can not carry tags.
struct PlacedProgram {
  ProgramState* state = nullptr;
  const EdgePorts* edges = nullptr;
  const std::atomic<bool>* holds_tags = nullptr;  // no packet begins to carry some in its header
  std::atomic<uint64_t>* untagged = nullptr;
  MeasurementWay way;
};

// Of a program that is gone: packets that other switches have tagged may still come, and leave as
// they were.
struct TagsLeft {
  TagCarriage carriage;
  EdgePorts edges;
};

class ThreadPrograms {
 public:
  // What `programs` point to must outlive the object.  All threads share `left`, and the last of
  // them to be given other programs lets go of it.  `parse`: the ports of tunnels.
  explicit ThreadPrograms(const std::vector<PlacedProgram>& programs,
                          std::vector<std::shared_ptr<const TagsLeft>> left = {},
                          const ParseOptions& parse = {});
  ThreadPrograms(const ThreadPrograms&) = delete;  // packets_ point into the object
  ThreadPrograms& operator=(const ThreadPrograms&) = delete;

  // At most kMaxMeasureBurst frames that came in by the datapath port `in_port`, with
  // `queue_length` more behind them.
  void Receive(const Frame* frames, int count, uint32_t in_port, uint16_t queue_length, Nanos now);

  // At most kMaxMeasureBurst frames that are about to leave by `out_port`.
  void Send(trumpet_sent_frame* frames, int count, uint32_t out_port, Nanos now);

 private:
  struct SentProgram {
    ProgramSet set;
    PlacedProgram placed;
  };

  // Those that take packets as they come share keys, as far as they are told the same number.
  struct ReceivedPrograms {
    FramePrograms programs;
    uint8_t switch_id;
  };

  void Run(SentProgram* program, trumpet_sent_frame* frames, int count, uint32_t out_port,
           Nanos now);
  bool Takes(const PlacedProgram& placed, const trumpet_sent_frame& frame,
             const PacketValues& values, uint8_t hops) const;

  std::vector<ReceivedPrograms> received_;
  std::vector<SentProgram> sent_;
  std::vector<std::shared_ptr<const TagsLeft>> left_;
  const ParseOptions parse_;
  uint16_t queue_length_ = 0;  // behind the last burst
  std::array<PacketValues, kMaxMeasureBurst> values_;
  std::array<MeasuredPacket, kMaxMeasureBurst> packets_;
};

}  // namespace trumpet

#endif  // TRUMPET_VSWITCHD_PLUGIN_THREAD_PROGRAMS_H
