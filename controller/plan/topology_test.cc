// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/plan/topology.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace trumpet {
namespace {

std::string ErrorOf(const std::string& text) {
  const Result<Topology> topology = ParseTopologyYaml(text, "t.yaml");
  return topology.ok() ? "ok" : topology.message();
}

TEST(Topology, IsReadFromYaml) {
  const Result<Topology> topology = ParseTopologyYaml(R"(
hosts:
  - id: 5b0c-1
    name: hv1
    prefixes: [10.0.1.0/24, "2001:db8:1::/64"]
    attached_to: tor1
    labels: [rack=r1, gpu]
  - id: hv2
links:
  - {from: hv1, to: tor1}
  - {from: tor1, to: spine1, weight: 10}
switches:
  - name: tor1
    datapath_id: 0000020000000001
  - name: spine1
)",
                                                      "t.yaml");
  ASSERT_TRUE(topology.ok()) << topology.message();
  ASSERT_EQ(topology->hosts.size(), 2u);
  const TopologyHost& host = topology->hosts[0];
  EXPECT_EQ(host.id, "5b0c-1");
  EXPECT_EQ(host.name, "hv1");
  EXPECT_EQ(host.attached_to, "tor1");
  ASSERT_EQ(host.prefixes.size(), 2u);
  EXPECT_EQ(PrintPrefix(host.prefixes[1]), "2001:db8:1::/64");
  EXPECT_EQ(host.labels, (std::vector<std::string>{"rack=r1", "gpu"}));
  EXPECT_EQ(topology->hosts[1].name, "hv2");
  ASSERT_EQ(topology->switches.size(), 2u);
  EXPECT_EQ(topology->switches[0].datapath_id, 0x0000020000000001u);
  ASSERT_EQ(topology->links.size(), 2u);
  EXPECT_EQ(topology->links[0].weight, 1u);
  EXPECT_EQ(topology->links[1].weight, 10u);
}

std::string Print(const Result<Topology>& topology) {
  if (!topology.ok()) return topology.message();
  std::string text;
  for (const TopologyHost& host : topology->hosts) {
    text += host.id + "/" + host.name + "@" + host.attached_to;
    for (const Prefix& prefix : host.prefixes) text += " " + PrintPrefix(prefix);
    for (const std::string& label : host.labels) text += " " + label;
    text += "; ";
  }
  for (const TopologySwitch& one : topology->switches) {
    text += one.name + ":" + std::to_string(one.datapath_id);
    for (const uint32_t port : one.edge_ports) text += "," + std::to_string(port);
    text += "; ";
  }
  for (const TopologyLink& link : topology->links) {
    text += link.from + "-" + link.to + ":" + std::to_string(link.weight) + "; ";
  }
  return text;
}

TEST(Topology, SaysTheSameInJson) {
  const char kYaml[] = R"(
hosts:
  - {id: h1, name: hv1, prefixes: [10.0.1.0/24], attached_to: tor1, labels: [rack=r1]}
switches:
  - {name: tor1, datapath_id: 0000020000000001, edge_ports: [1, 4294967040]}
  - {name: spine1}
links:
  - {from: tor1, to: spine1, weight: 10}
)";
  const char kJson[] = R"({
	"hosts": [{"id": "h1", "name": "hv1", "prefixes": ["10.0.1.0\/24"],
	           "attached_to": "tor1", "labels": ["rack=r1"]}],
	"switches": [{"name": "tor1", "datapath_id": "0000020000000001",
	              "edge_ports": [1, 4294967040]}, {"name": "spine1"}],
	"links": [{"from": "tor1", "to": "spine1", "weight": 10}]})";
  const std::string expected =
      "h1/hv1@tor1 10.0.1.0/24 rack=r1; tor1:2199023255553,1,4294967040; spine1:0; "
      "tor1-spine1:10; ";
  EXPECT_EQ(Print(ParseTopology(kYaml, "t.yaml")), expected);
  EXPECT_EQ(Print(ParseTopology(kJson, "t.json")), expected);
}

TEST(Topology, OfJsonMayBeAGraphOfNetworkx) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"directed": false, "multigraph": false, "graph": {"name": "x"},
           "nodes": [{"id": 0, "x": 1.5}, {"id": "b"}],
           "links": [{"source": 0, "target": "b", "weight": 7, "dist": null}]})",
       "0:0; b:0; 0-b:7; "},
      {R"({"nodes": [{"id": 0}, {"id": 1}], "edges": [{"source": 1, "target": 0, "key": 0},
           {"source": 1, "target": 1, "key": 0}]})",
       "0:0; 1:0; 1-0:1; "},
      {R"({"nodes": []})", ""},
      {R"({"nodes": [{"id": 0}, {"id": 0}]})",
       "t.json:1:30: there is another host or switch named '0'"},
      {R"({"nodes": [{"name": 0}]})", "t.json:1:12: there is no 'id' here"},
      {R"({"nodes": [{"id": [1]}]})", "t.json:1:19: 'id' must be a text or a number"},
      {R"({"nodes": [7]})", "t.json:1:12: a node is a map of keys"},
      {R"({"nodes": [{"id": 0}], "links": [{"source": 0, "target": 1}]})",
       "t.json:1:58: there is no node '1'"},
      {R"({"nodes": [{"id": 0}, {"id": 1}], "links": [{"source": 0, "target": 1, "weight": 1.5}]})",
       "t.json:1:82: '1.5' is not a weight; it takes 1 to 1000000"},
      {R"({"switches": [{"name": "s", "datapath_id": 5}]})",
       "t.json:1:44: '5' is not a datapath id; write up to 16 hexadecimal digits as in "
       "0000020000000001"},
      {R"({"switches": [{"name": "s", "edge_ports": [0]}]})",
       "t.json:1:44: '0' is not a port; it takes 1 to 4294967040, as OpenFlow numbers them"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_EQ(Print(ParseTopology(text, "t.json")), expected) << text;
  }
}

TEST(Topology, MayBeEmpty) {
  EXPECT_EQ(ErrorOf("{}"), "ok");
  EXPECT_EQ(ErrorOf("hosts:\nlinks: []\n"), "ok");
}

TEST(Topology, ErrorsNameLineAndColumn) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "t.yaml:1:1: the file is empty"},
      {"[]", "t.yaml:1:1: a topology is a map of keys"},
      {"host: []", "t.yaml:1:1: 'host' is not a key of a topology; did you mean 'hosts'?"},
      {"hosts: 5", "t.yaml:1:8: 'hosts' must be a list"},
      {"hosts:\n  - h1\n", "t.yaml:2:5: a host is a map of keys"},
      {"hosts:\n  - name: h1\n", "t.yaml:2:5: this host has no 'id'"},
      {"hosts:\n  - id: ''\n", "t.yaml:2:9: 'id' must be a text, not empty"},
      {"hosts:\n  - {id: h1, id: h2}\n", "t.yaml:2:14: 'id' stands twice here"},
      {"hosts:\n  - id: h1\n    prefix: []\n",
       "t.yaml:3:5: 'prefix' is not a key of a host; did you mean 'prefixes'?"},
      {"hosts:\n  - id: h1\n    prefixes: [10.0.1.0/24, 10.0.1.5/24]\n",
       "t.yaml:3:29: '10.0.1.5/24' is not a prefix, because it has bits behind its length; did you "
       "mean '10.0.1.0/24'?"},
      {"hosts:\n  - {id: h1, prefixes: [10.0.0.0/8]}\n  - {id: h2, prefixes: [10.0.0.0/8]}\n",
       "t.yaml:3:25: 10.0.0.0/8 is already one of 'h1'"},
      {"hosts:\n  - id: h1\n  - id: h1\n", "t.yaml:3:9: there is another host with the id 'h1'"},
      {"hosts:\n  - id: h1\n  - {id: h2, name: h1}\n",
       "t.yaml:3:20: there is another host or switch named 'h1'"},
      {"switches:\n  - name: tor1\nhosts:\n  - {id: h1, attached_to: tor2}\n",
       "t.yaml:4:27: there is no switch 'tor2'; did you mean 'tor1'?"},
      {"hosts:\n  - {id: h1, labels: [{a: b}]}\n",
       "t.yaml:2:23: a label is a text such as rack=r1"},
      {"switches:\n  - {name: s, datapath_id: xyz}\n",
       "t.yaml:2:28: 'xyz' is not a datapath id; write up to 16 hexadecimal digits as in "
       "0000020000000001"},
      {"switches:\n  - {name: a, datapath_id: '0a'}\n  - {name: b, datapath_id: 0xa}\n",
       "t.yaml:3:28: this is the datapath id of 'a' already"},
      {"switches:\n  - {name: a, datapath_id: '00'}\n  - {name: b, datapath_id: '00'}\n", "ok"},
      {"hosts:\n  - id: h1\nlinks:\n  - {from: h1, to: h2}\n",
       "t.yaml:4:20: there is no host or switch 'h2'; did you mean 'h1'?"},
      {"hosts:\n  - id: h1\nlinks:\n  - {from: h1, to: h1}\n",
       "t.yaml:4:5: this link ends where it begins"},
      {"hosts:\n  - id: h1\n  - id: h2\nlinks:\n  - {from: h1, to: h2, weight: 0}\n",
       "t.yaml:5:32: '0' is not a weight; it takes 1 to 1000000"},
      {"hosts: *all", "t.yaml:1:8: not valid YAML: "},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_EQ(ErrorOf(text).substr(0, std::string(expected).size()), expected) << text;
  }
}

}  // namespace
}  // namespace trumpet
