// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/trace_network.h"

#include <gtest/gtest.h>

#include <string>

#include "controller/traces/program_kit_test.h"

namespace trumpet {
namespace {

TEST(ToldNetwork, ComesBackAsItWasTold) {
  ToldNetwork network;
  network.topology = *ParseTopology(kTopology, "net.yaml");
  network.topology.switches[0].edge_ports = {1, 2};
  network.topology.links[1].weight = 7;
  ASSERT_TRUE(network.switches.Add("leaf1", 11).ok());
  ASSERT_TRUE(network.switches.Add("spine1", 7).ok());
  network.rules = {{"web", 10, 0}, {"cut", 0, 192}};
  network.changing = {7, 11};
  const std::string text = PrintToldNetwork(network);
  const auto read = ParseToldNetwork(text);
  ASSERT_TRUE(read.ok()) << read.message();
  EXPECT_EQ(PrintToldNetwork(*read), text);
  EXPECT_EQ(read->switches.NumberOf("leaf1"), 11);
  EXPECT_EQ(read->rules, network.rules);
  EXPECT_EQ(read->changing, network.changing);
  ASSERT_EQ(read->topology.hosts.size(), 2u);
  EXPECT_EQ(read->topology.hosts[1].attached_to, "leaf2");
  EXPECT_EQ(PrintPrefix(read->topology.hosts[1].prefixes.at(0)), "10.0.2.0/24");
  ASSERT_EQ(read->topology.links.size(), 4u);
  EXPECT_EQ(read->topology.links[1].weight, 7u);
  EXPECT_EQ(read->topology.switches[0].edge_ports, (std::vector<uint32_t>{1, 2}));
}

TEST(ToldNetwork, SaysWhatIsWrongWithIt) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "the network is told as something else than a network"},
      {"{\"switches\": {}}", "the network is told as something else than a network"},
      {"{\"switches\": {\"a\": -1}, \"topology\": {}}", "a: has no number of a switch"},
      {"{\"switches\": {\"a\": 1024}, \"topology\": {}}", "a: has no number of a switch"},
      {"{\"switches\": {}, \"topology\": {}, \"rules\": [{\"name\": \"a\", \"sample_bits\": 17}]}",
       "the rules of the network are told as something else"},
      {"{\"switches\": {}, \"topology\": {}, \"changing\": [1, 1024]}",
       "the switches whose rules change are told as something else"},
      {"{\"switches\": {\"a\": 1, \"b\": 1}, \"topology\": {}}", "b: number 1 is that of a"},
  };
  for (const auto& [text, error] : cases) {
    const auto read = ParseToldNetwork(text);
    EXPECT_EQ(read.ok() ? "" : read.message(), error) << text;
  }
  EXPECT_FALSE(ParseToldNetwork("{\"switches\": {}, \"topology\": {\"hosts\": 1}}").ok());
}

}  // namespace
}  // namespace trumpet
