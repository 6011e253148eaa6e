// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/probe/bounce_findings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "lib/base/random_runs_test.h"
#include "lib/packet/probe_frame.h"

namespace trumpet {
namespace {

constexpr uint64_t kId = 0x1234567890abcdef;

PacketRecord Record(uint64_t id, uint32_t packet, uint8_t ttl, Nanos time,
                    const std::string& at = "leaf1") {
  ProbePacket probe;
  probe.src = {ValueKind::kIpv4, 0xc0000201};
  probe.dst = {ValueKind::kIpv4, 0xc0000202};
  probe.dst_mac = {2, 0, 0, 0, 0, 1};
  probe.ttl = ttl;
  PacketRecord record;
  record.switch_name = at;
  record.time = time;
  record.bytes = MakeProbeFrame(probe, {id, packet}, 0);
  return record;
}

TEST(BounceFindings, KnowCopiesByTheirMarkTheirSwitchAndTheirTtl) {
  PacketRecord cut = Record(kId, 0, kBounceTtl, 5);
  cut.bytes.resize(50);
  PacketRecord bare = Record(kId, 0, kBounceTtl, 6);
  bare.is_ethernet = false;
  const auto copies = ReadBounceCopies(
      {{"an1",
        {Record(kId, 3, kBounceTtl, 10), Record(kId, 3, kBounceTtl - 1, 30),
         Record(kId + 1, 3, kBounceTtl, 11), Record(kId, 3, kBounceTtl, 12, "leaf2"),
         Record(kId, 3, kBounceTtl - 2, 13), cut, bare}},
       {"an2", {Record(kId, 4, kBounceTtl, 40)}}},
      kId, "leaf1");
  ASSERT_EQ(copies.size(), 3u);
  EXPECT_EQ(copies[1].analyzer, "an1");
  EXPECT_EQ(copies[2].analyzer, "an2");
  EXPECT_EQ(copies[0].packet, 3u);
  EXPECT_FALSE(copies[0].is_back);
  EXPECT_TRUE(copies[1].is_back);
  EXPECT_EQ(copies[1].time - copies[0].time, 20);
}

TEST(BounceFindings, TellsWhatReturnedAndWhatDidNot) {
  const BounceFindings found = ConcludeBounce(
      {{0, false, 1000}, {0, true, 1900}, {1, false, 5000}, {2, true, 6000}, {7, false, 1}}, 4);
  EXPECT_EQ(found.returned, 1u);
  EXPECT_EQ(found.lost, 1u);
  EXPECT_EQ(found.not_copied, 2u);
  EXPECT_EQ(found.min, 900);
  EXPECT_EQ(found.p99, 900);
  ASSERT_EQ(found.histogram.size(), 1u);
  EXPECT_EQ(found.histogram[0].below, 1024);
  const BounceFindings nothing = ConcludeBounce({}, 0);
  EXPECT_EQ(nothing.returned + nothing.lost + nothing.not_copied, 0u);
}

TEST(BounceFindings, TakeNoTimeBetweenTheClocksOfTwoAnalyzers) {
  const BounceFindings found = ConcludeBounce({{0, false, 1000, "an1"},
                                               {0, true, 1700, "an2"},
                                               {1, false, 2000, "an1"},
                                               {1, false, 5000, "an2"},
                                               {1, true, 5900, "an2"},
                                               {2, false, 9000, "an2"}},
                                              3);
  EXPECT_EQ(found.returned, 1u);
  EXPECT_EQ(found.apart, 1u);
  EXPECT_EQ(found.lost, 1u);
  EXPECT_EQ(found.min, 900);
  EXPECT_EQ(found.max, 900);
}

// As late as a message can say.
TEST(BounceFindings, EndWhateverTimesAnAnalyzerTells) {
  constexpr Nanos kLast = Nanos{1} << 62;
  std::vector<BounceCopy> copies;
  for (uint32_t packet = 0; packet < 4; ++packet) {
    copies.push_back({packet, false, 0, "an1"});
    copies.push_back({packet, true, kLast - packet, "an1"});
  }
  const BounceFindings found = ConcludeBounce(copies, 4);
  EXPECT_EQ(found.returned, 4u);
  EXPECT_EQ(found.max, 3600 * kNanosPerSecond);
  EXPECT_EQ(found.mean, found.max);
  ASSERT_EQ(found.histogram.size(), 1u);
  EXPECT_GT(found.histogram[0].below, found.max);
}

// Against a slow reading: a map of each packet's round trip, counted one by one.
TEST(BounceFindings, AgreeWithASlowReadingOfRandomCopies) {
  for (uint64_t seed = testing::FirstSeed(); seed <= testing::LastSeed(5000); ++seed) {
    std::mt19937_64 random(seed);
    const auto sent = static_cast<uint32_t>(random() % 60);
    std::vector<BounceCopy> copies;
    std::vector<Nanos> trips;
    uint32_t lost = 0;
    uint32_t not_copied = 0;
    uint32_t apart = 0;
    const std::string names[] = {"an1", "an2"};
    for (uint32_t packet = 0; packet < sent; ++packet) {
      const Nanos out = static_cast<Nanos>(random() % 1'000'000'000);
      const Nanos trip = static_cast<Nanos>(random() >> (30 + random() % 33));
      const bool has_out = random() % 8 != 0;
      const bool has_back = random() % 8 != 0;
      const bool is_apart = random() % 8 == 0;
      const std::string& here = names[random() % 2];
      const std::string& there = is_apart ? names[here == names[0] ? 1 : 0] : here;
      if (has_out) copies.push_back({packet, false, out, here});
      if (has_back) copies.push_back({packet, true, out + trip, there});
      if (has_back && random() % 8 == 0) copies.push_back({packet, true, out + trip + 1000, there});
      if (has_out && has_back && !is_apart) trips.push_back(trip);
      apart += has_out && has_back && is_apart ? 1 : 0;
      lost += has_out && !has_back ? 1 : 0;
      not_copied += has_out ? 0 : 1;
    }
    std::shuffle(copies.begin(), copies.end(), random);
    const BounceFindings found = ConcludeBounce(copies, sent);
    ASSERT_EQ(found.returned, trips.size()) << "seed " << seed;
    ASSERT_EQ(found.lost, lost) << "seed " << seed;
    ASSERT_EQ(found.not_copied, not_copied) << "seed " << seed;
    ASSERT_EQ(found.apart, apart) << "seed " << seed;
    if (trips.empty()) continue;
    Nanos sum = 0;
    for (const Nanos trip : trips) {
      sum += trip;
      ASSERT_GE(trip, found.min) << "seed " << seed;
      ASSERT_LE(trip, found.max) << "seed " << seed;
    }
    ASSERT_EQ(found.mean, sum / static_cast<Nanos>(trips.size())) << "seed " << seed;
    for (const auto& [percent, value] : {std::pair(50u, found.p50), std::pair(99u, found.p99)}) {
      const auto up_to = [&](Nanos most) {
        return static_cast<size_t>(
            std::count_if(trips.begin(), trips.end(), [&](Nanos trip) { return trip <= most; }));
      };
      ASSERT_NE(std::find(trips.begin(), trips.end(), value), trips.end()) << "seed " << seed;
      ASSERT_GE(up_to(value) * 100, percent * trips.size()) << "seed " << seed;
      ASSERT_LT(up_to(value - 1) * 100, percent * trips.size()) << "seed " << seed;
    }
    uint32_t counted = 0;
    for (const BounceBucket& bucket : found.histogram) {
      counted += bucket.count;
      const auto within = std::count_if(trips.begin(), trips.end(), [&](Nanos trip) {
        const Nanos least = bucket.below == 1 ? 0 : bucket.below / 2;
        return trip >= least && trip < bucket.below;
      });
      ASSERT_EQ(bucket.count, static_cast<uint32_t>(within)) << "seed " << seed;
    }
    ASSERT_EQ(counted, trips.size()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace trumpet
