// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ThreadPrograms: the measurement programs of one packet thread, fed from its bursts.
//
// Programs see packets as they came in, before any lookup, and change nothing of them.  What they
// read as the time is Unix time.
//
// Threads: Run() is for the packet thread, one burst at a time.  A thread is given another object
// when its programs change; nothing is allocated once it is made.

#ifndef TRUMPET_VSWITCHD_PLUGIN_THREAD_PROGRAMS_H
#define TRUMPET_VSWITCHD_PLUGIN_THREAD_PROGRAMS_H

#include <array>
#include <cstdint>
#include <vector>

#include "lib/base/units.h"
#include "lib/measure/program_set.h"
#include "lib/packet/parse.h"

namespace trumpet {

class ThreadPrograms {
 public:
  // The states must outlive the object.
  explicit ThreadPrograms(const std::vector<ProgramState*>& states);
  ThreadPrograms(const ThreadPrograms&) = delete;  // packets_ point into the object
  ThreadPrograms& operator=(const ThreadPrograms&) = delete;

  // At most kMaxMeasureBurst frames that came in by the datapath port `in_port`.
  void Run(const Frame* frames, int count, uint32_t in_port, Nanos now);

 private:
  ProgramSet set_;
  std::array<PacketValues, kMaxMeasureBurst> values_;
  std::array<MeasuredPacket, kMaxMeasureBurst> packets_;
};

}  // namespace trumpet

#endif  // TRUMPET_VSWITCHD_PLUGIN_THREAD_PROGRAMS_H
