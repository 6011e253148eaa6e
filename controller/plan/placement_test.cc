// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Placement of events that people write.  That no host is left out which would count is shown in
// tests/network/placement_random_test.cc, with the monitor's own rule.

#include "controller/plan/placement.h"

#include <gtest/gtest.h>

#include <string>

#include "controller/plan/cost.h"
#include "controller/plan/filter_scope.h"
#include "lib/lang/event/event_language.h"

namespace trumpet {
namespace {

// Of h3 nothing is known.
Topology ThreeHosts() {
  return *ParseTopologyYaml(R"(
hosts:
  - {id: h1, prefixes: [10.0.1.0/24, "2001:db8:1::/64"]}
  - {id: h2, prefixes: [10.0.2.0/24, 10.0.1.128/32]}
  - {id: h3}
)",
                            "topology");
}

EventSpec EventWith(const std::string& filter, Observe observe) {
  const Result<EventSpec> event = ParseEventLine(filter + ", sum(bytes)>1, 5-tuple, 10ms", "event");
  EXPECT_TRUE(event.ok()) << event.message();
  EventSpec spec = *event;
  spec.observe = observe;
  return spec;
}

std::string HostsFor(const Topology& topology, const std::string& filter, Observe observe) {
  std::string hosts;
  for (const uint32_t host : Placement(topology).HostsFor(EventWith(filter, observe))) {
    hosts += (hosts.empty() ? "" : " ") + topology.hosts[host].id;
  }
  return hosts;
}

TEST(Placement, LeavesOutHostsWhosePacketsCannotMatch) {
  struct Case {
    const char* filter;
    const char* source;
    const char* destination;
    const char* all;
  };
  const Case cases[] = {
      {"*", "h1 h2 h3", "h1 h2 h3", "h1 h2 h3"},
      {"srcIP=10.0.1.5", "h1", "h1 h2", "h1 h2 h3"},
      {"srcIP=10.0.1.0/24", "h1 h2", "h1 h2", "h1 h2 h3"},
      {"dstIP=10.0.1.5", "h1 h2 h3", "h1", "h1 h2 h3"},
      {"srcIP=10.0.1.5 and dstIP=10.0.2.5", "h1", "h2", "h1 h2 h3"},
      {"srcIP=10.0.1.5 or srcIP=10.0.2.5", "h1 h2", "h1 h2", "h1 h2 h3"},
      // Of h2 in doubt: its other address lies within neither test.
      {"srcIP={10.0.1.5,10.0.2.5} and not srcIP=10.0.2.0/24", "h1 h2", "h1 h2", "h1 h2 h3"},
      {"srcIP=192.0.2.1", "h1 h2 h3", "h1 h2 h3", "h1 h2 h3"},
      {"srcIP=192.0.2.1 and dstIP=10.0.2.5", "h1 h2 h3", "h2", "h1 h2 h3"},
      {"srcIP=10.0.1.5 and dstIP=192.0.2.1", "h1", "h1", "h1 h2 h3"},
      {"srcIP=2001:db8:1::7 and dstPort=53", "h1", "h1", "h1 h2 h3"},
      {"srcIP=2001:db8:1::7 and dstIP=10.0.1.5", "", "", ""},
      {"inner.srcIP=10.0.1.5", "h1", "h1 h2", "h1 h2 h3"},
      {"outer.srcIP=10.0.1.5", "h1 h2 h3", "h1 h2 h3", "h1 h2 h3"},
      {"srcIP=10.0.1.5 and not srcIP=*", "", "", ""},
      {"not srcIP=0.0.0.0/0 and not srcIP=::/0 and Protocol=TCP", "", "", ""},
  };
  const Topology topology = ThreeHosts();
  for (const Case& one : cases) {
    EXPECT_EQ(HostsFor(topology, one.filter, Observe::kSource), one.source) << one.filter;
    EXPECT_EQ(HostsFor(topology, one.filter, Observe::kDestination), one.destination) << one.filter;
    EXPECT_EQ(HostsFor(topology, one.filter, Observe::kAll), one.all) << one.filter;
  }
}

TEST(Placement, LetsSomebodyDecideWhereNothingMatches) {
  const Topology topology = ThreeHosts();
  EventSpec event = EventWith("srcIP=10.0.1.5 and not srcIP=*", Observe::kSource);
  EXPECT_EQ(Placement(topology).HostsFor(event).size(), 0u);
  event.granularity = Granularity();
  EXPECT_EQ(Placement(topology).HostsFor(event).size(), 3u);
  event = EventWith("srcIP=10.0.1.5", Observe::kSource);
  event.granularity = Granularity();
  EXPECT_EQ(Placement(topology).HostsFor(event).size(), 1u);
  event.scope = Scope::kHost;
  EXPECT_EQ(Placement(topology).HostsFor(event).size(), 3u);
}

TEST(Placement, KnowsWhoseMacsThoseOfArpAre) {
  Topology topology = ThreeHosts();
  topology.hosts[0].macs = {0x020000000001};
  topology.hosts[1].macs = {0x020000000002};
  const char* const filter = "ethType=0x0806 and srcMAC=02:00:00:00:00:02 and not srcIP=*";
  // IPv4 and IPv6 packets have a source address.
  EXPECT_EQ(HostsFor(topology, filter, Observe::kSource), "h2");
  EXPECT_EQ(HostsFor(topology, "srcMAC=02:00:00:00:00:02", Observe::kSource), "h1 h2 h3");
}

TEST(Placement, TellsAHostItsOwnAndAllMonitoredAddresses) {
  Topology topology = ThreeHosts();
  topology.hosts[1].macs = {7, 5};
  const Placement placement(topology);
  const HostPlace place = placement.PlaceOf(1);
  EXPECT_TRUE(place.own.prefixes == topology.hosts[1].prefixes);
  EXPECT_EQ(place.own.macs, (std::vector<uint64_t>{7, 5}));
  EXPECT_EQ(place.monitored.prefixes.size(), 4u);
  EXPECT_EQ(place.monitored.macs, (std::vector<uint64_t>{5, 7}));
  EXPECT_TRUE(placement.PlaceOf(2).own == AddressSet());
}

TEST(FilterScope, IsProvenOrDenied) {
  const std::vector<Prefix> tenant = {*ParsePrefix("10.0.0.0/9"), *ParsePrefix("10.128.0.0/9"),
                                      *ParsePrefix("2001:db8::/32")};
  const std::pair<const char*, bool> cases[] = {
      {"srcIP=10.0.0.0/8", true},
      {"dstIP=10.1.2.3 and dstPort=80", true},
      {"srcIP=10.0.0.1 or dstIP=2001:db8::5", true},
      {"not (not srcIP=10.0.0.0/8)", true},
      {"srcIP=10.0.0.0/7", false},
      {"srcIP={10.0.0.1,11.0.0.1}", false},
      {"srcIP={10.0.0.1,11.0.0.1} and dstIP=10.0.0.1", true},
      {"*", false},
      {"not srcIP=11.0.0.0/8", false},
      {"not srcIP=0.0.0.0/0", false},
      {"outer.srcIP=10.0.0.1", false},
      {"inner.srcIP=10.0.0.1", true},
      {"srcMAC=02:00:00:00:00:01", false},
      {"dstPort=80", false},
  };
  for (const auto& [filter, expected] : cases) {
    EXPECT_EQ(IsConfinedTo(EventWith(filter, Observe::kSource).filter, tenant), expected) << filter;
  }
  EXPECT_TRUE(IsConfinedTo(EventWith("srcIP=10.0.0.1", Observe::kSource).filter, tenant));
  EXPECT_FALSE(IsConfinedTo(EventWith("srcIP=10.0.0.1", Observe::kSource).filter, {}));
}

TEST(Cost, GrowsWithWhatAnEventAsks) {
  const auto cost_of = [](const char* line) {
    return EstimateCost(MakeTriggerPlan(*ParseEventLine(line, "event")));
  };
  const EventCost plain = cost_of("*, sum(volume)>1, 10ms");
  const EventCost by_flow = cost_of("*, sum(volume)>1, 5-tuple, 10ms");
  const EventCost by_tag = cost_of("vlan=5, sum(volume)>1, 5-tuple, 10ms");
  const EventCost by_rtt = cost_of("*, max(rtt)>1, 5-tuple, 10ms");
  EXPECT_EQ(plain.words_per_bucket, 4u);  // packets; of volume how many, and the sum
  EXPECT_LT(plain.bytes_per_interval, 64u);
  EXPECT_GT(by_flow.bytes_per_interval, 25u * kCostedBuckets);
  EXPECT_LT(by_flow.bytes_per_interval, 50u * kCostedBuckets);
  EXPECT_LT(plain.ns_per_packet, by_flow.ns_per_packet);
  EXPECT_LT(by_flow.ns_per_packet, by_tag.ns_per_packet);
  EXPECT_LT(by_tag.ns_per_packet, by_rtt.ns_per_packet);
}

}  // namespace
}  // namespace trumpet
