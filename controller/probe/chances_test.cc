// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/probe/chances.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "lib/base/random_runs_test.h"

namespace trumpet {
namespace {

// Every order of so many packets is a number, whose bits are its hits.
template <typename Visit>
void ForEachOrder(unsigned packets, const Visit& visit) {
  for (uint32_t order = 0; order < 1u << packets; ++order) {
    visit(order, static_cast<unsigned>(__builtin_popcount(order)));
  }
}

unsigned RunsOf(uint32_t order, unsigned packets) {
  unsigned runs = 1;
  for (unsigned i = 1; i < packets; ++i) runs += (order >> i & 1) != (order >> (i - 1) & 1);
  return runs;
}

TEST(Chances, OfSoManyAreThoseOfAllOrders) {
  constexpr unsigned kPackets = 10;
  for (const double rate : {0.0, 0.01, 0.3, 0.5, 0.97, 1.0}) {
    for (unsigned hits = 0; hits <= kPackets + 1; ++hits) {
      double sum = 0;
      ForEachOrder(kPackets, [&](uint32_t, unsigned got) {
        if (got >= hits) sum += std::pow(rate, got) * std::pow(1 - rate, kPackets - got);
      });
      EXPECT_NEAR(ChanceOfSoMany(hits, kPackets, rate), sum, 1e-9) << hits << " at " << rate;
    }
  }
}

TEST(Chances, OfSoFewAreThoseOfAllOrders) {
  constexpr unsigned kGroup = 4;
  constexpr unsigned kPackets = 11;
  for (unsigned all_hits = 0; all_hits <= kPackets; ++all_hits) {
    for (unsigned hits = 0; hits <= std::min(kGroup, all_hits); ++hits) {
      if (all_hits - hits > kPackets - kGroup) continue;
      double so_few = 0;
      double all = 0;
      ForEachOrder(kPackets, [&](uint32_t order, unsigned got) {
        if (got != all_hits) return;
        all += 1;
        const auto in_group = static_cast<unsigned>(__builtin_popcount(order & 15));
        so_few += in_group <= hits ? 1 : 0;
      });
      EXPECT_NEAR(ChanceOfSoFew(hits, kGroup, all_hits - hits, kPackets - kGroup), so_few / all,
                  1e-9)
          << hits << " of " << all_hits;
    }
  }
}

TEST(Chances, OfSoFewRunsAreThoseOfAllOrders) {
  constexpr unsigned kPackets = 11;
  for (unsigned hits = 1; hits < kPackets; ++hits) {
    for (unsigned runs = 1; runs <= kPackets; ++runs) {
      double so_few = 0;
      double all = 0;
      ForEachOrder(kPackets, [&](uint32_t order, unsigned got) {
        if (got != hits) return;
        all += 1;
        so_few += RunsOf(order, kPackets) <= runs ? 1 : 0;
      });
      EXPECT_NEAR(ChanceOfSoFewRuns(runs, hits, kPackets - hits), so_few / all, 1e-9)
          << runs << " runs of " << hits;
    }
  }
  EXPECT_EQ(ChanceOfSoFewRuns(1, 0, 5), 1);
}

TEST(Chances, TheRangeOfARateHoldsItAsOftenAsItSays) {
  for (const double rate : {0.005, 0.1, 0.5, 0.9}) {
    std::mt19937_64 random(testing::FirstSeed());
    std::binomial_distribution<uint64_t> draw(120, rate);
    int held = 0;
    constexpr int kRuns = 200;
    for (int i = 0; i < kRuns; ++i) {
      const RateRange range = RateOf(draw(random), 120, 0.95);
      held += range.low <= rate && rate <= range.high ? 1 : 0;
    }
    EXPECT_GE(held, kRuns * 92 / 100) << rate;
  }
  EXPECT_EQ(RateOf(0, 40, 0.95).low, 0);
  EXPECT_NEAR(RateOf(0, 40, 0.95).high, 1 - std::pow(0.025, 1.0 / 40), 1e-9);
  EXPECT_EQ(RateOf(40, 40, 0.95).high, 1);
  EXPECT_EQ(RateOf(0, 0, 0.95).high, 1);
}

}  // namespace
}  // namespace trumpet
