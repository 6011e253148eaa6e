// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/slice/campaign_run.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "controller/slice/campaign_lab_test.h"

namespace trumpet {
namespace {

TEST(CampaignRun, IsNotMovedByAClockThatIsSet) {
  constexpr Nanos kHour = 3600 * kNanosPerSecond;
  // Wherever in a slot it happens.
  for (Nanos at = 200 * kMs; at < 240 * kMs; at += 3 * kMs) {
    for (const Nanos jump : {kHour, -kHour}) {
      SCOPED_TRACE(testing::Message() << jump << " ns at " << at);
      Lab lab;
      lab.AddFlow(kPrefix, "ABCD", 2'000'000);
      lab.agenda.After(at, [&lab, jump] { lab.clock.wall_ahead = jump; });
      lab.Begin("MIRROR 1.2.3.0/24 ON [A B C D] USING 15 Mb/s DURING 450 ms");
      lab.RunToEnd();
      const SliceRunView& view = lab.run->view();
      EXPECT_EQ(view.state, SliceRunState::kDone) << view.problem;
      EXPECT_EQ(view.failed_slots, 0u);
      EXPECT_GE(view.slots, 12u);
      EXPECT_LT(lab.run->spacing(), 50 * kMs);
      EXPECT_EQ(lab.network.on(), 0u);
      EXPECT_EQ(lab.network.mistake, "");
    }
  }
}

TEST(CampaignRun, SpacesSlotsByWhatProbesSayAndTellsTheAnalyzer) {
  Lab lab;
  lab.AddFlow(kPrefix, "ABCD", 1'000'000);
  LatencyBook book;
  book.Add("A", {0, 41 * kMs, 2 * kMs, 0});
  book.Add("B", {0, 7 * kMs, 2 * kMs, 0});
  book.Add("elsewhere", {0, 400 * kMs, 0, 0});
  lab.parts.latencies = &book;
  lab.Begin("MIRROR {1.2.3.0/24} ON {[A B]} USING 10 Mb/s DURING 450 ms EVERY 5 s");
  lab.RunToEnd();
  EXPECT_EQ(lab.run->view().state, SliceRunState::kDone) << lab.run->view().problem;
  EXPECT_EQ(lab.run->view().spacing, 42 * kMs);  // 40, 1 of error, 1 more
  ASSERT_EQ(lab.network.latencies.size(), 2u);
  EXPECT_EQ(lab.network.latencies[0].switch_name, "A");
  EXPECT_EQ(lab.network.latencies[0].latency, 40 * kMs);
  EXPECT_EQ(lab.network.latencies[1].latency, 6 * kMs);
}

TEST(CampaignRun, LooksFirstAndThenRunsThePapersExample) {
  Lab lab;
  lab.AddFlow("1.2.3.0/25", "ABCD", 2'000'000);
  lab.AddFlow("1.2.3.128/25", "ALCD", 2'000'000);
  lab.Begin(
      "CONFINE { 1.2.3.0/24 } ON { [A B L C D] }\n"
      "MIRROR { 1.2.3.0/24 } ON { [A B C D], [A L C D] }\n"
      "USING 15 Mb/s DURING 450 ms EVERY 5 s");
  lab.RunToEnd();
  const SliceRunView& view = lab.run->view();
  EXPECT_EQ(view.state, SliceRunState::kDone) << view.problem;
  EXPECT_EQ(view.bootstrap_slots, 1u);
  EXPECT_GE(view.slots, 10u);
  EXPECT_EQ(view.over_budget, 0u);
  EXPECT_EQ(view.answers, "{\"loss\":0}");
  EXPECT_EQ(lab.network.mistake, "");
  std::set<uint32_t> tags;
  for (const ExpectedSlice& slice : lab.network.expected()) {
    EXPECT_TRUE(tags.insert(slice.tag).second);
    if (slice.slot == 0 || slice.is_confine) continue;
    EXPECT_EQ(slice.locations,
              slice.path[1] == "B" ? (std::vector<std::string>{"A", "B", "D"}) : slice.locations);
  }
  const auto demand = lab.demands.Estimate(*ParsePrefix(kPrefix), lab.clock.now);
  ASSERT_TRUE(demand);
  EXPECT_NEAR(static_cast<double>(demand->rate_bps), 4.2e6, 0.6e6);  // at A and D, with tunnels
  lab.Settle();
  EXPECT_EQ(lab.network.on(), 0u);
}

TEST(CampaignRun, StartsNothingUnlessAllIsThere) {
  const std::string text = "MIRROR 1.2.3.0/24 ON [A B C D] USING 15";
  Lab lab;
  lab.network.dead.insert("B");
  lab.Begin(text);
  lab.RunToEnd();
  EXPECT_EQ(lab.run->view().problem,
            "slices cannot be turned on at switch 'B': neither its datapath nor its OpenFlow port "
            "is connected");
  lab.network.dead.clear();
  lab.network.has_analyzer = false;
  lab.Begin(text);
  lab.RunToEnd();
  EXPECT_EQ(lab.run->view().problem, "no analyzer is there to take the copies");
  lab.network.has_analyzer = true;
  lab.Begin("MIRROR 1.2.3.0/24 ON [A Q] USING 15");
  lab.RunToEnd();
  EXPECT_EQ(lab.run->view().problem, "c:1:25: 'Q' is no router of the network; did you mean 'A'?");
  EXPECT_EQ(lab.network.turned_on, 0u);
  EXPECT_EQ(lab.network.finished, 0);
}

// Section 7.4: two places, 5 Mb/s, and a flow of 1 Mb/s that jumps above the budget.
TEST(CampaignRun, IsOverBudgetForOneSlotAtMostWhenAFlowJumps) {
  Lab lab;
  TwinFlow& flow = lab.AddFlow("1.2.3.4/32", "AB", 1'000'000);
  flow.packet_bytes = 500;
  flow.rates[11 * kNanosPerSecond] = 8'000'000;
  flow.rates[16 * kNanosPerSecond] = 1'000'000;
  uint32_t over = 0;
  for (int second = 1; second < 30; ++second) {
    const Nanos start = second * kNanosPerSecond;
    lab.RunUntil(start);
    lab.Begin("MIRROR 1.2.3.4/32 ON [A B] USING 5 Mb/s DURING 900 ms EVERY 1 s");
    lab.RunToEnd();
    ASSERT_EQ(lab.run->view().state, SliceRunState::kDone) << lab.run->view().problem;
    EXPECT_GE(lab.run->view().slots, 10u);
    over += lab.run->view().over_budget;
  }
  EXPECT_EQ(over, 1u);
  // By what the routers copied, slot by slot.
  std::map<Nanos, int64_t> by_slot;
  std::vector<TwinCopy> copies = lab.network.copies;
  const int64_t slot_bytes = 5'000'000 / 8 * 25 / 1000;
  Nanos begun = -kNanosPerSecond;
  std::sort(copies.begin(), copies.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
  for (const TwinCopy& copy : copies) {
    if (copy.at > begun + 27 * kMs) begun = copy.at;
    by_slot[begun] += copy.bytes;
  }
  const auto is_over = [&](const auto& slot) { return slot.second > slot_bytes; };
  EXPECT_LE(std::count_if(by_slot.begin(), by_slot.end(), is_over), 1);
  EXPECT_LE(MostInASecond(lab.network.copies), 5'000'000 / 8 + slot_bytes);
}

TEST(CampaignRun, NoCountOfASwitchIsTooLargeForTheBudget) {
  Lab lab;
  lab.AddFlow(kPrefix, "ABCD", 1'000'000);
  lab.network.OnEnd([&lab](SliceEnd end) {
    end.bytes = uint64_t{1} << 63;
    lab.run->OnEnd(end);
  });
  lab.Begin("MIRROR 1.2.3.0/24 ON [A B C D] USING 15 Mb/s DURING 450 ms");
  lab.RunToEnd();
  EXPECT_GE(lab.run->view().over_budget, 1u);
  EXPECT_GT(lab.run->view().copied_bytes, 0);
}

TEST(CampaignRun, TurnsOffWhatIsOnWhenItIsStopped) {
  Lab lab;
  lab.AddFlow("1.2.3.4/32", "ABCD", 1'000'000);
  lab.options.shortest_slice = 400 * kMs;
  lab.Begin("MIRROR 1.2.3.0/24 ON [A B C D] USING 15 Mb/s DURING 2 s");
  lab.RunUntil(lab.clock.now + 100 * kMs);
  ASSERT_GT(lab.network.on(), 0u);
  lab.run->Stop("by alice");
  lab.RunUntil(lab.clock.now + 20 * kMs);
  EXPECT_EQ(lab.network.on(), 0u);
  EXPECT_EQ(lab.run->view().state, SliceRunState::kStopped);
  EXPECT_EQ(lab.run->view().problem, "by alice");
  EXPECT_EQ(lab.network.finished, 1);
  EXPECT_EQ(lab.shared.reserved(), 0);
}

TEST(CampaignRun, IsOverForAnAnalyzerThatComesLater) {
  Lab lab;
  lab.AddFlow("1.2.3.4/32", "ABCD", 1'000'000);
  lab.Begin("MIRROR 1.2.3.0/24 ON [A B C D] USING 15 Mb/s DURING 2 s");
  lab.RunUntil(lab.clock.now + 100 * kMs);
  ASSERT_FALSE(lab.network.expected().empty());
  lab.network.has_analyzer = false;
  lab.RunToEnd();
  EXPECT_TRUE(lab.run->is_over());
  EXPECT_EQ(lab.network.finished, 1);
}

TEST(CampaignRun, PlansAgainWhenTheNetworkHasChanged) {
  Lab lab;
  lab.AddFlow("1.2.3.4/32", "ABCD", 1'000'000);
  lab.Begin("MIRROR 1.2.3.0/24 ON [A B C D] USING 15 Mb/s DURING 2 s");
  lab.RunUntil(lab.clock.now + 500 * kMs);
  auto changed = std::make_shared<SliceMap>(*lab.map);
  changed->network = slice::Network();
  for (const char* link : {"AB", "BC", "CD"}) {  // a line: its ends prove the path
    changed->network.AddLink(changed->network.AddRouter(std::string(1, link[0])),
                             changed->network.AddRouter(std::string(1, link[1])), 1);
  }
  changed->borders.clear();
  changed->version = 1;
  TopologyChange change;
  change.links.insert(TopologyChange::EndsOf("B", "C"));
  lab.run->SetMap(changed, change);
  lab.RunToEnd();
  const SliceRunView& view = lab.run->view();
  EXPECT_EQ(view.state, SliceRunState::kDone) << view.problem;
  EXPECT_TRUE(view.has_topology_changed);
  EXPECT_EQ(view.replans, 1u);
  EXPECT_EQ(view.queries.back().locations, (std::vector<std::string>{"A", "D"}));
  EXPECT_GT(view.queries.back().slots, 10u);
}

TEST(CampaignRun, APlanOfANetworkThatIsGoneIsNotGoneBy) {
  Lab lab;
  lab.AddFlow("1.2.3.4/32", "ABCD", 1'000'000);
  const std::shared_ptr<const SliceMap> whole = lab.map;
  auto cut = std::make_shared<SliceMap>();
  cut->network.AddLink(cut->network.AddRouter("A"), cut->network.AddRouter("B"), 1);
  lab.map = cut;
  lab.Begin("MIRROR 1.2.3.0/24 ON [A B C D] USING 15 Mb/s DURING 450 ms");
  ASSERT_EQ(lab.run->view().state, SliceRunState::kPlanning);
  TopologyChange change;
  change.links.insert(TopologyChange::EndsOf("B", "C"));
  lab.run->SetMap(whole, change);
  lab.RunToEnd();
  const SliceRunView& view = lab.run->view();
  EXPECT_EQ(view.state, SliceRunState::kDone) << view.problem;
  EXPECT_EQ(view.replans, 1u);
  EXPECT_FALSE(view.has_topology_changed);
  EXPECT_GE(view.slots, 10u);
}

TEST(CampaignRun, WaitsLongerBetweenSlotsWhenCopiesComeLate) {
  Lab lab;
  lab.AddFlow("1.2.3.4/32", "ABCD", 3'000'000);
  lab.network.copy_latency = 12 * kMs;
  lab.Begin("MIRROR 1.2.3.0/24 ON [A B C D] USING 15 Mb/s DURING 2 s");
  lab.RunToEnd();
  EXPECT_GE(lab.run->spacing(), 10 * kMs);
  EXPECT_LE(lab.run->spacing(), 18 * kMs);
}

// --- thousands of campaigns, faults among them ---

enum class Fault { kNone, kSwitch, kSwitchBack, kAnalyzer, kAnalyzerSilent, kSilence, kStop, kEnd };

struct Story {
  explicit Story(uint32_t seed) : lab(seed), random(seed) {
    text = MakeText();
    budget_bps = ParseSlices(text, "c")->using_bps;
    lab.network.copy_loss = Chance(3) ? 0.1 : 0;
    lab.network.copy_latency = Draw(1, 30) * kMs;
    lab.network.command_latency = Draw(1, 30) * kMs / 10;
    for (const char* prefix : {"1.0.0.1/32", "2.0.0.1/32", "3.0.0.1/32"}) AddFlows(prefix);
    fault = static_cast<Fault>(Draw(0, 2 * static_cast<int>(Fault::kEnd)));
    if (fault >= Fault::kEnd) fault = Fault::kNone;
    fault_at = lab.clock.now + Draw(1, 600) * kMs;
  }

  int Draw(int least, int most) { return slice::Draw(&random, least, most); }
  bool Chance(int of) { return Draw(1, of) == 1; }

  std::string MakeText() {
    const char* const paths[] = {"[A B C D]",       "[A -> D]", "[A L C D]",
                                 "[\"2\" P \"1\"]", "[B -> U]", "[K -> I]"};
    std::string made;
    const int queries = Draw(1, 4);
    for (int i = 0; i < queries; ++i) {
      made += Chance(5) ? "CONFINE " : "MIRROR ";
      made += std::to_string(Draw(1, 3)) + ".0.0.0/8 ON " + paths[Draw(0, 5)] + "\n";
    }
    return made + "USING " + std::to_string(Draw(6, 60)) + " Mb/s DURING " +
           std::to_string(Draw(300, 1500)) + " ms";
  }
  void AddFlows(const std::string& prefix) {
    const char* const ways[] = {"ABCD", "ALCD", "2P1", "BCU", "KBI", "AFL"};
    const int count = Draw(0, 3);
    for (int i = 0; i < count; ++i) {
      TwinFlow& flow = lab.AddFlow(prefix, ways[Draw(0, 5)], Rate());
      flow.packet_bytes = Draw(64, 1500);
      for (int change = Draw(0, 3); change > 0; --change) {
        flow.rates[lab.clock.now + Draw(1, 1500) * kMs] = Rate();
      }
    }
  }
  int64_t Rate() { return Chance(4) ? 0 : Draw(10, 4000) * int64_t{10'000}; }

  void Strike() {
    const std::string victim(1, "ABCDL"[Draw(0, 4)]);
    switch (fault) {
      case Fault::kSwitchBack:
        lab.agenda.After(Draw(1, 400) * kMs, [this, victim] { lab.network.dead.erase(victim); });
        [[fallthrough]];
      case Fault::kSwitch:
        return lab.network.Kill(victim);
      case Fault::kAnalyzer:
        lab.network.has_analyzer = false;
        return;
      case Fault::kAnalyzerSilent:
        lab.network.analyzer_answers = false;
        return;
      case Fault::kSilence:
        lab.network.answers_commands = false;
        return;
      case Fault::kStop:
        return lab.run->Stop("enough");
      case Fault::kNone:
      case Fault::kEnd:
        break;
    }
  }

  void Play() {
    lab.Begin(text);
    lab.RunUntil(fault_at);
    Strike();
    lab.RunToEnd();
    lab.Settle();
  }

  void Check() {
    const SliceRunView& view = lab.run->view();
    EXPECT_EQ(lab.network.mistake, "");
    EXPECT_EQ(lab.network.on(), 0u) << "left on";
    EXPECT_EQ(lab.shared.reserved(), 0);
    const int64_t slot_bytes = static_cast<int64_t>(budget_bps / 8 * view.slot / kNanosPerSecond);
    // The one slot may have copied what its caps allowed, and CONFINE is not capped by bytes.
    const auto excess =
        static_cast<int64_t>(static_cast<double>(slot_bytes) * (1 + lab.options.excess));
    int64_t confined = 0;
    for (const SliceQueryView& query : view.queries) {
      const bool is_small = query.is_confine;
      if (is_small)
        confined += static_cast<int64_t>(query.locations.size()) * 50 * 2 * (192 + kTunnelBytes);
    }
    EXPECT_LE(MostInASecond(lab.network.copies), budget_bps / 8 + excess + confined);
    if (fault != Fault::kNone && fault != Fault::kStop) return;
    if (fault == Fault::kStop) {
      EXPECT_TRUE(view.state == SliceRunState::kStopped || view.state == SliceRunState::kDone ||
                  view.state == SliceRunState::kFailed);
      return;
    }
    // Only what cannot be planned fails.
    if (view.state == SliceRunState::kFailed) {
      EXPECT_EQ(view.slots, 0u) << view.problem;
      EXPECT_NE(view.problem.find("c:"), view.problem.npos) << view.problem;
      return;
    }
    EXPECT_EQ(view.state, SliceRunState::kDone);
    EXPECT_EQ(view.failed_slots, 0u);
    ran = true;
    if (view.replans > 0) return;
    // A plan that was cut short may surround a region otherwise: then it is told twice.
    std::map<std::string, uint64_t> confined_slots;  // by prefix and region
    for (const SliceQueryView& query : view.queries) {
      if (query.is_confine) {
        std::string region = PrintPrefix(query.prefix);
        for (const std::string& router : query.path) region += " " + router;
        confined_slots[region] += query.slots;
      } else if (!query.is_bootstrap) {
        EXPECT_GE(query.slots, 1u) << "a promised query";
      }
    }
    const uint64_t slots = view.slots + view.bootstrap_slots;
    uint64_t sum = 0;
    for (const auto& [region, seen] : confined_slots) {
      EXPECT_GE(seen, slots) << region;
      sum += seen;
    }
    uint64_t asked = 0;
    for (size_t at = text.find("CONFINE"); at != text.npos; at = text.find("CONFINE", at + 1)) {
      ++asked;
    }
    EXPECT_EQ(sum, asked * slots);
  }

  Lab lab;
  slice::Random random;
  std::string text;
  int64_t budget_bps = 0;
  Fault fault = Fault::kNone;
  Nanos fault_at = 0;
  bool ran = false;
};

TEST(CampaignRun, KeepsItsPromisesInThousandsOfCampaigns) {
  int ran = 0;
  for (uint32_t seed = 1; seed <= 2000 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Story story(seed);
    SCOPED_TRACE(story.text);
    story.Play();
    story.Check();
    ran += story.ran ? 1 : 0;
  }
  EXPECT_GT(ran, 700);
}

}  // namespace
}  // namespace trumpet
