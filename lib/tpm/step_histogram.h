// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// StepHistogram: how often steps of a packet thread took how long.
//
// Sixteen buckets for every doubling, so a percentile is at most 6 % above the truth, and never
// below.
//
// Threads: Add() by one thread, Read() by any.  Memory: 4 KiB, no allocation in Add().

#ifndef TRUMPET_LIB_TPM_STEP_HISTOGRAM_H
#define TRUMPET_LIB_TPM_STEP_HISTOGRAM_H

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "lib/base/units.h"

namespace trumpet {

// What was counted up to some instant; the difference of two is what happened in between.
struct StepCounts {
  static constexpr int kSubLog = 4;
  static constexpr size_t kSub = size_t{1} << kSubLog;
  static constexpr int kMaxLog = 35;  // 34 s and more share the last bucket
  static constexpr size_t kBuckets = (kMaxLog - kSubLog + 2) * kSub;

  static size_t BucketOf(Nanos step_ns) {
    const auto value = static_cast<uint64_t>(std::max<Nanos>(0, step_ns));
    if (value < kSub) return value;
    const int log = 63 - __builtin_clzll(value);
    const size_t sub = value >> (log - kSubLog) & (kSub - 1);
    return std::min(static_cast<size_t>(log - kSubLog + 1) * kSub + sub, kBuckets - 1);
  }
  // The longest step that a bucket counts.
  static Nanos UpperEdge(size_t bucket) {
    if (bucket < kSub) return static_cast<Nanos>(bucket);
    const size_t shift = bucket / kSub - 1;
    return static_cast<Nanos>(((kSub + bucket % kSub + 1) << shift) - 1);
  }

  uint64_t count() const {
    uint64_t sum = 0;
    for (const uint64_t bucket : buckets) sum += bucket;
    return sum;
  }

  // No more than one in `one_in` steps took longer; 0 when there was none.
  Nanos Percentile(uint64_t one_in) const {
    const uint64_t all = count();
    const uint64_t allowed = all / one_in;
    uint64_t longer = 0;
    for (size_t i = kBuckets; i-- > 0;) {
      longer += buckets[i];
      if (longer > allowed) return std::min(UpperEdge(i), longest_ns);
    }
    return 0;
  }
  Nanos Longest() const { return Percentile(UINT64_MAX); }

  // What was added since `before`; `*this` when that belongs to another histogram.
  StepCounts Since(const StepCounts& before) const {
    StepCounts since = *this;
    for (size_t i = 0; i < kBuckets; i++) {
      if (buckets[i] < before.buckets[i]) return *this;
      since.buckets[i] -= before.buckets[i];
    }
    if (over_limit < before.over_limit) return *this;
    since.over_limit -= before.over_limit;
    return since;
  }

  std::array<uint64_t, kBuckets> buckets{};
  uint64_t over_limit = 0;  // steps beyond `limit_ns`
  Nanos limit_ns = 0;
  Nanos longest_ns = 0;  // ever
};

class StepHistogram {
 public:
  explicit StepHistogram(Nanos limit_ns) : limit_ns_(limit_ns) {}

  void Add(Nanos step_ns) {
    Increment(&buckets_[StepCounts::BucketOf(step_ns)]);
    if (step_ns > limit_ns_) Increment(&over_limit_);
    if (step_ns > longest_ns_.load(std::memory_order_relaxed)) {
      longest_ns_.store(step_ns, std::memory_order_relaxed);
    }
  }

  StepCounts Read() const {
    StepCounts counts;
    for (size_t i = 0; i < StepCounts::kBuckets; i++) {
      counts.buckets[i] = buckets_[i].load(std::memory_order_relaxed);
    }
    counts.over_limit = over_limit_.load(std::memory_order_relaxed);
    counts.limit_ns = limit_ns_;
    counts.longest_ns = longest_ns_.load(std::memory_order_relaxed);
    return counts;
  }

 private:
  // One writer: no locked instruction.
  static void Increment(std::atomic<uint64_t>* counter) {
    counter->store(counter->load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  const Nanos limit_ns_;
  std::array<std::atomic<uint64_t>, StepCounts::kBuckets> buckets_{};
  std::atomic<uint64_t> over_limit_{0};
  std::atomic<Nanos> longest_ns_{0};
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_STEP_HISTOGRAM_H
