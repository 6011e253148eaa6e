// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/flood_relief.h"

#include <gtest/gtest.h>

namespace trumpet {
namespace {

constexpr uint64_t kPackets = 10000;

// An epoch of 10 ms at 2.6 GHz in which nine packets of ten were withheld.
EpochLoad Flood(double share) {
  EpochLoad load;
  load.length = 10 * kNanosPerMilli;
  load.cycles = 26000000;
  load.monitor_cycles = static_cast<uint64_t>(26e6 * share);
  load.packets = kPackets;
  load.withheld = kPackets / 10 * 9;
  return load;
}

FloodRelief After(const EpochLoad& load, int epochs) {
  FloodRelief relief;
  for (int i = 0; i < epochs; i++) relief.NoteEpoch(load);
  return relief;
}

TEST(FloodRelief, LooksAtEverythingInAFloodThatItCanAfford) {
  const FloodRelief relief = After(Flood(0.095), 1000);
  EXPECT_EQ(relief.withheld_epochs(), 0u);
  for (int64_t cell = -20; cell < 20; cell++) EXPECT_FALSE(relief.Withholds(cell));
}

TEST(FloodRelief, WithholdsSoManyEpochsThatTheMonitorKeepsToItsShare) {
  for (const double share : {0.105, 0.11, 0.13, 0.15, 0.16, 0.18, 0.2}) {
    const FloodRelief relief = After(Flood(share), 100);
    const double looked_at = 1 - static_cast<double>(relief.withheld_epochs()) / 8;
    EXPECT_LE(share * looked_at, 0.1) << share;
    EXPECT_GT(share * (looked_at + 0.125), 0.1) << share;
  }
}

TEST(FloodRelief, LooksAtEveryOtherEpochHoweverDearItIs) {
  for (const double share : {0.21, 0.5, 1.0, 3.0}) {
    const FloodRelief relief = After(Flood(share), 100);
    EXPECT_EQ(relief.withheld_epochs(), FloodRelief::kMaxWithheld) << share;
  }
}

TEST(FloodRelief, WithholdsAsManyOfEightEpochsAsItSaysAndNoTwoInARow) {
  for (const double share : {0.105, 0.12, 0.14, 0.18, 0.3}) {
    const FloodRelief relief = After(Flood(share), 100);
    for (const int64_t first : {int64_t{-1000}, int64_t{0}, int64_t{170000000001}}) {
      uint64_t withheld = 0;
      for (int64_t cell = first; cell < first + 8; cell++) {
        withheld += relief.Withholds(cell) ? 1 : 0;
        EXPECT_FALSE(relief.Withholds(cell) && relief.Withholds(cell + 1)) << share << ' ' << cell;
      }
      EXPECT_EQ(withheld, relief.withheld_epochs()) << share;
    }
  }
}

TEST(FloodRelief, BeginsWithinTenEpochsAndEndsWithinTwenty) {
  FloodRelief relief = After(Flood(0.25), 10);
  EXPECT_GT(relief.withheld_epochs(), 0u);
  relief = After(Flood(0.25), 1000);
  EpochLoad calm = Flood(0.25);
  calm.withheld = kPackets / 10;
  for (int i = 0; i < 20; i++) relief.NoteEpoch(calm);
  EXPECT_EQ(relief.withheld_epochs(), 0u);
}

TEST(FloodRelief, LongEpochsProveAsMuchAsManyShortOnes) {
  EpochLoad load = Flood(0.25);
  load.length = 100 * kNanosPerMilli;
  EXPECT_GT(After(load, 1).withheld_epochs(), 0u);
  load.length = kNanosPerMilli;
  EXPECT_EQ(After(load, 30).withheld_epochs(), 0u);
  EXPECT_GT(After(load, 100).withheld_epochs(), 0u);
}

TEST(FloodRelief, ASingleEpochProvesNothing) {
  FloodRelief relief = After(Flood(0.085), 100);
  relief.NoteEpoch(Flood(0.2));
  EXPECT_EQ(relief.withheld_epochs(), 0u);
  relief = FloodRelief();
  relief.NoteEpoch(Flood(0.8));
  EXPECT_EQ(relief.withheld_epochs(), 0u);
}

TEST(FloodRelief, NothingIsWithheldOfAThreadThatHasTimeLeft) {
  EpochLoad load = Flood(0.5);
  load.free_cycles = load.cycles / 10;
  EXPECT_EQ(After(load, 100).withheld_epochs(), 0u);
}

TEST(FloodRelief, NothingIsWithheldOfWhatIsKnownHoweverDear) {
  EpochLoad load = Flood(0.5);
  load.withheld = load.packets / 2;
  EXPECT_EQ(After(load, 100).withheld_epochs(), 0u);
}

TEST(FloodRelief, AFewPacketsAreNoFlood) {
  EpochLoad load = Flood(0.5);
  load.packets = load.withheld = 255;
  EXPECT_EQ(After(load, 100).withheld_epochs(), 0u);
  load.packets = load.withheld = 256;
  EXPECT_EQ(After(load, 100).withheld_epochs(), FloodRelief::kMaxWithheld);
}

}  // namespace
}  // namespace trumpet
