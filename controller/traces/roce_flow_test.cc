// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/roce_flow.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "lib/base/random_runs_test.h"

namespace trumpet {
namespace {

RoceSight Request(uint16_t switch_number, uint32_t psn) {
  RoceSight sight;
  sight.time = 1700000000 * kNanosPerSecond + psn;
  sight.switch_number = switch_number;
  sight.bytes = 100;
  sight.roce = RocePacket();
  sight.roce->kind = RoceKind::kSend;
  sight.roce->sequence = psn & 0xffffff;
  return sight;
}

RoceFlowCounts CountsOf(const std::vector<RoceSight>& sights) {
  RoceFlow flow(true);
  for (const RoceSight& sight : sights) flow.Take(sight);
  return flow.Finish();
}

TEST(PsnStep, GoesTheShorterWay) {
  EXPECT_EQ(PsnStep(5, 7), 2);
  EXPECT_EQ(PsnStep(7, 5), -2);
  EXPECT_EQ(PsnStep(0xffffff, 0), 1);
  EXPECT_EQ(PsnStep(0, 0xffffff), -1);
  EXPECT_EQ(PsnStep(0x123456, 0x123456), 0);
  EXPECT_EQ(PsnStep(0, 0x7fffff), 0x7fffff);
  EXPECT_EQ(PsnStep(0, 0x800000), -0x800000);
}

// With all numbers in sets, and none of 24 bits only.
TEST(RoceFlow, CountsGapsAsSetsDo) {
  for (uint64_t seed = testing::FirstSeed(); seed <= testing::LastSeed(2000); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const uint64_t base = (uint64_t{1} << 24) - random() % 3000;
    RoceFlow flow(true);
    struct Slow {
      std::set<uint64_t> seen;
      uint64_t gaps = 0, missing = 0, late = 0, repeated = 0;
    };
    std::map<uint16_t, Slow> slow;
    uint64_t next = base;
    for (int i = 0; i < 2000; ++i) {
      uint64_t number = next;
      const uint64_t draw = random() % 40;
      if (draw == 0) {
        number += random() % 20;
      } else if (draw <= 2) {
        number -= std::min<uint64_t>(random() % 500, number - base);
      }
      next = std::max(next, number + 1);
      const auto place = static_cast<uint16_t>(random() % 3);
      flow.Take(Request(place, static_cast<uint32_t>(number)));
      Slow& one = slow[place];
      const uint64_t end = one.seen.empty() ? number : *one.seen.rbegin() + 1;
      if (number >= end) {
        one.gaps += number > end ? 1 : 0;
        one.missing += number - end;
      } else if (one.seen.count(number) != 0 || number < *one.seen.begin()) {
        ++one.repeated;
      } else {
        ++one.late;
      }
      if (one.seen.empty() || number >= *one.seen.begin()) one.seen.insert(number);
    }
    const RoceFlowCounts counts = flow.Finish();
    ASSERT_EQ(counts.places.size(), slow.size());
    for (const RocePlaceCounts& place : counts.places) {
      const Slow& one = slow.at(place.switch_number);
      EXPECT_EQ(place.gaps, one.gaps);
      EXPECT_EQ(place.missing, one.missing);
      EXPECT_EQ(place.late, one.late);
      EXPECT_EQ(place.repeated, one.repeated);
      EXPECT_EQ(place.restarts, 0u);
    }
  }
}

TEST(RoceFlow, LeavesRoomForTheAnswersOfReads) {
  for (const uint32_t mtu : {256u, 1024u, 4096u}) {
    std::vector<RoceSight> sights;
    uint32_t psn = 0xfffff0;
    for (int i = 0; i < 20; ++i) {
      RoceSight read = Request(1, psn);
      read.roce->kind = RoceKind::kReadRequest;
      read.roce->memory = RoceMemory{0, 0, 10000};
      sights.push_back(read);
      psn += (10000 + mtu - 1) / mtu;
      sights.push_back(Request(1, psn++));
    }
    const RoceFlowCounts counts = CountsOf(sights);
    EXPECT_EQ(counts.places.at(0).gaps, 0u) << mtu;
    EXPECT_EQ(counts.places.at(0).repeated, 0u) << mtu;
  }
}

TEST(RoceFlow, FollowsAnswersOfReadsWithinAMessage) {
  std::vector<RoceSight> sights;
  const auto add = [&](RocePlace place, uint32_t psn) {
    sights.push_back(Request(1, psn));
    sights.back().roce->kind = RoceKind::kReadResponse;
    sights.back().roce->place = place;
  };
  add(RocePlace::kFirst, 10);
  add(RocePlace::kMiddle, 11);
  add(RocePlace::kLast, 14);  // two are missing
  add(RocePlace::kOnly, 50);
  add(RocePlace::kFirst, 60);
  add(RocePlace::kLast, 61);
  const RocePlaceCounts place = CountsOf(sights).places.at(0);
  EXPECT_EQ(place.gaps, 1u);
  EXPECT_EQ(place.missing, 2u);
}

TEST(RoceFlow, TakesAFarNumberForAnotherConnection) {
  const RocePlaceCounts place =
      CountsOf({Request(1, 5), Request(1, 6), Request(1, 900000), Request(1, 900001)}).places.at(0);
  EXPECT_EQ(place.restarts, 1u);
  EXPECT_EQ(place.missing, 0u);
}

TEST(RoceFlow, OfAReliableSenderLosesACopyIfNothingIsSentAgain) {
  std::vector<RoceSight> sights;
  for (uint32_t psn = 0; psn < 6000; ++psn) {
    sights.push_back(Request(1, psn));
    if (psn != 100 && psn != 5990) sights.push_back(Request(2, psn));
  }
  RoceFlowCounts counts = CountsOf(sights);
  EXPECT_TRUE(counts.losses.empty());
  EXPECT_EQ(counts.copies_missing, 1u);
  EXPECT_EQ(counts.undecided, 1u);
  for (RoceSight& sight : sights) sight.roce->service = RoceService::kUnreliable;
  counts = CountsOf(sights);
  EXPECT_EQ((counts.losses[{0, 1}].packets), 2u);
}

TEST(RoceFlow, KeepsSevenPlaces) {
  std::vector<RoceSight> sights;
  for (uint16_t place = 0; place < 9; ++place) sights.push_back(Request(place, 1));
  const RoceFlowCounts counts = CountsOf(sights);
  EXPECT_EQ(counts.places.size(), kRocePlaces);
  EXPECT_EQ(counts.places_not_kept, 2u);
}

}  // namespace
}  // namespace trumpet
