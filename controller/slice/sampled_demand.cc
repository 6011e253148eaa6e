// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/slice/sampled_demand.h"

#include <algorithm>
#include <map>
#include <utility>

namespace trumpet {
namespace {

// What one exporter saw of a prefix.
struct Seen {
  uint64_t packets = 0;
  std::map<int64_t, double> bytes_of_bins;
};

// Evenly over the time that the sample is about; of that, what goes further back than `most` is of
// no bin.
void Spread(const FlowSample& sample, double bytes, Nanos at, Nanos most, Seen* seen) {
  const Nanos from = at - std::min(sample.duration, most);
  const int64_t first = from / SampledDemand::kBin;
  const int64_t last = at / SampledDemand::kBin;
  if (sample.duration == 0 || (first == last && sample.duration <= most)) {
    seen->bytes_of_bins[last] += bytes;
    return;
  }
  for (int64_t bin = first; bin <= last; ++bin) {
    const Nanos begin = std::max(from, bin * SampledDemand::kBin);
    const Nanos end = std::min(at, (bin + 1) * SampledDemand::kBin);
    const double share = static_cast<double>(end - begin) / static_cast<double>(sample.duration);
    seen->bytes_of_bins[bin] += bytes * share;
  }
}

}  // namespace

void SampledDemand::Add(uint32_t exporter, const FlowSample& sample, Nanos now) {
  samples_.push_back({now, exporter, sample});
  while (samples_.size() > kMaxSamples || samples_.front().at + memory_ <= now) {
    samples_.pop_front();
  }
}

std::optional<int64_t> SampledDemand::RateOf(const Prefix& prefix, Nanos now) {
  const Uint128 first = FirstOf(prefix);
  const Uint128 last = LastOf(prefix);
  std::map<std::pair<uint32_t, uint64_t>, Seen> by_router;
  for (const Entry& entry : samples_) {
    const Prefix& destination = entry.sample.destination;
    if (entry.at + memory_ <= now || destination.is_ipv6 != prefix.is_ipv6 ||
        destination.address < first || destination.address > last) {
      continue;
    }
    Seen& seen = by_router[{entry.exporter, entry.sample.origin}];
    seen.packets += entry.sample.sampled;
    const double bytes =
        static_cast<double>(entry.sample.bytes) +
        static_cast<double>(entry.sample.packets) * static_cast<double>(copy_overhead_);
    Spread(entry.sample, bytes, entry.at, std::min(memory_, entry.at), &seen);
  }
  std::optional<int64_t> rate;
  for (const auto& [router, seen] : by_router) {
    if (seen.packets < kLeastPackets) continue;
    for (const auto& [bin, bytes] : seen.bytes_of_bins) {
      const double bits = bytes * 8 * kNanosPerSecond / kBin;
      rate = std::max(rate.value_or(0), static_cast<int64_t>(std::min(bits, 1e15)));
    }
  }
  return rate;
}

}  // namespace trumpet
