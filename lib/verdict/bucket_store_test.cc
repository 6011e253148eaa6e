// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/verdict/bucket_store.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace trumpet {
namespace {

constexpr size_t kMany = 10000;

std::string Key(size_t number) { return "bucket " + std::to_string(number); }

void Fill(size_t count, BucketStore* store) {
  for (size_t number = 0; number < count; ++number) {
    const uint32_t index = store->Add(Key(number));
    store->bucket(index).run = static_cast<uint32_t>(number);
    store->words(index)[0] = number;
    store->words(index)[1] = 2 * number;
  }
}

std::vector<std::string> OldestFirst(const BucketStore& store) {
  std::vector<std::string> keys;
  for (uint32_t index = store.oldest(); index != kNoBucket; index = store.Newer(index)) {
    keys.emplace_back(store.key(index));
  }
  return keys;
}

TEST(BucketStore, TellsWhetherAGuessIsRight) {
  BucketStore store(16, 2, 1);
  EXPECT_FALSE(store.Has(kNoBucket, "a"));
  const uint32_t a = store.Add("a");
  EXPECT_TRUE(store.Has(a, "a"));
  EXPECT_FALSE(store.Has(a, "b"));
  EXPECT_FALSE(store.Has(a + 1, "a"));
  store.Remove(a);
  EXPECT_FALSE(store.Has(a, "a"));
  EXPECT_FALSE(store.Has(a, ""));
}

TEST(BucketStore, KeepsTheMemoryThatTheLastIntervalNeeded) {
  BucketStore store(16, 2, 1);
  for (int interval = 0; interval < 3; ++interval) {
    Fill(kMany, &store);
    store.Clear();
    store.Trim();
    EXPECT_GE(store.room(), kMany);
  }
}

TEST(BucketStore, GivesBackMemoryThatManyIntervalsDidNotNeed) {
  BucketStore store(16, 2, 1);
  Fill(kMany, &store);
  store.Clear();
  store.Trim();
  for (int interval = 0; interval < BucketStore::kPatience; interval++) {
    EXPECT_GE(store.room(), kMany) << "it may be needed again soon";
    Fill(kMany / 100, &store);
    store.Clear();
    store.Trim();
  }
  EXPECT_LT(store.room(), kMany / 4);
}

TEST(BucketStore, KeepsItsBucketsAndTheirOrderWhenItGivesMemoryBack) {
  BucketStore store(16, 2, 1);
  Fill(kMany, &store);
  for (size_t number = 0; number < kMany; ++number) {
    if (number % 1000 != 7) store.Remove(store.Find(Key(number)));
  }
  store.MakeNewest(store.Find(Key(3007)));
  const std::vector<std::string> before = OldestFirst(store);
  for (int interval = 0; interval <= BucketStore::kPatience; interval++) {
    ASSERT_GE(store.room(), kMany);
    store.Trim();
  }
  EXPECT_LT(store.room(), 100u);
  EXPECT_EQ(OldestFirst(store), before);
  for (size_t number = 7; number < kMany; number += 1000) {
    const uint32_t index = store.Find(Key(number));
    ASSERT_NE(index, kNoBucket);
    EXPECT_EQ(store.bucket(index).run, number);
    EXPECT_EQ(store.words(index)[0], number);
    EXPECT_EQ(store.words(index)[1], 2 * number);
  }
  EXPECT_EQ(store.Find(Key(8)), kNoBucket);
  EXPECT_EQ(store.count(), 10u);
}

}  // namespace
}  // namespace trumpet
