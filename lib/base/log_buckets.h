// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Buckets of a histogram over numbers of any size: eight to each power of two, so that what is
// read from it is off by a sixteenth at most.
//
// Threads: pure functions.

#ifndef TRUMPET_LIB_BASE_LOG_BUCKETS_H
#define TRUMPET_LIB_BASE_LOG_BUCKETS_H

#include <cstdint>

namespace trumpet {

constexpr uint32_t kLogBuckets = 62 * 8;

// Below 8 each number has its own.
constexpr uint32_t LogBucketOf(uint64_t number) {
  if (number < 8) return static_cast<uint32_t>(number);
  const auto top = static_cast<uint32_t>(63 - __builtin_clzll(number));
  return (top - 2) * 8 + static_cast<uint32_t>(number >> (top - 3) & 7);
}

// The least number of a bucket below kLogBuckets.
constexpr uint64_t LogBucketFirst(uint32_t bucket) {
  if (bucket < 8) return bucket;
  return uint64_t{8 + bucket % 8} << (bucket / 8 - 1);
}

// In the middle of it.
constexpr uint64_t LogBucketMiddle(uint32_t bucket) {
  if (bucket < 8) return bucket;
  return LogBucketFirst(bucket) + (uint64_t{1} << (bucket / 8 - 1)) / 2;
}

// The middle of the bucket in which the `share`-th (0 to 1) of all numbers lies; 0 if there are
// none.  `histogram`: pairs of bucket and count, by bucket.
template <typename Histogram>
uint64_t LogPercentile(const Histogram& histogram, double share) {
  uint64_t all = 0;
  for (const auto& [bucket, count] : histogram) all += count;
  uint64_t below = 0;
  for (const auto& [bucket, count] : histogram) {
    below += count;
    if (static_cast<double>(below) >= share * static_cast<double>(all)) {
      return LogBucketMiddle(static_cast<uint32_t>(bucket));
    }
  }
  return 0;
}

}  // namespace trumpet

#endif  // TRUMPET_LIB_BASE_LOG_BUCKETS_H
