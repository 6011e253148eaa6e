// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// SampledDemand: what a prefix takes, as routers export it by sFlow, NetFlow or IPFIX (the
// Stroboscope paper, section 3: of prefixes that no slice has measured).
//
// The rate is the largest of any ten seconds within the memory, at the router that saw most of it.
// A router that saw fewer than 30 packets of the prefix within the memory cannot tell.
//
// Threads: one.  Times are monotonic.  Memory: the last kMaxSamples samples; when more come in,
// the memory is shorter.  Cost of RateOf(): one pass over them, 0.2 ms at most.

#ifndef TRUMPET_CONTROLLER_SLICE_SAMPLED_DEMAND_H
#define TRUMPET_CONTROLLER_SLICE_SAMPLED_DEMAND_H

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "controller/slice/demand_book.h"
#include "controller/slice/flow_export.h"

namespace trumpet {

class SampledDemand : public DemandSource {
 public:
  static constexpr size_t kMaxSamples = 65536;
  static constexpr uint64_t kLeastPackets = 30;
  static constexpr Nanos kBin = 10 * kNanosPerSecond;

  // `copy_overhead`: bytes that a copy has beyond the frame that it is of.
  SampledDemand(Nanos memory, uint32_t copy_overhead)
      : memory_(memory), copy_overhead_(copy_overhead) {}

  // `exporter` and the origin of the sample tell routers apart.
  void Add(uint32_t exporter, const FlowSample& sample, Nanos now);

  const char* name() const override { return "samples"; }
  std::optional<int64_t> RateOf(const Prefix& prefix, Nanos now) override;

  size_t sample_count() const { return samples_.size(); }

 private:
  struct Entry {
    Nanos at;
    uint32_t exporter;
    FlowSample sample;
  };

  const Nanos memory_;
  const uint32_t copy_overhead_;
  std::deque<Entry> samples_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_SLICE_SAMPLED_DEMAND_H
