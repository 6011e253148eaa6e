// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/controller_set.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace trumpet {
namespace {

constexpr uint64_t kController = 7;

TriggerChange Put(uint32_t id, const std::string& name = "e") {
  TriggerChange change;
  change.put.emplace();
  change.put->event.id = id;
  change.put->event.name = name;
  return change;
}

TriggerChange Remove(uint32_t id) {
  TriggerChange change;
  change.remove_event_id = id;
  return change;
}

TriggerSet Set(uint64_t generation, uint64_t base, std::initializer_list<TriggerChange> changes) {
  return {generation, base, 0, true, changes, {}};
}

TriggerSet Part(uint64_t generation, uint32_t part, bool is_last,
                std::initializer_list<TriggerChange> changes) {
  return {generation, 0, part, is_last, changes, {}};
}

std::string Ids(const ControllerSet& set) {
  std::string text;
  for (const auto& [id, trigger] : set.triggers()) text += std::to_string(id) + trigger.event.name;
  return text;
}

class ControllerSetTest : public testing::Test {
 protected:
  ControllerSetTest() { set_.BeginSession(kController); }
  std::string Refusal(TriggerSet part) {
    const auto taken = set_.Take(std::move(part));
    return taken ? taken->refusal : "nothing yet";
  }
  ControllerSet set_;
};

TEST_F(ControllerSetTest, HoldsAWholeSetAndThenChanges) {
  EXPECT_EQ(Refusal(Set(5, 0, {Put(1, "a"), Put(2, "b")})), "");
  EXPECT_EQ(Ids(set_), "1a2b");
  EXPECT_EQ(Refusal(Set(6, 5, {Remove(1), Put(3, "c"), Put(2, "x")})), "");
  EXPECT_EQ(Ids(set_), "2x3c");
  EXPECT_EQ(set_.generation(), 6u);
  EXPECT_EQ(set_.controller_id(), kController);
}

TEST_F(ControllerSetTest, CountsWhenItsLastPartHasCome) {
  EXPECT_EQ(Refusal(Part(5, 0, false, {Put(1)})), "nothing yet");
  EXPECT_EQ(Ids(set_), "");
  const auto taken = set_.Take(Part(5, 1, true, {Put(2)}));
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->changed, (std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(Ids(set_), "1e2e");
}

TEST_F(ControllerSetTest, RefusesChangesToASetThatIsNotHere) {
  set_.Take(Set(5, 0, {Put(1)}));
  EXPECT_EQ(Refusal(Set(9, 8, {Put(2)})), "generation 8 is not here, but 5");
  EXPECT_EQ(Ids(set_), "1e") << "and goes on with what it has";
}

TEST_F(ControllerSetTest, RefusesChangesByAnotherController) {
  set_.Take(Set(5, 0, {Put(1)}));
  set_.BeginSession(kController + 1);
  EXPECT_EQ(Refusal(Set(6, 5, {Put(2)})),
            "generation 5 is not here, but that of another controller");
  EXPECT_EQ(Refusal(Set(1, 0, {Put(2)})), "");
  EXPECT_EQ(Ids(set_), "2e");
}

TEST_F(ControllerSetTest, RefusesPartsOutOfOrderOnceAndPassesTheRestOver) {
  set_.Take(Part(5, 0, false, {Put(1)}));
  EXPECT_EQ(Refusal(Part(5, 2, false, {Put(2)})),
            "part 2 of generation 5 comes after part 0 of generation 5");
  EXPECT_EQ(Refusal(Part(5, 3, true, {Put(3)})), "nothing yet");
  EXPECT_EQ(Refusal(Set(6, 0, {Put(4)})), "");
  EXPECT_EQ(Ids(set_), "4e");
}

TEST_F(ControllerSetTest, ForgetsPartsOfTheSessionBefore) {
  set_.Take(Part(5, 0, false, {Put(1)}));
  set_.BeginSession(kController);
  EXPECT_EQ(Refusal(Part(5, 1, true, {Put(2)})), "part 1 comes first");
}

TEST_F(ControllerSetTest, BoundsWhatComes) {
  TriggerChange large = Put(1);
  large.put->event.filter.op = FilterOp::kAnd;
  large.put->event.filter.args.resize(65000);
  std::string refusal;
  for (uint32_t part = 0; part < 100 && refusal.empty(); ++part) {
    const auto taken = set_.Take(Part(5, part, false, {large}));
    if (taken) refusal = taken->refusal;
  }
  EXPECT_EQ(refusal, "its events have more than 1048576 nodes");
}

}  // namespace
}  // namespace trumpet
