// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/base/spsc_ring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <random>
#include <thread>
#include <vector>

namespace trumpet {
namespace {

bool Push(SpscRing* ring, const std::vector<uint8_t>& bytes) {
  void* room = ring->Reserve(bytes.size());
  if (room == nullptr) return false;
  std::copy(bytes.begin(), bytes.end(), static_cast<uint8_t*>(room));
  ring->Commit();
  return true;
}

std::vector<uint8_t> Pop(SpscRing* ring) {
  const SpscRing::Record record = ring->Peek();
  const auto* data = static_cast<const uint8_t*>(record.data);
  std::vector<uint8_t> bytes(data, data + record.size);
  ring->Release();
  return bytes;
}

TEST(SpscRing, AnEmptyRingShowsNothing) {
  SpscRing ring(64);
  EXPECT_FALSE(ring.Peek());
}

TEST(SpscRing, RefusesARecordThatDoesNotFitAndTakesItOnceThereIsRoom) {
  SpscRing ring(128);
  const std::vector<uint8_t> record(40, 7);
  EXPECT_TRUE(Push(&ring, record));
  EXPECT_TRUE(Push(&ring, record));
  EXPECT_FALSE(Push(&ring, record));
  EXPECT_EQ(Pop(&ring), record);
  EXPECT_TRUE(Push(&ring, record));
}

TEST(SpscRing, KnowsUpToWhereRecordsWerePassed) {
  SpscRing ring(128);
  const std::vector<uint8_t> record(40, 7);
  for (int i = 0; i < 10; i++) {
    ASSERT_TRUE(Push(&ring, record));
    const size_t first = ring.position();
    ASSERT_TRUE(Push(&ring, record));
    EXPECT_FALSE(ring.IsPassed(first));
    Pop(&ring);
    EXPECT_TRUE(ring.IsPassed(first));
    EXPECT_FALSE(ring.IsPassed(ring.position()));
    Pop(&ring);
    EXPECT_TRUE(ring.IsPassed(ring.position()));
  }
}

TEST(SpscRing, RefusesARecordLargerThanHalfOfIt) {
  SpscRing ring(128);
  EXPECT_EQ(ring.Reserve(57), nullptr);
  EXPECT_NE(ring.Reserve(56), nullptr);
  EXPECT_EQ(ring.Reserve(57), nullptr);  // nor once it has looked for room
  EXPECT_EQ(SpscRing::Batch(&ring).Add(57), nullptr);
  EXPECT_EQ(SpscRing::Batch(&ring).Add(56, 8), nullptr);
}

TEST(SpscRing, RecordsOfRandomSizesComeOutAsTheyWentIn) {
  std::mt19937 random(1);
  SpscRing ring(1024);
  std::deque<std::vector<uint8_t>> expected;
  for (int step = 0; step < 100000; step++) {
    if (random() % 2 == 0) {
      std::vector<uint8_t> bytes(random() % 200, static_cast<uint8_t>(step));
      if (Push(&ring, bytes)) expected.push_back(bytes);
    } else if (!expected.empty()) {
      ASSERT_EQ(Pop(&ring), expected.front()) << "step " << step;
      expected.pop_front();
    }
  }
}

TEST(SpscRing, ABatchIsSeenWhenItIsDoneWith) {
  SpscRing ring(128);
  {
    SpscRing::Batch batch(&ring);
    *static_cast<uint8_t*>(batch.Add(1)) = 3;
    *static_cast<uint8_t*>(batch.Add(1)) = 4;
    EXPECT_FALSE(ring.Peek());
  }
  EXPECT_EQ(Pop(&ring), std::vector<uint8_t>{3});
  EXPECT_EQ(Pop(&ring), std::vector<uint8_t>{4});
  EXPECT_FALSE(ring.Peek());
}

// The slack is overwritten each time; some records are reserved alone in between.
TEST(SpscRing, BatchesOfRandomSizesComeOutAsTheyWentIn) {
  constexpr size_t kSlack = 24;
  std::mt19937 random(2);
  SpscRing ring(1024);
  std::deque<std::vector<uint8_t>> expected;
  const auto add = [&](SpscRing::Batch* batch) {
    const std::vector<uint8_t> bytes(random() % 200, static_cast<uint8_t>(random()));
    auto* const room = static_cast<uint8_t*>(batch->Add(bytes.size(), kSlack));
    if (room == nullptr) return;
    std::copy(bytes.begin(), bytes.end(), room);
    std::fill_n(room + (bytes.size() + 7) / 8 * 8, kSlack, uint8_t{0xee});
    expected.push_back(bytes);
  };
  for (int step = 0; step < 100000; step++) {
    if (random() % 3 == 0) {
      SpscRing::Batch batch(&ring);
      for (uint32_t i = random() % 5; i > 0; --i) add(&batch);
    } else if (random() % 4 == 0) {
      const std::vector<uint8_t> bytes(random() % 200, static_cast<uint8_t>(step));
      if (Push(&ring, bytes)) expected.push_back(bytes);
    }
    while (!expected.empty() && random() % 3 == 0) {
      ASSERT_EQ(Pop(&ring), expected.front()) << "step " << step;
      expected.pop_front();
    }
  }
}

// Record `i` of those that two threads pass; by turns alone and several in a batch.
bool PutNumbered(SpscRing* ring, uint64_t* i, uint64_t end) {
  const uint64_t first = *i;
  if (first % 3 == 0) {
    void* const room = ring->Reserve(sizeof first + first % 48);
    if (room == nullptr) return false;
    std::memcpy(room, &first, sizeof first);
    ring->Commit();
    ++*i;
    return true;
  }
  SpscRing::Batch batch(ring);
  for (; *i < end && *i < first + 5; ++*i) {
    void* const room = batch.Add(sizeof *i + *i % 48, 16);
    if (room == nullptr) break;
    std::memcpy(room, i, sizeof *i);
  }
  return *i != first;
}

TEST(SpscRing, TwoThreadsPassEveryRecordInOrder) {
  constexpr uint64_t kRecords = 200000;
  SpscRing ring(4096);
  std::thread producer([&ring] {
    for (uint64_t i = 0; i < kRecords;) {
      if (!PutNumbered(&ring, &i, kRecords)) std::this_thread::yield();
    }
  });
  for (uint64_t expected = 0; expected < kRecords;) {
    const SpscRing::Record record = ring.Peek();
    if (!record) {
      std::this_thread::yield();
      continue;
    }
    uint64_t got = 0;
    std::memcpy(&got, record.data, sizeof got);
    ASSERT_EQ(got, expected);
    ASSERT_EQ(record.size, sizeof got + expected % 48);
    ring.Release();
    expected++;
  }
  producer.join();
}

}  // namespace
}  // namespace trumpet
