// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/admission_filter.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "lib/base/hash.h"

namespace trumpet {
namespace {

constexpr uint32_t kFrame = 64;

AdmissionFilter Filter(size_t flows = 1024) {
  AdmissionFilter filter;
  EXPECT_TRUE(filter.Init(flows));
  return filter;
}

TEST(AdmissionFilter, AFlowPassesWithThePacketThatReachesTheThreshold) {
  AdmissionFilter filter = Filter();
  Withheld credit;
  EXPECT_FALSE(filter.Offer(77, kFrame, 18, 3, &credit));
  EXPECT_FALSE(filter.Offer(77, kFrame, 18, 3, &credit));
  EXPECT_TRUE(filter.Offer(77, kFrame, 18, 3, &credit));
  EXPECT_EQ(credit.packets, 2u);
  EXPECT_EQ(credit.bytes, 2 * kFrame);
  EXPECT_EQ(credit.volume, 36u);
}

TEST(AdmissionFilter, OneLargePacketPassesAtOnce) {
  AdmissionFilter filter = Filter();
  Withheld credit;
  EXPECT_TRUE(filter.Offer(77, 1500, 1400, 20, &credit));
  EXPECT_EQ(credit.packets, 0u);
}

TEST(AdmissionFilter, ScoresAreHalvedEveryRoundAndGoneAfterSixteen) {
  AdmissionFilter filter = Filter();
  Withheld credit;
  for (int i = 0; i < 6; i++) ASSERT_FALSE(filter.Offer(77, kFrame, 0, 100, &credit));
  filter.NextRound();
  ASSERT_FALSE(filter.Offer(77, kFrame, 0, 5, &credit));  // 3 and this one
  ASSERT_TRUE(filter.Offer(77, kFrame, 0, 5, &credit));
  for (int i = 0; i < 40; i++) filter.NextRound();
  EXPECT_FALSE(filter.Offer(77, kFrame, 0, 2, &credit));
}

TEST(AdmissionFilter, ACreditIsVoidInTheNextEpochAndInTheNextRound) {
  AdmissionFilter filter = Filter();
  Withheld credit;
  ASSERT_FALSE(filter.Offer(77, kFrame, 0, 2, &credit));
  filter.NextEpoch();
  ASSERT_TRUE(filter.Offer(77, kFrame, 0, 2, &credit));
  EXPECT_EQ(credit.packets, 0u);
  ASSERT_FALSE(filter.Offer(99, 2 * kFrame, 0, 3, &credit));
  filter.NextRound();
  ASSERT_FALSE(filter.Offer(99, kFrame, 0, 3, &credit));
  ASSERT_TRUE(filter.Offer(99, kFrame, 0, 3, &credit));
  EXPECT_EQ(credit.packets, 1u);
}

TEST(AdmissionFilter, ACounterThatIsFullStaysFull) {
  AdmissionFilter filter = Filter();
  Withheld credit;
  for (int i = 0; i < 5; i++) filter.Offer(77, UINT32_MAX, 0, 1, &credit);
  EXPECT_TRUE(filter.Offer(77, kFrame, 0, AdmissionFilter::kMaxUnits, &credit));
}

// A flow is never kept out for longer than it takes to send the threshold, and its credit is never
// more than it sent in the round, however many other flows there are.
TEST(AdmissionFilter, AgreesWithAMapThatForgetsNothing) {
  for (uint32_t seed = 1; seed <= 20; seed++) {
    std::mt19937 random(seed);
    AdmissionFilter filter = Filter();
    std::map<uint32_t, Withheld> sent;  // in this round, since the last admission
    const uint32_t flows = 50 + random() % 5000;
    for (int step = 0; step < 50000; step++) {
      if (random() % 10000 == 0) {
        filter.NextRound();
        sent.clear();
      }
      // Some flows are heavier than others.
      const uint32_t flow = random() % 4 == 0 ? random() % 5 : random() % flows;
      const uint32_t bytes = 60 + random() % 200;
      const uint32_t threshold = 2 + random() % 30;
      Withheld credit;
      Withheld& truth = sent[flow];
      const bool is_admitted =
          filter.Offer(HashNumber(flow, seed), bytes, bytes / 2, threshold, &credit);
      if (!is_admitted) {
        truth.packets++;
        truth.bytes += bytes;
        truth.volume += bytes / 2;
        ASSERT_LT(truth.bytes, uint64_t{threshold} * AdmissionFilter::kUnitBytes) << seed;
        continue;
      }
      ASSERT_LE(credit.packets, truth.packets) << "seed " << seed << " step " << step;
      ASSERT_LE(credit.bytes, truth.bytes) << "seed " << seed << " step " << step;
      ASSERT_LE(credit.volume, truth.volume) << "seed " << seed << " step " << step;
      truth = Withheld{};
    }
  }
}

TEST(AdmissionFilter, FloodsOfSinglePacketsHardlyPassASmallThreshold) {
  AdmissionFilter filter = Filter(1u << 17);
  Withheld credit;
  uint32_t passed = 0;
  for (uint32_t flow = 0; flow < 1340000; flow++) {
    if (flow % 134000 == 0) filter.NextRound();
    if (filter.Offer(HashNumber(flow, 1), kFrame, 0, 10, &credit)) passed++;
  }
  EXPECT_LT(passed, 1340u);  // one in a thousand
}

}  // namespace
}  // namespace trumpet
