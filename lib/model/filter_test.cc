// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/model/filter.h"

#include <gtest/gtest.h>

namespace trumpet {
namespace {

ParsedPacket TcpPacket(uint16_t dst_port, uint16_t tcp_flags) {
  ParsedPacket packet;
  packet.innermost.present = FieldBit(Field::kDstPort) | FieldBit(Field::kTcpFlags);
  packet.innermost.dst_port = dst_port;
  packet.innermost.tcp_flags = tcp_flags;
  return packet;
}

FilterExpr TestOf(const FieldTest& test) {
  FilterExpr filter;
  filter.op = FilterOp::kTest;
  filter.test = test;
  return filter;
}

FilterExpr Combine(FilterOp op, const std::vector<FilterExpr>& args) {
  FilterExpr filter;
  filter.op = op;
  filter.args = args;
  return filter;
}

FilterExpr PortIn(uint32_t low, uint32_t high) {
  FieldTest test;
  test.ref.field = Field::kDstPort;
  test.ranges = {{ValueKind::kNumber, low, high}};
  return TestOf(test);
}

FilterExpr Any(Field field) {
  FieldTest test;
  test.ref.field = field;
  test.is_any = true;
  return TestOf(test);
}

TEST(Filter, WithoutTestsMatchesEveryPacket) { EXPECT_TRUE(Matches(FilterExpr(), ParsedPacket())); }

TEST(Filter, RangesIncludeBothEnds) {
  for (const int port : {79, 80, 90, 91}) {
    const bool is_inside = port >= 80 && port <= 90;
    EXPECT_EQ(Matches(PortIn(80, 90), TcpPacket(static_cast<uint16_t>(port), 0)), is_inside)
        << port;
  }
}

TEST(Filter, ATestOfAnAbsentFieldIsFalseAndItsNegationTrue) {
  const ParsedPacket without_ports;
  EXPECT_FALSE(Matches(PortIn(0, 65535), without_ports));
  EXPECT_FALSE(Matches(Any(Field::kDstPort), without_ports));
  EXPECT_TRUE(Matches(Combine(FilterOp::kNot, {PortIn(0, 65535)}), without_ports));
}

TEST(Filter, AnyMatchesWhateverIsPresent) {
  EXPECT_TRUE(Matches(Any(Field::kDstPort), TcpPacket(0, 0)));
}

TEST(Filter, LooksOnlyAtTheNamedFlags) {
  FieldTest test;
  test.ref.field = Field::kTcpFlags;
  test.is_masked = true;
  test.mask = kTcpSyn | kTcpAck;
  test.expected = kTcpSyn;
  EXPECT_TRUE(Matches(TestOf(test), TcpPacket(80, kTcpSyn | kTcpPsh)));
  EXPECT_FALSE(Matches(TestOf(test), TcpPacket(80, kTcpSyn | kTcpAck)));
  EXPECT_FALSE(Matches(TestOf(test), ParsedPacket()));
}

TEST(Filter, ARangeOfOneFamilyIsNotAboutTheOther) {
  FieldTest test;
  test.ranges = {{ValueKind::kIpv4, 0, 0xffffffff}};
  EXPECT_TRUE(Matches(test, {ValueKind::kIpv4, 5}));
  EXPECT_FALSE(Matches(test, {ValueKind::kIpv6, 5}));
}

TEST(Filter, CombinesTestsAsWritten) {
  const FilterExpr low = PortIn(0, 99);
  const FilterExpr high = PortIn(50, 199);
  const FilterExpr both = Combine(FilterOp::kAnd, {low, high});
  const FilterExpr either = Combine(FilterOp::kOr, {low, high});
  const bool expected[][3] = {{false, true, false}, {true, true, false}};
  const uint16_t ports[] = {10, 60, 200};
  EXPECT_EQ(Matches(both, TcpPacket(150, 0)), false);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Matches(both, TcpPacket(ports[i], 0)), expected[0][i]) << ports[i];
    EXPECT_EQ(Matches(either, TcpPacket(ports[i], 0)), expected[1][i]) << ports[i];
  }
}

TEST(Filter, TellsWhichFieldsItLooksAt) {
  int count = 0;
  VisitFields(Combine(FilterOp::kNot, {Combine(FilterOp::kOr, {PortIn(1, 1), Any(Field::kTtl)})}),
              [&count](const FieldRef&) { ++count; });
  EXPECT_EQ(count, 2);
}

}  // namespace
}  // namespace trumpet
