// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/base/log_buckets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "lib/base/random_runs_test.h"

namespace trumpet {
namespace {

TEST(LogBuckets, AreWithoutGapsAndAsNarrowAsPromised) {
  for (uint32_t bucket = 0; bucket + 1 < kLogBuckets; ++bucket) {
    const uint64_t first = LogBucketFirst(bucket);
    const uint64_t next = LogBucketFirst(bucket + 1);
    ASSERT_LT(first, next);
    ASSERT_EQ(LogBucketOf(first), bucket);
    ASSERT_EQ(LogBucketOf(next - 1), bucket);
    ASSERT_LE(next - first, std::max<uint64_t>(1, first / 8));
  }
  EXPECT_EQ(LogBucketOf(UINT64_MAX), kLogBuckets - 1);
}

TEST(LogBuckets, TellPercentilesNearThoseOfTheSortedNumbers) {
  for (uint64_t seed = testing::FirstSeed(); seed <= testing::LastSeed(300); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::vector<uint64_t> numbers(1 + random() % 500);
    std::map<uint32_t, uint64_t> histogram;
    for (uint64_t& number : numbers) {
      number = random() >> (random() % 60);
      ++histogram[LogBucketOf(number)];
    }
    std::sort(numbers.begin(), numbers.end());
    for (const double share : {0.5, 0.9, 0.99, 1.0}) {
      size_t rank = 0;
      while (static_cast<double>(rank + 1) < share * static_cast<double>(numbers.size())) ++rank;
      const auto is = static_cast<double>(numbers[rank]);
      EXPECT_NEAR(static_cast<double>(LogPercentile(histogram, share)), is, is / 16 + 1);
    }
  }
}

TEST(LogBuckets, TellNothingOfNoNumbers) {
  EXPECT_EQ(LogPercentile(std::map<uint32_t, uint64_t>(), 0.5), 0u);
}

}  // namespace
}  // namespace trumpet
