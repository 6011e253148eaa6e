// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Placement and scopes of filters, against the monitor's own rule of what it counts and random
// packets: a host that is left out has none that matches, and a filter that is confined to a tenant
// matches nobody else's.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "controller/plan/filter_scope.h"
#include "controller/plan/placement.h"
#include "lib/model/filter.h"
#include "lib/tpm/observation.h"

namespace trumpet {
namespace {

// Few addresses, so that filters, prefixes and packets meet.
constexpr Uint128 kIpv4 = 0x0a000000;
constexpr Uint128 kIpv6 = Uint128{0x20010db8} << 96;
constexpr uint64_t kMac = 0x020000000000;

class Dice {
 public:
  explicit Dice(uint32_t seed) : random_(seed) {}
  uint32_t Below(uint32_t limit) { return random_() % limit; }
  bool Chance(uint32_t percent) { return Below(100) < percent; }

  // Of 64 addresses; aligned to 2^open_bits.
  uint32_t Number(int open_bits = 0) { return Below(64) >> open_bits << open_bits; }

  Prefix AnyPrefix() {
    const bool is_ipv6 = Chance(40);
    const int open_bits = static_cast<int>(Below(6));
    return {is_ipv6, (is_ipv6 ? kIpv6 : kIpv4) + Number(open_bits),
            static_cast<uint8_t>((is_ipv6 ? 128 : 32) - open_bits)};
  }

 private:
  std::mt19937 random_;
};

Topology SomeHosts(Dice* dice) {
  Topology topology;
  topology.hosts.resize(1 + dice->Below(5));
  std::vector<Prefix> taken;
  for (TopologyHost& host : topology.hosts) {
    for (uint32_t i = dice->Below(4); i > 0; --i) {
      const Prefix prefix = dice->AnyPrefix();
      if (std::find(taken.begin(), taken.end(), prefix) != taken.end()) continue;
      taken.push_back(prefix);
      host.prefixes.push_back(prefix);
    }
    for (uint32_t i = dice->Below(3); i > 0; --i) host.macs.push_back(kMac + dice->Number());
  }
  return topology;
}

ValueRange SomeRange(Dice* dice, Field field) {
  const bool is_mac = field == Field::kSrcMac || field == Field::kDstMac;
  if (!is_mac && dice->Chance(50)) {
    const Prefix prefix = dice->AnyPrefix();
    return {prefix.is_ipv6 ? ValueKind::kIpv6 : ValueKind::kIpv4, FirstOf(prefix), LastOf(prefix)};
  }
  const bool is_ipv6 = dice->Chance(40);
  const Uint128 base = is_mac ? Uint128{kMac} : is_ipv6 ? kIpv6 : kIpv4;
  const ValueKind kind = is_mac ? ValueKind::kMac : is_ipv6 ? ValueKind::kIpv6 : ValueKind::kIpv4;
  const uint32_t low = dice->Number();
  return {kind, base + low, base + low + dice->Below(64 - low)};
}

FieldTest SomeTest(Dice* dice) {
  constexpr Field kFields[] = {Field::kSrcIp,  Field::kSrcIp,  Field::kDstIp,    Field::kDstIp,
                               Field::kSrcMac, Field::kDstMac, Field::kProtocol, Field::kDstPort,
                               Field::kTtl,    Field::kEthType};
  FieldTest test;
  test.ref.field = kFields[dice->Below(10)];
  test.ref.level = dice->Chance(70)   ? Level::kInnermost
                   : dice->Chance(50) ? Level::kOuter
                                      : Level::kInner;
  if (dice->Chance(10)) {
    test.is_any = true;
    return test;
  }
  for (uint32_t i = 1 + dice->Below(2); i > 0; --i) {
    switch (test.ref.field) {
      case Field::kProtocol:
        test.ranges.push_back({ValueKind::kNumber, 6, 6});
        break;
      case Field::kDstPort:
      case Field::kTtl:
        test.ranges.push_back({ValueKind::kNumber, dice->Below(4), 3});
        break;
      case Field::kEthType:
        test.ranges.push_back({ValueKind::kNumber, 0x0800, 0x0806});
        break;
      default:
        test.ranges.push_back(SomeRange(dice, test.ref.field));
    }
  }
  return test;
}

FilterExpr SomeFilter(Dice* dice, int height) {
  FilterExpr filter;
  if (height <= 1 || dice->Chance(25)) {
    if (dice->Chance(4)) return filter;
    filter.op = FilterOp::kTest;
    filter.test = SomeTest(dice);
    return filter;
  }
  filter.op = dice->Chance(45) ? FilterOp::kAnd : dice->Chance(60) ? FilterOp::kOr : FilterOp::kNot;
  const uint32_t count = filter.op == FilterOp::kNot ? 1 : 2 + dice->Below(2);
  for (uint32_t i = 0; i < count; ++i) filter.args.push_back(SomeFilter(dice, height - 1));
  return filter;
}

void SetBytes(Uint128 value, size_t count, uint8_t* bytes) {
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<uint8_t>(value >> 8 * (count - 1 - i));
}

// Headers of one level, as parsing would leave them.
Headers SomeHeaders(Dice* dice) {
  Headers headers;
  const auto has = [&headers](Field field) {
    headers.present = static_cast<uint16_t>(headers.present | FieldBit(field));
  };
  if (!dice->Chance(10)) {
    for (const Field field : {Field::kSrcMac, Field::kDstMac, Field::kEthType}) has(field);
    SetBytes(kMac + dice->Number(), 6, headers.src_mac.data());
    SetBytes(kMac + dice->Number(), 6, headers.dst_mac.data());
    headers.eth_type = 0x0806;
  }
  if (dice->Chance(20)) return headers;
  for (const Field field : {Field::kSrcIp, Field::kDstIp, Field::kProtocol, Field::kTtl})
    has(field);
  headers.ip_family = dice->Chance(60) ? 4 : 6;
  headers.eth_type = headers.ip_family == 4 ? 0x0800 : 0x86dd;
  const Uint128 base = headers.ip_family == 4 ? kIpv4 : kIpv6;
  const size_t size = headers.ip_family == 4 ? 4 : 16;
  SetBytes(base + dice->Number(), size, headers.src_ip.data());
  SetBytes(base + dice->Number(), size, headers.dst_ip.data());
  headers.protocol = dice->Chance(50) ? 6 : 17;
  headers.ttl = static_cast<uint8_t>(dice->Below(4));
  if (dice->Chance(80)) {
    has(Field::kSrcPort);
    has(Field::kDstPort);
    headers.dst_port = static_cast<uint16_t>(dice->Below(4));
  }
  return headers;
}

ParsedPacket SomePacket(Dice* dice) {
  ParsedPacket packet;
  packet.innermost = SomeHeaders(dice);
  packet.is_tunnelled = dice->Chance(30);
  if (packet.is_tunnelled) packet.outer = SomeHeaders(dice);
  return packet;
}

Owner SourceOwner(const Observation& observation, const ParsedPacket& packet) {
  const Headers& headers = packet.innermost;
  if (headers.ip_family != 0) return observation.OwnerOfIp(headers.ip_family, headers.src_ip);
  return headers.Has(Field::kSrcMac) ? observation.OwnerOfMac(headers.src_mac) : Owner::kNobody;
}

bool Counts(const Observation& observation, const ParsedPacket& packet, bool is_from_uplink,
            Observe observe) {
  if (observe == Observe::kAll) return true;
  const uint8_t asked = observe == Observe::kSource ? kCountedAtSource : kCountedAtDestination;
  return (observation.CountedAt(packet, is_from_uplink) & asked) != 0;
}

TEST(Placement, NeverLeavesOutAHostThatWouldCount) {
  uint64_t placed = 0;
  uint64_t left_out = 0;
  uint64_t counted = 0;
  for (uint32_t seed = 1; seed <= 400; ++seed) {
    Dice dice(seed);
    const Topology topology = SomeHosts(&dice);
    const Placement placement(topology);
    std::vector<std::unique_ptr<Observation>> rules;
    for (uint32_t host = 0; host < topology.hosts.size(); ++host) {
      rules.push_back(
          std::make_unique<Observation>(placement.PlaceOf(host), std::vector<uint32_t>{}, seed));
    }
    std::vector<ParsedPacket> packets(150);
    for (ParsedPacket& packet : packets) packet = SomePacket(&dice);
    for (int round = 0; round < 30; ++round) {
      EventSpec event;
      event.granularity.is_five_tuple = true;
      event.observe = static_cast<Observe>(dice.Below(3));
      event.filter = SomeFilter(&dice, static_cast<int>(1 + dice.Below(4)));
      const std::vector<uint32_t> hosts = placement.HostsFor(event);
      placed += hosts.size();
      left_out += topology.hosts.size() - hosts.size();
      for (const ParsedPacket& packet : packets) {
        if (!Matches(event.filter, packet)) continue;
        for (uint32_t host = 0; host < topology.hosts.size(); ++host) {
          const Observation& rule = *rules[host];
          const bool may_enter = SourceOwner(rule, packet) != Owner::kOther;
          const bool counts = (may_enter && Counts(rule, packet, false, event.observe)) ||
                              Counts(rule, packet, true, event.observe);
          if (!counts) continue;
          ++counted;
          ASSERT_TRUE(std::binary_search(hosts.begin(), hosts.end(), host))
              << "seed " << seed << ", round " << round << ", host " << host;
        }
      }
    }
  }
  EXPECT_GT(counted, 100000u);
  // It does leave out hosts, too.
  EXPECT_GT(left_out, placed / 50);
}

TEST(FilterScope, ConfinedFiltersMatchNobodyElse) {
  uint64_t confined = 0;
  uint64_t matching = 0;
  for (uint32_t seed = 1; seed <= 2000; ++seed) {
    Dice dice(seed);
    std::vector<Prefix> tenant(1 + dice.Below(3));
    for (Prefix& prefix : tenant) prefix = dice.AnyPrefix();
    HostPlace place;
    place.own.prefixes = tenant;
    const Observation inside(place, {}, seed);
    std::vector<ParsedPacket> packets(60);
    for (ParsedPacket& packet : packets) packet = SomePacket(&dice);
    for (int round = 0; round < 20; ++round) {
      FilterExpr filter = SomeFilter(&dice, static_cast<int>(1 + dice.Below(4)));
      if (dice.Chance(40)) {
        FilterExpr own;
        own.op = FilterOp::kTest;
        own.test.ref.field = dice.Chance(50) ? Field::kSrcIp : Field::kDstIp;
        const Prefix& prefix = tenant[dice.Below(static_cast<uint32_t>(tenant.size()))];
        own.test.ranges.push_back({prefix.is_ipv6 ? ValueKind::kIpv6 : ValueKind::kIpv4,
                                   FirstOf(prefix), LastOf(prefix)});
        FilterExpr both;
        both.op = FilterOp::kAnd;
        both.args = {own, filter};
        filter = both;
      }
      if (!IsConfinedTo(filter, tenant)) continue;
      ++confined;
      for (const ParsedPacket& packet : packets) {
        if (!Matches(filter, packet)) continue;
        ++matching;
        const Headers& headers = packet.innermost;
        ASSERT_NE(headers.ip_family, 0) << "seed " << seed;
        ASSERT_TRUE(inside.OwnerOfIp(headers.ip_family, headers.src_ip) == Owner::kOwn ||
                    inside.OwnerOfIp(headers.ip_family, headers.dst_ip) == Owner::kOwn)
            << "seed " << seed << ", round " << round;
      }
    }
  }
  EXPECT_GT(confined, 5000u);
  EXPECT_GT(matching, 5000u);
}

}  // namespace
}  // namespace trumpet
