// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/analyzer/estimates.h"

#include <gtest/gtest.h>

#include <random>

namespace trumpet {
namespace {

TEST(Estimates, ReachAsFarAsTheNormalDistribution) {
  EXPECT_NEAR(NormalReach(0.95), 1.959964, 1e-6);
  EXPECT_NEAR(NormalReach(0.99), 2.575829, 1e-6);
}

TEST(Proportion, IsWilsons) {
  const Estimate none = Proportion(0, 10, 1.959964);
  EXPECT_EQ(none.low, 0);
  EXPECT_NEAR(none.high, 0.277533, 1e-6);
  const Estimate some = Proportion(5, 50, 1.959964);
  EXPECT_NEAR(some.low, 0.043475, 1e-5);
  EXPECT_NEAR(some.high, 0.213602, 1e-5);
  EXPECT_FALSE(Proportion(0, 0, 1.96).is_known);
}

TEST(Quotient, OfACertainDivisorIsTheDividend) {
  const Estimate a = Proportion(30, 100, 1.96);
  const Estimate quotient = Quotient(a, {true, 1, 1, 1});
  EXPECT_NEAR(quotient.low, a.low, 1e-9);
  EXPECT_NEAR(quotient.high, a.high, 1e-9);
  EXPECT_EQ(Quotient(a, Estimate()).high, 1);
  EXPECT_FALSE(Quotient(Estimate(), a).is_known);
}

TEST(Quotient, HoldsTheTruthInTheStatedShareOfCases) {
  std::mt19937_64 random(1);
  for (const double p : {0.5, 0.9, 0.97}) {
    for (const double arrival : {0.98, 0.85}) {
      int held = 0;
      constexpr int kRuns = 4000;
      for (int i = 0; i < kRuns; ++i) {
        std::binomial_distribution<uint64_t> seen(400, p * arrival);
        std::binomial_distribution<uint64_t> arrived(400, arrival);
        const Estimate quotient =
            Quotient(Proportion(seen(random), 400, 1.96), Proportion(arrived(random), 400, 1.96));
        if (quotient.low <= p && p <= quotient.high) ++held;
      }
      EXPECT_GE(held, kRuns * 0.94) << p << " " << arrival;
      EXPECT_LE(held, kRuns * 0.985) << p << " " << arrival;
    }
  }
}

}  // namespace
}  // namespace trumpet
