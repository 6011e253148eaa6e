// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/plan/slice/network_files.h"

#include <gtest/gtest.h>

#include "controller/plan/slice/slice_kit_test.h"

namespace trumpet::slice {
namespace {

// "a-b:2 b-c:1", or the error.
std::string Print(const Result<Network>& network) {
  if (!network) return network.message();
  std::string text;
  for (int router = 0; router < network->router_count(); ++router) {
    if (network->LinksOf(router).empty()) text += network->NameOf(router) + " ";
    for (const NetworkLink& link : network->LinksOf(router)) {
      if (link.to < router) continue;
      text += network->NameOf(router) + "-" + network->NameOf(link.to) + ":" +
              std::to_string(link.weight) + " ";
    }
  }
  return text;
}

TEST(NetworkFiles, OfEdgesAreLinksOrNameTheLine) {
  const struct {
    const char* text;
    const char* result;
  } cases[] = {
      {"", ""},
      {"a b 2\nb c 1\n", "a-b:2 b-c:1 "},
      {"a b 2\nb c 1", "a-b:2 b-c:1 "},
      {"# links\n\na b 2\n", "a-b:2 "},
      {"# links\r\n\r\na b 2\r\nb c 1\r\n", "a-b:2 b-c:1 "},
      {"a b 3\nb a 2\n", "a-b:2 "},
      {"a a 1\na b 1\n", "a-b:1 "},
      {"\xef\xbb\xbf"
       "a b 1\na c 1\n",
       "a-b:1 a-c:1 "},
      {"Oslo,+Norway1 b 7\n", "Oslo,+Norway1-b:7 "},
      {"a b 1\na b\n", "f:2: a link is 'from to weight', with one space between"},
      {"a  b 1\n", "f:1: a link is 'from to weight', with one space between"},
      {"a b c 1\n", "f:1: a link is 'from to weight', with one space between"},
      {"a b 0\n", "f:1: the weight is '0'; it takes 1 to 4294967295"},
      {"a b -1\n", "f:1: the weight is '-1'; it takes 1 to 4294967295"},
      {"a b 1.5\n", "f:1: the weight is '1.5'; it takes 1 to 4294967295"},
      {"a b 4294967296\n", "f:1: the weight is '4294967296'; it takes 1 to 4294967295"},
  };
  for (const auto& one : cases) EXPECT_EQ(Print(ParseEdges(one.text, "f")), one.result);
}

TEST(NetworkFiles, OfGmlAreLinksOrNameTheLine) {
  const struct {
    const char* text;
    const char* result;
  } cases[] = {
      {"graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 ] ]", "0-1:1 "},
      {"Creator \"x ] [\"\ngraph [\n  directed 0\n  node [ id 7 label \"a\" graphics [ x 1 ] ]\n"
       "  node [ id 8 ]\n  edge [ source 8 target 7 weight 5 ]\n]\n",
       "7-8:5 "},
      {"graph [ node [ id \"new york\" ] node [ id \"1\" ] edge [ source \"new york\" target 1 ] ]",
       "new york-1:1 "},
      {"graph [ node [ id \"\" ] ]", "f:1: this node has no id"},
      {"graph [ node [ id 1 ] edge [ source 1 target \"2\" ] ]",
       "f:1: this edge ends at '2', and no node before it has this id"},
      {"# a comment ]\ngraph [ node [ id 3 ] ]", "3 "},
      {"graph [ node [ id 3 ] ]\n# the end", "3 "},
      {"graph [ node [ id 3 ] ]\n#", "3 "},
      {"\xef\xbb\xbfgraph [ node [ id 3 ] ]", "3 "},
      {"", "f:1: there is no graph in this file"},
      {"graph [ ] graph [ ]", "f:1: a second graph in one file"},
      {"graph [\n node [ label \"a\" ]\n]", "f:2: this node has no id"},
      {"graph [\n node [ id 1 ]\n node [ id 1 ]\n]", "f:3: node '1' is twice"},
      {"graph [\n node [ id 1 ]\n edge [ source 1 target 2 ]\n]",
       "f:3: this edge ends at '2', and no node before it has this id"},
      {"graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 weight x ] ]",
       "f:1: the weight is 'x'; it takes 1 to 4294967295"},
      {"graph [ node [ id 1 ]", "f:1: the file ends inside the graph"},
      {"graph [ node [ id 1", "f:1: the file ends inside a list"},
      {"graph [ node [ id ] ]", "f:1: 'id' has no value"},
      {"graph [\n node [ id [ x 1 ] ]\n]", "f:2: 'id' is a list; it takes one value"},
      {"graph [ node [ id 1 ]\nedge [ source 1\ntarget [ id 1 ] ] ]",
       "f:3: 'target' is a list; it takes one value"},
      {"graph [ node [ id 1 ] edge [ source 1 target 1 weight [ ] ] ]",
       "f:1: 'weight' is a list; it takes one value"},
      {"graph [ x [ [ [", "f:1: the file ends inside a list"},
      {"graph [ x \"", "f:1: the file ends inside the graph"},
      {"graph", "f:1: 'graph' has no value"},
  };
  for (const auto& one : cases) EXPECT_EQ(Print(ParseGml(one.text, "f")), one.result) << one.text;
}

TEST(NetworkFiles, TakeNoMapWithoutEnd) {
  std::string star;
  for (size_t i = 0; i <= kMaxLinksOfRouter; ++i) star += "hub r" + std::to_string(i) + " 1\n";
  EXPECT_EQ(Print(ParseEdges(star, "f")),
            "f:2001: the map is too large here; at most 100000 routers, 200000 links, 2000 at one "
            "router");
  star.resize(star.rfind("hub"));
  const auto full = ParseEdges(star + "r0 hub 1\nhub r1 1\n", "f");
  ASSERT_TRUE(full.ok()) << "links that are there already: " << full.message();
  EXPECT_EQ(full->LinksOf(*full->Find("hub")).size(), kMaxLinksOfRouter);
}

TEST(NetworkFiles, OfAMapInGmlAreTheSwitchesOfATopology) {
  const auto topology = ParseTopologyFile(
      "graph [ node [ id 0 ] node [ id 1 ] node [ id 7 ]\n"
      "edge [ source 7 target 0 weight 5 ] edge [ source 1 target 7 ] ]",
      "zoo.gml");
  ASSERT_TRUE(topology) << topology.message();
  std::string names;
  for (const TopologySwitch& one : topology->switches) names += one.name + " ";
  EXPECT_EQ(names, "0 1 7 ");
  std::string links;
  for (const TopologyLink& link : topology->links) {
    links += link.from + "-" + link.to + ":" + std::to_string(link.weight) + " ";
  }
  EXPECT_EQ(links, "0-7:5 1-7:1 ");
  EXPECT_EQ(NetworkOf(*topology).link_count(), 2u);
}

TEST(NetworkFiles, ATopologyTakesNoWeightOrNameThatItsYamlWouldNot) {
  const struct {
    const char* text;
    const char* error;
  } cases[] = {
      {"graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 weight 1000001 ] ]",
       "zoo.gml: the weight between '0' and '1' is 1000001; at most 1000000 are allowed"},
      {"graph [ node [ id a\x01 ] ]", "zoo.gml: 'id' holds a control character"},
      {"graph [", "zoo.gml:1: the file ends inside the graph"},
  };
  for (const auto& one : cases) {
    const auto topology = ParseTopologyFile(one.text, "zoo.gml");
    ASSERT_FALSE(topology) << one.text;
    EXPECT_EQ(topology.message(), one.error);
  }
}

TEST(NetworkFiles, WhatIsNotInGmlIsReadAsEver) {
  EXPECT_EQ(ParseTopologyFile("switches: [{name: a}]", "t.yaml")->switches.size(), 1u);
  EXPECT_EQ(ParseTopologyFile(R"({"switches": [{"name": "a"}]})", "t.json")->switches.size(), 1u);
  EXPECT_FALSE(ParseTopologyFile("graph [ ]", "t.yaml"));
}

TEST(NetworkFiles, OfATopologyAreItsSwitches) {
  Topology topology;
  topology.switches = {{"s1", 0}, {"s2", 0}};
  topology.links = {{"h1", "s1", 1}, {"s1", "s2", 3}};
  EXPECT_EQ(Print(NetworkOf(topology)), "s1-s2:3 ");
}

TEST(Network, KeepsTheLightestOfParallelLinksAtBothEnds) {
  Network network;
  const int hub = network.AddRouter("hub");
  const int leaf = network.AddRouter("leaf");
  network.AddLink(hub, network.AddRouter("other"), 1);
  for (const uint32_t weight : {7, 5, 9}) {
    network.AddLink(hub, leaf, weight);
    network.AddLink(leaf, hub, weight + 1);
  }
  EXPECT_EQ(network.link_count(), 2u);
  EXPECT_EQ(network.LinksOf(hub).back().weight, 5u);
  EXPECT_EQ(network.LinksOf(leaf).back().weight, 5u);
  EXPECT_EQ(network.LinksOf(leaf).size(), 1u);
}

TEST(Network, KnowsASimplePath) {
  const Network network = PaperNetwork();
  EXPECT_TRUE(CheckSimplePath(network, Named(network, "ABCD")).ok());
  EXPECT_EQ(CheckSimplePath(network, Named(network, "ABA")).message(), "the path visits 'A' twice");
  EXPECT_EQ(CheckSimplePath(network, Named(network, "AD")).message(),
            "there is no link from 'A' to 'D'");
  EXPECT_EQ(CheckSimplePath(network, {}).message(), "the path has no router");
}

}  // namespace
}  // namespace trumpet::slice
