// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/tem/cell_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace trumpet {
namespace {

using Name = std::pair<uint32_t, std::string>;  // host, bucket

std::vector<Name> NamesOf(const CellTable& table) {
  std::vector<Name> names;
  for (uint32_t index = table.First(); index != kNoBucket; index = table.Next(index)) {
    names.emplace_back(table.host(index), table.bucket_key(index));
  }
  return names;
}

TEST(CellTable, ForgetsWhatHasNotComeInThisInterval) {
  CellTable table(8, 1, 1);
  uint32_t index = 0;
  EXPECT_TRUE(table.FindOrAdd(1, "a", &index));
  EXPECT_FALSE(table.FindOrAdd(1, "a", &index));
  table.Recycle();
  EXPECT_EQ(table.count(), 0u);
  EXPECT_EQ(table.Find(1, "a"), kNoBucket);
  EXPECT_EQ(table.First(), kNoBucket);
  EXPECT_TRUE(table.FindOrAdd(1, "a", &index));
}

TEST(CellTable, KeepsOrderAndGuessesOfTheLastInterval) {
  CellTable table(8, 1, 1);
  const std::vector<Name> names{{2, "b"}, {2, "a"}, {1, "b"}};
  uint32_t index = 0;
  for (const auto& [host, key] : names) {
    table.FindOrAdd(host, key, &index);
    EXPECT_EQ(table.merged_into(index), kNoBucket);
    table.merged_into(index) = 7 + host;
  }
  table.Recycle();
  for (const Name& name : {names[2], names[0], names[1]}) {
    EXPECT_TRUE(table.FindOrAdd(name.first, name.second, &index));
    EXPECT_EQ(table.merged_into(index), 7 + name.first);
  }
  EXPECT_EQ(NamesOf(table), names);
}

// Some come again in the same order, some in another, some not; hosts leave.
TEST(CellTable, HoldsWhatAMapHolds) {
  std::mt19937_64 random(7);
  CellTable table(8, 1, 1);
  std::vector<Name> names;
  for (uint32_t i = 0; i < 300; ++i) names.emplace_back(i / 60, "key" + std::to_string(i % 60));
  for (int interval = 0; interval < 300; ++interval) {
    std::map<Name, uint64_t> twin;
    if (random() % 4 == 0) std::swap(names[random() % 300], names[random() % 300]);
    const uint64_t share = random() % 101;
    for (const Name& name : names) {
      if (random() % 100 >= share) continue;
      uint32_t index = 0;
      ASSERT_EQ(table.FindOrAdd(name.first, name.second, &index), twin.count(name) == 0);
      table.words(index)[0] = twin[name] = random();
      if (random() % 64 == 0) {
        table.Remove(index);
        twin.erase(name);
      }
      if (random() % 512 != 0) continue;
      const uint32_t host = static_cast<uint32_t>(random() % 5);
      table.RemoveHost(host);
      twin.erase(twin.lower_bound({host, ""}), twin.lower_bound({host + 1, ""}));
    }
    ASSERT_EQ(table.count(), twin.size());
    ASSERT_EQ(NamesOf(table).size(), twin.size());
    for (const Name& name : names) {
      const uint32_t index = table.Find(name.first, name.second);
      ASSERT_EQ(index != kNoBucket, twin.count(name) != 0);
      if (index == kNoBucket) continue;
      ASSERT_EQ(table.words(index)[0], twin[name]);
    }
    table.Recycle();
  }
}

}  // namespace
}  // namespace trumpet
