// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Contender: something that takes in the traffic and is timed.
//
// Threads: one.

#ifndef TRUMPET_TESTS_BENCH_CONTENDER_H
#define TRUMPET_TESTS_BENCH_CONTENDER_H

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "lib/base/units.h"
#include "lib/packet/parse.h"
#include "tests/bench/workload.h"

namespace trumpet::bench {

using Json = nlohmann::ordered_json;

// What a contender that evaluates triggers counted in all epochs ended so far.
struct TriggerCounts {
  std::vector<uint64_t> values;    // per trigger: packets, bytes or losses, as its type says
  uint64_t missed_packets = 0;     // that it knows it did not count
  uint64_t incomplete_epochs = 0;  // with sums that it knows are not exact
};

class Contender {
 public:
  virtual ~Contender() = default;

  // Takes in kBatch frames at `now`.
  virtual void OnBatch(const Frame* frames, Nanos now) = 0;

  // After the last batch of an epoch, inside the measured time.
  virtual void OnEpochEnd() {}

  // Outside of it, after every so many packets and after each epoch: what another thread would do.
  virtual void OutsideEpoch() {}
  virtual uint32_t packets_per_drain() const { return kEpochPackets; }

  // Whether the writing of the frames is part of its time; if not, 2,048 frames are written at a
  // time, outside of it.
  virtual bool times_frames() const { return true; }

  // After all runs: ends the last epoch.
  virtual void Finish() {}

  // After Finish(); null if it evaluates no triggers.
  virtual const TriggerCounts* counts() const { return nullptr; }

  // After Finish(): members for the report.
  virtual Json Facts() const { return Json::object(); }
};

}  // namespace trumpet::bench

#endif  // TRUMPET_TESTS_BENCH_CONTENDER_H
