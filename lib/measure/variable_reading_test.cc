// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/variable_reading.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace trumpet {
namespace {

MeasureVariable Variable(MeasureKind kind, uint32_t hashes, uint64_t size) {
  MeasureVariable variable;
  variable.kind = kind;
  variable.hashes = hashes;
  variable.size = size;
  variable.key = 0;
  return variable;
}

TEST(VariableReading, TellsTheNumberOfAVariableWithoutKey) {
  MeasureVariable counter;
  const MeasureReading reading = ReadingOf(counter, {17}, 10);
  EXPECT_EQ(reading.number, 17u);
  EXPECT_EQ(reading.in_use, 1u);
  EXPECT_EQ(reading.largest.size(), 1u);
  EXPECT_FALSE(reading.keys);
}

TEST(VariableReading, ShowsTheLargestCellsAsSortingAllWould) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<uint64_t> cells(random() % 60);
    for (uint64_t& cell : cells) cell = random() % 12;
    const size_t most = random() % 8;
    std::vector<std::pair<uint64_t, uint32_t>> all;  // by value downward, then by index
    for (uint32_t i = 0; i < cells.size(); ++i) {
      if (cells[i] != 0) all.emplace_back(UINT64_MAX - cells[i], i);
    }
    std::sort(all.begin(), all.end());
    const MeasureReading reading =
        ReadingOf(Variable(MeasureKind::kCounterMap, 1, cells.size()), cells, most);
    EXPECT_EQ(reading.in_use, all.size());
    ASSERT_EQ(reading.largest.size(), std::min(most, all.size())) << "round " << round;
    for (size_t i = 0; i < reading.largest.size(); ++i) {
      EXPECT_EQ(reading.largest[i].index, all[i].second) << "round " << round;
      EXPECT_EQ(reading.largest[i].value, cells[all[i].second]) << "round " << round;
    }
  }
}

TEST(VariableReading, TellsHowMuchAllKeysHaveAddedToACountMinSketch) {
  const MeasureVariable sketch = Variable(MeasureKind::kCountMin, 2, 3);
  EXPECT_EQ(ReadingOf(sketch, {5, 0, 2, 7, 0, 0}, 1).total, 7u);
  EXPECT_FALSE(ReadingOf(Variable(MeasureKind::kStore, 2, 3), {5, 0, 2, 7, 0, 0}, 1).total);
}

TEST(VariableReading, TellsOfAKeyWhatItAddedAtMostAndAtLeast) {
  const MeasureVariable sketch = Variable(MeasureKind::kCountMin, 4, 256);
  const MeasureKeyReading reading = ReadingOfKey(sketch, {1}, {900, 700, 800, 700}, 25600);
  EXPECT_EQ(reading.value, 700u);
  ASSERT_TRUE(reading.estimate);
  EXPECT_DOUBLE_EQ(reading.estimate->high, 700);
  EXPECT_NEAR(reading.estimate->low, 700 - 271.828, 0.001);
  EXPECT_NEAR(reading.estimate->confidence, 0.98168, 0.00001);
  EXPECT_DOUBLE_EQ(ReadingOfKey(sketch, {1}, {9}, 25600).estimate->low, 0);
  MeasureVariable shared = sketch;
  shared.merge = MeasureMerge::kShared;  // set, not added to
  EXPECT_FALSE(ReadingOfKey(shared, {1}, {9}, 25600).estimate);
}

TEST(VariableReading, TellsHowManyKeysThereWereAndHowSureThatIs) {
  std::vector<uint64_t> registers(256, 0);
  for (size_t i = 0; i < 128; ++i) registers[i] = 1;
  const MeasureReading reading =
      ReadingOf(Variable(MeasureKind::kHyperLogLog, 1, 256), registers, 0);
  ASSERT_TRUE(reading.keys);
  EXPECT_NEAR(reading.keys->value, 256 * std::log(2.0), 0.001);
  // 256 * (2 - ln 2 - 1) is the variance of the number of empty registers, for so many keys.
  EXPECT_NEAR(reading.keys->low, reading.keys->value - 1.96 * std::sqrt(256 * 0.307), 1);
  EXPECT_NEAR(reading.keys->high, reading.keys->value + 1.96 * std::sqrt(256 * 0.307), 1.5);
  EXPECT_DOUBLE_EQ(reading.keys->confidence, 0.95);
}

TEST(VariableReading, IsSureOfAFewKeysOnlyWhereTheyAre) {
  std::vector<uint64_t> bitmaps(128, 0);
  bitmaps[7] = 1;
  const MeasureReading reading = ReadingOf(Variable(MeasureKind::kPcsa, 1, 128), bitmaps, 0);
  ASSERT_TRUE(reading.keys);
  EXPECT_LE(reading.keys->low, 1);
  EXPECT_GE(reading.keys->high, 1);
}

TEST(VariableReading, TellsAKeyOnceThoughItHasCountedMeanwhile) {
  const MeasureVariable map = Variable(MeasureKind::kCounterMap, 1, 8);
  const auto keys = TopKeys(
      {ReadingOfKey(map, {1}, {100}, std::nullopt), ReadingOfKey(map, {2}, {101}, std::nullopt),
       ReadingOfKey(map, {1}, {102}, std::nullopt)},
      10);
  ASSERT_EQ(keys.size(), 2u);
  EXPECT_EQ(keys[0].key, (std::vector<uint64_t>{1}));
  EXPECT_EQ(keys[0].value, 102u);
  EXPECT_EQ(keys[1].value, 101u);
}

TEST(VariableReading, RanksKeysByTheirVolumeEachOnce) {
  const MeasureVariable map = Variable(MeasureKind::kCounterMap, 1, 8);
  std::vector<MeasureKeyReading> keys;
  for (const uint64_t key : {4, 1, 3, 2, 1}) {
    keys.push_back(ReadingOfKey(map, {key}, {key == 2 ? 0 : key % 3 * 10}, std::nullopt));
  }
  const std::vector<MeasureKeyReading> top = TopKeys(keys, 2);
  ASSERT_EQ(top.size(), 2u);
  EXPECT_EQ(top[0].key, (std::vector<uint64_t>{1}));
  EXPECT_EQ(top[1].key, (std::vector<uint64_t>{4}));
  EXPECT_EQ(TopKeys(keys, 10).size(), 2u);  // what is 0 is no heavy hitter
}

}  // namespace
}  // namespace trumpet
