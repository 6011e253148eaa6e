// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/lane.h"

#include <time.h>

#include <algorithm>

namespace trumpet::bench {

double ThreadSeconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

Spread SpreadOf(std::vector<double> samples) {
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end());
  const size_t last = samples.size() - 1;
  return {samples[0], samples[samples.size() / 2], samples[(last * 9 + 5) / 10], samples[last]};
}

void Lane::TakeSample() {
  RunEpoch();
  double seconds = 0;
  for (uint32_t i = 0; i < epochs_per_sample_; i++) seconds += RunEpoch();
  samples_.push_back(seconds * 1e9 / (static_cast<double>(epochs_per_sample_) * kEpochPackets));
}

double Lane::RunEpoch() {
  const double seconds = contender_->times_frames() ? RunWithWriting() : RunWithoutWriting();
  next_epoch_++;
  contender_->OutsideEpoch();
  return seconds;
}

double Lane::RunWithWriting() {
  double seconds = 0;
  for (uint32_t packet = 0; packet < kEpochPackets;) {
    const uint32_t end = std::min(kEpochPackets, packet + contender_->packets_per_drain());
    const double before = ThreadSeconds();
    for (; packet < end; packet += kBatch) contender_->OnBatch(traffic_.Next(), Now(packet));
    if (packet == kEpochPackets) contender_->OnEpochEnd();
    seconds += ThreadSeconds() - before;
    if (packet < kEpochPackets) contender_->OutsideEpoch();
  }
  return seconds;
}

// In turns of writing all buffers and reading them; only the reading is timed.
double Lane::RunWithoutWriting() {
  double seconds = 0;
  for (uint32_t packet = 0; packet < kEpochPackets; packet += kBuffers) {
    const uint32_t count = std::min(kBuffers, kEpochPackets - packet);
    written_.clear();
    for (uint32_t i = 0; i < count; i += kBatch) written_.push_back(traffic_.Next());
    const double before = ThreadSeconds();
    for (const Frame* frames : written_) contender_->OnBatch(frames, Now(packet));
    seconds += ThreadSeconds() - before;
  }
  contender_->OnEpochEnd();
  return seconds;
}

std::vector<uint64_t> PacketsPerGroup(const TrafficSpec& traffic, const TriggersSpec& triggers,
                                      uint64_t packets) {
  Traffic replay(traffic);
  std::vector<uint64_t> counts(triggers.groups());
  for (uint64_t done = 0; done < packets; done += kBatch) {
    const Frame* frames = replay.Next();
    for (int i = 0; i < kBatch; i++) {
      const uint32_t offset = replay.DestinationOf(frames[i]) - kDstBase;
      if (offset < kDestinations) counts[offset / triggers.group_size()]++;
    }
  }
  return counts;
}

std::string Lane::CheckCounts(const TriggersSpec& spec) const {
  const TriggerCounts* counts = contender_->counts();
  if (counts == nullptr || spec.triggers == 0) return "";
  const std::vector<uint64_t> packets_of = PacketsPerGroup(spec_, spec, packets());
  const uint64_t payload = ShapeOf(spec_.encapsulation).payload_bytes;
  uint64_t missing = 0;  // in packets times triggers
  for (uint32_t q = 0; q < spec.triggers; q++) {
    const PlainTrigger trigger = TriggerNumber(spec, q);
    const uint64_t per_packet[3] = {1, payload, 0};
    const uint64_t unit = per_packet[static_cast<int>(trigger.type)];
    const uint64_t expected = packets_of[trigger.group] * unit;
    const uint64_t counted = counts->values[q];
    if (counted > expected || (counted < expected && counts->missed_packets == 0)) {
      return "trigger " + std::to_string(q) + " counted " + std::to_string(counted) +
             " instead of " + std::to_string(expected);
    }
    if (unit != 0) missing += (expected - counted) / unit;
  }
  if (missing <= counts->missed_packets * spec.per_packet) return "";
  return std::to_string(missing) + " matches are missing, more than the " +
         std::to_string(counts->missed_packets) + " packets known as not counted can explain";
}

}  // namespace trumpet::bench
