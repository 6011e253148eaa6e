// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/plan/reshuffle/slot_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "lib/base/random_runs_test.h"

namespace trumpet {
namespace {

using Members = std::vector<ReshuffleMember>;
using Alive = std::vector<bool>;
using Random = std::mt19937_64;

Members RandomMembers(Random* random, size_t most = 12) {
  Members members((*random)() % most + 1);
  for (size_t i = 0; i < members.size(); ++i) {
    members[i].name = "an" + std::to_string(i) + "-" + std::to_string((*random)() % 1000);
    members[i].weight = (*random)() % 2 == 0 ? 1 : static_cast<uint32_t>((*random)() % 20);
  }
  return members;
}

std::vector<size_t> CountsOf(const SlotTable& table, size_t member_count) {
  std::vector<size_t> counts(member_count);
  for (const int member : table) {
    if (member != kNoMember) ++counts[static_cast<size_t>(member)];
  }
  return counts;
}

double ShareOf(const Members& members, const Alive& is_alive, size_t member, double of) {
  double all = 0;
  for (size_t i = 0; i < members.size(); ++i) all += is_alive[i] ? members[i].weight : 0;
  return all == 0 ? 0 : of * members[member].weight / all;
}

size_t MovedBetween(const SlotTable& one, const SlotTable& other) {
  size_t moved = 0;
  for (size_t slot = 0; slot < one.size(); ++slot) moved += one[slot] != other[slot] ? 1 : 0;
  return moved;
}

// The slow twin of one giving out: as often as there are slots, look for the best of all that are
// free and all that have room.
void SlowlyGiveOut(const Members& members, const std::vector<size_t>& slots,
                   std::vector<size_t> room, std::map<size_t, size_t>* owners) {
  while (owners->size() < slots.size()) {
    double best = std::numeric_limits<double>::infinity();
    std::pair<size_t, size_t> found;
    for (const size_t slot : slots) {
      if (owners->count(slot) != 0) continue;
      for (size_t i = 0; i < members.size(); ++i) {
        if (room[i] == 0 || SlotScore(members[i], slot) >= best) continue;
        best = SlotScore(members[i], slot);
        found = {slot, i};
      }
    }
    (*owners)[found.first] = found.second;
    --room[found.second];
  }
}

TEST(SlotTable, IsWhatTheSlowTwinGivesOut) {
  for (uint64_t seed = testing::FirstSeed(); seed <= testing::LastSeed(40); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Members members = RandomMembers(&random, 6);
    const Alive all(members.size(), true);
    const SlotTable table = PlanSlots(members, all);
    std::vector<size_t> slots(kReshuffleSlots);
    for (size_t i = 0; i < slots.size(); ++i) slots[i] = i;
    const auto counts = CountsOf(table, members.size());
    if (counts == std::vector<size_t>(members.size())) continue;  // nobody has a weight
    std::map<size_t, size_t> owners;
    SlowlyGiveOut(members, slots, counts, &owners);
    for (const auto& [slot, member] : owners) {
      ASSERT_EQ(table[slot], static_cast<int>(member)) << "slot " << slot;
    }
    // And what is given out once more when one goes.
    const size_t gone = random() % members.size();
    Alive others = all;
    others[gone] = false;
    const SlotTable after = PlanSlots(members, others);
    std::vector<size_t> lost;
    std::vector<size_t> room(members.size());
    for (size_t slot = 0; slot < table.size(); ++slot) {
      if (table[slot] != static_cast<int>(gone)) continue;
      lost.push_back(slot);
      if (after[slot] != kNoMember) ++room[static_cast<size_t>(after[slot])];
    }
    if (room == std::vector<size_t>(members.size())) continue;
    std::map<size_t, size_t> heirs;
    SlowlyGiveOut(members, lost, room, &heirs);
    for (const auto& [slot, member] : heirs) {
      ASSERT_EQ(after[slot], static_cast<int>(member)) << "slot " << slot;
    }
  }
}

TEST(SlotTable, GivesEverybodyItsShareButForRounding) {
  for (uint64_t seed = testing::FirstSeed(); seed <= testing::LastSeed(2000); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Members members = RandomMembers(&random);
    const Alive all(members.size(), true);
    const auto counts = CountsOf(PlanSlots(members, all), members.size());
    for (size_t i = 0; i < members.size(); ++i) {
      ASSERT_LT(
          std::abs(static_cast<double>(counts[i]) - ShareOf(members, all, i, kReshuffleSlots)),
          1.0);
    }
  }
}

// One after the other, in any order.
TEST(SlotTable, MovesOnlyTheSlotsOfWhoGoes) {
  size_t tried = 0;
  for (uint64_t seed = testing::FirstSeed(); seed <= testing::LastSeed(3000); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Members members = RandomMembers(&random);
    Alive is_alive(members.size(), true);
    SlotTable before = PlanSlots(members, is_alive);
    const size_t many = std::min<size_t>(members.size(), random() % 4 + 1);
    for (size_t round = 0; round < many; ++round) {
      const size_t gone = random() % members.size();
      is_alive[gone] = false;
      const SlotTable after = PlanSlots(members, is_alive);
      for (size_t slot = 0; slot < after.size(); ++slot) {
        if (before[slot] == static_cast<int>(gone)) {
          ASSERT_NE(after[slot], before[slot]);
        } else {
          ASSERT_EQ(after[slot], before[slot]);
        }
        ASSERT_TRUE(after[slot] == kNoMember || is_alive[static_cast<size_t>(after[slot])]);
      }
      ++tried;
      before = after;
    }
  }
  EXPECT_GT(tried, testing::LastSeed(3000));
}

TEST(SlotTable, SharesOutTheSlotsOfOneThatGoes) {
  for (uint64_t seed = testing::FirstSeed(); seed <= testing::LastSeed(2000); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Members members = RandomMembers(&random);
    Alive is_alive(members.size(), true);
    is_alive[random() % members.size()] = false;
    const auto counts = CountsOf(PlanSlots(members, is_alive), members.size());
    for (size_t i = 0; i < members.size(); ++i) {
      if (!is_alive[i]) continue;
      ASSERT_LT(
          std::abs(static_cast<double>(counts[i]) - ShareOf(members, is_alive, i, kReshuffleSlots)),
          2.0);  // rounded twice
    }
  }
}

TEST(SlotTable, OfThreeEqualsMovesAThirdWhenOneGoes) {
  const Members members = {{"an1", 1}, {"an2", 1}, {"an3", 1}};
  const SlotTable all = PlanSlots(members, {true, true, true});
  for (size_t gone = 0; gone < 3; ++gone) {
    Alive is_alive(3, true);
    is_alive[gone] = false;
    const size_t moved = MovedBetween(all, PlanSlots(members, is_alive));
    EXPECT_GE(moved, 85u);
    EXPECT_LE(moved, 86u);
  }
}

TEST(SlotTable, GivesBackWhatWasTakenWhoeverWasAwayBetween) {
  for (uint64_t seed = testing::FirstSeed(); seed <= testing::LastSeed(1000); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Members members = RandomMembers(&random);
    Alive is_alive(members.size());
    for (size_t i = 0; i < members.size(); ++i) is_alive[i] = random() % 4 != 0;
    const SlotTable table = PlanSlots(members, is_alive);
    // The order in which they are named makes no difference.
    std::vector<size_t> places(members.size());
    for (size_t i = 0; i < places.size(); ++i) places[i] = i;
    std::shuffle(places.begin(), places.end(), random);
    Members shuffled;
    Alive shuffled_alive;
    for (const size_t place : places) {
      shuffled.push_back(members[place]);
      shuffled_alive.push_back(is_alive[place]);
    }
    const SlotTable other = PlanSlots(shuffled, shuffled_alive);
    for (size_t slot = 0; slot < table.size(); ++slot) {
      const std::string name =
          table[slot] == kNoMember ? "" : members[static_cast<size_t>(table[slot])].name;
      const std::string other_name =
          other[slot] == kNoMember ? "" : shuffled[static_cast<size_t>(other[slot])].name;
      ASSERT_EQ(name, other_name);
    }
  }
}

// Another configuration is not only more or fewer that are alive: rooms are other ones, so a few
// slots change hands between those that stay.
TEST(SlotTable, MovesLittleMoreThanItMustWhenOneIsAdded) {
  double moved = 0;
  double needed = 0;
  for (uint64_t seed = testing::FirstSeed(); seed <= testing::LastSeed(500); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Members members = RandomMembers(&random);
    members[0].weight = 1;
    const SlotTable before = PlanSlots(members, Alive(members.size(), true));
    members.push_back({"new", 1});
    const SlotTable after = PlanSlots(members, Alive(members.size(), true));
    const auto must = CountsOf(after, members.size()).back();
    moved += static_cast<double>(MovedBetween(before, after));
    needed += static_cast<double>(must);
  }
  EXPECT_LE(moved, 1.5 * needed);
  RecordProperty("moved_of_needed_percent", static_cast<int>(100 * moved / needed));
}

TEST(SlotTable, IsEmptyWithoutAnybody) {
  EXPECT_EQ(PlanSlots({}, {}), SlotTable(kReshuffleSlots, kNoMember));
  EXPECT_EQ(PlanSlots({{"an1", 1}}, {false}), SlotTable(kReshuffleSlots, kNoMember));
  EXPECT_EQ(PlanSlots({{"an1", 0}}, {true}), SlotTable(kReshuffleSlots, kNoMember));
  EXPECT_EQ(PlanSlots({{"an1", 0}, {"an2", 3}}, {true, true}), SlotTable(kReshuffleSlots, 1));
}

}  // namespace
}  // namespace trumpet
