// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// `applied N of M hosts`, while hosts take their time, refuse, come and go, and events change.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "controller/tem/event_manager_kit_test.h"
#include "lib/base/random_runs_test.h"

namespace trumpet {
namespace {

class EventManagerInstallTest : public EventManagerHostsTest {
 protected:
  // Another controller, with agents that answer when they are told to.
  void BeginWith(size_t hosts, size_t max_set_bytes) {
    agents_.clear();
    options_.max_set_bytes = max_set_bytes;
    Begin();
    for (size_t i = 0; i < hosts; ++i) {
      Agent(i).answers = false;
      Connect(i);
    }
  }
  size_t CountSetsWaiting() const {
    return static_cast<size_t>(std::count_if(agents_.begin(), agents_.end(), [](const auto& agent) {
      return agent->has_set_waiting();
    }));
  }
  // What the agents really run: so many hosts, this very definition.
  uint32_t CountRunning(uint32_t id) const {
    return static_cast<uint32_t>(
        std::count_if(agents_.begin(), agents_.end(), [id](const auto& agent) {
          return agent->is_connected() && agent->running.count(id) != 0;
        }));
  }
  void ExpectTruth(const std::string& when) {
    for (const EventView& event : manager_->Events(Caller())) {
      SCOPED_TRACE(event.record.name + " " + when);
      if (!event.record.is_enabled) {
        EXPECT_EQ(event.wanted, 0u);
        continue;
      }
      EXPECT_EQ(event.wanted, agents_.size()) << "hosts that are known, whether they are here";
      EXPECT_LE(event.applied, CountRunning(event.record.id));
      EXPECT_EQ(event.last_applied_ns == 0 || event.last_applied_ns >= event.changed_ns, true);
    }
  }
  void Turn(int rounds) {
    loop_.RunReady(rounds);
    manager_->Tick();
  }
};

TEST_F(EventManagerInstallTest, CountsAHostWhenItRunsTheEventAndNotBefore) {
  BeginWith(3, 1u << 20);
  Put(kMean);
  const Nanos sent = View("mean").changed_ns;
  EXPECT_EQ(View("mean").wanted, 3u) << "though nobody has been told yet";
  ASSERT_TRUE(RunUntil([&] { return CountSetsWaiting() == 3; }));
  EXPECT_EQ(View("mean").applied, 0u);
  EXPECT_EQ(View("mean").last_applied_ns, 0);
  for (const size_t host : {2, 0, 1}) {
    clock_.Advance(7 * kNanosPerMilli);
    Agent(host).AnswerNow();
    const uint32_t before = View("mean").applied;
    ASSERT_TRUE(RunUntil([&] { return View("mean").applied != before; }));
    EXPECT_EQ(View("mean").applied, before + 1);
  }
  EXPECT_EQ(View("mean").last_applied_ns - sent, 21 * kNanosPerMilli);
  // That is how long it took, whoever comes later.
  clock_.Advance(kNanosPerSecond);
  Connect(3);
  Settle();
  EXPECT_EQ(View("mean").wanted, 4u);
  EXPECT_EQ(View("mean").applied, 4u);
  EXPECT_EQ(View("mean").last_applied_ns - sent, 21 * kNanosPerMilli);
}

TEST_F(EventManagerInstallTest, AHostThatIsAwayRunsNothingThatAnybodyKnowsOf) {
  BeginWith(2, 1u << 20);
  for (size_t i = 0; i < 2; ++i) Agent(i).answers = true;
  Put(kMean);
  Settle();
  EXPECT_EQ(View("mean").applied, 2u);
  Agent(1).Kill();
  ASSERT_TRUE(RunUntil([&] { return manager_->connected_hosts() == 1; }));
  EXPECT_EQ(View("mean").applied, 1u);
  EXPECT_EQ(View("mean").wanted, 2u);
  EXPECT_EQ(manager_->FindHost("h1")->events_applied, 0u);
  Connect(1);
  Settle();
  EXPECT_EQ(View("mean").applied, 2u);
  EXPECT_EQ(manager_->FindHost("h1")->events_applied, 1u);
}

TEST_F(EventManagerInstallTest, AnEventThatBeginsAnewCountsAnew) {
  BeginWith(1, 1u << 20);
  Agent(0).answers = true;
  Put(kMean);
  Settle();
  EXPECT_EQ(View("mean").applied, 1u);
  Agent(0).answers = false;
  clock_.Advance(kNanosPerSecond);
  Enable("mean", false);
  Enable("mean", true);
  EXPECT_EQ(View("mean").applied, 0u);
  EXPECT_EQ(View("mean").last_applied_ns, 0);
  Agent(0).answers = true;
  Agent(0).AnswerNow();
  Settle();
  EXPECT_EQ(View("mean").applied, 1u);
  EXPECT_GE(View("mean").last_applied_ns, View("mean").changed_ns);
}

TEST_F(EventManagerInstallTest, HostsGetTheirSetsByTurns) {
  BeginWith(3, 1);
  Put(kMean);
  ASSERT_TRUE(RunUntil([&] { return CountSetsWaiting() == 1; }));
  Turn(50);
  EXPECT_EQ(CountSetsWaiting(), 1u) << "there is room for one";
  for (size_t done = 1; done < 3; ++done) {
    for (size_t i = 0; i < 3; ++i) Agent(i).AnswerNow();
    ASSERT_TRUE(RunUntil([&] { return View("mean").applied == done; }));
    ASSERT_TRUE(RunUntil([&] { return CountSetsWaiting() == 1; }));
  }
  // The last one does not answer, and holds nobody up for long.
  Put(kBig);
  Turn(50);
  EXPECT_EQ(CountSetsWaiting(), 1u);
  clock_.Advance(3 * kNanosPerSecond);
  ASSERT_TRUE(RunUntil([&] { return CountSetsWaiting() == 2; }));
}

TEST_F(EventManagerInstallTest, RoomOfAHostThatGoesIsForOthers) {
  BeginWith(2, 1);
  Put(kMean);
  ASSERT_TRUE(RunUntil([&] { return CountSetsWaiting() == 1; }));
  Agent(Agent(0).has_set_waiting() ? 0 : 1).Kill();
  ASSERT_TRUE(RunUntil([&] { return CountSetsWaiting() == 1; }));
  // And so does one that waits for its turn.
  Put(kBig);
  for (size_t i = 0; i < 2; ++i) Agent(i).Kill();
  ASSERT_TRUE(RunUntil([&] { return manager_->connected_hosts() == 0; }));
  for (size_t i = 0; i < 2; ++i) {
    Agent(i).answers = true;
    Connect(i);
  }
  Settle();
  EXPECT_EQ(View("mean").applied, 2u);
  EXPECT_EQ(View("big").applied, 2u);
}

// Events are put, replaced, removed, switched off and on while hosts hold their sets back, answer
// in any order, refuse, go and come.  At no instant is a host counted that does not run the very
// definition that is shown, and in the end all are.
TEST_F(EventManagerInstallTest, NeverSaysThatMoreHostsRunAnEventThanDo) {
  constexpr size_t kHosts = 4;
  for (uint64_t seed = testing::FirstSeed(); seed <= testing::LastSeed(10); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(static_cast<uint32_t>(seed));
    const auto below = [&](uint32_t count) { return static_cast<uint32_t>(random() % count); };
    for (const EventView& event : manager_->Events(Caller())) Remove(event.record.name);
    BeginWith(kHosts, below(2) == 0 ? 1 : 1u << 20);
    for (int step = 0; step < 120; ++step) {
      const std::string name = "e" + std::to_string(below(5));
      const bool is_there = manager_->FindEvent(name, Caller()).has_value();
      const size_t host = below(kHosts);
      switch (below(12)) {
        case 0:
        case 1:
          Put("- {name: " + name + ", event: '*, sum(volume) > " + std::to_string(below(4)) +
              ", 10ms', scope: " + (below(2) == 0 ? "host" : "network") + "}");
          break;
        case 2:
          if (is_there) Remove(name);
          break;
        case 3:
          if (is_there) Enable(name, below(2) == 0);
          break;
        case 4:
          Agent(host).refused_event = below(2) == 0 ? name : "";
          break;
        case 5:
          if (!Agent(host).is_connected()) {
            Connect(host);
          } else if (below(2) == 0) {
            below(2) == 0 ? Agent(host).Kill() : Agent(host).Restart();
            ASSERT_TRUE(RunUntil(
                [&] { return !manager_->FindHost("h" + std::to_string(host))->is_connected; }));
          }
          break;
        case 6:
          clock_.Advance(Nanos{below(700)} * kNanosPerMilli);
          break;
        case 7:
        case 8:
          Turn(static_cast<int>(below(5)));
          break;
        default:
          Agent(host).AnswerNow();
          break;
      }
      ExpectTruth("at step " + std::to_string(step));
      if (HasFailure()) return;
    }
    for (int i = 0; i < 2; ++i) Turn(50);  // those that were silent for too long end, at both ends
    for (size_t i = 0; i < kHosts; ++i) {
      Agent(i).refused_event.clear();
      Agent(i).answers = true;
      Agent(i).AnswerNow();
      if (!Agent(i).is_connected()) Connect(i);
    }
    Settle();
    EXPECT_EQ(manager_->connected_hosts(), kHosts);
    for (const EventView& event : manager_->Events(Caller())) {
      if (!event.record.is_enabled) continue;
      uint32_t refused = 0;  // what was refused is not sent again by itself
      for (const EventOnHost& on : manager_->HostsOf(event.record.name)) {
        refused += on.state == HostApplication::kRefused;
      }
      EXPECT_EQ(event.applied, kHosts - refused) << event.record.name;
      EXPECT_EQ(CountRunning(event.record.id), kHosts - refused) << event.record.name;
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace trumpet
