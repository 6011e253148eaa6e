// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/trigger_index.h"

#include <gtest/gtest.h>

#include <random>

#include "lib/tpm/match_terms.h"

namespace trumpet {
namespace {

FilterExpr RangeTest(Field field, ValueKind kind, Uint128 low, Uint128 high,
                     Level level = Level::kInnermost) {
  FilterExpr filter;
  filter.op = FilterOp::kTest;
  filter.test.ref = {field, level};
  filter.test.ranges.push_back({kind, low, high});
  return filter;
}

FilterExpr Combine(FilterOp op, std::vector<FilterExpr> args) {
  FilterExpr filter;
  filter.op = op;
  filter.args = std::move(args);
  return filter;
}

ParsedPacket UdpPacket(uint32_t src, uint32_t dst, uint16_t src_port, uint16_t dst_port) {
  ParsedPacket packet;
  Headers& headers = packet.innermost;
  headers.present = static_cast<uint16_t>(FieldBit(Field::kSrcIp) | FieldBit(Field::kDstIp) |
                                          FieldBit(Field::kSrcPort) | FieldBit(Field::kDstPort) |
                                          FieldBit(Field::kProtocol) | FieldBit(Field::kTtl));
  headers.ip_family = 4;
  headers.protocol = kProtocolUdp;
  headers.src_port = src_port;
  headers.dst_port = dst_port;
  for (int i = 0; i < 4; i++) {
    headers.src_ip[static_cast<size_t>(i)] = static_cast<uint8_t>(src >> (24 - 8 * i));
    headers.dst_ip[static_cast<size_t>(i)] = static_cast<uint8_t>(dst >> (24 - 8 * i));
  }
  return packet;
}

std::vector<uint32_t> MatchAll(const TriggerIndex& index, const ParsedPacket& packet) {
  std::vector<uint64_t> marks(index.mark_word_count());
  std::vector<uint32_t> matches(index.trigger_count());
  matches.resize(index.Match(packet, FlowKeyOf(packet, 0), marks.data(), matches.data()));
  for (const uint64_t word : marks) EXPECT_EQ(word, 0u);
  return matches;
}

TEST(MatchTerms, APrefixBecomesOneMaskedTerm) {
  const auto terms =
      MakeMatchTerms(RangeTest(Field::kDstIp, ValueKind::kIpv4, 0x0a008000, 0x0a0080ff));
  ASSERT_EQ(terms.size(), 1u);
  EXPECT_EQ(terms[0].mask.dst_ip[2], 0xff);
  EXPECT_EQ(terms[0].mask.dst_ip[3], 0);
  EXPECT_EQ(terms[0].value.dst_ip[2], 0x80);
  EXPECT_EQ(terms[0].value.ip_family, 4);
  EXPECT_TRUE(terms[0].is_exact);
}

TEST(MatchTerms, AContradictionHasNoTerm) {
  const auto terms = MakeMatchTerms(
      Combine(FilterOp::kAnd, {RangeTest(Field::kSrcPort, ValueKind::kNumber, 80, 80),
                               RangeTest(Field::kSrcPort, ValueKind::kNumber, 81, 81)}));
  EXPECT_TRUE(terms.empty());
}

TEST(MatchTerms, ANegationConstrainsNothing) {
  const auto terms = MakeMatchTerms(
      Combine(FilterOp::kNot, {RangeTest(Field::kSrcPort, ValueKind::kNumber, 80, 80)}));
  ASSERT_EQ(terms.size(), 1u);
  EXPECT_EQ(terms[0], MatchTerm{});
}

TEST(MatchTerms, WhatNoTermCanSayMakesItInexact) {
  const FilterExpr port = RangeTest(Field::kSrcPort, ValueKind::kNumber, 80, 80);
  EXPECT_TRUE(MakeMatchTerms(port)[0].is_exact);
  EXPECT_TRUE(MakeMatchTerms(FilterExpr())[0].is_exact);
  EXPECT_EQ(TestWorkOf(port), 0);
  EXPECT_EQ(TestWorkOf(FilterExpr()), 0);
  EXPECT_FALSE(MakeMatchTerms(RangeTest(Field::kSrcPort, ValueKind::kNumber, 80, 82))[0].is_exact);
  const FilterExpr ttl = RangeTest(Field::kTtl, ValueKind::kNumber, 64, 64);
  EXPECT_FALSE(MakeMatchTerms(Combine(FilterOp::kAnd, {port, ttl}))[0].is_exact);
  const FilterExpr inner = RangeTest(Field::kSrcPort, ValueKind::kNumber, 80, 80, Level::kInner);
  EXPECT_FALSE(MakeMatchTerms(inner)[0].is_exact);
}

TEST(MatchTerms, TooManyAlternativesBecomeOneWideTerm) {
  std::vector<FilterExpr> ports;
  for (uint16_t port = 0; port < 100; port++) {
    ports.push_back(RangeTest(Field::kSrcPort, ValueKind::kNumber, port, port));
  }
  const auto terms = MakeMatchTerms(Combine(FilterOp::kOr, ports));
  ASSERT_EQ(terms.size(), 1u);
  EXPECT_EQ(terms[0], MatchTerm{});
}

TEST(TriggerIndex, FindsEveryMaskThatCoversTheFlow) {
  std::vector<FilterExpr> filters;
  for (int length = 0; length <= 32; length++) {
    const uint32_t host_bits = length == 32 ? 0 : 0xffffffffu >> length;
    const uint32_t prefix = 0x0a0080ff & ~host_bits;
    filters.push_back(RangeTest(Field::kDstIp, ValueKind::kIpv4, prefix, prefix | host_bits));
  }
  std::vector<const FilterExpr*> pointers;
  for (const FilterExpr& filter : filters) pointers.push_back(&filter);
  const TriggerIndex index = TriggerIndex::For(pointers);
  EXPECT_EQ(index.mask_count(), 33u);
  EXPECT_EQ(MatchAll(index, UdpPacket(1, 0x0a0080ff, 2, 3)).size(), 33u);
  EXPECT_EQ(MatchAll(index, UdpPacket(1, 0x0a0080fe, 2, 3)).size(), 32u);
}

TEST(TriggerIndex, APortOfZeroIsNotAnAbsentPort) {
  const FilterExpr filter = RangeTest(Field::kSrcPort, ValueKind::kNumber, 0, 0);
  const TriggerIndex index = TriggerIndex::For({&filter});
  ParsedPacket packet = UdpPacket(1, 2, 0, 0);
  EXPECT_EQ(MatchAll(index, packet).size(), 1u);
  packet.innermost.present &=
      static_cast<uint16_t>(~(FieldBit(Field::kSrcPort) | FieldBit(Field::kDstPort)));
  EXPECT_TRUE(MatchAll(index, packet).empty());
}

TEST(TriggerIndex, APacketThatMatchesAnOrTwiceIsFoundOnce) {
  const FilterExpr filter =
      Combine(FilterOp::kOr, {RangeTest(Field::kSrcPort, ValueKind::kNumber, 1, 1),
                              RangeTest(Field::kDstPort, ValueKind::kNumber, 2, 2)});
  const TriggerIndex index = TriggerIndex::For({&filter});
  EXPECT_EQ(MatchAll(index, UdpPacket(1, 2, 1, 2)), std::vector<uint32_t>{0});
}

// Random filters over a tiny space of values, where near misses are frequent.
class RandomFilters {
 public:
  explicit RandomFilters(uint32_t seed) : random_(seed) {}

  FilterExpr Make(int depth) {
    switch (depth == 0 ? 0 : random_() % 4) {
      case 0:
        return MakeTest();
      case 1:
        return Combine(FilterOp::kNot, {Make(depth - 1)});
      case 2:
        return Combine(FilterOp::kAnd, {Make(depth - 1), Make(depth - 1), Make(depth - 1)});
      default:
        return Combine(FilterOp::kOr, {Make(depth - 1), Make(depth - 1)});
    }
  }
  ParsedPacket MakePacket() {
    ParsedPacket packet = UdpPacket(0x0a000000 + Small(), 0x0a000000 + Small(),
                                    static_cast<uint16_t>(Small()), static_cast<uint16_t>(Small()));
    packet.innermost.ttl = static_cast<uint8_t>(Small());
    if (random_() % 8 == 0) {  // as IPv6: the address is the IPv4 one, then zeroes
      packet.innermost.ip_family = 6;
    } else if (random_() % 16 == 0) {
      packet.innermost = Headers();
      return packet;
    }
    if (random_() % 4 == 0) {
      packet.innermost.present &=
          static_cast<uint16_t>(~(FieldBit(Field::kSrcPort) | FieldBit(Field::kDstPort)));
    }
    return packet;
  }

 private:
  uint32_t Small() { return random_() % 8; }

  FilterExpr MakeTest() {
    static constexpr Field kFields[] = {Field::kSrcIp,   Field::kDstIp, Field::kSrcPort,
                                        Field::kDstPort, Field::kTtl,   Field::kProtocol};
    const Field field = kFields[random_() % 6];
    const bool is_ip = field == Field::kSrcIp || field == Field::kDstIp;
    const Uint128 base = is_ip ? 0x0a000000 : field == Field::kProtocol ? 14 : 0;
    Uint128 low = base + Small();
    Uint128 high = base + Small();
    if (low > high) std::swap(low, high);
    ValueKind kind = is_ip ? ValueKind::kIpv4 : ValueKind::kNumber;
    if (is_ip && random_() % 4 == 0) {
      kind = ValueKind::kIpv6;
      low <<= 96;
      high <<= 96;
    }
    static constexpr Level kLevels[] = {Level::kInnermost, Level::kInnermost, Level::kInnermost,
                                        Level::kOuter, Level::kInner};
    FilterExpr filter = RangeTest(field, kind, low, high, kLevels[random_() % 5]);
    if (random_() % 8 == 0) filter.test.is_any = true;
    return filter;
  }

  std::mt19937 random_;
};

std::vector<uint32_t> LinearScan(const std::vector<FilterExpr>& filters,
                                 const ParsedPacket& packet) {
  std::vector<uint32_t> matches;
  for (uint32_t trigger = 0; trigger < filters.size(); trigger++) {
    if (Matches(filters[trigger], packet)) matches.push_back(trigger);
  }
  return matches;
}

// Prefixes of all lengths of both addresses and both ports of a packet.
FilterExpr FilterAround(const ParsedPacket& packet, std::mt19937* random) {
  FilterExpr filter = Combine(FilterOp::kAnd, {});
  for (const Field field : {Field::kDstIp, Field::kSrcIp, Field::kSrcPort, Field::kDstPort}) {
    const FieldValue value = ReadField(packet, {field, Level::kInnermost});
    const int width = FieldWidth(field, value.kind);
    const int length = static_cast<int>((*random)() % static_cast<uint32_t>(width + 1));
    const Uint128 rest =
        length == 0 && width == 128 ? ~Uint128{0} : (Uint128{1} << (width - length)) - 1;
    filter.args.push_back(RangeTest(field, value.kind, value.value & ~rest, value.value | rest));
  }
  return filter;
}

TEST(TriggerIndex, AgreesWithALinearScanUnderThousandsOfMasks) {
  for (const uint8_t family : {uint8_t{4}, uint8_t{6}}) {
    std::mt19937 random(family);
    const auto random_packet = [&] {
      ParsedPacket packet =
          UdpPacket(0, 0, static_cast<uint16_t>(random()), static_cast<uint16_t>(random()));
      packet.innermost.ip_family = family;
      for (size_t i = 0; i < (family == 4 ? 4u : 16u); i++) {
        packet.innermost.src_ip[i] = static_cast<uint8_t>(random());
        packet.innermost.dst_ip[i] = static_cast<uint8_t>(random());
      }
      return packet;
    };
    std::vector<ParsedPacket> packets;
    std::vector<FilterExpr> filters;
    for (int i = 0; i < 400; i++) {
      packets.push_back(random_packet());
      for (int j = 0; j < 10; j++) filters.push_back(FilterAround(packets.back(), &random));
    }
    for (int i = 0; i < 400; i++) packets.push_back(random_packet());
    std::vector<const FilterExpr*> pointers;
    for (const FilterExpr& filter : filters) pointers.push_back(&filter);
    const TriggerIndex index = TriggerIndex::For(pointers);
    if (family == 4) {
      EXPECT_GT(index.mask_count(), kTupleBits);
    }
    for (const ParsedPacket& packet : packets) {
      ASSERT_EQ(MatchAll(index, packet), LinearScan(filters, packet)) << int{family};
    }
  }
}

TEST(TriggerIndex, AgreesWithALinearScanOnRandomFiltersAndPackets) {
  for (uint32_t seed = 1; seed <= 200; seed++) {
    RandomFilters random(seed);
    std::vector<FilterExpr> filters;
    for (int i = 0; i < 100; i++) filters.push_back(random.Make(3));
    std::vector<const FilterExpr*> pointers;
    for (const FilterExpr& filter : filters) pointers.push_back(&filter);
    const TriggerIndex index = TriggerIndex::For(pointers);
    for (int i = 0; i < 50; i++) {
      const ParsedPacket packet = random.MakePacket();
      ASSERT_EQ(MatchAll(index, packet), LinearScan(filters, packet))
          << "seed " << seed << " packet " << i;
    }
  }
}

}  // namespace
}  // namespace trumpet
