// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/observation.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lib/packet/test_frames.h"
#include "lib/tpm/monitor_harness_test.h"

namespace trumpet::testing {
namespace {

using test_frames::Bytes;

constexpr int kNobody = -1;
constexpr uint32_t kEdgePort = 3;
constexpr uint32_t kUplinkPort = 70000;

enum class Kind { kIpv4, kIpv6, kArp };

// An address of a world of 256: 10.0.0.N, 2001:db8::N or 02:00:00:00:00:N.
struct Address {
  Kind kind;
  uint8_t number;
};

Uint128 BaseOf(Kind kind) {
  switch (kind) {
    case Kind::kIpv4:
      return 0x0a000000;
    case Kind::kIpv6:
      return Uint128{0x20010db8} << 96;
    default:
      return 0x020000000000;
  }
}

// Hosts with prefixes of that world, one within another, and MACs; no two have the same.
class World {
 public:
  World(std::mt19937* random, int host_count) : places_(static_cast<size_t>(host_count)) {
    std::set<std::pair<int, std::pair<uint8_t, int>>> taken;
    for (int i = 0; i < 6 * host_count; ++i) {
      const int host = static_cast<int>((*random)() % static_cast<uint32_t>(host_count));
      const Kind kind = static_cast<Kind>((*random)() % 3);
      const int open_bits = kind == Kind::kArp ? 0 : static_cast<int>((*random)() % 7);
      const auto number = static_cast<uint8_t>((*random)() >> open_bits << open_bits);
      if (!taken.insert({static_cast<int>(kind), {number, open_bits}}).second) continue;
      blocks_.push_back({host, {kind, number}, open_bits});
      AddressSet& own = places_[static_cast<size_t>(host)].own;
      if (kind == Kind::kArp) {
        own.macs.push_back(static_cast<uint64_t>(BaseOf(kind)) + number);
      } else {
        const int width = kind == Kind::kIpv6 ? 128 : 32;
        own.prefixes.push_back(
            {kind == Kind::kIpv6, BaseOf(kind) + number, static_cast<uint8_t>(width - open_bits)});
      }
    }
    AddressSet all;
    for (const HostPlace& place : places_) {
      all.prefixes.insert(all.prefixes.end(), place.own.prefixes.begin(), place.own.prefixes.end());
      all.macs.insert(all.macs.end(), place.own.macs.begin(), place.own.macs.end());
    }
    for (HostPlace& place : places_) place.monitored = all;
  }

  int host_count() const { return static_cast<int>(places_.size()); }
  const HostPlace& place(int host) const { return places_[static_cast<size_t>(host)]; }

  // By a look at every block: that with the fewest open bits counts.
  int HostOf(const Address& address) const {
    int host = kNobody;
    int fewest = 9;
    for (const Block& block : blocks_) {
      if (block.first.kind != address.kind || block.open_bits >= fewest) continue;
      if (address.number >> block.open_bits != block.first.number >> block.open_bits) continue;
      host = block.host;
      fewest = block.open_bits;
    }
    return host;
  }

 private:
  struct Block {
    int host;
    Address first;
    int open_bits;
  };
  std::vector<Block> blocks_;
  std::vector<HostPlace> places_;
};

void StoreAddress(Uint128 value, size_t bytes, size_t at, Bytes* frame) {
  for (size_t i = 0; i < bytes; ++i) {
    (*frame)[at + i] = static_cast<uint8_t>(value >> 8 * (bytes - 1 - i));
  }
}

// With MACs of nobody, but for ARP.
Bytes FrameOf(const Address& source, const Address& destination) {
  using namespace test_frames;
  const Uint128 src = BaseOf(source.kind) + source.number;
  const Uint128 dst = BaseOf(destination.kind) + destination.number;
  Bytes frame;
  switch (source.kind) {
    case Kind::kIpv4: {
      Ipv4Header header;
      header.protocol = kProtocolUdp;
      header.src = static_cast<uint32_t>(src);
      header.dst = static_cast<uint32_t>(dst);
      frame = Ethernet(0x0800, Ipv4(header, Udp(7, 8, Zeros(20))));
      break;
    }
    case Kind::kIpv6:
      frame = Ethernet(0x86dd, Ipv6({kProtocolUdp, {}, 0, 64}, Udp(7, 8, Zeros(20))));
      StoreAddress(src, 16, 22, &frame);
      StoreAddress(dst, 16, 38, &frame);
      break;
    case Kind::kArp:
      frame = Ethernet(0x0806, Zeros(46));
      StoreAddress(dst, 6, 0, &frame);
      StoreAddress(src, 6, 6, &frame);
      return frame;
  }
  StoreAddress(0x0600000000ff, 6, 0, &frame);
  StoreAddress(0x0600000000fe, 6, 6, &frame);
  return frame;
}

// The outer addresses may be anybody's.
Bytes Tunnelled(const Bytes& inner, std::mt19937* random) {
  using namespace test_frames;
  Ipv4Header header;
  header.protocol = kProtocolUdp;
  header.src = 0x0a000000 + (*random)() % 256;
  header.dst = 0x0a000000 + (*random)() % 256;
  return Ethernet(0x0800, Ipv4(header, Udp(1, 4789, Vxlan(5, inner))));
}

ParsedPacket Parsed(const Bytes& frame) {
  return test_frames::Parse(frame, static_cast<uint32_t>(frame.size()));
}

// What the table in observation.h says, in words.
uint8_t SlowlyCountedAt(const World& world, int host, const Address& source,
                        const Address& destination, bool is_from_uplink) {
  const int from = world.HostOf(source);
  const int to = world.HostOf(destination);
  uint8_t counted = 0;
  const bool enters_here = !is_from_uplink || (from == kNobody && (to == kNobody || to == host));
  if (enters_here) counted |= kCountedAtSource;
  const bool leaves_here = to == host && !(is_from_uplink && from == host);
  const bool entered_for_nobody = to == kNobody && (!is_from_uplink || from == kNobody);
  if (leaves_here || entered_for_nobody) counted |= kCountedAtDestination;
  return counted;
}

Address AnyAddress(Kind kind, std::mt19937* random) {
  return {kind, static_cast<uint8_t>((*random)())};
}

TEST(Observation, SaysWhatALookAtEveryPrefixSays) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    std::mt19937 random(seed);
    const World world(&random, static_cast<int>(1 + random() % 6));
    for (int host = 0; host < world.host_count(); ++host) {
      const Observation observation(world.place(host), {kUplinkPort, 9}, seed);
      for (int i = 0; i < 300; ++i) {
        const Kind kind = static_cast<Kind>(random() % 3);
        const Address source = AnyAddress(kind, &random);
        const Address destination = AnyAddress(kind, &random);
        const bool is_from_uplink = random() % 2 == 0;
        const Bytes frame = FrameOf(source, destination);
        const ParsedPacket packet = Parsed(random() % 4 == 0 ? Tunnelled(frame, &random) : frame);
        ASSERT_EQ(observation.CountedAt(packet, is_from_uplink),
                  SlowlyCountedAt(world, host, source, destination, is_from_uplink))
            << "seed " << seed;
      }
    }
  }
}

TEST(Observation, KnowsItsUplinks) {
  const Observation observation({}, {kUplinkPort, 9, 4}, 1);
  for (const uint32_t port : {4u, 9u, kUplinkPort}) EXPECT_TRUE(observation.IsUplink(port));
  for (const uint32_t port : {0u, 5u, UINT32_MAX}) EXPECT_FALSE(observation.IsUplink(port));
}

TEST(Observation, TellsAddressesAtTheEndsOfTheWorld) {
  HostPlace place;
  place.own.prefixes = {*ParsePrefix("0.0.0.0/0"), *ParsePrefix("::/0")};
  place.monitored.prefixes = {*ParsePrefix("255.255.255.255"), *ParsePrefix("0.0.0.0/31"),
                              *ParsePrefix("ffff::/16")};
  const Observation observation(place, {}, 1);
  const auto owner = [&](const char* text) {
    const Prefix prefix = *ParsePrefix(text);
    IpBytes bytes{};
    for (size_t i = 0; i < (prefix.is_ipv6 ? 16u : 4u); ++i) {
      bytes[i] = static_cast<uint8_t>(prefix.address >> 8 * ((prefix.is_ipv6 ? 15u : 3u) - i));
    }
    return observation.OwnerOfIp(prefix.is_ipv6 ? 6 : 4, bytes);
  };
  EXPECT_EQ(owner("0.0.0.0"), Owner::kOther);
  EXPECT_EQ(owner("0.0.0.2"), Owner::kOwn);
  EXPECT_EQ(owner("255.255.255.254"), Owner::kOwn);
  EXPECT_EQ(owner("255.255.255.255"), Owner::kOther);
  EXPECT_EQ(owner("::"), Owner::kOwn);
  EXPECT_EQ(owner("ffff::"), Owner::kOther);
  EXPECT_EQ(owner("fffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff"), Owner::kOwn);
  EXPECT_EQ(owner("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"), Owner::kOther);
}

// Where the number of an address tells no more in 64 bits.
TEST(Observation, TellsAddressesThatAreFarApart) {
  HostPlace place;
  place.own.prefixes = {*ParsePrefix("2001:db8::1"), *ParsePrefix("2001:db8::4/126")};
  const Observation observation(place, {}, 1);
  const IpBytes near{0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  const IpBytes far{0xfd, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  EXPECT_EQ(observation.OwnerOfIp(6, near), Owner::kOwn);
  EXPECT_EQ(observation.OwnerOfIp(6, far), Owner::kNobody);
}

// Events 1, 2 and 3: observe source, destination and all; 4 follows nothing; 5 and 6 are as 1 and
// 2, by 5-tuple.
HostVerdicts::Plans ObservingPlans() {
  HostVerdicts::Plans plans;
  for (uint32_t id = 1; id <= 6; ++id) {
    TriggerPlan plan = *PlanOf(id, FilterExpr(), Variable::kVolume, 10, id > 4);
    plan.spec.observe = id % 4 == 1   ? Observe::kSource
                        : id % 4 == 2 ? Observe::kDestination
                                      : Observe::kAll;
    plan.follows_observe = id != 4;
    plans.push_back(std::make_shared<const TriggerPlan>(std::move(plan)));
  }
  return plans;
}

struct MonitoredHost {
  MonitoredHost(const HostPlace& place, uint64_t seed) : sink(plans), monitor(MakeMonitor()) {
    auto observation =
        std::make_shared<const Observation>(place, std::vector<uint32_t>{kUplinkPort}, seed);
    EXPECT_TRUE(
        monitor->Publish(TriggerProgram::Make(plans, 1, INT64_MIN, std::move(observation))).ok());
  }

  void See(const Bytes& bytes, uint32_t port, Nanos now) {
    const Frame frame{bytes.data(), static_cast<uint32_t>(bytes.size()),
                      static_cast<uint32_t>(bytes.size())};
    monitor->OnBatch(&frame, 1, true, port, 0, now);
    ++seen;
  }
  void Finish(Nanos now) {
    SweepAll(monitor.get(), now, &sink);
    monitor->CloseEpoch(now);
    SweepAll(monitor.get(), now, &sink);
  }

  const HostVerdicts::Plans plans = ObservingPlans();
  SummingSink sink;
  std::unique_ptr<PacketMonitor> monitor;
  uint64_t seen = 0;
};

// A packet on its way: from the edge port of its source, if that is monitored, to the uplink of its
// destination.  Some come back to their host from a router outside, some are flooded to all.
void Travel(const World& world, const Address& source, const Address& destination, Nanos now,
            std::mt19937* random, std::vector<std::unique_ptr<MonitoredHost>>* hosts) {
  const int from = world.HostOf(source);
  const int to = world.HostOf(destination);
  const Bytes frame = FrameOf(source, destination);
  const bool is_flooded = (*random)() % 4 == 0 && (from != kNobody || to != kNobody);
  const bool is_routed_outside = from != kNobody && from == to && (*random)() % 4 == 0;
  const int entry = static_cast<int>((*random)() % static_cast<uint32_t>(world.host_count()));
  for (int host = 0; host < world.host_count(); ++host) {
    MonitoredHost& here = *(*hosts)[static_cast<size_t>(host)];
    if (host == from) here.See(frame, kEdgePort, now);
    const bool is_destination = host == to && host != from;
    const bool enters_here = from == kNobody && to == kNobody && host == entry;
    const bool is_copy = is_flooded && host != from && to != from;
    if (is_destination || enters_here || is_copy || (is_routed_outside && host == from)) {
      here.See((*random)() % 3 == 0 ? Tunnelled(frame, random) : frame, kUplinkPort, now);
    }
  }
}

TEST(Observation, CountsEachPacketOfANetworkAtOnePlace) {
  uint64_t packets_between_hosts = 0;
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    std::mt19937 random(seed);
    const World world(&random, static_cast<int>(1 + random() % 6));
    std::vector<std::unique_ptr<MonitoredHost>> hosts;
    for (int host = 0; host < world.host_count(); ++host) {
      hosts.push_back(std::make_unique<MonitoredHost>(world.place(host), seed));
    }
    constexpr uint64_t kPackets = 500;
    uint64_t ip_packets = 0;
    Nanos now = 1;
    for (uint64_t i = 0; i < kPackets; ++i, now += 50000) {
      const Kind kind = static_cast<Kind>(random() % 3);
      const Address source = AnyAddress(kind, &random);
      const Address destination = AnyAddress(kind, &random);
      ip_packets += kind != Kind::kArp;
      packets_between_hosts += world.HostOf(source) != kNobody &&
                               world.HostOf(destination) != kNobody &&
                               world.HostOf(source) != world.HostOf(destination);
      Travel(world, source, destination, now, &random, &hosts);
    }
    std::map<uint32_t, uint64_t> counted;
    uint64_t seen = 0;
    for (auto& host : hosts) {
      host->Finish(now + 20 * kNanosPerMilli);
      for (const auto& [event, packets] : host->sink.total_packets) counted[event] += packets;
      seen += host->seen;
    }
    ASSERT_EQ(counted[1], kPackets) << "source, seed " << seed;
    ASSERT_EQ(counted[2], kPackets) << "destination, seed " << seed;
    ASSERT_EQ(counted[3], seen) << "all, seed " << seed;
    ASSERT_EQ(counted[4], seen) << "not of a controller, seed " << seed;
    ASSERT_EQ(counted[5], ip_packets) << "source by 5-tuple, seed " << seed;
    ASSERT_EQ(counted[6], ip_packets) << "destination by 5-tuple, seed " << seed;
  }
  EXPECT_GT(packets_between_hosts, 1000u);
}

// The two directions of a connection between hosts 0 and 1, as 0 sees them.
TEST(Observation, SaysWhichDirectionsOfConnectionsCount) {
  HostPlace place;
  place.own.prefixes = {*ParsePrefix("10.0.0.0/24")};
  place.monitored.prefixes = {*ParsePrefix("10.0.0.0/24"), *ParsePrefix("10.0.1.0/24")};
  const Observation observation(place, {kUplinkPort}, 1);
  const auto counts = [&](uint8_t from, uint8_t to, Observe observe) {
    FlowKey flow;
    flow.ip_family = 4;
    flow.src_ip = {10, 0, from, 1};
    flow.dst_ip = {10, 0, to, 2};
    return observation.CountsDirection(flow, observe);
  };
  constexpr uint8_t kOwn = 0, kOther = 1, kOutside = 9;
  EXPECT_TRUE(counts(kOwn, kOther, Observe::kSource));
  EXPECT_FALSE(counts(kOther, kOwn, Observe::kSource));
  EXPECT_FALSE(counts(kOwn, kOther, Observe::kDestination));
  EXPECT_TRUE(counts(kOther, kOwn, Observe::kDestination));
  EXPECT_TRUE(counts(kOutside, kOwn, Observe::kSource));
  EXPECT_TRUE(counts(kOwn, kOutside, Observe::kDestination));
  EXPECT_TRUE(counts(kOwn, kOwn, Observe::kSource));
  EXPECT_TRUE(counts(kOwn, kOwn, Observe::kDestination));
  EXPECT_TRUE(counts(kOther, kOwn, Observe::kAll));
  EXPECT_FALSE(counts(kOther, kOther, Observe::kSource));
  EXPECT_FALSE(counts(kOther, kOutside, Observe::kDestination));
}

}  // namespace
}  // namespace trumpet::testing
