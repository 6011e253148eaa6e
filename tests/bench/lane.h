// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Lane: a contender with its own copy of the traffic, its own clock of packets, and its times.
//
// Times are CPU times of the thread: who else uses the processor does not count, though what they
// do to the caches does.

#ifndef TRUMPET_TESTS_BENCH_LANE_H
#define TRUMPET_TESTS_BENCH_LANE_H

#include <memory>
#include <string>
#include <vector>

#include "tests/bench/contender.h"
#include "tests/bench/traffic.h"
#include "tests/bench/triggers.h"

namespace trumpet::bench {

double ThreadSeconds();

struct Spread {
  double min = 0;
  double median = 0;
  double p90 = 0;
  double max = 0;
};

Spread SpreadOf(std::vector<double> samples);  // zeroes if there are none

class Lane {
 public:
  Lane(std::string name, std::unique_ptr<Contender> contender, const TrafficSpec& spec,
       uint32_t epochs_per_sample)
      : name_(std::move(name)),
        contender_(std::move(contender)),
        spec_(spec),
        traffic_(spec),
        epochs_per_sample_(epochs_per_sample) {}

  // Untimed.
  void WarmUp(uint32_t epochs) {
    for (uint32_t i = 0; i < epochs; i++) RunEpoch();
  }

  // One epoch to bring its memory back into the caches, then one sample.
  void TakeSample();

  // Empty, or why the counts of its triggers are wrong: each must have seen exactly the packets
  // that match it, but for those that the contender knows it missed.  Call it after Finish().
  std::string CheckCounts(const TriggersSpec& spec) const;

  const std::string& name() const { return name_; }
  Contender& contender() { return *contender_; }
  const Contender& contender() const { return *contender_; }
  uint64_t packets() const { return static_cast<uint64_t>(next_epoch_) * kEpochPackets; }
  // CPU nanoseconds per packet.
  Spread times() const { return SpreadOf(samples_); }

 private:
  double RunEpoch();
  double RunWithWriting();
  double RunWithoutWriting();
  Nanos Now(uint32_t packet) const {
    return next_epoch_ * kEpochNs + static_cast<Nanos>(packet) * kEpochNs / kEpochPackets;
  }

  std::string name_;
  std::unique_ptr<Contender> contender_;
  TrafficSpec spec_;
  Traffic traffic_;
  uint32_t epochs_per_sample_;
  std::vector<const Frame*> written_;
  int64_t next_epoch_ = 0;
  std::vector<double> samples_;
};

// The first `packets` packets per group of triggers, counted from the frames.
std::vector<uint64_t> PacketsPerGroup(const TrafficSpec& traffic, const TriggersSpec& triggers,
                                      uint64_t packets);

}  // namespace trumpet::bench

#endif  // TRUMPET_TESTS_BENCH_LANE_H
