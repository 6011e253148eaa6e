// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/analyzer/sample_estimate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace trumpet {
namespace {

constexpr double kReach = 1.959964;

TEST(SampleEstimate, OfAllIsCertain) {
  SampleSums sums;
  for (const double value : {1.0, 5.0, 100.0}) sums.Add(value);
  const Estimate estimate = EstimateFromSample(sums, 0, kReach);
  EXPECT_EQ(estimate.low, 106);
  EXPECT_EQ(estimate.value, 106);
  EXPECT_EQ(estimate.high, 106);
}

TEST(SampleEstimate, OfNothingSaysHowManyThereMayBe) {
  const Estimate estimate = EstimateFromSample({}, 10, kReach);
  EXPECT_EQ(estimate.value, 0);
  EXPECT_EQ(estimate.low, 0);
  EXPECT_NEAR(estimate.high, kReach * kReach * 1023, 1);
}

TEST(SampleEstimate, HasNoFewerThanWereSeen) {
  SampleSums sums;
  sums.Add(1000);
  sums.Add(1);
  const Estimate estimate = EstimateFromSample(sums, 1, kReach);
  EXPECT_GE(estimate.low, 1001);
  EXPECT_EQ(estimate.value, 2002);
}

struct Shape {
  const char* name;
  unsigned bits;
  int connections;
  double spread;  // of the logarithm of what each has
};

// Of many samples of one network each, the stated share holds the truth; a little less where
// connections are very different.
TEST(SampleEstimate, HoldsTheTruthInTheStatedShareOfCases) {
  constexpr int kRuns = 2000;
  for (const Shape& shape : {Shape{"alike", 1, 200, 0}, Shape{"alike, rare", 6, 2000, 0},
                             Shape{"different", 3, 500, 0.7}, Shape{"very different", 5, 3000, 1},
                             Shape{"rare", 8, 6000, 0.7}}) {
    std::mt19937_64 random(20261125);
    std::lognormal_distribution<double> size(2, shape.spread);
    int held = 0;
    double values = 0;
    double truths = 0;
    for (int run = 0; run < kRuns; ++run) {
      SampleSums sums;
      double truth = 0;
      for (int i = 0; i < shape.connections; ++i) {
        const double value = shape.spread == 0 ? 1 : std::ceil(size(random));
        truth += value;
        if ((random() & ((uint64_t{1} << shape.bits) - 1)) == 0) sums.Add(value);
      }
      const Estimate estimate = EstimateFromSample(sums, shape.bits, kReach);
      held += estimate.low <= truth && truth <= estimate.high ? 1 : 0;
      values += estimate.value;
      truths += truth;
    }
    EXPECT_GE(held, kRuns * 0.92) << shape.name;
    EXPECT_LE(held, kRuns * 0.98) << shape.name;
    EXPECT_NEAR(values / truths, 1, 0.02) << shape.name;
    RecordProperty(shape.name, held);
  }
}

}  // namespace
}  // namespace trumpet
