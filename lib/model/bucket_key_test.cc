// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/model/bucket_key.h"

#include <gtest/gtest.h>

namespace trumpet {
namespace {

constexpr Level kIn = Level::kInnermost;

FieldValue Ip(const char* text) {
  const auto v4 = ParseIpv4(text);
  return v4 ? *v4 : *ParseIpv6(text);
}

FieldValue Count(uint32_t number) { return {ValueKind::kNumber, number}; }

std::string Json(const Granularity& granularity, const std::vector<FieldValue>& values) {
  BucketKey key;
  for (const FieldValue& value : values) EXPECT_TRUE(key.Append(value));
  return BucketToJson(granularity, key.view());
}

std::string OneField(Field field, const FieldValue& value, uint8_t prefix = kFullPrefix,
                     Level level = kIn) {
  Granularity granularity;
  granularity.fields = {{{field, level}, prefix}};
  return Json(granularity, {value});
}

struct Row {
  Field field;
  FieldValue value;
  uint8_t prefix;
  Level level;
  const char* json;
};

TEST(BucketKey, IsRenderedAsTheContractSays) {
  const Row rows[] = {
      {Field::kSrcIp, Ip("10.0.0.1"), kFullPrefix, kIn, R"({"srcIP":"10.0.0.1"})"},
      {Field::kDstIp, Ip("10.0.0.0"), 24, kIn, R"({"dstIP":"10.0.0.0/24"})"},
      {Field::kDstIp, Ip("10.0.0.1"), 64, kIn, R"({"dstIP":"10.0.0.1/32"})"},
      {Field::kDstIp, Ip("2001:db8::"), 64, kIn, R"({"dstIP":"2001:db8::/64"})"},
      {Field::kSrcIp, Ip("2001:db8:0:0:1::1"), kFullPrefix, kIn,
       R"({"srcIP":"2001:db8::1:0:0:1"})"},
      {Field::kSrcIp, Ip("1.2.3.4"), kFullPrefix, Level::kOuter, R"({"outer.srcIP":"1.2.3.4"})"},
      {Field::kVlan, Count(7), kFullPrefix, Level::kInner, R"({"inner.vlan":7})"},
      {Field::kSrcMac, *ParseMac("AA:bb:0c:00:00:01"), kFullPrefix, kIn,
       R"({"srcMAC":"aa:bb:0c:00:00:01"})"},
      {Field::kSrcMac, *ParseMac("aa:bb:0c:00:00:00"), 24, kIn,
       R"({"srcMAC":"aa:bb:0c:00:00:00/24"})"},
      {Field::kEthType, Count(0x800), kFullPrefix, kIn, R"({"ethType":"0x0800"})"},
      {Field::kEthType, Count(0x86dd), kFullPrefix, kIn, R"({"ethType":"0x86dd"})"},
      {Field::kEthType, Count(0), kFullPrefix, kIn, R"({"ethType":"0x0000"})"},
      {Field::kProtocol, Count(6), kFullPrefix, kIn, R"({"Protocol":"TCP"})"},
      {Field::kProtocol, Count(17), kFullPrefix, kIn, R"({"Protocol":"UDP"})"},
      {Field::kProtocol, Count(1), kFullPrefix, kIn, R"({"Protocol":"ICMP"})"},
      {Field::kProtocol, Count(58), kFullPrefix, kIn, R"({"Protocol":"ICMPv6"})"},
      {Field::kProtocol, Count(132), kFullPrefix, kIn, R"({"Protocol":"SCTP"})"},
      {Field::kProtocol, Count(47), kFullPrefix, kIn, R"({"Protocol":47})"},
      {Field::kTtl, Count(64), kFullPrefix, kIn, R"({"ttl":64})"},
      {Field::kTunnelId, Count(0xffffffff), kFullPrefix, kIn, R"({"tunnelId":4294967295})"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(OneField(row.field, row.value, row.prefix, row.level), row.json);
  }
}

TEST(BucketKey, OfNoGranularityIsAnEmptyObject) { EXPECT_EQ(Json(Granularity(), {}), "{}"); }

TEST(BucketKey, KeepsTheOrderOfTheFields) {
  Granularity granularity;
  granularity.fields = {{{Field::kDstPort, kIn}, kFullPrefix}, {{Field::kSrcIp, kIn}, 8}};
  EXPECT_EQ(Json(granularity, {Count(80), Ip("10.0.0.0")}),
            R"({"dstPort":80,"srcIP":"10.0.0.0/8"})");
}

FlowKey SomeFlow(const char* src, const char* dst, uint16_t dst_port) {
  const FieldValue a = Ip(src);
  const FieldValue b = Ip(dst);
  FlowKey flow;
  flow.ip_family = a.kind == ValueKind::kIpv4 ? 4 : 6;
  const int size = flow.ip_family == 4 ? 4 : 16;
  for (int i = 0; i < size; ++i) {
    flow.src_ip[i] = static_cast<uint8_t>(a.value >> (8 * (size - 1 - i)));
    flow.dst_ip[i] = static_cast<uint8_t>(b.value >> (8 * (size - 1 - i)));
  }
  flow.src_port = 1234;
  flow.dst_port = dst_port;
  flow.protocol = kProtocolTcp;
  return flow;
}

TEST(BucketKey, OfAFlowHasTheFiveTupleInItsOrder) {
  Granularity five_tuple;
  five_tuple.is_five_tuple = true;
  const BucketKey key = FiveTupleBucketKey(SomeFlow("10.0.0.1", "10.0.0.2", 80));
  EXPECT_EQ(BucketToJson(five_tuple, key.view()),
            R"({"srcIP":"10.0.0.1","dstIP":"10.0.0.2","srcPort":1234,"dstPort":80,)"
            R"("Protocol":"TCP"})");
}

TEST(BucketKey, OfAFlowLeadsBackToTheFlow) {
  for (const char* address : {"10.0.0.1", "2001:db8::1"}) {
    FlowKey flow = SomeFlow(address, address, 443);
    FlowKey found;
    ASSERT_TRUE(FlowKeyOfBucket(FiveTupleBucketKey(flow).view(), &found));
    EXPECT_TRUE(found == flow);
  }
  FlowKey none;
  EXPECT_FALSE(FlowKeyOfBucket("", &none));
  EXPECT_FALSE(FlowKeyOfBucket("\x03", &none));
}

TEST(BucketKey, SortsIpv4BeforeIpv6AndThenByNumber) {
  const auto key = [](const char* address, uint16_t port) {
    const BucketKey bytes = FiveTupleBucketKey(SomeFlow(address, address, port));
    return std::string(bytes.view());
  };
  EXPECT_LT(key("255.0.0.1", 1), key("::1", 1));
  EXPECT_LT(key("9.0.0.1", 1), key("10.0.0.1", 1));
  EXPECT_LT(key("10.0.0.1", 255), key("10.0.0.1", 256));
}

TEST(BucketKey, IsNoLongerThanItsGranularityAllows) {
  Granularity five_tuple;
  five_tuple.is_five_tuple = true;
  EXPECT_EQ(MaxBucketKeyBytes(five_tuple),
            FiveTupleBucketKey(SomeFlow("2001:db8::1", "::1", 1)).size);
  EXPECT_EQ(MaxBucketKeyBytes(Granularity()), 0u);
}

TEST(BucketKey, RefusesAnAbsentValueAndWhatDoesNotFit) {
  BucketKey key;
  EXPECT_FALSE(key.Append(FieldValue()));
  for (int i = 0; i < 15; ++i) EXPECT_TRUE(key.Append(Ip("::1")));
  EXPECT_FALSE(key.Append(Ip("::1")));
  EXPECT_EQ(key.size, 15 * 17);
}

TEST(BucketKey, TakesAbsentPortsAsZeroButNothingElse) {
  Granularity five_tuple;
  five_tuple.is_five_tuple = true;
  bool is_ip = true;
  const auto read = [&is_ip](const FieldRef& ref) {
    if (!is_ip) return FieldValue();
    if (ref.field == Field::kSrcIp || ref.field == Field::kDstIp) return Ip("10.0.0.1");
    return ref.field == Field::kProtocol ? Count(1) : FieldValue();
  };
  BucketKey key;
  ASSERT_TRUE(MakeBucketKey(five_tuple, read, &key));
  EXPECT_EQ(BucketToJson(five_tuple, key.view()),
            R"({"srcIP":"10.0.0.1","dstIP":"10.0.0.1","srcPort":0,"dstPort":0,"Protocol":"ICMP"})");
  is_ip = false;
  EXPECT_FALSE(MakeBucketKey(five_tuple, read, &key));
}

TEST(BucketKey, KnowsWhatIsNoKeyOfAGranularity) {
  Granularity port;
  port.fields = {{{Field::kDstPort, Level::kInnermost}, kFullPrefix}};
  Granularity address;
  address.fields = {{{Field::kSrcIp, Level::kInnermost}, 24}};
  BucketKey number;
  number.Append({ValueKind::kNumber, 80});
  BucketKey ip;
  ip.Append({ValueKind::kIpv4, 0x0a000000});
  const std::string cut(number.view().substr(0, number.size - 1));
  const std::string longer = std::string(number.view()) + "x";
  EXPECT_TRUE(IsBucketKey(port, number.view()));
  EXPECT_TRUE(IsBucketKey(address, ip.view()));
  EXPECT_TRUE(IsBucketKey(Granularity(), ""));
  EXPECT_FALSE(IsBucketKey(port, ip.view()));
  EXPECT_FALSE(IsBucketKey(address, number.view()));
  EXPECT_FALSE(IsBucketKey(port, cut));
  EXPECT_FALSE(IsBucketKey(port, longer));
  EXPECT_FALSE(IsBucketKey(port, ""));
  EXPECT_FALSE(IsBucketKey(Granularity(), number.view()));
}

}  // namespace
}  // namespace trumpet
