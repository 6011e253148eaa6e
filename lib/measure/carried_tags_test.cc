// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/carried_tags.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "lib/base/byte_order.h"

namespace trumpet {
namespace {

using Header = std::vector<uint8_t>;

// Word by word, modulo 2^16 - 1, as RFC 791 says it; nothing is adjusted.
uint16_t ChecksumFromScratch(Header header) {
  header[10] = header[11] = 0;
  uint64_t sum = 0;
  for (size_t at = 0; at < header.size(); at += 2) sum += header[at] * 256u + header[at + 1];
  while (sum > 0xffff) sum = sum % 65536 + sum / 65536;
  return static_cast<uint16_t>(65535 - sum);
}

bool IsChecksumRight(const Header& header) {
  return LoadBe16(&header[10]) == ChecksumFromScratch(header);
}

struct Rewritten {
  uint8_t tos = 0;
  uint16_t id = 0;
  uint16_t checksum = 0;
};

class CarriedTagsTest : public ::testing::TestWithParam<int> {
 protected:
  uint32_t Draw(uint32_t below) { return static_cast<uint32_t>(random_() % below); }

  TagCarriage DrawCarriage() {
    TagCarriage carriage;
    carriage.has_tos = Draw(2) == 0;
    carriage.has_id = Draw(2) == 0;
    carriage.is_lab = Draw(2) == 0;
    carriage.has_checksum = carriage.is_lab && Draw(2) == 0;
    return carriage;
  }

  // A header as hosts send it, sometimes one that can not carry tags.
  Header DrawHeader() {
    Header header(20 + 4 * Draw(11));
    for (uint8_t& byte : header) byte = static_cast<uint8_t>(random_());
    header[0] = static_cast<uint8_t>(0x40 + header.size() / 4);
    if (Draw(4) != 0) header[1] = 0;
    if (Draw(4) != 0) StoreBe16(&header[4], 0);
    StoreBe16(&header[6], Draw(4) != 0 ? 0x4000 : static_cast<uint16_t>(random_()));
    StoreBe16(&header[10], ChecksumFromScratch(header));
    if (Draw(8) == 0) header[10 + Draw(2)] ^= static_cast<uint8_t>(1 + Draw(255));
    return header;
  }

  PacketValues DrawTags(const TagCarriage& carriage, Rewritten* expected) {
    PacketValues values;
    const auto tag = [&](bool is_carried, MeasureFieldId field, auto* at) {
      if (!is_carried || Draw(4) == 0) return;
      *at = static_cast<std::remove_pointer_t<decltype(at)>>(Draw(4) == 0 ? 0 : random_());
      values.Set(field, *at);
      values.tagged |= uint64_t{1} << field;
    };
    tag(carriage.has_tos, kIpv4Tos, &expected->tos);
    tag(carriage.has_id, kIpv4Id, &expected->id);
    tag(carriage.has_checksum, kIpv4Checksum, &expected->checksum);
    return values;
  }

  std::mt19937_64 random_{20261122u + static_cast<uint64_t>(GetParam())};
};

INSTANTIATE_TEST_SUITE_P(Seeds, CarriedTagsTest, ::testing::Range(0, 8));

// Said again, field by field.
bool MayCarry(const TagCarriage& carriage, const Header& header) {
  const uint16_t flags = LoadBe16(&header[6]);
  const uint16_t id = LoadBe16(&header[4]);
  const bool is_fragment = (flags & 0x2000) != 0 || (flags & 0x1fff) != 0;
  if ((flags & 0x8000) != 0 || !IsChecksumRight(header)) return false;
  if (carriage.has_tos && header[1] != 0) return false;
  if (!carriage.has_id) return true;
  if (is_fragment) return false;
  return carriage.is_lab && !carriage.has_checksum ? id != 0xffff : id == 0;
}

TEST_P(CarriedTagsTest, HopsSeeWhatWasTaggedAndTheLastOneGivesBackEveryByte) {
  int carried = 0;
  for (int round = 0; round < 20000; ++round) {
    const TagCarriage carriage = DrawCarriage();
    const Header before = DrawHeader();
    ASSERT_EQ(CanCarryTags(carriage, before.data()), MayCarry(carriage, before)) << round;
    if (!CanCarryTags(carriage, before.data())) continue;
    ++carried;
    Header header = before;
    Rewritten expected{header[1], LoadBe16(&header[4]), 0};
    const bool keeps = carriage.has_checksum || (carriage.is_lab && carriage.has_id);
    for (uint32_t hops = 1 + Draw(4); hops > 0; --hops) {
      expected.checksum = LoadBe16(&header[10]);
      const PacketValues values = DrawTags(carriage, &expected);
      WriteCarriedTags(carriage, values, header.data());
      ASSERT_TRUE(CarriesTags(header.data()));
      ASSERT_EQ(header[1], expected.tos);
      ASSERT_EQ(LoadBe16(&header[4]), expected.id);
      if (keeps) {
        ASSERT_EQ(LoadBe16(&header[10]), expected.checksum) << round;
      } else {
        ASSERT_TRUE(IsChecksumRight(header)) << round;
      }
    }
    RemoveCarriedTags(carriage, header.data());
    ASSERT_EQ(header, before) << "round " << round << ", lab " << carriage.is_lab;
  }
  EXPECT_GT(carried, 2000);
}

TEST_P(CarriedTagsTest, RoutersBetweenMayLowerTheTimeToLive) {
  for (int round = 0; round < 5000; ++round) {
    TagCarriage carriage = DrawCarriage();
    carriage.has_checksum = false;
    const Header before = DrawHeader();
    if (!CanCarryTags(carriage, before.data()) || before[8] == 0) continue;
    const auto route = [](Header header) {  // as a router does, by RFC 1624
      const uint32_t old = LoadBe16(&header[8]);
      --header[8];
      uint32_t sum = (LoadBe16(&header[10]) ^ 0xffffu) + (old ^ 0xffffu) + LoadBe16(&header[8]);
      while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
      StoreBe16(&header[10], static_cast<uint16_t>(sum ^ 0xffff));
      return header;
    };
    Rewritten unused;
    Header header = before;
    WriteCarriedTags(carriage, DrawTags(carriage, &unused), header.data());
    header = route(header);
    RemoveCarriedTags(carriage, header.data());
    ASSERT_EQ(header, route(before)) << round;
  }
}

}  // namespace
}  // namespace trumpet
