// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/tem/trigger_sync.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace trumpet {
namespace {

constexpr uint64_t kController = 77;

// An agent as the protocol wants it: takes changes to the very set that it runs, or a whole set, in
// which what is the same goes on counting.  Each answer says of all events which do not run.
class PlainAgent {
 public:
  Hello MakeHello() const {
    Hello hello;
    hello.host_id = "h";
    hello.process_start_ns = process_start;
    hello.set_controller_id = generation == 0 ? 0 : kController;
    hello.set_generation = generation;
    return hello;
  }

  void Restart() {
    ++process_start;
    generation = 0;
    since.clear();
    set_.clear();
    parts_.clear();
  }

  // The answer, when all parts have come.
  std::vector<TriggerAck> Take(const TriggerSet& part) {
    if (part.part == 0) parts_.clear();
    EXPECT_EQ(part.part, parts_.size());
    parts_.push_back(part);
    if (!part.is_last) return {};
    TriggerAck ack;
    ack.generation = part.generation;
    EXPECT_GT(part.generation, generation);
    if (part.base_generation != 0 && part.base_generation != generation) {
      ack.text = "the base is another one";
      return {ack};
    }
    ++now;
    if (part.base_generation == 0) set_.clear();
    for (const TriggerSet& one : parts_) Apply(one);
    RunSet(&ack);
    generation = part.generation;
    ack.is_applied = true;
    ack.applied_ns = now;
    if (ack.errors.size() < 2) return {ack};
    // In two messages, that one comes to know those.
    TriggerAck second = ack;
    second.errors.erase(second.errors.begin());
    ack.errors.resize(1);
    ack.has_more = true;
    return {ack, second};
  }

  std::set<uint32_t> Ids() const {
    std::set<uint32_t> ids;
    for (const auto& [id, from] : since) ids.insert(id);
    return ids;
  }

  Nanos process_start = 1;
  uint64_t generation = 0;
  Nanos now = 0;
  std::map<uint32_t, Nanos> since;  // when each event began to count
  std::set<uint32_t> refuses;

 private:
  void Apply(const TriggerSet& part) {
    for (const TriggerChange& change : part.changes) {
      if (change.put) {
        set_.insert(change.put->event.id);
      } else {
        EXPECT_NE(part.base_generation, 0u) << "a whole set removes nothing by name";
        set_.erase(change.remove_event_id);
      }
    }
  }
  void RunSet(TriggerAck* ack) {
    std::map<uint32_t, Nanos> before;
    before.swap(since);
    for (const uint32_t id : set_) {
      if (refuses.count(id) != 0) {
        ack->errors.push_back({id, "", "too much"});
      } else {
        since[id] = before.count(id) != 0 ? before[id] : now;
      }
    }
  }

  std::set<uint32_t> set_;
  std::vector<TriggerSet> parts_;
};

// A sync, an agent, and the way between them, on which sets and answers wait until they are let go.
struct World {
  explicit World(uint32_t seed) : random(seed) { sync = std::make_unique<TriggerSync>(&tallies); }

  uint32_t Below(uint32_t count) { return static_cast<uint32_t>(random() % count); }

  void Connect() {
    if (sync->is_connected()) return;
    sync->OnConnected(kController, agent.MakeHello());
  }
  void Disconnect() {
    if (!sync->is_connected()) return;
    sync->OnDisconnected();
    to_agent.clear();
    to_controller.clear();
  }
  void Want(uint32_t id) {
    wanted.insert(id);
    sync->Want(id);
  }
  void Drop(uint32_t id) {
    wanted.erase(id);
    sync->Drop(id);
  }
  bool SendPart() {
    TriggerSet part;
    const auto maker = [](uint32_t id, const ThresholdShare*, TriggerSync::TriggerOnWire* out) {
      out->trigger.event.id = id;
      out->bytes = 100;
      return true;
    };
    if (!sync->NextPart(maker, 300, &part)) return false;
    to_agent.push_back(std::move(part));
    return true;
  }
  bool Deliver() {
    if (to_agent.empty()) return false;
    for (TriggerAck& ack : agent.Take(to_agent.front())) to_controller.push_back(std::move(ack));
    to_agent.erase(to_agent.begin());
    return true;
  }
  bool Answer() {
    if (to_controller.empty()) return false;
    const TriggerSync::Outcome outcome = sync->OnAck(to_controller.front(), ++now);
    to_controller.erase(to_controller.begin());
    for (const auto& event : outcome.applied) {
      if (event.begins) joined[event.id] = outcome.applied_ns;
    }
    for (const uint32_t id : outcome.left) joined.erase(id);
    return true;
  }
  void Settle() {
    Connect();
    for (bool is_moving = true; is_moving;) is_moving = SendPart() | Deliver() | Answer();
  }

  std::mt19937 random;
  TriggerTallies tallies;
  PlainAgent agent;
  std::unique_ptr<TriggerSync> sync;
  std::set<uint32_t> wanted;
  std::map<uint32_t, Nanos> joined;  // as the verdicts were told
  std::vector<TriggerSet> to_agent;
  std::vector<TriggerAck> to_controller;
  Nanos now = 0;
};

void ExpectAgreement(const World& world) {
  std::set<uint32_t> running = world.wanted;
  for (const uint32_t id : world.agent.refuses) running.erase(id);
  EXPECT_EQ(world.agent.Ids(), running);
  EXPECT_TRUE(world.sync->IsSettled());
  EXPECT_EQ(world.sync->applied_count(), running.size());
  EXPECT_EQ(world.joined.size(), running.size()) << "some have not left";
  for (const uint32_t id : running) {
    ASSERT_EQ(world.joined.count(id), 1u) << "event " << id << " was never joined";
    // To have joined late costs a report its completeness; early would be a lie.
    EXPECT_GE(world.joined.at(id), world.agent.since.at(id)) << "event " << id;
  }
  uint32_t wanted = 0;
  uint32_t applied = 0;
  for (const auto& [id, tally] : world.tallies) {
    wanted += tally.wanted;
    applied += tally.applied;
  }
  EXPECT_EQ(wanted, world.wanted.size());
  EXPECT_EQ(applied, running.size());
}

TEST(TriggerSync, SendsWhatWasWishedTogetherAsOneSet) {
  World world(1);
  for (uint32_t id = 1; id <= 10; ++id) world.Want(id);
  world.Connect();
  int part_count = 0;
  while (world.SendPart()) ++part_count;
  EXPECT_EQ(part_count, 4);  // of three each
  EXPECT_EQ(world.to_agent[0].base_generation, 0u);
  EXPECT_TRUE(world.to_agent[3].is_last);
  for (const TriggerSet& part : world.to_agent) EXPECT_EQ(part.generation, 1u);
  world.Settle();
  ExpectAgreement(world);
}

TEST(TriggerSync, SendsChangesToTheAcknowledgedSetOnly) {
  World world(1);
  world.Want(1);
  world.Settle();
  world.Want(2);
  world.Drop(1);
  ASSERT_TRUE(world.SendPart());
  const TriggerSet& part = world.to_agent[0];
  EXPECT_EQ(part.base_generation, 1u);
  ASSERT_EQ(part.changes.size(), 2u);
  EXPECT_EQ(part.changes[0].remove_event_id, 1u);
  EXPECT_EQ(part.changes[1].put->event.id, 2u);
  world.Want(3);
  EXPECT_FALSE(world.SendPart()) << "one set is under way";
  world.Settle();
  ExpectAgreement(world);
}

TEST(TriggerSync, SendsNothingToAHostThatHasNothingAndNeedsNothing) {
  World world(1);
  world.Want(1);
  world.Drop(1);
  world.Connect();
  EXPECT_FALSE(world.SendPart());
  EXPECT_TRUE(world.sync->IsSettled());
}

TEST(TriggerSync, ClearsAHostThatRunsWhatNobodyWants) {
  World world(1);
  world.Want(1);
  world.Settle();
  world.sync = std::make_unique<TriggerSync>(&world.tallies);  // another process of ours
  world.wanted.clear();
  world.joined.clear();
  world.Settle();
  ExpectAgreement(world);
  EXPECT_GT(world.agent.generation, 1u);
}

TEST(TriggerSync, LetsAHostGoOnCountingThatComesBack) {
  World world(1);
  world.Want(1);
  world.Settle();
  world.Disconnect();
  world.Settle();
  EXPECT_EQ(world.agent.generation, 1u) << "there was nothing to say";
  world.Disconnect();
  world.agent.Restart();
  world.Settle();
  EXPECT_EQ(world.joined[1], 2);
  ExpectAgreement(world);
}

TEST(TriggerSync, TellsWhatTheHostRefuses) {
  World world(1);
  world.agent.refuses = {2};
  world.Want(1);
  world.Want(2);
  world.Settle();
  TriggerSync::View view;
  ASSERT_TRUE(world.sync->Find(2, &view));
  EXPECT_EQ(view.state, SyncState::kRefused);
  EXPECT_EQ(view.error, "too much");
  EXPECT_EQ(world.tallies[2].refused, 1u);
  ASSERT_TRUE(world.sync->Find(1, &view));
  EXPECT_EQ(view.state, SyncState::kApplied);
}

TEST(TriggerSync, TellsWhatTheHostOustsAndTakesAgain) {
  World world(1);
  world.Want(1);
  world.Want(2);
  world.Settle();
  ExpectAgreement(world);
  world.agent.refuses = {1};
  world.Want(3);
  world.Settle();
  TriggerSync::View view;
  ASSERT_TRUE(world.sync->Find(1, &view));
  EXPECT_EQ(view.state, SyncState::kRefused);
  EXPECT_EQ(world.tallies[1].applied, 0u);
  ExpectAgreement(world);
  world.agent.refuses.clear();
  world.Drop(3);
  world.Settle();
  EXPECT_EQ(world.tallies[1].refused, 0u);
  ExpectAgreement(world);
}

TEST(TriggerSync, TellsWhatAHostRefusesThatItRanBeforeItsRestart) {
  World world(1);
  world.Want(1);
  world.Want(2);
  world.Settle();
  world.Disconnect();
  world.agent.Restart();
  world.agent.refuses = {1};
  world.Settle();
  ExpectAgreement(world);
}

// Nobody knows whether the host had the set that takes the event away; the next one is whole, and
// names only what it puts.
TEST(TriggerSync, TellsWhatWasTakenAwayThoughTheBaseWasLost) {
  for (const uint32_t kept : {0, 1}) {
    for (int way = 0; way < 4; ++way) {
      SCOPED_TRACE(std::to_string(kept) + " kept, way " + std::to_string(way));
      World world(1);
      for (uint32_t id = 1; id <= kept + 1; ++id) world.Want(id);
      world.Settle();
      world.Drop(kept + 1);
      ASSERT_TRUE(world.SendPart());
      if (way < 3) world.Deliver();
      if (way == 3) world.agent.generation = 0;  // it refuses the set
      if (way < 3) world.Disconnect();
      if (way == 1) world.agent.Restart();
      if (way == 2) world.agent.generation = 0;  // it was another controller's meanwhile
      world.Settle();
      ExpectAgreement(world);
    }
  }
}

TEST(TriggerSync, TakesNoAnswerToAWishForALaterOne) {
  World world(1);
  world.Connect();
  world.Want(1);
  ASSERT_TRUE(world.SendPart());
  world.Deliver();
  world.Drop(1);
  world.Want(1);  // by another share, perhaps
  world.Answer();
  EXPECT_TRUE(world.joined.empty());
  EXPECT_FALSE(world.sync->IsSettled());
  world.Settle();
  ExpectAgreement(world);
}

TEST(TriggerSync, SendsAllOnceMoreWhenTheBaseWasAnother) {
  World world(1);
  world.Want(1);
  world.Settle();
  world.agent.generation = 0;  // it has forgotten
  world.agent.since.clear();
  world.Want(2);
  world.Settle();
  EXPECT_EQ(world.sync->refused_sets(), 1u);
}

TEST(TriggerSync, SendsAShareAgainWithoutBeginningAnew) {
  World world(1);
  world.Want(1);
  world.sync->SetShare(1, {5, 100, 0});
  world.Settle();
  const Nanos joined = world.joined[1];
  world.sync->SetShare(1, {6, 50, 0});
  EXPECT_TRUE(world.SendPart());
  world.Settle();
  EXPECT_EQ(world.joined[1], joined);
}

TEST(TriggerSync, EndsWithTheSetItShouldHaveWhateverHappens) {
  constexpr uint32_t kRuns = 400;
  for (uint32_t seed = 1; seed <= kRuns; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    World world(seed);
    for (int step = 0; step < 300; ++step) {
      const uint32_t id = 1 + world.Below(12);
      switch (world.Below(12)) {
        case 0:
        case 1:
          world.Want(id);
          break;
        case 2:
          world.Drop(id);
          break;
        case 3:
          world.Connect();
          break;
        case 4:
          if (world.Below(3) == 0) world.Disconnect();
          break;
        case 5:
          if (world.Below(4) == 0) {
            world.Disconnect();
            world.agent.Restart();
          }
          break;
        case 6:
          if (world.Below(8) == 0) world.agent.refuses = {id};
          break;
        case 7:
        case 8:
          world.SendPart();
          break;
        case 9:
          world.Deliver();
          break;
        default:
          world.Answer();
          break;
      }
    }
    // Those it refuses now, or has refused, may be wished for anew.
    world.agent.refuses.clear();
    for (uint32_t id = 1; id <= 12; ++id) {
      const bool is_wanted = world.wanted.count(id) != 0;
      TriggerSync::View view;
      if (is_wanted && world.sync->Find(id, &view) && view.state != SyncState::kApplied) {
        world.Drop(id);
        world.Want(id);
      }
    }
    world.Settle();
    // Events refused in sets that were under way just now.
    for (uint32_t id = 1; id <= 12; ++id) {
      TriggerSync::View view;
      if (world.sync->Find(id, &view) && view.state == SyncState::kRefused) {
        world.Drop(id);
        world.Want(id);
      }
    }
    world.Settle();
    ExpectAgreement(world);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace trumpet
