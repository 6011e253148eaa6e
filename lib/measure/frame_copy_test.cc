// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/frame_copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "lib/base/byte_order.h"

namespace trumpet {
namespace {

constexpr PacketPlace kPlace = {7, 0, 300, 9};

// With the longest headers there are: two tags, all options, and TCP or segway behind them.
std::vector<uint8_t> LongestHeaders(bool is_tcp, std::mt19937_64* random) {
  std::vector<uint8_t> bytes(300);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>((*random)());
  StoreBe16(&bytes[12], 0x88a8);
  StoreBe16(&bytes[16], 0x8100);
  StoreBe16(&bytes[20], 0x0800);
  bytes[22] = 0x4f;
  StoreBe16(&bytes[28], 0x4000);
  bytes[31] = is_tcp ? 6 : 17;
  StoreBe16(&bytes[84], 30000);
  return bytes;
}

PacketValues ReadWhole(const Frame& frame) {
  PacketValues values;
  ReadPacketValues(frame, &values);
  PlaceReceived(kPlace, &values);
  return values;
}

PacketValues ReadCopy(const Frame& frame, const BurstCopy& copy) {
  FrameCopy kept;
  kept.place = kPlace;
  kept.wire_length = frame.wire_length;
  kept.bytes = static_cast<uint16_t>(FrameCopy::BytesOf(frame));
  std::vector<uint8_t> bytes(kept.bytes);  // memory of its own, so that a read beyond it is seen
  CopyFrameBytes(frame.data, kept.bytes, bytes.data());
  kept.data = bytes.data();
  PacketValues values;
  ReadFrameCopy(kept, copy, &values);
  return values;
}

void ExpectSameFields(const PacketValues& got, const PacketValues& expected) {
  EXPECT_EQ(got.present, expected.present);
  for (uint32_t field = 0; field < kMeasureFieldCount; ++field) {
    EXPECT_EQ(got.value[field], expected.value[field]) << kMeasureFields[field].name;
  }
}

TEST(FrameCopy, NoFieldLiesBehindTheBytesThatItKeeps) {
  std::mt19937_64 random(1);
  for (const bool is_tcp : {true, false}) {
    for (uint32_t captured = 0; captured <= 300; ++captured) {
      SCOPED_TRACE(captured);
      const std::vector<uint8_t> bytes = LongestHeaders(is_tcp, &random);
      const Frame frame = {bytes.data(), captured, captured + 5};
      ExpectSameFields(ReadCopy(frame, {}), ReadWhole(frame));
    }
    const std::vector<uint8_t> bytes = LongestHeaders(is_tcp, &random);
    EXPECT_TRUE(ReadWhole({bytes.data(), 300, 300}).Has(is_tcp ? kTcpFlags : kSegwayTime));
  }
}

TEST(FrameCopy, CopiesAllBytesAndNoOthers) {
  std::vector<uint8_t> from(FrameCopy::kMostBytes);
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<uint8_t>(i + 1);
  for (uint32_t count = 0; count <= FrameCopy::kMostBytes; ++count) {
    const std::vector<uint8_t> wanted(from.begin(), from.begin() + count);  // memory of its own
    std::vector<uint8_t> to(FrameCopy::kMostBytes + 1);
    CopyFrameBytes(wanted.data(), count, to.data());
    EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), to.begin())) << count;
    EXPECT_EQ(std::count(to.begin() + count, to.end(), 0), to.end() - to.begin() - count) << count;
  }
}

TEST(FrameCopy, TagsTakeThePlaceOfFieldsThatThePacketHas) {
  std::mt19937_64 random(1);
  const std::vector<uint8_t> bytes = LongestHeaders(true, &random);
  const Frame frame = {bytes.data(), 300, 300};
  PlainTag of_field;
  of_field.field = kIpv4Id;
  of_field.is_of_field = true;
  of_field.from = kPktInputPort;
  of_field.mask = 0xffff;
  PlainTag absent;
  absent.field = kUdpSrc;
  absent.constant = 5;
  absent.mask = 0xffff;
  PlainTag carrier;
  carrier.field = kVlanVid;
  carrier.makes_present = true;
  carrier.constant = 0x1234;
  carrier.mask = 0xfff;
  BurstCopy copy;
  copy.tags = {of_field, absent, carrier};
  PacketValues expected = ReadWhole(frame);
  expected.value[kIpv4Id] = kPlace.input_port;
  expected.Set(kVlanVid, 0x234);
  ExpectSameFields(ReadCopy(frame, copy), expected);
}

}  // namespace
}  // namespace trumpet
