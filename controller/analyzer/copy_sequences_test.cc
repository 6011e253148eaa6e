// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/analyzer/copy_sequences.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace trumpet {
namespace {

TEST(CopySequences, KnowNothingOfATimeBeforeTheFirstCopyOrBehindTheLast) {
  CopySequences sequences;
  sequences.Take(1, 5, 100);
  sequences.Take(1, 6, 200);
  EXPECT_TRUE(sequences.Between(1, 100, 200).is_known);
  EXPECT_FALSE(sequences.Between(1, 99, 200).is_known);
  EXPECT_FALSE(sequences.Between(1, 100, 201).is_known);
  EXPECT_FALSE(sequences.Between(2, 100, 200).is_known);
  EXPECT_FALSE(sequences.Between(5000, 100, 200).is_known);
}

TEST(CopySequences, CountAGapUntilItsCopyComes) {
  CopySequences sequences;
  for (const uint32_t number : {10u, 11u, 15u, 16u}) sequences.Take(1, number, number * 10);
  EXPECT_EQ(sequences.lost(1), 3u);
  EXPECT_EQ(sequences.Between(1, 120, 140).lost, 3u);
  EXPECT_EQ(sequences.Between(1, 100, 105).lost, 0u);
  sequences.Take(1, 13, 170);
  EXPECT_EQ(sequences.lost(1), 2u);
  for (const uint32_t number : {12u, 14u, 14u, 13u, 9u}) sequences.Take(1, number, 180);
  EXPECT_EQ(sequences.lost(1), 0u);
}

TEST(CopySequences, GoOnPastTheHighestNumberAndBeginAnewWithTheSwitch) {
  CopySequences sequences;
  for (const uint32_t number : {0xfffffffeu, 0xffffffffu, 1u}) sequences.Take(1, number, 10);
  EXPECT_EQ(sequences.lost(1), 1u);
  sequences.Take(1, 0x40000000, 20);
  EXPECT_EQ(sequences.lost(1), 1u);
  EXPECT_FALSE(sequences.Between(1, 10, 20).is_known);
}

TEST(CopySequences, KnowALossBehindAClockThatWasSetBack) {
  CopySequences sequences;
  const Nanos before = 10000 * kNanosPerSecond, now = 6400 * kNanosPerSecond;
  for (uint32_t number = 0; number < 100; ++number) sequences.Take(1, number, before + number);
  for (const uint32_t number : {100u, 101u, 104u, 105u}) sequences.Take(1, number, now + number);
  EXPECT_FALSE(sequences.Between(1, now, now + 105).is_known) << "the first one is the 100th";
  const auto around = sequences.Between(1, now + 101, now + 104);
  EXPECT_TRUE(around.is_known);
  EXPECT_EQ(around.lost, 2u);
  EXPECT_FALSE(sequences.Between(1, before, before + 10).is_known);
}

// Every other copy of a great gap comes late, and makes two of one.
TEST(CopySequences, ForgetTheOldestOfManyGapsThatWereOne) {
  constexpr size_t kMaxGaps = 8;
  CopySequences sequences(kMaxGaps);
  uint32_t number = 0;
  for (; number < 100; ++number) sequences.Take(1, number, number);
  sequences.Take(1, 1000, 1000);
  EXPECT_TRUE(sequences.Between(1, 500, 1000).is_known);
  for (number = 101; number < 1000; number += 2) sequences.Take(1, number, 1000);
  EXPECT_EQ(sequences.lost(1), 450u);
  sequences.Take(1, 1001, 2000);
  EXPECT_FALSE(sequences.Between(1, 500, 1000).is_known) << "there are 450 gaps of that time";
  EXPECT_TRUE(sequences.Between(1, 1001, 2000).is_known);
}

TEST(CopySequences, TakeNoGreatStepAtTheBeginningForLoss) {
  CopySequences sequences;
  sequences.Take(1, 7, 10);
  for (uint32_t number = 50000; number < 50100; ++number) sequences.Take(1, number, number);
  EXPECT_EQ(sequences.lost(1), 0u);
  EXPECT_FALSE(sequences.Between(1, 10, 50010).is_known);
  EXPECT_TRUE(sequences.Between(1, 50010, 50050).is_known);
  sequences.Take(1, 60000, 60000);
  EXPECT_EQ(sequences.lost(1), 60000u - 50100u);
}

TEST(CopySequences, BeginAnewWithASwitchThatCountsFromALowerNumber) {
  CopySequences sequences;
  for (uint32_t number = 1000; number < 1100; ++number) sequences.Take(1, number, number);
  for (uint32_t number = 0; number < 100; ++number) sequences.Take(1, number, 2000 + number);
  sequences.Take(1, 102, 2102);
  EXPECT_EQ(sequences.lost(1), 2u);
  EXPECT_TRUE(sequences.Between(1, 2080, 2102).is_known);
}

TEST(CopySequences, ForgetTheOldestGapsAndSayThatTheyDo) {
  CopySequences sequences(2);
  for (uint32_t number = 0; number < 10; number += 2) sequences.Take(1, number, number * 10);
  EXPECT_FALSE(sequences.Between(1, 10, 50).is_known);
  EXPECT_EQ(sequences.Between(1, 45, 80).lost, 2u);
}

TEST(CopySequences, AreRightOfCopiesThatAreLostAndOvertakeEachOther) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    std::mt19937_64 random(seed);
    struct Copy {
      uint32_t number;
      Nanos made;
      Nanos arrived;
      bool is_lost;
    };
    std::vector<Copy> made;
    for (uint32_t i = 0; i < 500; ++i) {
      const Nanos time = i * Nanos{100};
      const bool is_lost = i > 5 && i < 490 && random() % 20 == 0;
      made.push_back({i, time, time + static_cast<Nanos>(random() % 400), is_lost});
    }
    std::vector<Copy> arrived = made;
    std::stable_sort(arrived.begin(), arrived.end(),
                     [](const Copy& a, const Copy& b) { return a.arrived < b.arrived; });
    CopySequences sequences;
    for (const Copy& copy : arrived) {
      if (!copy.is_lost) sequences.Take(1, copy.number, copy.arrived);
    }
    const auto lost = static_cast<uint64_t>(
        std::count_if(made.begin(), made.end(), [](const Copy& copy) { return copy.is_lost; }));
    EXPECT_EQ(sequences.lost(1), lost) << "seed " << seed;
    // Every loss is told of the time around it, and where nothing was lost far and wide, none is.
    for (size_t i = 20; i < 470; ++i) {
      const auto around = sequences.Between(1, made[i].made - 500, made[i].made + 900);
      ASSERT_TRUE(around.is_known);
      if (made[i].is_lost) {
        EXPECT_GE(around.lost, 1u) << "seed " << seed << ", copy " << i;
      }
      const bool is_far = std::none_of(made.begin() + static_cast<long>(i) - 20,
                                       made.begin() + static_cast<long>(i) + 25,
                                       [](const Copy& copy) { return copy.is_lost; });
      if (is_far) {
        EXPECT_EQ(around.lost, 0u) << "seed " << seed << ", copy " << i;
      }
    }
  }
}

// A copy each millisecond; those of some numbers do not come.
CopySequences WithGaps(std::initializer_list<uint32_t> lost) {
  CopySequences sequences;
  for (uint32_t i = 0; i < 200; ++i) {
    if (std::find(lost.begin(), lost.end(), i) == lost.end()) {
      sequences.Take(1, i, i * kNanosPerMilli);
    }
  }
  return sequences;
}

CopySequences::Contest Claim(CopySequences* sequences, Nanos around, Uint128 packet,
                             bool is_certain = false) {
  around *= kNanosPerMilli;
  return sequences->Claim(
      {1, around - kNanosPerMilli, around, around + kNanosPerMilli, kNanosPerMilli, is_certain},
      packet);
}

TEST(CopySequences, ANumberIsOfOnePacketAndThatAsksOnce) {
  CopySequences sequences = WithGaps({100});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Claim(&sequences, 100, 7).lost_share, 1);
  }
  const auto second = Claim(&sequences, 100, 8);
  EXPECT_EQ(second.lost_share, 0.5);
  EXPECT_EQ(second.others, std::vector<Uint128>{7}) << "who is told so";
  EXPECT_EQ(Claim(&sequences, 100, 7).lost_share, 0.5);
  EXPECT_TRUE(Claim(&sequences, 100, 8).others.empty()) << "it is no news any more";
  EXPECT_EQ(Claim(&sequences, 50, 9).lost_share, 1) << "nothing is missing there";
}

TEST(CopySequences, WhatPassedHasItsNumberForCertain) {
  CopySequences sequences = WithGaps({100});
  EXPECT_EQ(Claim(&sequences, 100, 7).lost_share, 1);
  EXPECT_EQ(Claim(&sequences, 100, 8, true).others, std::vector<Uint128>{7});
  EXPECT_EQ(Claim(&sequences, 100, 7).lost_share, 0);
}

TEST(CopySequences, WhoMayHaveAnotherNumberMakesRoom) {
  CopySequences sequences = WithGaps({100, 102});
  EXPECT_EQ(Claim(&sequences, 101, 7).lost_share, 1);  // takes the first of them
  EXPECT_EQ(Claim(&sequences, 99, 8).lost_share, 1);   // may have that one alone
  EXPECT_EQ(Claim(&sequences, 101, 7).lost_share, 1);
  EXPECT_LT(Claim(&sequences, 101, 9).lost_share, 1) << "three for two";
}

TEST(CopySequences, ANumberIsOfThePacketWhoseTimeIsNearest) {
  CopySequences sequences = WithGaps({100, 110});
  const auto claim = [&](Nanos around_micros, Uint128 packet) {
    const Nanos around = around_micros * kNanosPerMicro;
    return sequences.Claim(
        {1, around - kNanosPerMilli, around, around + 12 * kNanosPerMilli, kNanosPerMilli, false},
        packet);
  };
  EXPECT_EQ(claim(96'000, 1).lost_share, 1);  // until somebody is nearer
  EXPECT_EQ(claim(100'000, 2).lost_share, 1);
  EXPECT_EQ(claim(96'000, 1).lost_share, 1) << "there is another number";
  const auto last = claim(110'000, 3);
  EXPECT_EQ(last.lost_share, 1);
  EXPECT_EQ(last.others, std::vector<Uint128>{1});
  EXPECT_EQ(claim(96'000, 1).lost_share, 0);
  EXPECT_EQ(claim(97'500, 4).lost_share, 0) << "it is nearer, but not near";
  EXPECT_EQ(claim(98'500, 5).lost_share, 0.5) << "about as near";
  EXPECT_EQ(claim(100'000, 2).lost_share, 0.5);
  EXPECT_EQ(claim(110'000, 3).lost_share, 1);
}

struct RandomClaim {
  Nanos around = 0;
  Nanos until = 0;
  std::vector<size_t> gaps;  // of its time
};

// The slow twin: whether `claim` finds a number, if others may have to take another one.
bool FindsNumber(const std::vector<RandomClaim>& claims, size_t claim, std::vector<int>* owners,
                 std::vector<bool>* tried) {
  for (const size_t gap : claims[claim].gaps) {
    if ((*tried)[gap]) continue;
    (*tried)[gap] = true;
    const int owner = (*owners)[gap];
    if (owner >= 0 && !FindsNumber(claims, static_cast<size_t>(owner), owners, tried)) continue;
    (*owners)[gap] = static_cast<int>(claim);
    return true;
  }
  return false;
}

TEST(CopySequences, NobodyIsWithoutANumberThatCouldHaveOne) {
  size_t waiting = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<uint32_t> lost;
    for (uint32_t number = 20; number < 60; number += 3 + random() % 5) lost.push_back(number);
    CopySequences sequences;
    for (uint32_t i = 0; i < 100; ++i) {
      if (!std::binary_search(lost.begin(), lost.end(), i)) {
        sequences.Take(1, i, i * kNanosPerMilli);
      }
    }
    std::vector<RandomClaim> claims;
    for (size_t i = 0; i < lost.size() + 1; ++i) {
      RandomClaim claim;
      claim.around = static_cast<Nanos>(18'000 + random() % 42'000) * kNanosPerMicro;
      claim.until = claim.around + static_cast<Nanos>(random() % 8000) * kNanosPerMicro;
      for (size_t gap = 0; gap < lost.size(); ++gap) {
        const Nanos at = lost[gap] * kNanosPerMilli;
        const bool is_near =
            claim.around <= at + kNanosPerMilli && at - kNanosPerMilli <= claim.until;
        if (is_near) claim.gaps.push_back(gap);
      }
      if (!claim.gaps.empty()) claims.push_back(claim);
    }
    std::vector<int> owners(lost.size(), -1);
    size_t with_number = 0;
    for (size_t i = 0; i < claims.size(); ++i) {
      std::vector<bool> tried(lost.size(), false);
      with_number += FindsNumber(claims, i, &owners, &tried) ? 1 : 0;
    }
    double share = 0;
    for (int round = 0; round < 2; ++round) {  // then all have claimed
      share = 0;
      for (size_t i = 0; i < claims.size(); ++i) {
        share +=
            sequences
                .Claim({1, claims[i].around, claims[i].around, claims[i].until, 0, false}, i + 1)
                .lost_share;
      }
    }
    EXPECT_NEAR(share, static_cast<double>(with_number), 1e-6) << "seed " << seed;
    waiting += claims.size() - with_number;
  }
  EXPECT_GT(waiting, 1000u);
}

TEST(CopySequences, OfAFloodOfClaimsEachIsToldOnceAndMostAreNotKept) {
  CopySequences sequences = WithGaps({100});
  size_t told = 0;
  for (Uint128 packet = 1; packet <= 100'000; ++packet) {
    const auto contest = Claim(&sequences, 100, packet);
    EXPECT_EQ(contest.lost_share > 0.5, packet == 1);
    told += contest.others.size();
  }
  EXPECT_EQ(told, 1u) << "the first";
  EXPECT_LT(Claim(&sequences, 100, 1).lost_share, 0.01);
  EXPECT_EQ(Claim(&sequences, 100, 100'000).lost_share, 0);
  EXPECT_EQ(Claim(&sequences, 100, 100'001, true).lost_share, 1);
}

TEST(CopySequences, ManyMissingNumbersAtATimeTellNothingOfEach) {
  CopySequences sequences = WithGaps({100, 101, 102, 103, 104});
  for (Uint128 packet = 1; packet <= 9; ++packet) {
    EXPECT_EQ(Claim(&sequences, 102, packet).lost_share, 1);
  }
}

}  // namespace
}  // namespace trumpet
