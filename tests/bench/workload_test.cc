// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The workload is the one that the paper's authors described, byte by byte.

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lib/model/filter.h"
#include "tests/bench/traffic.h"
#include "tests/bench/triggers.h"

namespace trumpet::bench {
namespace {

// Fisher-Yates from the top, by xorshift64 13/7/17 from 88172645463325252, written out again.
std::vector<uint32_t> Permutation() {
  std::vector<uint32_t> numbers(65536);
  for (uint32_t i = 0; i < 65536; i++) numbers[i] = i;
  uint64_t state = 88172645463325252;
  for (uint32_t i = 65535; i > 0; i--) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    std::swap(numbers[i], numbers[state % (i + 1)]);
  }
  return numbers;
}

uint32_t Be32At(const Frame& frame, uint32_t offset) {
  uint32_t value;
  std::memcpy(&value, frame.data + offset, 4);
  return __builtin_bswap32(value);
}

using Address = std::pair<uint32_t, uint32_t>;  // source, destination
Address AddressOf(const Frame& frame) { return {Be32At(frame, 26), Be32At(frame, 30)}; }

// Copies, as the buffers are written again.
std::vector<std::pair<Address, uint32_t>> FirstPackets(const TrafficSpec& spec, uint32_t count) {
  Traffic traffic(spec);
  std::vector<std::pair<Address, uint32_t>> packets;
  while (packets.size() < count) {
    const Frame* frames = traffic.Next();
    for (int i = 0; i < kBatch; i++) {
      packets.push_back({AddressOf(frames[i]), Be32At(frames[i], 46)});
    }
  }
  return packets;
}

TEST(Workload, WritesTheFramesOfTheText) {
  Traffic traffic(TrafficSpec{});
  const Frame* frames = traffic.Next();
  const uint32_t dst = 0x0a000400 + Permutation()[1];
  const uint8_t expected[60] = {0x68,
                                0x05,
                                0xca,
                                0x1e,
                                0xa5,
                                0xe4,
                                0x68,
                                0x05,
                                0xca,
                                0x2a,
                                0x95,
                                0x62,  // MAC addresses
                                0x08,
                                0x00,
                                0x45,
                                0x00,
                                0x00,
                                46,
                                0x8d,
                                0x4a,
                                0x40,
                                0x00,
                                64,
                                17,  // IPv4, DF, UDP
                                0x00,
                                0x00,
                                10,
                                0,
                                5,
                                4,
                                static_cast<uint8_t>(dst >> 24),
                                static_cast<uint8_t>(dst >> 16),
                                static_cast<uint8_t>(dst >> 8),
                                static_cast<uint8_t>(dst),
                                0xe4,
                                0x91,
                                0x09,
                                0xc4,
                                0x00,
                                26,  // ports 58513 and 2500, length
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                1};  // the sequence number at offset 46
  EXPECT_EQ(frames[1].wire_length, 60u);
  EXPECT_EQ(std::memcmp(frames[1].data, expected, sizeof expected), 0);
}

TEST(Workload, GoesRoundTheFlowsAndCountsTheirPackets) {
  const std::vector<uint32_t> permutation = Permutation();
  TrafficSpec spec;
  spec.flows = 70000;
  const auto packets = FirstPackets(spec, 140000);
  for (uint32_t i = 0; i < 140000; i++) {
    const uint32_t flow = i % 70000;
    const Address address{0x0a000504 + flow / 65536, 0x0a000400 + permutation[flow % 65536]};
    ASSERT_EQ(packets[i].first, address) << i;
    ASSERT_EQ(packets[i].second, 1 + i / 70000) << i;
  }
}

TEST(Workload, SendsBurstsOf16) {
  TrafficSpec spec;
  spec.order = Order::kBurst16;
  const auto packets = FirstPackets(spec, 320);
  std::set<Address> flows;
  for (uint32_t i = 0; i < 320; i++) {
    flows.insert(packets[i].first);
    ASSERT_EQ(packets[i].second, 1 + i % 16) << i;
    ASSERT_EQ(flows.size(), 1 + i / 16) << i;
  }
}

TEST(Workload, ReplacesAFlowEvery232PacketsAt64000PerSecond) {
  TrafficSpec spec;
  spec.flows = 100;
  spec.new_flows_per_second = 64000;
  std::set<Address> flows;
  for (const auto& [address, sequence] : FirstPackets(spec, 232 * 1000)) flows.insert(address);
  EXPECT_GE(flows.size(), 1099u);
  EXPECT_LE(flows.size(), 1100u);
}

TEST(Workload, AttacksWithFlowsOfOnePacket) {
  TrafficSpec spec;
  spec.attack_share = 0.9;
  const uint32_t count = 100000;
  std::map<Address, int> attacks;
  for (const auto& [address, sequence] : FirstPackets(spec, count)) {
    if (address.first >> 24 != 128) continue;
    EXPECT_EQ(address.first, 0x80000000 + attacks.size() / 65536);
    EXPECT_EQ(address.second, 0x78000400 + attacks.size() % 65536);
    attacks[address]++;
  }
  EXPECT_NEAR(static_cast<double>(attacks.size()) / count, 0.9, 0.005);
}

// Every packet matches the triggers of its group and no others, in all encapsulations.
TEST(Workload, MatchesExactlyTheTriggersOfAGroup) {
  for (const Encapsulation encapsulation :
       {Encapsulation::kIpv4, Encapsulation::kIpv6, Encapsulation::kVxlan}) {
    TriggersSpec triggers;
    triggers.triggers = 1024;
    triggers.patterns = 64;
    triggers.encapsulation = encapsulation;
    const std::vector<EventSpec> events = MakeEvents(triggers, 1);
    TrafficSpec spec;
    spec.encapsulation = encapsulation;
    Traffic traffic(spec);
    const Frame* frames = traffic.Next();
    for (int i = 0; i < kBatch; i++) {
      ParsedPacket packet;
      ParsePacket(frames[i], ParseOptions(), &packet);
      EXPECT_EQ(packet.volume, ShapeOf(encapsulation).payload_bytes);
      const uint32_t group = (traffic.DestinationOf(frames[i]) - kDstBase) / triggers.group_size();
      for (uint32_t q = 0; q < triggers.triggers; q++) {
        ASSERT_EQ(Matches(events[q].filter, packet), q / 8 == group) << q;
      }
    }
  }
}

TEST(Workload, TakesTypesAndMasksByTurns) {
  const TriggersSpec spec;
  for (uint32_t q = 0; q < spec.triggers; q++) {
    const PlainTrigger trigger = TriggerNumber(spec, q);
    ASSERT_EQ(static_cast<uint32_t>(trigger.type), q % 3);
    ASSERT_EQ(trigger.port_mask, 0xffffffffu << (q % 32));
    ASSERT_EQ(trigger.dst, 0x0a000400 + q / 8 * 128);
  }
}

}  // namespace
}  // namespace trumpet::bench
