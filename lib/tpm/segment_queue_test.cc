// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/segment_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

namespace trumpet {
namespace {

constexpr int64_t kNoAck = INT64_MIN;

class SegmentQueueTest : public ::testing::Test {
 protected:
  SegmentQueueTest() { queue_.Clear(); }
  ~SegmentQueueTest() override {
    queue_.Release(&pool_);
    EXPECT_EQ(pool_.used(), 0u);
  }

  void Init(uint32_t blocks) { ASSERT_TRUE(pool_.Init(blocks)); }
  void Push(int64_t start, int64_t end, uint64_t owner) {
    queue_.Push(&pool_, {start, end, 0, owner, false, true});
  }
  void CompareWithAPlainList(uint32_t seeds, uint32_t late, uint32_t ack_after, uint32_t reach);

  // As TcpTracker does with data below what was sent before.
  void SendAgain(int64_t start, int64_t end, uint64_t owner) {
    queue_.MarkRepeated(&pool_, start, end);
    queue_.Push(&pool_, {start, end, 0, owner, true, false});
  }

  HistoryPool pool_;
  SegmentQueue queue_;
};

TEST_F(SegmentQueueTest, ReturnsItsBlocksAsSegmentsAreAcknowledged) {
  Init(64);
  for (int64_t i = 0; i < 40; i++) Push(i * 10, i * 10 + 10, 0);
  EXPECT_EQ(pool_.used(), 10u);
  EXPECT_TRUE(queue_.Acknowledge(&pool_, kNoAck, 200).is_clean);
  EXPECT_EQ(pool_.used(), 5u);
  queue_.Acknowledge(&pool_, 200, 400);
  EXPECT_EQ(pool_.used(), 0u);
}

// Segments at random, one in `late` below what was sent before, and after `ack_after` of them on
// average an acknowledgement of all but the last `reach` numbers or less.
void SegmentQueueTest::CompareWithAPlainList(uint32_t seeds, uint32_t late, uint32_t ack_after,
                                             uint32_t reach) {
  struct Plain {
    int64_t start, end;
    uint64_t owner;
    bool is_repeated;
  };
  ASSERT_TRUE(pool_.Init(1 << 15, nullptr, UINT32_MAX));
  uint64_t clean = 0;
  for (uint32_t seed = 1; seed <= seeds; seed++) {
    std::mt19937 random(seed);
    std::vector<Plain> plain;
    std::set<int64_t> numbers;
    int64_t highest = 0;
    int64_t acked = kNoAck;
    for (uint64_t i = 0; i < 500 * ack_after; i++) {
      if (random() % ack_after != 0) {
        const int64_t start = highest +
                              (random() % late == 0 ? -static_cast<int64_t>(random() % 80) : 0) +
                              (random() % 4 == 0 ? static_cast<int64_t>(random() % 40) : 0);
        const int64_t end = start + 1 + random() % 20;
        for (Plain& each : plain) each.is_repeated |= each.start < end && each.end > start;
        const auto above = numbers.lower_bound(start);
        const bool is_repeated = above != numbers.end() && *above < end;
        if (is_repeated) queue_.MarkRepeated(&pool_, start, end);
        if (end > acked) {
          queue_.Push(&pool_, {start, end, 0, i, is_repeated, start >= highest});
          plain.push_back({start, end, i, is_repeated});
        }
        for (int64_t number = start; number < end; number++) numbers.insert(number);
        highest = std::max(highest, end);
      } else {
        const int64_t ack = highest - static_cast<int64_t>(random() % reach);
        if (ack <= acked) continue;
        bool is_any = false, is_repeated = false;
        uint64_t newest = 0;
        std::vector<Plain> rest;
        for (const Plain& each : plain) {
          if (each.end > ack) {
            rest.push_back(each);
            continue;
          }
          is_any = true;
          is_repeated |= each.is_repeated;
          newest = each.owner;
        }
        plain.swap(rest);
        const CoveredSegments covered = queue_.Acknowledge(&pool_, acked, ack);
        ASSERT_EQ(covered.is_clean, is_any && !is_repeated) << "seed " << seed << ", step " << i;
        if (covered.is_clean) {
          ASSERT_EQ(covered.newest_owner, newest) << "seed " << seed << ", step " << i;
          clean++;
        }
        acked = ack;
      }
    }
    queue_.Release(&pool_);
  }
  EXPECT_EQ(pool_.evicted(), 0u);
  EXPECT_GT(clean, 30 * seeds);
}

TEST_F(SegmentQueueTest, AgreesWithAPlainListOnRandomSegmentsAndAcknowledgements) {
  CompareWithAPlainList(30, 4, 4, 120);
}

TEST_F(SegmentQueueTest, AgreesWithAPlainListWhereAcknowledgementsCoverHundreds) {
  CompareWithAPlainList(10, 1000, 100, 20000);
}

TEST_F(SegmentQueueTest, AnAcknowledgementOfManySegmentsLooksAtFew) {
  Init(1 << 16);
  std::mt19937 random(1);
  int64_t sent = 0, acked = 0;
  for (int turn = 0; turn < 20; turn++) {
    for (; sent < acked + 60000; sent++) Push(sent, sent + 1, static_cast<uint64_t>(sent));
    for (int i = 0; i < 1000; i++) {
      ASSERT_LE(queue_.StepsTo(pool_, acked + static_cast<int64_t>(random() % 60000)), 50u);
    }
    const int64_t ack = acked + 1 + static_cast<int64_t>(random() % 60000);
    const CoveredSegments covered = queue_.Acknowledge(&pool_, acked, ack);
    ASSERT_TRUE(covered.is_clean);
    ASSERT_EQ(covered.newest_owner, static_cast<uint64_t>(ack - 1));
    acked = ack;
  }
  queue_.Acknowledge(&pool_, acked, sent);
  EXPECT_EQ(pool_.used(), 0u);
}

// Not one by one: the pool hands out first what was given back last.
TEST_F(SegmentQueueTest, GivesManyAcknowledgedSegmentsBackInOneChain) {
  Init(1 << 16);
  for (int64_t i = 0; i < 60000; i++) Push(i, i + 1, 0);  // in blocks 0 to 14,999
  queue_.Acknowledge(&pool_, kNoAck, 50000);
  const HistoryRef taken = pool_.Take();
  EXPECT_LT(taken, 100u);
  pool_.GiveBack(taken, taken, 1);
}

TEST_F(SegmentQueueTest, OfASegmentLongerThanAnyPacketNothingIsKnown) {
  Init(64);
  Push(0, 65535, 0);
  EXPECT_TRUE(queue_.Acknowledge(&pool_, kNoAck, 65535).is_clean);
  Push(65535, 65535 + 65536, 1);
  EXPECT_FALSE(queue_.Acknowledge(&pool_, 65535, 65535 + 65536).is_clean);
  EXPECT_EQ(pool_.evicted(), 1u);
}

TEST_F(SegmentQueueTest, MeasuresHoweverMuchIsUnderWay) {
  Init(1 << 16);
  for (int64_t i = 0; i < 60000; i++) Push(i * 10, i * 10 + 10, static_cast<uint64_t>(i));
  for (int64_t i = 0; i < 60000; i++) {
    const CoveredSegments covered = queue_.Acknowledge(&pool_, i * 10, i * 10 + 10);
    ASSERT_TRUE(covered.is_clean);
    ASSERT_EQ(covered.newest_owner, static_cast<uint64_t>(i));
    Push((60000 + i) * 10, (60000 + i) * 10 + 10, static_cast<uint64_t>(60000 + i));
  }
  EXPECT_EQ(pool_.evicted(), 0u);
}

TEST_F(SegmentQueueTest, AcceptsLittleDataSentAgainAndWithholdsSamplesOfTheRest) {
  ASSERT_TRUE(pool_.Init(64, nullptr, 64));  // one block of three
  for (int64_t i = 0; i < 20; i++) Push(i * 10, i * 10 + 10, 0);
  for (int64_t i = 10; i < 14; i++) SendAgain(i * 10, i * 10 + 10, 1);
  // Of the fourth nobody knows any more what it repeated.
  EXPECT_FALSE(queue_.Acknowledge(&pool_, kNoAck, 20).is_clean);
  EXPECT_FALSE(queue_.Acknowledge(&pool_, 20, 190).is_clean);
  EXPECT_EQ(pool_.evicted(), 2u);
  queue_.Acknowledge(&pool_, 190, 200);
  for (int64_t i = 20; i < 40; i++) Push(i * 10, i * 10 + 10, 0);
  SendAgain(300, 310, 1);
  EXPECT_TRUE(queue_.Acknowledge(&pool_, 200, 300).is_clean);
  EXPECT_FALSE(queue_.Acknowledge(&pool_, 300, 310).is_clean);
  EXPECT_TRUE(queue_.Acknowledge(&pool_, 310, 400).is_clean);
  EXPECT_EQ(pool_.evicted(), 3u);
}

// Not one by one: the pool hands out first what was given back last.
TEST_F(SegmentQueueTest, GivesDataSentAgainBackInOneChain) {
  Init(1024);
  Push(0, 1000, 0);                                                    // in block 0
  for (int64_t i = 0; i < 15; i++) SendAgain(i * 10, i * 10 + 10, 1);  // in blocks 1 to 5
  queue_.Acknowledge(&pool_, kNoAck, 60);                              // 2 and 1 go
  SendAgain(200, 210, 1);                                              // in block 1 again
  queue_.Release(&pool_);
  EXPECT_EQ(pool_.used(), 0u);
  for (HistoryRef expected : {1u, 5u, 4u, 3u, 0u, 2u}) EXPECT_EQ(pool_.Take(), expected);
  for (HistoryRef taken = 0; taken < 6; taken++) pool_.GiveBack(taken, taken, 1);
}

TEST_F(SegmentQueueTest, ASegmentAcknowledgedInPartWasSentTwiceAllTheSame) {
  Init(64);
  Push(0, 10, 0);
  Push(10, 30, 0);
  SendAgain(5, 15, 1);  // reaches into the second
  EXPECT_FALSE(queue_.Acknowledge(&pool_, kNoAck, 20).is_clean);
  EXPECT_FALSE(queue_.Acknowledge(&pool_, 20, 30).is_clean);
  Push(30, 40, 0);
  EXPECT_FALSE(queue_.Acknowledge(&pool_, 30, 35).is_clean);  // nothing is whole
  queue_.MarkRepeated(&pool_, 30, 35);                        // acknowledged, so it does not wait
  EXPECT_FALSE(queue_.Acknowledge(&pool_, 35, 40).is_clean);
}

TEST_F(SegmentQueueTest, WithholdsTheSampleWhereSegmentsWereForgotten) {
  Init(8);  // two blocks a list
  for (int64_t i = 0; i < 20; i++) Push(i * 10, i * 10 + 10, 0);
  EXPECT_EQ(pool_.evicted(), 0u);
  EXPECT_FALSE(queue_.Acknowledge(&pool_, kNoAck, 200).is_clean);
  EXPECT_EQ(pool_.evicted(), 1u);
  Push(200, 210, 0);
  EXPECT_TRUE(queue_.Acknowledge(&pool_, 200, 210).is_clean);
}

TEST_F(SegmentQueueTest, WithoutAnyBlockForgetsAtOnce) {
  Init(1);
  ASSERT_NE(pool_.Take(), kNoHistory);
  Push(0, 10, 0);
  EXPECT_FALSE(queue_.Acknowledge(&pool_, kNoAck, 10).is_clean);
  EXPECT_EQ(pool_.used(), 1u);
  pool_.GiveBack(0, 0, 1);
}

}  // namespace
}  // namespace trumpet
