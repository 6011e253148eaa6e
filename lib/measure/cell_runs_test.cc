// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/cell_runs.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

namespace trumpet {
namespace {

// Parts `chosen`, and answers how many runs there are.
uint32_t PartAll(CellRuns* runs, uint32_t chosen) {
  uint32_t count = 0;
  for (uint32_t left = chosen; left != 0; ++count) {
    const uint32_t run = runs->Next</*kKeepsOrder=*/true>(left);
    EXPECT_EQ(run & ~left, 0u);
    if ((run & left & -left) == 0) {
      ADD_FAILURE() << "the first packet that is left does not begin the run";
      return count;
    }
    left &= ~run;
    const uint32_t last = 1u << (31 - __builtin_clz(run));
    EXPECT_EQ(left & (last - 1), 0u) << "runs keep the order of the packets";
    std::set<uint32_t> cells;
    for (uint32_t packet = 0; packet < kMaxMeasureBurst; ++packet) {
      if ((run >> packet & 1) == 0) continue;
      EXPECT_TRUE(cells.insert(runs->cells()[packet]).second) << "one cell twice in a run";
    }
  }
  return count;
}

// The run that has the packet, of runs that keep the order of the packets of each cell only.
std::vector<uint32_t> RunsOfPackets(CellRuns* runs, uint32_t chosen) {
  std::vector<uint32_t> of_packet(kMaxMeasureBurst, 0);
  uint32_t number = 0;
  for (uint32_t left = chosen; left != 0;) {
    const uint32_t run = runs->Next</*kKeepsOrder=*/false>(left);
    EXPECT_EQ(run & ~left, 0u);
    if ((run & left & -left) == 0) {
      ADD_FAILURE() << "the first packet that is left is not in the run";
      break;
    }
    left &= ~run;
    number++;
    for (uint32_t packet = 0; packet < kMaxMeasureBurst; ++packet) {
      if ((run >> packet & 1) != 0) of_packet[packet] = number;
    }
  }
  return of_packet;
}

TEST(CellRuns, OfEachCellKeepTheOrderOfItsPackets) {
  std::mt19937 random(2);
  CellRuns runs;
  for (int burst = 0; burst < 5000; ++burst) {
    const uint32_t flows = 1 + random() % 100;
    for (uint32_t i = 0; i < kMaxMeasureBurst; ++i) runs.cells()[i] = random() % flows * 24;
    const uint32_t chosen = random() | random();
    const std::vector<uint32_t> number = RunsOfPackets(&runs, chosen);
    std::map<uint32_t, uint32_t> last;  // run, by cell
    for (uint32_t i = 0; i < kMaxMeasureBurst; ++i) {
      if ((chosen >> i & 1) == 0) continue;
      EXPECT_GT(number[i], last[runs.cells()[i]]);
      last[runs.cells()[i]] = number[i];
    }
  }
}

TEST(CellRuns, OfEachCellAreAsManyAsTheMostPacketsOfOne) {
  CellRuns runs;
  for (uint32_t i = 0; i < kMaxMeasureBurst; ++i) runs.cells()[i] = 8 * (i / 4);
  const std::vector<uint32_t> number = RunsOfPackets(&runs, UINT32_MAX);
  for (uint32_t i = 0; i < kMaxMeasureBurst; ++i) EXPECT_EQ(number[i], 1 + i % 4);
}

TEST(CellRuns, HaveNoCellTwiceAndKeepTheOrderOfPackets) {
  std::mt19937 random(1);
  CellRuns runs;
  for (int burst = 0; burst < 5000; ++burst) {  // more runs than a mark can number
    const uint32_t flows = 1 + random() % 100;
    for (uint32_t i = 0; i < kMaxMeasureBurst; ++i) runs.cells()[i] = random() % flows * 24;
    PartAll(&runs, random() & random());
    PartAll(&runs, UINT32_MAX);
  }
}

TEST(CellRuns, AreAsFewAsMayBe) {
  CellRuns runs;
  for (uint32_t i = 0; i < kMaxMeasureBurst; ++i) runs.cells()[i] = 8 * i;
  EXPECT_EQ(PartAll(&runs, UINT32_MAX), 1u);
  EXPECT_EQ(PartAll(&runs, 0x80000000u), 1u);
  EXPECT_EQ(PartAll(&runs, 0), 0u);
  for (uint32_t i = 0; i < kMaxMeasureBurst; ++i) runs.cells()[i] = 8 * (i % 16);
  EXPECT_EQ(PartAll(&runs, UINT32_MAX), 2u);
  for (uint32_t i = 0; i < kMaxMeasureBurst; ++i) runs.cells()[i] = 8;
  EXPECT_EQ(PartAll(&runs, UINT32_MAX), kMaxMeasureBurst);
}

}  // namespace
}  // namespace trumpet
