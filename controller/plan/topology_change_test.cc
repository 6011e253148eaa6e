// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/plan/topology_change.h"

#include <gtest/gtest.h>

#include <vector>

namespace trumpet {
namespace {

Topology Square() {
  Topology topology;
  topology.switches = {{"a", 1}, {"b", 2}, {"c", 3}, {"d", 4}};
  topology.links = {{"a", "b", 1}, {"b", "c", 1}, {"c", "d", 1}, {"d", "a", 1}};
  return topology;
}

TEST(TopologyChange, IsEmptyBetweenEquals) {
  Topology turned = Square();
  turned.links[0] = {"b", "a", 1};
  turned.links.push_back({"a", "b", 7});  // heavier than its parallel
  EXPECT_TRUE(CompareTopologies(Square(), Square()).is_empty());
  EXPECT_TRUE(CompareTopologies(Square(), turned).is_empty());
}

TEST(TopologyChange, NamesSwitchesAndLinks) {
  Topology after = Square();
  after.switches[2].datapath_id = 9;
  after.switches.push_back({"e", 5});
  after.links[0].weight = 2;
  after.links.erase(after.links.begin() + 3);
  const TopologyChange change = CompareTopologies(Square(), after);
  EXPECT_EQ(change.switches, (std::set<std::string>{"c", "e"}));
  EXPECT_EQ(change.links, (std::set<TopologyChange::LinkEnds>{{"a", "b"}, {"a", "d"}}));
}

TEST(TopologyChange, TouchesPathsOverWhatChanged) {
  TopologyChange change;
  change.switches = {"x"};
  change.links = {{"a", "b"}};
  using Path = std::vector<std::string>;
  EXPECT_TRUE(change.Touches(Path{"c", "b", "a"}));
  EXPECT_TRUE(change.Touches(Path{"x"}));
  EXPECT_FALSE(change.Touches(Path{"a", "c", "b"}));
  EXPECT_FALSE(change.Touches(Path{}));
}

}  // namespace
}  // namespace trumpet
