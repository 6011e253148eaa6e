// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/first_sendings.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace trumpet {
namespace {

class FirstSendingsTest : public ::testing::Test {
 protected:
  FirstSendingsTest() { map_.Clear(); }

  void Init(uint32_t blocks) { ASSERT_TRUE(pool_.Init(blocks, nullptr, UINT32_MAX)); }
  void Add(int64_t start, int64_t end, bool is_burst, Nanos now = 0) {
    map_.Add(&pool_, {start, end, is_burst, now});
  }

  HistoryPool pool_;
  FirstSendings map_;
};

TEST_F(FirstSendingsTest, AnEmptyMapHasSeenNothing) {
  Init(4);
  EXPECT_EQ(map_.Find(pool_, 0), FirstSending::kUnseen);
  EXPECT_EQ(map_.Find(pool_, -5), FirstSending::kUnseen);
  EXPECT_EQ(map_.OverlapOf(pool_, -100, 100), Overlap::kNone);
}

TEST_F(FirstSendingsTest, TheFirstSendingCounts) {
  Init(4);
  Add(0, 10, false);
  Add(5, 15, true);
  EXPECT_EQ(map_.Find(pool_, 9), FirstSending::kAlone);
  EXPECT_EQ(map_.Find(pool_, 10), FirstSending::kInBurst);
  EXPECT_EQ(map_.Find(pool_, 15), FirstSending::kUnseen);
}

TEST_F(FirstSendingsTest, EqualNeighboursNeedNoMemory) {
  Init(4);
  for (int64_t i = 0; i < 1000; i++) Add(i * 10, i * 10 + 10, true);
  EXPECT_EQ(map_.block_count(), 0u);
}

TEST_F(FirstSendingsTest, AFilledGapMergesItsNeighbours) {
  Init(64);
  for (int64_t i = 0; i < 40; i++) Add(i * 20, i * 20 + 10, false);
  EXPECT_GT(map_.block_count(), 5u);
  for (int64_t i = 0; i < 40; i++) Add(i * 20 + 10, i * 20 + 20, false);
  EXPECT_LE(map_.block_count(), 1u);
}

TEST_F(FirstSendingsTest, AgreesWithAMapOfNumbersOnRandomSegments) {
  Init(4096);
  for (uint32_t seed = 1; seed <= 20; seed++) {
    std::mt19937 random(seed);
    std::map<int64_t, bool> numbers;
    for (int i = 0; i < 400; i++) {
      const int64_t start = static_cast<int64_t>(random() % 3000) - 1000;
      const int64_t end = start + 1 + random() % (random() % 20 == 0 ? 900 : 12);
      const bool is_burst = random() % 2 != 0;
      const auto at = numbers.lower_bound(start);
      ASSERT_EQ(map_.OverlapOf(pool_, start, end),
                at != numbers.end() && at->first < end ? Overlap::kSome : Overlap::kNone)
          << "seed " << seed << ", segment " << i;
      Add(start, end, is_burst);
      for (int64_t number = start; number < end; number++) numbers.emplace(number, is_burst);
    }
    for (int64_t number = -1100; number < 3100; number++) {
      const auto at = numbers.find(number);
      const FirstSending expected = at == numbers.end() ? FirstSending::kUnseen
                                    : at->second        ? FirstSending::kInBurst
                                                        : FirstSending::kAlone;
      ASSERT_EQ(map_.Find(pool_, number), expected) << "seed " << seed << ", number " << number;
    }
    map_.Release(&pool_);
    ASSERT_EQ(pool_.used(), 0u);
  }
}

// With so many blocks that walks go by landmarks, which come and go in the middle, too.
TEST_F(FirstSendingsTest, AgreesWithAMapOfRangesWhenItIsLong) {
  constexpr int64_t kRanges = 20000;
  Init(4 * kRanges);
  for (uint32_t seed = 1; seed <= 3; seed++) {
    std::mt19937 random(seed);
    std::map<int64_t, bool> numbers;  // tens that were sent
    const auto add = [&](int64_t ten) {
      const bool is_burst = random() % 2 != 0;
      Add(ten * 10, ten * 10 + 10, is_burst);
      numbers.emplace(ten, is_burst);
    };
    const auto check = [&](int64_t ten) {
      const auto at = numbers.find(ten);
      const FirstSending expected = at == numbers.end() ? FirstSending::kUnseen
                                    : at->second        ? FirstSending::kInBurst
                                                        : FirstSending::kAlone;
      ASSERT_EQ(map_.Find(pool_, ten * 10 + 5), expected) << "seed " << seed << ", ten " << ten;
    };
    const auto any = [&] { return static_cast<int64_t>(random() % (4 * kRanges)); };
    for (int64_t i = 0; i < kRanges; i++) add(i * 4);
    EXPECT_GT(map_.block_count(), kRanges / 8);
    for (int64_t i = 0; i < 8 * kRanges; i++) {
      // Parts fill up, whose ranges merge where lots fall equal, while others become longer.
      add(random() % 2 != 0 ? any() / 8 : any());
      check(any());
      check(any() / 8);
    }
    for (int64_t ten = 0; ten < 4 * kRanges; ten++) check(ten);
    map_.Release(&pool_);
    ASSERT_EQ(pool_.used(), 0u);
  }
}

// Whoever orders the blocks of the pool, as by what they hold before, gains nothing.
TEST_F(FirstSendingsTest, LookUpsAreShortWhateverBlocksThePoolHands) {
  Init(1 << 16);
  while (pool_.Take() != kNoHistory) continue;
  uint32_t held = 0;
  for (HistoryRef block = 0; block < 1 << 16; block++) {
    if (block * 0x9E3779B9u >> 26 == 0) held++;  // one in 64, evenly spread
    if (block * 0x9E3779B9u >> 26 != 0) pool_.GiveBack(block, block, 1);
  }
  for (int64_t i = 0; i < 24000; i++) Add(i * 20, i * 20 + 10, false);
  EXPECT_EQ(map_.block_count(), 4000u);
  for (int64_t i = 0; i < 24000; i += 5) ASSERT_LE(map_.StepsTo(pool_, i * 20), 130u) << i;
  map_.Release(&pool_);
  EXPECT_EQ(pool_.used(), held);
}

// Runs between landmarks that are made long and short again by turns, at one place and everywhere.
TEST_F(FirstSendingsTest, LookUpsAreShortWhereverBlocksCameAndWent) {
  Init(1 << 16);
  std::mt19937 random(1);
  int64_t above = 0;
  for (int turn = 0; turn < 60; turn++) {
    const int64_t base = above;
    // 64 blocks, full, of which each is split; then all but some of them melt into one range.
    for (int64_t i = 0; i < 384; i++) Add(base + i * 100, base + i * 100 + 10, i % 2 != 0);
    above = base + 384 * 100;
    for (int i = 0; i < 384; i++) {
      const int64_t start = base + static_cast<int64_t>(random() % 383) * 100 + 20;
      Add(start, start + 10, random() % 2 != 0);
    }
    const int64_t left = turn % 2 == 0 ? 5000 : 38000;
    for (int64_t at = base; at < above - left; at += 10) Add(at, at + 10, false);
    const uint32_t bound = 66 + map_.block_count() / 24;  // as runs of two landmarks are 48
    for (int64_t at = 0; at < above; at += 333) ASSERT_LE(map_.StepsTo(pool_, at), bound) << turn;
  }
  EXPECT_GT(map_.block_count(), 2000u);
  map_.Release(&pool_);
}

TEST_F(FirstSendingsTest, ForgetsTheLowestAndTellsWhenTheMemoryEnds) {
  Init(8);
  for (int64_t i = 0; i < 100; i++) Add(i * 10, i * 10 + 10, i % 2 != 0);
  EXPECT_EQ(map_.Find(pool_, 15), FirstSending::kEvicted);
  EXPECT_EQ(map_.OverlapOf(pool_, 15, 16), Overlap::kForgotten);
  EXPECT_EQ(map_.OverlapOf(pool_, 15, 976), Overlap::kSome);
  EXPECT_EQ(map_.Find(pool_, 975), FirstSending::kInBurst);
  EXPECT_EQ(map_.Find(pool_, 985), FirstSending::kAlone);
}

TEST_F(FirstSendingsTest, NeverTakesALaterSendingForTheFirstWhenMemoryIsShort) {
  for (uint32_t seed = 1; seed <= 50; seed++) {
    HistoryPool pool;
    ASSERT_TRUE(pool.Init(1 + seed % 12));
    FirstSendings map;
    map.Clear();
    std::mt19937 random(seed);
    std::map<int64_t, bool> numbers;
    for (int i = 0; i < 500; i++) {
      const int64_t start = static_cast<int64_t>(random() % 400) + i;
      const int64_t end = start + 1 + random() % 20;
      const bool is_burst = random() % 2 != 0;
      const auto above = numbers.lower_bound(start);
      const bool is_any = above != numbers.end() && above->first < end;
      const Overlap overlap = map.OverlapOf(pool, start, end);
      ASSERT_TRUE(overlap == Overlap::kForgotten || (overlap == Overlap::kSome) == is_any);
      map.Add(&pool, {start, end, is_burst, i});
      for (int64_t number = start; number < end; number++) numbers.emplace(number, is_burst);
      for (int64_t number = i; number < i + 450; number += 7) {
        const FirstSending found = map.Find(pool, number);
        if (found == FirstSending::kUnseen || found == FirstSending::kEvicted) continue;
        ASSERT_EQ(found == FirstSending::kInBurst, numbers.at(number)) << "seed " << seed;
      }
    }
    map.Release(&pool);
    ASSERT_EQ(pool.used(), 0u);
  }
}

TEST_F(FirstSendingsTest, UnderPressureGivesUpUncountedWhatIsBeyondThePromise) {
  Init(64);
  Nanos now = 0;
  for (int64_t i = 0; i < 2000; i++) Add(i * 10, i * 10 + 10, i % 2 != 0, now += kNanosPerSecond);
  EXPECT_EQ(map_.Find(pool_, 15), FirstSending::kUnseen);
  EXPECT_LE(map_.block_count(), 16u);
  for (int64_t i = 2000 - 64; i < 2000; i++) {
    EXPECT_EQ(map_.Find(pool_, i * 10), i % 2 != 0 ? FirstSending::kInBurst : FirstSending::kAlone);
  }
}

// What was forgotten may have had holes; one that is filled afterwards is not taken for unseen.
TEST_F(FirstSendingsTest, TellsOfALateSendingBelowWhatIsForgotten) {
  Init(64);
  Nanos now = 0;
  for (int64_t i = 0; i < 2000; i++) Add(i * 20, i * 20 + 10, i % 2 != 0, now += kNanosPerSecond);
  EXPECT_EQ(map_.Find(pool_, 35), FirstSending::kUnseen);
  Add(30, 40, true, now);
  EXPECT_EQ(map_.Find(pool_, 35), FirstSending::kEvicted);
}

// In one chain and not one by one: the pool hands out first what was given back last.
TEST_F(FirstSendingsTest, ForgetsManyRangesAtOnce) {
  Init(64);  // 16 blocks a list, numbered from 0
  for (int64_t i = 0; i < 97; i++) Add(i * 20, i * 20 + 10, false);
  EXPECT_EQ(map_.block_count(), 16u);
  Add(12, 92 * 20, true);
  EXPECT_EQ(map_.block_count(), 1u);
  EXPECT_EQ(map_.Find(pool_, 91 * 20), FirstSending::kEvicted);
  for (int64_t i = 92; i < 97; i++) {
    EXPECT_EQ(map_.Find(pool_, i * 20), FirstSending::kAlone) << i;
    EXPECT_EQ(map_.Find(pool_, i * 20 - 5),
              i == 92 ? FirstSending::kEvicted : FirstSending::kUnseen);
  }
  EXPECT_EQ(pool_.Take(), 0u);
  map_.Release(&pool_);
  EXPECT_EQ(pool_.used(), 1u);
}

// A packet of 60 bytes may state 64 KB of data.
TEST_F(FirstSendingsTest, ASegmentOverHundredsOfRangesMakesTheMapForgetAndTell) {
  ASSERT_TRUE(pool_.Init(1 << 16));
  for (int64_t i = 0; i < 24000; i++) Add(i, i + 1, i % 2 != 0);
  Add(12000, 12150, false);  // within the limit
  EXPECT_EQ(map_.Find(pool_, 0), FirstSending::kAlone);
  EXPECT_EQ(map_.Find(pool_, 12001), FirstSending::kInBurst);
  Add(12000, 13460, false);
  EXPECT_EQ(map_.Find(pool_, 13459), FirstSending::kEvicted);
  EXPECT_EQ(map_.Find(pool_, 13460), FirstSending::kAlone);
  EXPECT_EQ(map_.Find(pool_, 23999), FirstSending::kInBurst);
}

TEST_F(FirstSendingsTest, ASegmentThatFillsManyGapsMakesTheMapForgetAndTell) {
  ASSERT_TRUE(pool_.Init(1 << 16));
  for (int64_t i = 0; i < 24000; i++) Add(i * 2, i * 2 + 1, false);
  Add(0, 30, false);
  EXPECT_EQ(map_.Find(pool_, 29), FirstSending::kAlone);
  Add(30, 40000, false);
  EXPECT_EQ(map_.Find(pool_, 39999), FirstSending::kEvicted);
  EXPECT_EQ(map_.Find(pool_, 40000), FirstSending::kAlone);
  EXPECT_EQ(map_.Find(pool_, 40001), FirstSending::kUnseen);
}

TEST_F(FirstSendingsTest, WithoutALimitASegmentMayGoOverAllRanges) {
  Init(1 << 16);
  for (int64_t i = 0; i < 24000; i++) Add(i * 2, i * 2 + 1, i % 2 != 0);
  Add(0, 47998, true);
  for (int64_t i = 0; i < 23999; i++) {
    ASSERT_EQ(map_.Find(pool_, i * 2), i % 2 != 0 ? FirstSending::kInBurst : FirstSending::kAlone);
    ASSERT_EQ(map_.Find(pool_, i * 2 + 1), FirstSending::kInBurst);
  }
}

TEST_F(FirstSendingsTest, LateSendingsPushOutTheOldestOnly) {
  Init(64);  // 16 blocks a list
  for (int64_t i = 0; i < 95; i++) Add(i * 20, i * 20 + 10, i % 2 != 0);
  for (int64_t i = 80; i < 90; i++) Add(i * 20 + 12, i * 20 + 18, i % 2 == 0);
  EXPECT_EQ(map_.Find(pool_, 5), FirstSending::kEvicted);
  for (int64_t i = 40; i < 95; i++) {
    EXPECT_EQ(map_.Find(pool_, i * 20 + 5),
              i % 2 != 0 ? FirstSending::kInBurst : FirstSending::kAlone)
        << i;
  }
  for (int64_t i = 80; i < 90; i++) {
    EXPECT_EQ(map_.Find(pool_, i * 20 + 15),
              i % 2 == 0 ? FirstSending::kInBurst : FirstSending::kAlone)
        << i;
  }
}

}  // namespace
}  // namespace trumpet
