// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What the six lines of the paper's Table 2 mean, checked on values computed by hand.

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "lib/lang/event/event_language.h"

namespace trumpet {
namespace {

EventSpec Parse(const std::string& line) {
  Result<EventSpec> event = ParseEventLine(line, "event");
  EXPECT_TRUE(event.ok()) << event.message();
  return event.ok() ? *event : EventSpec();
}

// "sum(volume)", "ack_lastepoch": how the tests name what a bucket holds.
std::string NameOf(const Expr& leaf) {
  if (leaf.op == ExprOp::kVariable) return VariableName(leaf.variable);
  return std::string(AggregateName(leaf.aggregate)) + "(" + VariableName(leaf.args[0].variable) +
         ")";
}

// Is the predicate true on a bucket with these values?
bool Fires(const EventSpec& event, const std::map<std::string, int64_t>& bucket) {
  return Evaluate(event.predicate,
                  [&bucket](const Expr& leaf) {
                    const auto found = bucket.find(NameOf(leaf));
                    return found == bucket.end() ? Number() : Number::Integer(found->second);
                  })
      .IsTrue();
}

bool Selects(const EventSpec& event, const std::map<Field, std::string>& packet) {
  const auto test = [&packet](const FieldTest& field_test) {
    const auto found = packet.find(field_test.ref.field);
    if (found == packet.end()) return false;
    const auto address = ParseIpv4(found->second);
    const FieldValue number{ValueKind::kNumber,
                            static_cast<Uint128>(std::stoul("0" + found->second))};
    return Matches(field_test, address ? *address : number);
  };
  if (event.filter.op == FilterOp::kTest) return test(event.filter.test);
  EXPECT_EQ(event.filter.op, FilterOp::kAnd);
  bool all = true;
  for (const FilterExpr& arg : event.filter.args) all = all && test(arg.test);
  return all;
}

TEST(PaperEvents, HeavyFlowsToARack) {
  const EventSpec event = Parse("dstIP=10.0.128.0/24, sum(volume)>125KB, 5-tuples, 10ms");
  EXPECT_TRUE(event.granularity.is_five_tuple);
  EXPECT_EQ(event.interval_ms, 10u);
  EXPECT_TRUE(Selects(event, {{Field::kDstIp, "10.0.128.255"}}));
  EXPECT_FALSE(Selects(event, {{Field::kDstIp, "10.0.129.0"}}));
  EXPECT_FALSE(Selects(event, {{Field::kSrcIp, "10.0.128.1"}}));
  EXPECT_FALSE(Fires(event, {{"sum(volume)", 125000}}));
  EXPECT_TRUE(Fires(event, {{"sum(volume)", 125001}}));
}

TEST(PaperEvents, CorrelatedBurstAndLossIsAShareOfThePackets) {
  const EventSpec event = Parse("srcIP=10.0.128.0/24, sum(is_lost & is_burst)>10%, 5-tuples, 10ms");
  EXPECT_TRUE(event.granularity.is_five_tuple);
  const std::string lost = "sum(is_lost & is_burst)";
  EXPECT_FALSE(Fires(event, {{lost, 1}, {"sum(packets)", 10}}));
  EXPECT_TRUE(Fires(event, {{lost, 2}, {"sum(packets)", 10}}));
  EXPECT_TRUE(Fires(event, {{lost, 1}, {"sum(packets)", 9}}));
  EXPECT_FALSE(Fires(event, {{lost, 0}, {"sum(packets)", 0}}));
}

TEST(PaperEvents, CongestionOfEachTcpFlow) {
  const EventSpec event = Parse(
      "Protocol=TCP, 1 - (ack - ack_lastepoch + dup) / (seq_lastepoch - ack_lastepoch) >0.5, "
      "5-tuples, 10ms");
  EXPECT_TRUE(Selects(event, {{Field::kProtocol, "6"}}));
  EXPECT_FALSE(Selects(event, {{Field::kProtocol, "17"}}));
  // 10,000 bytes were outstanding; 4,000 acknowledged and 1,460 by a duplicate: 0.454 did not
  // arrive.
  EXPECT_FALSE(Fires(
      event, {{"ack", 5000}, {"ack_lastepoch", 1000}, {"dup", 1460}, {"seq_lastepoch", 11000}}));
  EXPECT_TRUE(
      Fires(event, {{"ack", 5000}, {"ack_lastepoch", 1000}, {"dup", 0}, {"seq_lastepoch", 11000}}));
  // Nothing was outstanding: undefined, which does not fire.
  EXPECT_FALSE(
      Fires(event, {{"ack", 1000}, {"ack_lastepoch", 1000}, {"dup", 0}, {"seq_lastepoch", 1000}}));
  EXPECT_FALSE(Fires(event, {{"ack", 1000}, {"dup", 0}}));
}

TEST(PaperEvents, LoadSpikeOnAService) {
  const EventSpec event =
      Parse("(dstIP=10.0.128.0/24 and dstPort=80), sum(volume)>100MB, dstIP/24, 10ms");
  const GranularityField rack{{Field::kDstIp, Level::kInnermost}, 24};
  EXPECT_EQ(event.granularity.fields, std::vector<GranularityField>{rack});
  EXPECT_TRUE(Selects(event, {{Field::kDstIp, "10.0.128.7"}, {Field::kDstPort, "80"}}));
  EXPECT_FALSE(Selects(event, {{Field::kDstIp, "10.0.128.7"}, {Field::kDstPort, "81"}}));
  EXPECT_FALSE(Selects(event, {{Field::kDstIp, "10.0.128.7"}}));
  EXPECT_TRUE(Fires(event, {{"sum(volume)", 100000001}}));
  EXPECT_FALSE(Fires(event, {{"sum(volume)", 100000000}}));
}

TEST(PaperEvents, ReachabilityLossBetweenTwoServices) {
  const EventSpec event = Parse(
      "(srcIP=10.0.128.0/24 and dstIP=10.20.93.0/24), sum(is_lost)>100, (srcIP and dstIP), 10ms");
  ASSERT_EQ(event.granularity.fields.size(), 2u);
  EXPECT_EQ(event.granularity.fields[0].ref.field, Field::kSrcIp);
  EXPECT_EQ(event.granularity.fields[1].ref.field, Field::kDstIp);
  EXPECT_EQ(event.granularity.fields[0].prefix_length, kFullPrefix);
  EXPECT_TRUE(Selects(event, {{Field::kSrcIp, "10.0.128.1"}, {Field::kDstIp, "10.20.93.1"}}));
  EXPECT_FALSE(Selects(event, {{Field::kSrcIp, "10.20.93.1"}, {Field::kDstIp, "10.0.128.1"}}));
  EXPECT_TRUE(Fires(event, {{"sum(is_lost)", 101}}));
  EXPECT_FALSE(Fires(event, {{"sum(is_lost)", 100}}));
}

TEST(PaperEvents, PopularServiceDependenciesOfATenant) {
  const EventSpec event =
      Parse("srcIP=10.0.128.0/20, sum(volume)>10GB, (dstIP/24 and srcIP/24), 1s");
  EXPECT_EQ(event.interval_ms, 1000u);
  ASSERT_EQ(event.granularity.fields.size(), 2u);
  EXPECT_EQ(event.granularity.fields[0].ref.field, Field::kDstIp);
  EXPECT_EQ(event.granularity.fields[0].prefix_length, 24);
  EXPECT_TRUE(Selects(event, {{Field::kSrcIp, "10.0.143.255"}}));
  EXPECT_FALSE(Selects(event, {{Field::kSrcIp, "10.0.144.0"}}));
  EXPECT_TRUE(Fires(event, {{"sum(volume)", 10000000001}}));
  EXPECT_FALSE(Fires(event, {{"sum(volume)", 10000000000}}));
}

}  // namespace
}  // namespace trumpet
