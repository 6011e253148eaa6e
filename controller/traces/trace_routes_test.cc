// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/trace_routes.h"

#include <gtest/gtest.h>

#include <string>

namespace trumpet {
namespace {

// Two spines between two leaves; the way over far and farther is longer.
constexpr char kClos[] = R"(
hosts:
  - {id: h1, prefixes: [10.0.1.0/24, "2001:db8:1::/64"], attached_to: leaf1}
  - {id: h2, prefixes: [10.0.2.0/24], attached_to: leaf2}
  - {id: h3, prefixes: [10.0.2.128/25], attached_to: spine1}
switches: [{name: leaf1}, {name: leaf2}, {name: spine1}, {name: spine2}, {name: far}, {name: alone}]
links:
  - {from: leaf1, to: spine1}
  - {from: leaf1, to: spine2}
  - {from: spine1, to: leaf2}
  - {from: leaf2, to: spine2}
  - {from: leaf1, to: far, weight: 5}
  - {from: far, to: leaf2}
)";

Trace From(const std::string& src, const std::string& dst) {
  Trace trace;
  FlowKey& flow = trace.packet.flow;
  flow.ip_family = 4;
  const auto set = [](const std::string& text, IpBytes* bytes) {
    const Result<Prefix> prefix = ParsePrefix(text);
    ASSERT_TRUE(prefix.ok());
    for (size_t i = 0; i < 4; ++i) {
      (*bytes)[i] = static_cast<uint8_t>(prefix->address >> (24 - 8 * i));
    }
  };
  set(src, &flow.src_ip);
  set(dst, &flow.dst_ip);
  return trace;
}

class NetworkRoutesTest : public testing::Test {
 protected:
  NetworkRoutes Make(const std::string& yaml) {
    const Result<Topology> topology = ParseTopologyYaml(yaml, "test");
    EXPECT_TRUE(topology.ok()) << topology.message();
    for (const TopologySwitch& one : topology->switches) {
      if (one.name == "silent") continue;
      EXPECT_TRUE(book_.AddNext(one.name).ok());
    }
    return NetworkRoutes(*topology, book_);
  }
  TraceHop At(const std::string& name) const {
    TraceHop hop;
    hop.switch_number = *book_.NumberOf(name);
    return hop;
  }
  std::string After(const NetworkRoutes& routes, const std::string& name, const Trace& trace) {
    const auto stages = routes.After(*book_.NumberOf(name), trace);
    if (!stages) return "not known";
    std::string text;
    for (const TraceStage& stage : *stages) {
      for (size_t i = 0; i < stage.size(); ++i) {
        text += (i > 0 ? "|" : "") + book_.NameOf(stage[i]);
      }
      text += " ";
    }
    return text;
  }

  // As judges say it of a packet with copies of these, one after the other.
  bool GoesOffRoute(const NetworkRoutes& routes, Trace trace,
                    const std::vector<std::string>& names) {
    uint8_t ttl = 64;
    for (const std::string& name : names) {
      TraceHop hop = At(name);
      hop.ttl = ttl--;
      hop.time = 64 - hop.ttl;
      trace.hops.push_back(hop);
    }
    std::vector<TracePass> passes;
    JudgeTrace(trace, routes, {}, {}, &passes);
    EXPECT_EQ(passes.size(), 1u);
    EXPECT_EQ(passes.at(0).fault, TraceFault::kNone);
    return passes.at(0).is_off_route;
  }

  SwitchBook book_;
};

TEST_F(NetworkRoutesTest, NamesTheStagesOfAllShortestWays) {
  const NetworkRoutes routes = Make(kClos);
  const Trace trace = From("10.0.1.1", "10.0.2.1");
  EXPECT_EQ(After(routes, "leaf1", trace), "spine1|spine2 leaf2 ");
  EXPECT_EQ(After(routes, "spine2", trace), "leaf2 ");
  EXPECT_EQ(After(routes, "leaf2", trace), "");
  EXPECT_EQ(After(routes, "far", trace), "leaf2 ");
  EXPECT_EQ(After(routes, "alone", trace), "not known");
}

TEST_F(NetworkRoutesTest, TakesTheHostWithTheLongestPrefix) {
  const NetworkRoutes routes = Make(kClos);
  EXPECT_EQ(After(routes, "leaf1", From("10.0.1.1", "10.0.2.200")), "spine1 ");
  EXPECT_EQ(After(routes, "leaf1", From("10.0.1.1", "10.9.2.200")), "not known");
  Trace no_ip = From("10.0.1.1", "10.0.2.1");
  no_ip.packet.flow.ip_family = 0;
  EXPECT_EQ(After(routes, "leaf1", no_ip), "not known");
}

TEST_F(NetworkRoutesTest, FindsTheWaysToHostsAtTheSameSwitchesOnce) {
  const NetworkRoutes routes = Make(R"(
hosts:
  - {id: h1, prefixes: [10.0.1.0/24], attached_to: b}
  - {id: h2, prefixes: [10.0.2.0/24, 10.0.3.0/24], attached_to: b}
  - {id: h4, prefixes: [10.0.4.0/24], attached_to: b}
  - {id: h5, prefixes: [10.0.5.0/24]}
  - {id: h6, prefixes: [10.0.6.0/24]}
switches: [{name: a}, {name: b}, {name: c}]
links:
  - {from: a, to: b}
  - {from: b, to: c}
  - {from: h4, to: c}
  - {from: h5, to: c}
  - {from: h5, to: b}
)");
  const auto way = [&](const std::string& to) {
    return routes.After(*book_.NumberOf("a"), From("10.0.9.1", to))->begin();
  };
  EXPECT_EQ(way("10.0.1.1"), way("10.0.2.1"));
  EXPECT_EQ(way("10.0.1.1"), way("10.0.3.1"));
  EXPECT_EQ(way("10.0.4.1"), way("10.0.5.1"));
  EXPECT_NE(way("10.0.1.1"), way("10.0.4.1"));
  EXPECT_EQ(After(routes, "c", From("10.0.9.1", "10.0.1.1")), "b ");
  EXPECT_EQ(After(routes, "c", From("10.0.9.1", "10.0.5.1")), "");
  EXPECT_EQ(After(routes, "a", From("10.0.9.1", "10.0.6.1")), "not known");
  EXPECT_TRUE(routes.IsEdge(At("c"), From("10.0.4.1", "10.0.1.1")));
  EXPECT_FALSE(routes.IsEdge(At("c"), From("10.0.2.1", "10.0.1.1")));
}

TEST_F(NetworkRoutesTest, KnowsWherePacketsComeIn) {
  const NetworkRoutes routes = Make(kClos);
  const Trace trace = From("10.0.1.1", "10.0.2.1");
  EXPECT_TRUE(routes.IsEdge(At("leaf1"), trace));
  EXPECT_FALSE(routes.IsEdge(At("leaf2"), trace));
  // Of a source that nobody knows: anywhere where hosts are.
  const Trace stranger = From("10.8.1.1", "10.0.2.1");
  EXPECT_TRUE(routes.IsEdge(At("leaf2"), stranger));
  EXPECT_FALSE(routes.IsEdge(At("spine2"), stranger));
}

TEST_F(NetworkRoutesTest, LeavesOutStagesWhereSomeSwitchMakesNoCopies) {
  const NetworkRoutes routes = Make(R"(
hosts: [{id: h1, prefixes: [10.0.2.0/24], attached_to: c}]
switches: [{name: a}, {name: b}, {name: silent}, {name: c}]
links: [{from: a, to: b}, {from: a, to: silent}, {from: b, to: c}, {from: silent, to: c}]
)");
  const Trace trace = From("10.0.1.1", "10.0.2.1");
  EXPECT_EQ(After(routes, "a", trace), "c ");
  EXPECT_FALSE(GoesOffRoute(routes, trace, {"a", "b", "c"}));
  EXPECT_FALSE(GoesOffRoute(routes, trace, {"a", "c"}));
}

TEST_F(NetworkRoutesTest, SaysNothingOfEqualWaysOfUnequalLength) {
  const NetworkRoutes routes = Make(R"(
hosts: [{id: h1, prefixes: [10.0.2.0/24], attached_to: c}]
switches: [{name: a}, {name: b}, {name: c}]
links: [{from: a, to: b}, {from: b, to: c}, {from: a, to: c, weight: 2}]
)");
  const Trace trace = From("10.0.1.1", "10.0.2.1");
  EXPECT_EQ(After(routes, "a", trace), "not known");
  EXPECT_EQ(After(routes, "b", trace), "c ");
}

// Of all equal ways, however many hops they have; others are none.
TEST_F(NetworkRoutesTest, TellsPacketsThatLeaveTheirRouteFromThoseOnOneOfUnequalLength) {
  const NetworkRoutes routes = Make(R"(
hosts:
  - {id: h1, prefixes: [10.0.1.0/24], attached_to: a}
  - {id: h2, prefixes: [10.0.2.0/24], attached_to: d}
switches: [{name: a}, {name: b}, {name: c}, {name: d}, {name: aside}]
links:
  - {from: a, to: b}
  - {from: b, to: c}
  - {from: c, to: d}
  - {from: a, to: d, weight: 3}
  - {from: a, to: aside, weight: 9}
  - {from: aside, to: d, weight: 9}
)");
  const Trace trace = From("10.0.1.1", "10.0.2.1");
  EXPECT_FALSE(GoesOffRoute(routes, trace, {"a", "b", "c", "d"}));
  EXPECT_FALSE(GoesOffRoute(routes, trace, {"a", "d"}));
  EXPECT_FALSE(GoesOffRoute(routes, trace, {"b", "c", "d"}));
  EXPECT_TRUE(GoesOffRoute(routes, trace, {"a", "aside", "d"}));
  EXPECT_TRUE(GoesOffRoute(routes, trace, {"b", "a", "d"}));
}

TEST(LearnedRoutes, AreTheLongestWayOfTheFlow) {
  LearnedRoutes routes(1);
  const auto of_flow = [](uint64_t flow) {
    Trace trace;
    trace.flow = flow;
    trace.packet.flow.ip_family = 4;
    return trace;
  };
  const auto learn = [&](uint64_t flow, std::vector<uint16_t> way) {
    Trace trace = of_flow(flow);
    uint8_t ttl = 64;
    for (const uint16_t number : way) {
      TraceHop hop;
      hop.switch_number = number;
      hop.ttl = ttl--;
      trace.hops.insert(trace.hops.begin(), hop);  // whatever came first
    }
    routes.Learn(trace);
  };
  learn(7, {1, 2});
  learn(7, {1, 2, 3});
  learn(7, {1});
  learn(7, {1, 2, 3, 2, 3, 2});  // a loop teaches nothing
  Trace trace = of_flow(7);
  const TraceWay way = routes.After(1, trace).value();
  EXPECT_EQ(std::vector<TraceStage>(way.begin(), way.end()), (std::vector<TraceStage>{{2}, {3}}));
  EXPECT_TRUE(routes.After(3, trace).value().empty());
  EXPECT_FALSE(routes.After(9, trace).has_value());
  TraceHop hop;
  hop.switch_number = 1;
  EXPECT_TRUE(routes.IsEdge(hop, trace));
  hop.switch_number = 2;
  EXPECT_FALSE(routes.IsEdge(hop, trace));
  learn(8, {1, 2});  // there is room for one flow
  EXPECT_EQ(routes.flows_not_learned(), 1u);
  trace.flow = 8;
  EXPECT_FALSE(routes.After(1, trace).has_value());
}

TEST(LearnedRoutes, SayNothingOfFramesThatAreNotIp) {
  LearnedRoutes routes;
  // All of them are of flow 0; ARP from one host goes further than that from another.
  Trace trace;
  for (const uint16_t number : {1, 2, 3}) {
    TraceHop hop;
    hop.switch_number = number;
    hop.time = number;
    trace.hops.push_back(hop);
  }
  routes.Learn(trace);
  EXPECT_FALSE(routes.After(1, trace).has_value());
  EXPECT_FALSE(routes.IsEdge(trace.hops[0], trace));
}

}  // namespace
}  // namespace trumpet
