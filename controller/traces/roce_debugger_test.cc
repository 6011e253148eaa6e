// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/roce_debugger.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "controller/traces/roce_simulation_test.h"
#include "lib/base/random_runs_test.h"

namespace trumpet {
namespace {

using Json = nlohmann::ordered_json;

SwitchBook Book() {
  SwitchBook book;
  for (uint16_t i = 10; i < 17; ++i) EXPECT_TRUE(book.Add("s" + std::to_string(i - 9), i).ok());
  return book;
}

Json FindingsOf(const RoceSimulation& run) {
  RoceDebugger debugger((RoceOptions()));
  for (const RoceSight& sight : run.sights()) debugger.Take(sight);
  return debugger.Findings(Book());
}

RoceWorld World(std::mt19937_64* random) {
  RoceWorld world;
  world.places = static_cast<int>(1 + (*random)() % 4);
  world.packets = static_cast<int>(500 + (*random)() % 5000);
  return world;
}

TEST(RoceDebugger, FindsNothingInASoundNetwork) {
  for (uint64_t seed = testing::FirstSeed(); seed <= testing::LastSeed(300); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const RoceSimulation run(World(&random), seed);
    const Json findings = FindingsOf(run);
    ASSERT_EQ(findings.size(), 1u) << findings;
    EXPECT_EQ(findings[0]["verdict"], "nothing");
    EXPECT_EQ(findings[0]["packets"], run.sent());
  }
}

// Each packet that is lost between two switches; before the first and behind the last one each
// number that a NAK has named.
TEST(RoceDebugger, SaysBetweenWhichSwitchesPacketsWereLost) {
  for (uint64_t seed = testing::FirstSeed(); seed <= testing::LastSeed(1000); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    RoceWorld world = World(&random);
    world.faulty_link = static_cast<int>(random() % static_cast<uint64_t>(world.places + 1));
    world.loss = static_cast<double>(1 + random() % 20) / 1000;
    const RoceSimulation run(world, seed);
    if (run.missed().empty()) continue;
    const Json findings = FindingsOf(run);
    ASSERT_EQ(findings.size(), 1u) << findings;
    const Json& loss = findings[0];
    EXPECT_EQ(loss["verdict"], "loss");
    const std::string before = "s" + std::to_string(world.faulty_link);
    const std::string behind = "s" + std::to_string(world.faulty_link + 1);
    if (world.faulty_link == 0) {
      EXPECT_FALSE(loss.contains("behind")) << loss;
      EXPECT_EQ(loss["before"], behind);
    } else {
      EXPECT_EQ(loss["behind"], before) << loss;
      EXPECT_EQ(loss.contains("before"), world.faulty_link != world.places) << loss;
    }
    const bool is_inside = world.faulty_link > 0 && world.faulty_link < world.places;
    EXPECT_EQ(loss["packets"], is_inside ? run.lost() : run.missed().size()) << loss;
  }
}

TEST(RoceDebugger, SaysWhereMarksWereSet) {
  for (uint64_t seed = testing::FirstSeed(); seed <= testing::LastSeed(200); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    RoceWorld world = World(&random);
    world.places = static_cast<int>(2 + random() % 3);
    world.marking_place = static_cast<int>(random() % static_cast<uint64_t>(world.places - 1));
    const RoceSimulation run(world, seed);
    const Json findings = FindingsOf(run);
    ASSERT_EQ(findings.size(), 1u) << findings;
    EXPECT_EQ(findings[0]["verdict"], "congestion");
    EXPECT_EQ(findings[0]["behind"], "s" + std::to_string(world.marking_place + 1));
    EXPECT_EQ(findings[0]["packets"], run.marked());
  }
}

TEST(RoceDebugger, NamesReceiversThatAreNotReady) {
  for (uint64_t seed = testing::FirstSeed(); seed <= testing::LastSeed(200); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    RoceWorld world = World(&random);
    world.not_ready = 0.01;
    const RoceSimulation run(world, seed);
    if (run.not_ready() == 0) continue;
    const Json findings = FindingsOf(run);
    ASSERT_EQ(findings.size(), 1u) << findings;
    EXPECT_EQ(findings[0]["verdict"], "not_ready");
    EXPECT_EQ(findings[0]["host"], "10.0.0.2");
    EXPECT_EQ(findings[0]["packets"], run.not_ready());
  }
}

RoceSight Stop(uint16_t switch_number, uint32_t port, Nanos time, uint16_t quanta) {
  RoceSight sight;
  sight.time = time;
  sight.switch_number = switch_number;
  sight.port = port;
  sight.source = {2, 0, 0, 0, 0, static_cast<uint8_t>(port)};
  sight.control = MacControl{true, 8, {}};
  sight.control->quanta[3] = quanta;
  return sight;
}

// Each port begins to be stopped later than the one whose queue fills it.
TEST(RoceDebugger, TellsInWhichOrderAStormHasSpread) {
  for (uint64_t seed = testing::FirstSeed(); seed <= testing::LastSeed(300); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const auto ports = static_cast<uint16_t>(1 + random() % 5);
    const bool stands_still = random() % 2 == 0;
    std::vector<RoceSight> sights;
    std::vector<uint16_t> order;
    Nanos begin = RoceSimulation::kBegin;
    for (uint16_t i = 0; i < ports; ++i) {
      order.push_back(static_cast<uint16_t>(10 + i));
      std::swap(order[random() % order.size()], order.back());
    }
    const Nanos end = begin + kNanosPerSecond;
    for (const uint16_t at : order) {
      for (Nanos time = begin; time < end; time += 250 * kNanosPerMicro) {
        sights.push_back(Stop(at, 2, time, 65535));
      }
      if (!stands_still) sights.push_back(Stop(at, 2, end, 0));
      begin += static_cast<Nanos>(1 + random() % 50) * kNanosPerMilli;
    }
    // And one that is stopped now and then.
    for (Nanos i = 0; i < 10; ++i) {
      sights.push_back(Stop(16, 1, RoceSimulation::kBegin + i * 100 * kNanosPerMilli, 100));
    }
    std::stable_sort(sights.begin(), sights.end(),
                     [](const auto& a, const auto& b) { return a.time < b.time; });
    RoceDebugger debugger((RoceOptions()));
    for (const RoceSight& sight : sights) debugger.Take(sight);
    const Json findings = debugger.Findings(Book());
    ASSERT_EQ(findings.size(), order.size() + 1) << findings;
    for (size_t i = 0; i < order.size(); ++i) {
      EXPECT_EQ(findings[i]["verdict"], "storm");
      EXPECT_EQ(findings[i]["switch"], "s" + std::to_string(order[i] - 9));
      EXPECT_EQ(findings[i]["order"], i + 1);
      EXPECT_EQ(findings[i]["stands_still"], stands_still && ports > 1);
    }
    EXPECT_EQ(findings.back()["verdict"], "paused");
    EXPECT_EQ(findings.back()["stops"], 10);
  }
}

TEST(RoceDebugger, CountsWhatAnEvictedFlowHad) {
  RoceOptions options;
  options.max_flows = 4;
  RoceDebugger debugger(options);
  RoceWorld world;
  world.faulty_link = 1;
  world.loss = 0.01;
  const RoceSimulation run(world, 5);
  for (const RoceSight& sight : run.sights()) debugger.Take(sight);
  for (uint32_t pair = 1000; pair < 1100; ++pair) {
    RoceSight sight = run.sights().front();
    sight.roce->queue_pair = pair;
    debugger.Take(sight);
  }
  EXPECT_EQ(debugger.Flows(Book()).size(), 4u);
  const Json findings = debugger.Findings(Book());
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0]["packets"], run.lost());
  EXPECT_EQ(debugger.Sums()["evicted"], 98);
  EXPECT_EQ(debugger.Sums()["queue_pairs"], 102);
}

TEST(RoceDebugger, OfAPartSaysThatWhereIsNotKnown) {
  RoceOptions options;
  options.has_all_packets = false;
  RoceDebugger debugger(options);
  RoceWorld world;
  world.faulty_link = 2;
  world.loss = 0.01;
  const RoceSimulation run(world, 7);
  for (const RoceSight& sight : run.sights()) {
    if (sight.roce->ack) debugger.Take(sight);
  }
  const Json findings = debugger.Findings(Book());
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0]["verdict"], "loss");
  EXPECT_EQ(findings[0]["host"], "10.0.0.2");
  EXPECT_FALSE(findings[0].contains("behind"));
}

}  // namespace
}  // namespace trumpet
