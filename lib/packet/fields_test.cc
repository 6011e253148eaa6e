// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/packet/fields.h"

#include <gtest/gtest.h>

#include <set>

namespace trumpet {
namespace {

FieldValue Ip4(uint32_t address) { return {ValueKind::kIpv4, address}; }
FieldValue Ip6(uint64_t high, uint64_t low) {
  return {ValueKind::kIpv6, static_cast<Uint128>(high) << 64 | low};
}
FieldValue Num(uint64_t number) { return {ValueKind::kNumber, number}; }

TEST(Fields, AreFoundByTheNameTheyHave) {
  std::set<std::string_view> names;
  for (int i = 0; i < kFieldCount; ++i) {
    const Field field = static_cast<Field>(i);
    names.insert(FieldName(field));
    EXPECT_EQ(FieldByName(FieldName(field)), field) << FieldName(field);
  }
  EXPECT_EQ(names.size(), size_t{kFieldCount});
}

TEST(Fields, AreSpelledAsInTheContract) {
  EXPECT_EQ(FieldName(Field::kSrcIp), "srcIP");
  EXPECT_EQ(FieldName(Field::kDstPort), "dstPort");
  EXPECT_EQ(FieldName(Field::kProtocol), "Protocol");
  EXPECT_EQ(FieldName(Field::kDstMac), "dstMAC");
  EXPECT_EQ(FieldName(Field::kEthType), "ethType");
  EXPECT_EQ(FieldName(Field::kTcpFlags), "tcpFlags");
  EXPECT_EQ(FieldName(Field::kInPort), "inPort");
  EXPECT_EQ(FieldByName("srcip"), std::nullopt);
  EXPECT_EQ(FieldByName(""), std::nullopt);
}

TEST(Fields, KeepThePrefixOfTheirLevel) {
  EXPECT_EQ(FieldRefName({Field::kDstIp, Level::kInnermost}), "dstIP");
  EXPECT_EQ(FieldRefName({Field::kDstIp, Level::kOuter}), "outer.dstIP");
  EXPECT_EQ(FieldRefName({Field::kVlan, Level::kInner}), "inner.vlan");
}

TEST(Fields, HaveTheWidthOfTheirHeader) {
  EXPECT_EQ(FieldWidth(Field::kSrcIp, ValueKind::kIpv4), 32);
  EXPECT_EQ(FieldWidth(Field::kSrcIp, ValueKind::kIpv6), 128);
  EXPECT_EQ(FieldWidth(Field::kDstMac, ValueKind::kMac), 48);
  EXPECT_EQ(FieldWidth(Field::kVlan, ValueKind::kNumber), 12);
  EXPECT_EQ(FieldWidth(Field::kTcpFlags, ValueKind::kNumber), 12);
  EXPECT_EQ(FieldWidth(Field::kDscp, ValueKind::kNumber), 6);
  EXPECT_EQ(FieldWidth(Field::kEcn, ValueKind::kNumber), 2);
  EXPECT_EQ(FieldWidth(Field::kVlan, ValueKind::kAbsent), 0);
}

TEST(MaskToPrefix, KeepsTheFirstBits) {
  EXPECT_EQ(MaskToPrefix(Field::kSrcIp, Ip4(0x0a0180ff), 24), Ip4(0x0a018000));
  EXPECT_EQ(MaskToPrefix(Field::kSrcIp, Ip4(0x0a0180ff), 0), Ip4(0));
  EXPECT_EQ(MaskToPrefix(Field::kSrcIp, Ip4(0x0a0180ff), 64), Ip4(0x0a0180ff));
  EXPECT_EQ(MaskToPrefix(Field::kSrcIp, Ip6(~0ull, ~0ull), 65), Ip6(~0ull, 1ull << 63));
  EXPECT_EQ(MaskToPrefix(Field::kSrcIp, Ip6(~0ull, ~0ull), 0), Ip6(0, 0));
  EXPECT_EQ(MaskToPrefix(Field::kSrcIp, Ip6(~0ull, ~0ull), 128), Ip6(~0ull, ~0ull));
  EXPECT_EQ(MaskToPrefix(Field::kDstPort, Num(0x1234), 8), Num(0x1200));
  EXPECT_EQ(MaskToPrefix(Field::kVlan, Num(0xfff), 4), Num(0xf00));
  EXPECT_EQ(MaskToPrefix(Field::kVlan, FieldValue(), 4), FieldValue());
}

TEST(FormatValue, WritesIpv6AsRfc5952Says) {
  const struct {
    FieldValue value;
    const char* text;
  } kCases[] = {
      {Ip6(0, 0), "::"},
      {Ip6(0, 1), "::1"},
      {Ip6(0x0001000000000000, 0), "1::"},
      {Ip6(0x20010db800000000, 0x0000000000000001), "2001:db8::1"},
      {Ip6(0x20010db800000001, 0x0001000100010001), "2001:db8:0:1:1:1:1:1"},
      {Ip6(0x2001000000000001, 0x0000000000000001), "2001:0:0:1::1"},
      {Ip6(0x20010db800000000, 0x0001000000000001), "2001:db8::1:0:0:1"},
      {Ip6(0x00000001aaaabbbb, 0xccccddddeeeeffff), "0:1:aaaa:bbbb:cccc:dddd:eeee:ffff"},
      {Ip6(0x0001000200030004, 0x0005000600000000), "1:2:3:4:5:6::"},
      {Ip6(0xABCD000000000000, 0x00000000000000EF), "abcd::ef"},
      {Ip6(0, 0x0000ffffc0000201), "::ffff:192.0.2.1"},
      {Ip6(0, 0x00000000c0000201), "::c000:201"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(FormatValue(c.value), c.text);
    EXPECT_EQ(ParseIpv6(c.text), c.value) << c.text;
  }
}

TEST(FormatValue, WritesTheOtherKinds) {
  EXPECT_EQ(FormatValue(Ip4(0x0a0080ff)), "10.0.128.255");
  EXPECT_EQ(FormatValue({ValueKind::kMac, 0x0a0b0c0d0e0f}), "0a:0b:0c:0d:0e:0f");
  EXPECT_EQ(FormatValue(Num(0)), "0");
  EXPECT_EQ(FormatValue(Num(4294967295)), "4294967295");
  EXPECT_EQ(FormatValue({ValueKind::kNumber, ~Uint128{0}}),
            "340282366920938463463374607431768211455");
  EXPECT_EQ(FormatValue(FieldValue()), "");
}

TEST(ParseIpv4, TakesFourDecimalNumbersAndNothingElse) {
  EXPECT_EQ(ParseIpv4("10.0.128.255"), Ip4(0x0a0080ff));
  for (const char* text : {"", "10", "10.1", "10.0.0.256", "010.0.0.1", "0x0a.0.0.1", "10.0.0.1 ",
                           " 10.0.0.1", "10.0.0.", "10..0.1", "10.0.0.1.2", "::1", "+1.0.0.0"}) {
    EXPECT_EQ(ParseIpv4(text), std::nullopt) << text;
  }
  EXPECT_EQ(ParseIpv4(std::string_view("1.2.3.4\0x", 9)), std::nullopt);
}

TEST(ParseIpv6, RefusesWhatIsNoAddress) {
  EXPECT_EQ(ParseIpv6("::FFFF:1.2.3.4"), Ip6(0, 0x0000ffff01020304));
  for (const char* text : {"", ":", ":::", "1::2::3", "12345::", "1:2:3:4:5:6:7", "g::",
                           "1:2:3:4:5:6:7:8:9", "fe80::1%eth0", "::1 ", "[::1]", "::1.2.3.256"}) {
    EXPECT_EQ(ParseIpv6(text), std::nullopt) << text;
  }
}

TEST(ParseMac, TakesSixPairsOfDigits) {
  EXPECT_EQ(ParseMac("0a:0B:0c:0d:0e:ff"), (FieldValue{ValueKind::kMac, 0x0a0b0c0d0eff}));
  for (const char* text : {"", "0a:0b:0c:0d:0e", "a:b:c:d:e:f", "0a-0b-0c-0d-0e-0f",
                           "0a:0b:0c:0d:0e:0g", "0a:0b:0c:0d:0e:0f:", "0a0b.0c0d.0e0f"}) {
    EXPECT_EQ(ParseMac(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace trumpet
