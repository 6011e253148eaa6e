// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What bench-measure compares: things that take bursts of packets whose fields have been read, or
// of frames.

#ifndef TRUMPET_TESTS_BENCH_MEASURE_CONTENDERS_H
#define TRUMPET_TESTS_BENCH_MEASURE_CONTENDERS_H

#include <cstdint>
#include <memory>
#include <vector>

#include "lib/measure/frame_programs.h"
#include "lib/measure/program_set.h"

namespace trumpet {

class MeasureContender {
 public:
  virtual ~MeasureContender() = default;
  // At most kMaxMeasureBurst packets.
  virtual void Run(MeasuredPacket* packets, uint32_t count) = 0;
  // The same of frames, by those that take_frames().
  virtual void RunFrames(const Frame*, uint32_t, uint64_t /*now*/) {}
  virtual bool takes_frames() const { return false; }
  // Takes out what was collected, as another thread does in the switch.
  virtual void Drain() {}
  // So that the work cannot be left out.
  virtual uint64_t Sum() const = 0;
};

// The programs of these numbers in docs/measurements, written for the purpose: one loop each, all
// sizes constant, two passes a burst, the hash shared by all.
std::unique_ptr<MeasureContender> MakeHandTogether(const std::vector<uint32_t>& use_cases);

// Bytes of each flow exactly, in a hash map with open addressing for `flows` flows.
std::unique_ptr<MeasureContender> MakeExactMap(uint32_t flows);

// Bytes of flows in a sketch of DPDK that looks at a share of the updates; null without DPDK.
std::unique_ptr<MeasureContender> MakeRteMember(float sample_rate);

}  // namespace trumpet

#endif  // TRUMPET_TESTS_BENCH_MEASURE_CONTENDERS_H
