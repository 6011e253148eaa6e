// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Contenders: the monitor, and what it is measured against, behind one interface.
//
//   monitor     PacketMonitor as the switch runs it, idle call and sweep included
//   parse       only ParsePacket
//   yardstick   what a machine makes of a plain program: read 13 bytes, count bytes per 5-tuple in
//               std::unordered_map.  Compiled, it writes half a word of its key and reads the whole
//               word back, which the processor cannot forward: most of its time is that stall.
//   map         the same without the stall, a harsher measure
//   traffic     nothing: the cost of writing the frames
//
// Threads: one.

#ifndef TRUMPET_TESTS_BENCH_CONTENDERS_H
#define TRUMPET_TESTS_BENCH_CONTENDERS_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/units.h"
#include "lib/model/event_spec.h"
#include "lib/packet/parse.h"

namespace trumpet::bench {

class Contender {
 public:
  virtual ~Contender() = default;

  // Takes in kBatch frames at `now`.
  virtual void OnBatch(const Frame* frames, Nanos now) = 0;

  // Whether the writing of the frames is part of its time; if not, 2,048 frames are written at a
  // time, outside of it.
  virtual bool times_frames() const { return true; }

  // Once per epoch, outside the measured time: what another thread would do.
  virtual void OutsideEpoch() {}

  // Facts for the report after all runs, as JSON members with a leading comma, or nothing.
  virtual std::string Facts() const { return ""; }

  // Empty, or why the run does not count.
  virtual std::string Problem() const { return ""; }
};

// Null and a line on stderr when there is no memory.
std::unique_ptr<Contender> MakeMonitorContender(const std::vector<EventSpec>& events,
                                                uint32_t flows, uint32_t matches_per_packet);
std::unique_ptr<Contender> MakeParseContender();
std::unique_ptr<Contender> MakeYardstickContender(uint32_t flows);
std::unique_ptr<Contender> MakeMapContender(uint32_t flows);
std::unique_ptr<Contender> MakeTrafficContender();

}  // namespace trumpet::bench

#endif  // TRUMPET_TESTS_BENCH_CONTENDERS_H
