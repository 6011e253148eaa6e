// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/topology/live_topology.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace trumpet {
namespace {

class Recorder final : public TopologyObserver {
 public:
  void OnTopologyChange(const Topology& /*topology*/, const TopologyChange& change) override {
    for (const std::string& name : change.switches) text += name + " ";
    for (const auto& [a, b] : change.links) text += a + "-" + b + " ";
  }
  std::string Take() { return std::exchange(text, ""); }

  std::string text;
};

Topology File() {
  Topology file;
  file.switches = {{"a", 1}, {"b", 2}, {"c", 3}};
  file.switches[0].edge_ports = {7, 8};
  file.links = {{"b", "a", 5}, {"b", "c", 2}};
  return file;
}

std::string Print(const Topology& topology) {
  std::string text;
  for (const auto* list : {&topology.links, &topology.lost_links}) {
    for (const TopologyLink& link : *list) {
      text += list == &topology.lost_links ? "lost " : "";
      text += link.from + "-" + link.to + ":" + std::to_string(link.weight);
      if (link.source != LinkSource::kFile) {
        text += link.source == LinkSource::kBoth ? " both " : " lldp ";
        text += std::to_string(link.from_port) + "-" + std::to_string(link.to_port);
      }
      text += "; ";
    }
  }
  return text;
}

class LiveTopologyTest : public testing::Test {
 protected:
  LiveTopologyTest() { live_.AddObserver(&changes_); }

  LiveTopology live_;
  Recorder changes_;
};

TEST_F(LiveTopologyTest, LeavesNamesAndWeightsToTheFile) {
  live_.SetFile(File());
  EXPECT_EQ(changes_.Take(), "a b c a-b b-c ");
  live_.SetSwitches({1, 2, 3, 4});
  EXPECT_EQ(changes_.Take(), "0000000000000004 ");
  live_.SetLinks({{{1, 11}, {2, 12}, 0}, {{3, 13}, {4, 14}, 0}, {{1, 1}, {1, 2}, 0}});
  EXPECT_EQ(changes_.Take(), "0000000000000004-c ") << "a-b is no news";
  EXPECT_EQ(Print(live_.topology()), "b-a:5 both 12-11; b-c:2; c-0000000000000004:1 lldp 13-14; ");
  EXPECT_FALSE(live_.topology().switches[3].is_in_file);
  EXPECT_EQ(live_.EdgePorts(), (std::set<SwitchPortId>{{1, 7}, {1, 8}}));
}

TEST_F(LiveTopologyTest, LosesALinkOfTheFileThatWasSeen) {
  live_.SetFile(File());
  live_.SetSwitches({1, 2, 3});
  live_.SetLinks({{{1, 11}, {2, 12}, 0}});
  changes_.Take();
  live_.SetLinks({});
  EXPECT_EQ(changes_.Take(), "a-b ");
  EXPECT_EQ(Print(live_.topology()), "b-c:2; lost b-a:5; ") << "b-c was never seen";
  live_.SetSwitches({1, 3});
  EXPECT_EQ(changes_.Take(), "a-b ") << "of switches that are away LLDP knows nothing";
  EXPECT_EQ(Print(live_.topology()), "b-a:5; b-c:2; ");
  live_.SetSwitches({1, 2, 3});
  live_.SetLinks({{{1, 11}, {2, 12}, 0}});
  EXPECT_EQ(Print(live_.topology()), "b-a:5 both 12-11; b-c:2; ");
  live_.SetLinks({});
  live_.SetFile(File());
  EXPECT_EQ(Print(live_.topology()), "b-a:5; b-c:2; ") << "a new file is believed anew";
}

TEST_F(LiveTopologyTest, CountsParallelLinks) {
  Topology file = File();
  file.links = {{"a", "b", 5}, {"a", "b", 6}};
  live_.SetFile(file);
  live_.SetSwitches({1, 2});
  const DiscoveredLink first{{1, 1}, {2, 1}, 0}, second{{1, 2}, {2, 2}, 0},
      third{{1, 3}, {2, 3}, 0};
  live_.SetLinks({first, second, third});
  EXPECT_EQ(Print(live_.topology()), "a-b:5 both 1-1; a-b:6 both 2-2; a-b:5 lldp 3-3; ");
  live_.SetLinks({second});
  EXPECT_EQ(Print(live_.topology()), "a-b:5 both 2-2; lost a-b:6; ");
}

TEST_F(LiveTopologyTest, TellsAges) {
  live_.SetFile(File());
  live_.SetSwitches({1, 2, 3});
  live_.SetLinks({{{1, 11}, {2, 12}, 100}});
  const Topology aged = live_.WithAges({{{1, 11}, {2, 12}, 700}}, 1000);
  EXPECT_EQ(aged.links[0].age, 300);
  EXPECT_EQ(aged.links[1].age, 0);
}

TEST_F(LiveTopologyTest, NamesNoTwoSwitchesAlike) {
  Topology file;
  file.switches = {{"0000000000000009", 5}};
  live_.SetFile(file);
  live_.SetSwitches({9});
  EXPECT_EQ(live_.topology().switches[1].name, "0000000000000009'");
}

// The changes told, applied one after the other, lead to what is there.
TEST_F(LiveTopologyTest, TellsEveryChangeOfRandomOnes) {
  class Follower final : public TopologyObserver {
   public:
    void OnTopologyChange(const Topology& now, const TopologyChange& change) override {
      EXPECT_FALSE(change.is_empty());
      for (const auto& ends : change.links) {
        links.erase(ends);
        for (const TopologyLink& link : now.links) {
          if (TopologyChange::EndsOf(link.from, link.to) == ends) links.insert(ends);
        }
      }
    }
    std::set<TopologyChange::LinkEnds> links;
  };
  std::mt19937 random(42);
  Follower follower;
  live_.AddObserver(&follower);
  live_.SetFile(File());
  for (int round = 0; round < 500; ++round) {
    std::set<uint64_t> switches;
    for (uint64_t id = 1; id <= 6; ++id) {
      if (random() % 4 != 0) switches.insert(id);
    }
    std::vector<DiscoveredLink> links;
    for (uint64_t a = 1; a <= 6; ++a) {
      for (uint64_t b = a + 1; b <= 6; ++b) {
        const bool is_there = switches.count(a) != 0 && switches.count(b) != 0;
        if (is_there && random() % 3 == 0) links.push_back({{a, 9}, {b, 9}, 0});
      }
    }
    if (random() % 50 == 0) live_.SetFile(File());
    live_.SetLinks({});
    live_.SetSwitches(switches);
    live_.SetLinks(links);
    std::set<TopologyChange::LinkEnds> real;
    for (const TopologyLink& link : live_.topology().links) {
      real.insert(TopologyChange::EndsOf(link.from, link.to));
    }
    ASSERT_EQ(follower.links, real) << round;
  }
  live_.RemoveObserver(&follower);
}

}  // namespace
}  // namespace trumpet
