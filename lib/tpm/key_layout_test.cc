// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/key_layout.h"

#include <gtest/gtest.h>

#include <random>

namespace trumpet {
namespace {

Headers RandomHeaders(std::mt19937* random) {
  Headers headers;
  headers.present = static_cast<uint16_t>((*random)());
  const auto clear = [&headers](Field field) {
    headers.present &= static_cast<uint16_t>(~FieldBit(field));
  };
  clear(Field::kInPort);
  headers.ip_family = std::array<uint8_t, 3>{0, 4, 6}[(*random)() % 3];
  for (const Field field :
       {Field::kSrcIp, Field::kDstIp, Field::kProtocol, Field::kDscp, Field::kEcn, Field::kTtl}) {
    clear(field);
    if (headers.ip_family != 0) headers.present |= FieldBit(field);
  }
  clear(Field::kDstPort);
  if (headers.ip_family == 0) {
    clear(Field::kSrcPort);
    clear(Field::kTcpFlags);
  }
  if (headers.Has(Field::kSrcPort)) headers.present |= FieldBit(Field::kDstPort);
  headers.protocol = static_cast<uint8_t>((*random)() % 4);
  headers.ttl = static_cast<uint8_t>((*random)());
  headers.dscp = static_cast<uint8_t>((*random)() % 64);
  headers.eth_type = static_cast<uint16_t>((*random)());
  headers.vlan = static_cast<uint16_t>((*random)() % 4096);
  headers.src_port = static_cast<uint16_t>((*random)());
  headers.dst_port = static_cast<uint16_t>((*random)());
  headers.tcp_flags = static_cast<uint16_t>((*random)() % 4096);
  headers.tunnel_id = static_cast<uint32_t>((*random)());
  for (auto& byte : headers.src_mac) byte = static_cast<uint8_t>((*random)());
  const size_t ip_bytes = headers.ip_family == 6 ? 16 : headers.ip_family == 4 ? 4 : 0;
  for (size_t i = 0; i < ip_bytes; i++) headers.dst_ip[i] = static_cast<uint8_t>((*random)());
  return headers;
}

ParsedPacket RandomPacket(std::mt19937* random) {
  ParsedPacket packet;
  packet.innermost = RandomHeaders(random);
  packet.is_tunnelled = (*random)() % 2 == 0;
  if (packet.is_tunnelled) packet.outer = RandomHeaders(random);
  packet.has_in_port = (*random)() % 2 == 0;
  packet.in_port = static_cast<uint32_t>((*random)());
  return packet;
}

TEST(KeyLayout, TheFiveTupleNeedsNoExtension) {
  EventSpec event;
  event.granularity.fields = {{{Field::kSrcIp, Level::kInnermost}, 24},
                              {{Field::kDstPort, Level::kInnermost}, kFullPrefix}};
  EXPECT_EQ(KeyLayout::For({&event}).extension_bytes(), 0u);
}

TEST(KeyLayout, AFieldUsedTwiceIsStoredOnce) {
  EventSpec event;
  event.granularity.fields = {{{Field::kVlan, Level::kInnermost}, kFullPrefix}};
  EXPECT_EQ(KeyLayout::For({&event, &event}).extension_bytes(), 8u);
}

TEST(KeyLayout, EveryFieldAtEveryLevelReadsBackAsInThePacket) {
  EventSpec event;
  for (int field = 0; field < kFieldCount; field++) {
    for (const Level level : {Level::kInnermost, Level::kOuter, Level::kInner}) {
      event.granularity.fields.push_back({{static_cast<Field>(field), level}, kFullPrefix});
    }
  }
  const KeyLayout layout = KeyLayout::For({&event});
  std::mt19937 random(1);
  for (int i = 0; i < 5000; i++) {
    const ParsedPacket packet = RandomPacket(&random);
    std::vector<uint8_t> extension(layout.extension_bytes());
    layout.FillExtension(packet, extension.data());
    const FlowKey key = EntryKeyOf(packet, 0);
    for (const GranularityField& field : event.granularity.fields) {
      ASSERT_EQ(layout.Read(key, extension.data(), field.ref), ReadField(packet, field.ref))
          << FieldRefName(field.ref) << " of packet " << i;
    }
  }
}

TEST(KeyLayout, ThePortFlagDoesNotReachTheFlow) {
  ParsedPacket packet;
  packet.innermost.ip_family = 4;
  packet.innermost.present = FieldBit(Field::kSrcPort) | FieldBit(Field::kDstPort);
  const FlowKey flow = FlowKeyOf(packet, 3);
  EXPECT_NE(EntryKeyOf(packet, 3), flow);
  EXPECT_EQ(FlowOf(EntryKeyOf(packet, 3)), flow);
}

TEST(KeyLayout, AllFieldsAtAllLevelsFitInTheExtension) {
  EventSpec event;
  for (int field = 0; field < kFieldCount; field++) {
    for (const Level level : {Level::kInnermost, Level::kOuter, Level::kInner}) {
      event.granularity.fields.push_back({{static_cast<Field>(field), level}, kFullPrefix});
    }
  }
  EXPECT_LE(KeyLayout::For({&event}).extension_bytes(), kMaxExtensionBytes);
}

}  // namespace
}  // namespace trumpet
