// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/rule_sums.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "controller/traces/program_kit_test.h"

namespace trumpet {
namespace {

using Json = nlohmann::ordered_json;
using trace_network::kBegin;
using trace_network::Network;
using trace_network::Packet;

// Packets of connections, both directions of them, as they are told.
class RuleSumsTest : public testing::Test {
 protected:
  void Add(uint32_t connection, uint32_t bytes, uint32_t rule = 0, Nanos time = kBegin) {
    Trace trace;
    FlowKey& flow = trace.packet.flow;
    flow.ip_family = 4;
    flow.protocol = kProtocolTcp;
    flow.src_ip = {10, 0, static_cast<uint8_t>(connection >> 8), static_cast<uint8_t>(connection)};
    flow.dst_ip = {10, 9, 9, 9};
    flow.src_port = 1000;
    flow.dst_port = 80;
    if (bytes % 2 == 0) flow = Reversed(flow);
    trace.packet.wire_bytes = bytes;
    TracePass pass;
    TraceHop hop;
    hop.time = time;
    hop.tag = TraceTag(rule, 3);
    pass.hops = {hop, hop};
    sums_.Add({1, &trace, &pass, false});
  }

  RuleSums sums_{7, 0};
};

TEST_F(RuleSumsTest, CountsWhatAWholeRuleBrings) {
  sums_.Set({{"all", 0, 0}, {"cut", 0, 64}});
  for (uint32_t i = 0; i < 10; ++i) Add(i, 100);
  Add(1, 64, 1);
  Add(1, 65, 1);
  const Json told = sums_.Show();
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0]["rule"], "all");
  EXPECT_EQ(told[0]["packets"], 10);
  EXPECT_EQ(told[0]["bytes"], 1000);
  EXPECT_FALSE(told[0].contains("of_all"));
  EXPECT_EQ(told[1]["packets"], 2);
  EXPECT_EQ(told[1]["truncated"], 1);
}

TEST_F(RuleSumsTest, TakesBothDirectionsForOneConnection) {
  sums_.Set({{"web", 4, 0}});
  for (uint32_t i = 0; i < 6; ++i) Add(i % 3, 100 + i);
  const Json told = sums_.Show()[0];
  EXPECT_EQ(told["sample"], "1/16");
  EXPECT_EQ(told["connections"], 3);
  EXPECT_EQ(told["of_all"]["connections"]["value"], 48);
  EXPECT_EQ(told["of_all"]["packets"]["value"], 96);
  EXPECT_LT(told["of_all"]["packets"]["low"], 96);
  EXPECT_GT(told["of_all"]["packets"]["high"], 96);
}

TEST_F(RuleSumsTest, TellsTheLastWindowThatIsComplete) {
  sums_ = RuleSums(7, 60 * kNanosPerSecond);
  sums_.Set({{"all", 0, 0}});
  for (int second = 0; second < 90; ++second) Add(1, 100, 0, kBegin + second * kNanosPerSecond);
  const Json told = sums_.Show()[0];
  EXPECT_EQ(told["packets"], 60);
  EXPECT_EQ(told["from_ns"], kBegin);
  EXPECT_EQ(told["until_ns"], kBegin + 60 * kNanosPerSecond);
}

TEST_F(RuleSumsTest, BeginsAnewWithOtherRules) {
  sums_.Set({{"all", 0, 0}});
  Add(1, 100);
  sums_.Set({{"all", 0, 0}});
  EXPECT_EQ(sums_.Show()[0]["packets"], 1);
  sums_.Set({{"all", 1, 0}});
  EXPECT_EQ(sums_.Show()[0]["packets"], 0);
  Add(1, 100, 5);  // of a rule that is not known any more
  EXPECT_EQ(sums_.Show()[0]["packets"], 0);
}

TEST_F(RuleSumsTest, TakesTogetherWhatItHasNoRoomFor) {
  sums_.Set({{"web", 1, 0}});
  for (uint32_t i = 0; i < RuleSums::kMaxConnections; ++i) Add(i, 101);
  EXPECT_FALSE(sums_.Show()[0].contains("in_heaps"));
  // Addresses of the test have 16 bits; these are others, by their length's direction and port.
  Trace trace;
  trace.packet.flow.ip_family = 6;
  trace.packet.flow.protocol = kProtocolUdp;
  trace.packet.wire_bytes = 500;
  TracePass pass;
  TraceHop hop;
  hop.time = kBegin;
  hop.tag = TraceTag(0, 1);
  pass.hops = {hop};
  sums_.Add({1, &trace, &pass, false});
  const Json told = sums_.Show()[0];
  EXPECT_EQ(told["in_heaps"], 1);
  EXPECT_FALSE(told["of_all"].contains("connections"));
  EXPECT_EQ(told["of_all"]["packets"]["value"], 2 * (RuleSums::kMaxConnections + 1));
}

// A network of connections of which the switches take some: what is told of all of them holds the
// truth in about 95 of 100 networks.
TEST_F(RuleSumsTest, HoldsTheTruthInTheStatedShareOfCases) {
  constexpr int kRuns = 500;
  constexpr unsigned kBits = 3;
  int connections = 0;
  int packets = 0;
  int bytes = 0;
  const auto holds = [](const Json& told, uint64_t truth) {
    return told["low"].get<uint64_t>() <= truth && truth <= told["high"].get<uint64_t>() ? 1 : 0;
  };
  for (int run = 0; run < kRuns; ++run) {
    std::mt19937_64 random(static_cast<uint64_t>(run));
    sums_ = RuleSums(static_cast<uint64_t>(run), 0);
    sums_.Set({{"web", kBits, 0}});
    uint64_t all_packets = 0;
    uint64_t all_bytes = 0;
    constexpr uint32_t kConnections = 400;
    for (uint32_t i = 0; i < kConnections; ++i) {
      const bool is_taken = random() % (1u << kBits) == 0;
      const uint64_t count = 2 + random() % 20;
      for (uint64_t j = 0; j < count; ++j) {
        const auto length = static_cast<uint32_t>(60 + random() % 1400);
        ++all_packets;
        all_bytes += length;
        if (is_taken) Add(i, length);
      }
    }
    const Json told = sums_.Show()[0]["of_all"];
    connections += holds(told["connections"], kConnections);
    packets += holds(told["packets"], all_packets);
    bytes += holds(told["bytes"], all_bytes);
  }
  for (const int held : {connections, packets, bytes}) {
    EXPECT_GE(held, kRuns * 0.92);
    EXPECT_LE(held, kRuns * 0.98);
  }
}

class RulesOfCaptures : public ProgramTest {
 protected:
  RulesOfCaptures() : ProgramTest(RunTraceProgram) {}
};

TEST_F(RulesOfCaptures, AreReadFromAFile) {
  const std::string rules = Write("rules.yaml", std::string(R"(
rules:
  - {name: syn, filter: "tcpFlags=+syn", truncate: 64}
  - {name: web, filter: "dstPort=80", sample: 1/4}
)"));
  Network network;
  for (uint32_t i = 0; i < 20; ++i) {
    for (const uint16_t at : {1, 2, 4}) {
      const Nanos time = kBegin + i * kNanosPerMilli + at * kNanosPerMicro;
      test_frames::Bytes packet = Packet(static_cast<uint16_t>(i % 5), i, 64);
      packet.resize(i < 4 ? 100 : packet.size());
      network.Copy(at, time, packet, false, TraceTag(i < 4 ? 0 : 1, 2));
    }
  }
  const std::string topology = Write("net.yaml", std::string(kTopology));
  const auto lines =
      Run({"--topology=" + topology, "--rules=" + rules, Write("c.pcap", network.Capture())});
  const auto& told = lines.back()["sums"]["rules"];
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0]["rule"], "syn");
  EXPECT_EQ(told[0]["packets"], 4);
  EXPECT_EQ(told[0]["truncated"], 4);
  EXPECT_EQ(told[1]["packets"], 16);
  EXPECT_EQ(told[1]["connections"], 5);
  EXPECT_EQ(told[1]["of_all"]["packets"]["value"], 64);
  EXPECT_NE(Error({"--rules=" + folder_ + "/none.yaml", "c.pcap"}).find("cannot be read"),
            std::string::npos);
}

}  // namespace
}  // namespace trumpet
