// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/flow_table.h"

#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <random>
#include <utility>

#include "lib/base/hash.h"

namespace trumpet {
namespace {

constexpr uint16_t kGeneration = 1;

FlowKey KeyOf(uint32_t number) {
  FlowKey key;
  key.ip_family = 4;
  std::memcpy(key.src_ip.data(), &number, sizeof number);
  return key;
}

uint64_t HashOf(const FlowKey& key) { return HashBytes(&key, sizeof key, 7); }

// Adds the flow as touched in `epoch`.
FlowIndex Add(FlowTable* table, uint32_t number, uint32_t epoch, size_t block_bytes = 64) {
  const FlowKey key = KeyOf(number);
  const FlowIndex flow = table->Add(key, HashOf(key), kGeneration, block_bytes, epoch);
  if (flow != kNoFlow) table->At(flow).last_epoch = epoch;
  return flow;
}

FlowIndex Find(const FlowTable& table, uint32_t number, uint16_t generation = kGeneration) {
  const FlowKey key = KeyOf(number);
  return table.Find(key, nullptr, 0, HashOf(key), generation);
}

TEST(FlowTable, FindsWhatWasAddedAndNothingElse) {
  FlowTable table;
  ASSERT_TRUE(table.Init(1000, 1 << 20));
  const FlowIndex flow = Add(&table, 1, 2);
  EXPECT_EQ(Find(table, 1), flow);
  EXPECT_EQ(Find(table, 2), kNoFlow);
  EXPECT_EQ(Find(table, 1, kGeneration + 1), kNoFlow);
}

TEST(FlowTable, HoldsAsManyFlowsAsItSays) {
  FlowTable table;
  ASSERT_TRUE(table.Init(5000, 4 << 20));
  for (uint32_t i = 0; i < 5000; i++) ASSERT_NE(Add(&table, i, 2), kNoFlow) << i;
  EXPECT_EQ(Add(&table, 5000, 2), kNoFlow);
  for (uint32_t i = 0; i < 5000; i++) ASSERT_NE(Find(table, i), kNoFlow) << i;
  EXPECT_EQ(table.count(), 5000u);
}

// Keys chosen by one who knows the seed.
TEST(FlowTable, KeysThatAllCollideFillTheirBucketAndNoMore) {
  constexpr uint64_t kHash = 0x1234567890abcdef;
  FlowTable table;
  ASSERT_TRUE(table.Init(1u << 14, 1 << 20));
  const auto add_colliding = [&table](uint32_t number, uint32_t epoch) {
    const FlowIndex flow = table.Add(KeyOf(number), kHash, kGeneration, 64, epoch);
    if (flow != kNoFlow) table.At(flow).last_epoch = epoch;
    return flow;
  };
  constexpr uint32_t kRoom = 8 * (1 + FlowTable::kMaxSpills);
  for (uint32_t i = 0; i < kRoom; i++) ASSERT_NE(add_colliding(i, 2), kNoFlow) << i;
  for (uint32_t i = kRoom; i < 100000; i++) ASSERT_EQ(add_colliding(i, 2), kNoFlow) << i;
  EXPECT_EQ(table.count(), kRoom);
  EXPECT_NE(Add(&table, 1, 2), kNoFlow);  // of another bucket
  // In the next epoch each takes the place of the one idle for longest.
  for (uint32_t i = 0; i < 10 * kRoom; i++) ASSERT_NE(add_colliding(i, 3 + i), kNoFlow) << i;
  EXPECT_EQ(table.count(), kRoom + 1);
  EXPECT_NE(Find(table, 1), kNoFlow);
}

TEST(FlowTable, AFloodLeavesFlowsAloneThatGoOnSending) {
  FlowTable table;
  ASSERT_TRUE(table.Init(1000, 1 << 20));
  constexpr uint32_t kActive = 200;
  for (uint32_t i = 0; i < kActive; i++) ASSERT_NE(Add(&table, i, 2), kNoFlow);
  uint32_t next = kActive;
  for (uint32_t epoch = 3; epoch < 200; epoch++) {
    // The flood of this epoch comes before the packets of the flows: a tenth of the table.
    for (int i = 0; i < 100; i++) ASSERT_NE(Add(&table, next++, epoch), kNoFlow) << epoch;
    for (uint32_t i = 0; i < kActive; i++) {
      const FlowIndex flow = Find(table, i);
      ASSERT_NE(flow, kNoFlow) << "flow " << i << " epoch " << epoch;
      if (epoch % 3 == i % 3) table.At(flow).last_epoch = epoch;  // every third epoch
    }
  }
  EXPECT_GT(table.reclaimed(), 10000u);
}

TEST(FlowTable, AFullTableIsSearchedForRoomOncePerEpoch) {
  FlowTable table;
  ASSERT_TRUE(table.Init(1000, 1 << 20));
  for (uint32_t i = 0; i < 1000; i++) ASSERT_NE(Add(&table, i, 2), kNoFlow);
  for (uint32_t i = 1000; i < 3000; i++) ASSERT_EQ(Add(&table, i, 2), kNoFlow);
  EXPECT_NE(Add(&table, 1000, 3), kNoFlow);
}

// The hand meets as many entries as it looks at, several times round a table this small.
TEST(FlowTable, ATableSmallerThanASearchGivesNoEntryUpTwice) {
  constexpr uint32_t kRoom = 17;
  FlowTable table;
  ASSERT_TRUE(table.Init(kRoom, 1 << 20));
  for (uint32_t i = 0; i < 100 * kRoom; i++) {
    // All but the newest are old enough to go at once.
    ASSERT_NE(Add(&table, i, 2 + 100 * (i / kRoom)), kNoFlow) << i;
    ASSERT_LE(table.count(), kRoom);
    uint32_t in_use = 0;
    for (uint32_t flow = 0; flow < kRoom; flow++) in_use += table.IsInUse(flow) ? 1 : 0;
    ASSERT_EQ(in_use, table.count()) << i;
  }
}

TEST(FlowTable, NeverGivesUpAFlowThatIsStillToBeSwept) {
  FlowTable table;
  ASSERT_TRUE(table.Init(100, 1 << 20));
  for (uint32_t i = 0; i < 100; i++) Add(&table, i, 5);
  EXPECT_EQ(Add(&table, 100, 5), kNoFlow);
  EXPECT_NE(Add(&table, 100, 6), kNoFlow);
  EXPECT_EQ(table.reclaimed(), 1u);
}

TEST(FlowTable, ABlockThatDoesNotFitTakesNoEntryAway) {
  FlowTable table;
  ASSERT_TRUE(table.Init(100, 4096));
  EXPECT_EQ(Add(&table, 1, 2, 1 << 16), kNoFlow);
  EXPECT_EQ(table.count(), 0u);
  EXPECT_NE(Add(&table, 1, 2, 64), kNoFlow);
}

TEST(FlowTable, StaleEntriesAndOldGenerationsAreReleasedBitByBit) {
  FlowTable table;
  ASSERT_TRUE(table.Init(100, 1 << 20));
  for (uint32_t i = 0; i < 100; i++) Add(&table, i, 2);
  for (int epoch = 0; epoch < 100; epoch++) table.ReleaseStale(1, 10, kGeneration, kGeneration);
  EXPECT_EQ(table.count(), 100u);
  for (int epoch = 0; epoch < 100; epoch++) table.ReleaseStale(1, 10, 2, 3);
  EXPECT_EQ(table.count(), 0u);
}

TEST(FlowTable, EpochNumbersMayWrapAround) {
  FlowTable table;
  ASSERT_TRUE(table.Init(50, 1 << 20));
  for (uint32_t i = 0; i < 50; i++) Add(&table, i, UINT32_MAX);
  const uint32_t next = FlowTable::NextEpoch(UINT32_MAX);
  EXPECT_EQ(next, FlowTable::kFirstEpoch);
  EXPECT_NE(next & 1, UINT32_MAX & 1);  // the other bank
  EXPECT_NE(Add(&table, 50, next), kNoFlow);
}

TEST(FlowTable, ExtensionsTellFlowsOfOneFiveTupleApart) {
  FlowTable table;
  ASSERT_TRUE(table.Init(100, 1 << 20));
  const FlowKey key = KeyOf(1);
  const uint8_t extensions[2][8] = {{1}, {2}};
  FlowIndex flows[2];
  for (int i = 0; i < 2; i++) {
    flows[i] = table.Add(key, 42, kGeneration, 64, 2);
    std::memcpy(table.BlockOf(table.At(flows[i])), extensions[i], 8);
  }
  for (int i = 0; i < 2; i++) {
    EXPECT_EQ(table.Find(key, extensions[i], 8, 42, kGeneration), flows[i]);
  }
}

// In a flood, nothing else is asked about most packets.
TEST(FlowTable, PresenceDeniesNoFlowThereIsAndMostOthers) {
  constexpr uint32_t kFlows = 4096;
  FlowTable table;
  ASSERT_TRUE(table.Init(kFlows, 1 << 20));
  table.RunGeneration(kGeneration);
  const FlowTable::Presence presence = table.presence();
  std::mt19937 random(3);
  uint32_t denied = 0;
  uint32_t absent = 0;
  for (uint32_t epoch = 2; epoch < 200; epoch++) {
    for (int i = 0; i < 200; i++) ASSERT_NE(Add(&table, random() % 100000, epoch), kNoFlow);
    if (epoch % 50 == 0) {
      table.ReleaseStale(kFlows / 4, epoch + 2 * FlowTable::kStaleEpochs, kGeneration, 0);
    }
    for (FlowIndex flow = 0; flow < kFlows; flow++) {
      if (!table.IsInUse(flow)) continue;
      ASSERT_EQ(presence.MayHave(HashOf(table.At(flow).key)) & 1, 1u) << "epoch " << epoch;
    }
    for (uint32_t number = 200000; number < 201000; number++, absent++) {
      denied += ~presence.MayHave(HashOf(KeyOf(number))) & 1;
    }
  }
  EXPECT_EQ(table.count(), kFlows);
  EXPECT_GT(table.reclaimed(), 10 * kFlows / 2);
  EXPECT_GT(denied, absent * 7 / 8);
}

TEST(FlowTable, AgreesWithAMapUnderRandomChurn) {
  for (uint32_t seed = 1; seed <= 10; seed++) {
    std::mt19937 random(seed);
    FlowTable table;
    ASSERT_TRUE(table.Init(300, 1 << 18));
    std::map<uint32_t, uint32_t> touched;  // flow number -> last epoch
    for (int step = 0; step < 20000; step++) {
      const uint32_t epoch = 2 + static_cast<uint32_t>(step) / 100;
      const uint32_t number = random() % 1000;
      FlowIndex flow = Find(table, number);
      if (flow != kNoFlow) {
        ASSERT_EQ(table.At(flow).last_epoch, touched[number]) << "seed " << seed;
      } else {
        flow = Add(&table, number, epoch, 32u << random() % 3);
        ASSERT_NE(flow, kNoFlow) << "at most 100 flows are touched in an epoch";
      }
      table.At(flow).last_epoch = epoch;
      touched[number] = epoch;
      if (step % 100 == 99) {
        for (const auto& [other, last] : touched) {
          if (last != epoch) continue;
          ASSERT_NE(Find(table, other), kNoFlow) << "seed " << seed;
        }
      }
    }
    EXPECT_GT(table.reclaimed(), 0u);
  }
}

// A table that is nearly empty, with entries without blocks.
TEST(FlowTable, AFlowIsInItsSeatWhileThereAreFew) {
  FlowTable table;
  ASSERT_TRUE(table.Init(1600, 1 << 20));
  table.RunGeneration(kGeneration);
  int in_seats = 0;
  for (uint32_t i = 0; i < 100; i++) {
    in_seats += Add(&table, i, 2, 0) == table.seats().Of(HashOf(KeyOf(i)));
  }
  EXPECT_GE(in_seats, 85) << "one in ten finds its seat taken by then";
  for (uint32_t i = 100; i < 1600; i++) ASSERT_NE(Add(&table, i, 2, 0), kNoFlow) << i;
  EXPECT_EQ(Add(&table, 1600, 2, 0), kNoFlow);
  for (uint32_t i = 0; i < 1600; i++) ASSERT_NE(Find(table, i), kNoFlow) << i;
}

TEST(FlowTable, SeatsBehindAllOtherEntriesAreReleasedToo) {
  FlowTable table;
  ASSERT_TRUE(table.Init(1600, 1 << 20));
  for (uint32_t i = 0; i < 50; i++) ASSERT_NE(Add(&table, i, 2, 0), kNoFlow);
  table.ReleaseStale(table.capacity(), 10, kGeneration + 1, kGeneration + 2);
  EXPECT_EQ(table.count(), 0u);
}

// Seats become more with the flows, and who came before can be moved.
TEST(FlowTable, FlowsAreMovedToTheirSeatsWhenThereAreMore) {
  constexpr uint32_t kFlows = 5000;
  FlowTable table;
  ASSERT_TRUE(table.Init(1 << 17, 1 << 20));
  table.RunGeneration(kGeneration);
  std::vector<FlowIndex> flows;
  const FlowIndex with_block = Add(&table, kFlows, 2, 64);
  for (uint32_t i = 0; i < kFlows; i++) flows.push_back(Add(&table, i, 2, 0));
  EXPECT_EQ(table.MoveToSeat(with_block, HashOf(KeyOf(kFlows))), with_block);
  uint32_t in_seats[2] = {0, 0};
  uint32_t beside = 0;
  for (uint32_t i = 0; i < kFlows; i++) {
    const FlowIndex seat = table.seats().Of(HashOf(KeyOf(i)));
    in_seats[0] += flows[i] == seat;
    const FlowIndex moved = table.MoveToSeat(flows[i], HashOf(KeyOf(i)));
    in_seats[1] += moved == seat;
    beside += moved == FlowTable::Seats::Beside(seat);
    EXPECT_EQ(table.IsInUse(flows[i]), moved == flows[i]);
    ASSERT_EQ(Find(table, i), moved);
  }
  EXPECT_LT(in_seats[0], kFlows * 3 / 4);
  EXPECT_GT(in_seats[1], kFlows * 9 / 10);
  EXPECT_GT(in_seats[1] + beside, kFlows * 99 / 100);
  EXPECT_GT(beside, 0u);
  EXPECT_EQ(table.count(), kFlows + 1);
  EXPECT_EQ(Find(table, kFlows), with_block);
}

// Seats and other entries, taken, moved and released in any order: never one for two flows, none
// lost.
TEST(FlowTable, SeatsAndOtherEntriesAreEachOneFlowsOnly) {
  for (uint32_t seed = 1; seed <= 50; seed++) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    FlowTable table;
    ASSERT_TRUE(table.Init(800, 1 << 20));
    std::map<FlowIndex, std::pair<uint32_t, uint16_t>> flows;  // numbers and generations
    uint32_t next = 0;
    uint32_t epoch = 2;
    for (int step = 0; step < 60; step++) {
      for (uint32_t adds = random() % (step % 20 == 19 ? 800 : 40); adds > 0; adds--) {
        const uint32_t number = next++;
        const auto generation = static_cast<uint16_t>(1 + random() % 3);
        const FlowKey key = KeyOf(number);
        const size_t block = random() % 3 == 0 ? 64 : 0;
        const uint64_t reclaimed = table.reclaimed();
        const FlowIndex flow = table.Add(key, HashOf(key), generation, block, 0);
        ASSERT_EQ(table.reclaimed(), reclaimed);
        if (flow == kNoFlow) {
          ASSERT_EQ(flows.size(), table.capacity());
          continue;
        }
        table.At(flow).last_epoch = epoch;
        ASSERT_TRUE(flows.emplace(flow, std::pair(number, generation)).second) << flow;
      }
      for (uint32_t moves = random() % 20; moves > 0 && !flows.empty(); moves--) {
        const auto it = std::next(flows.begin(), random() % flows.size());
        const auto [number, generation] = it->second;
        const FlowIndex moved = table.MoveToSeat(it->first, HashOf(KeyOf(number)));
        if (moved == it->first) continue;
        flows.erase(it);
        ASSERT_TRUE(flows.emplace(moved, std::pair(number, generation)).second) << moved;
      }
      // All of one generation go.
      epoch++;
      const auto gone = static_cast<uint16_t>(1 + random() % 3);
      table.ReleaseStale(table.capacity(), epoch, gone % 3 + 1, (gone + 1) % 3 + 1);
      for (auto it = flows.begin(); it != flows.end();) {
        it = it->second.second == gone ? flows.erase(it) : std::next(it);
      }
      ASSERT_EQ(table.count(), flows.size());
      for (const auto& [flow, what] : flows) {
        ASSERT_EQ(Find(table, what.first, what.second), flow);
      }
    }
  }
}

}  // namespace
}  // namespace trumpet
