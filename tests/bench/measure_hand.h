// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// HandTask: what a measurement program does, written for the purpose.
//
// Threads: of the bench's one thread.

#ifndef TRUMPET_TESTS_BENCH_MEASURE_HAND_H
#define TRUMPET_TESTS_BENCH_MEASURE_HAND_H

#include "lib/measure/measure_hash.h"
#include "tests/bench/measure_contenders.h"

namespace trumpet {

constexpr uint64_t kHandSeed = 1;

// Packets with the hashes of their 5-tuples.
struct HandBurst {
  MeasuredPacket* packets;
  const uint64_t* hashes;
  uint32_t count;
};

// Takes its hashes itself, unless it is one of several that share them.
class HandTask : public MeasureContender {
 public:
  void Run(MeasuredPacket* packets, uint32_t count) override;
  void RunFrames(const Frame* frames, uint32_t count, uint64_t now) override;
  virtual void RunHashed(const HandBurst& burst) = 0;
  // The same of frames that came at `now`, by those that take_frames().
  virtual void RunHashedFrames(const Frame*, const uint64_t* /*hashes*/, uint32_t /*count*/,
                               uint64_t /*now*/) {}
};

// Of TCP in IPv4 without options, with all its headers.
inline bool IsPlainTcp(const Frame& frame) {
  const uint8_t* data = frame.data;
  return frame.captured_length >= 54 && LoadBe32(data + 12) >> 8 == 0x080045 &&
         (LoadBe16(data + 20) & 0x1fff) == 0 && data[23] == kProtocolTcp;
}

// Of the program of this number in docs/measurements; of frames uc02, uc04 to uc07 and uc10.
std::unique_ptr<HandTask> MakeHand(uint32_t use_case, bool takes_frames = false);
std::unique_ptr<HandTask> MakeHandCountMin(bool takes_frames);
std::unique_ptr<HandTask> MakeHandHyperLogLog(bool takes_frames);
std::unique_ptr<HandTask> MakeHandHeavyHitters(bool takes_frames);

}  // namespace trumpet

#endif  // TRUMPET_TESTS_BENCH_MEASURE_HAND_H
