// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/collected_ring.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>

namespace trumpet {
namespace {

// Fills every value, so that one that lands in a wrong place shows; as far as fields are wide.
PacketValues RandomValues(uint64_t present, std::mt19937_64* random) {
  PacketValues packet;
  packet.present = present;
  for (uint64_t& value : packet.value) value = (*random)();
  for (uint32_t field = 0; field < kMeasureFieldCount; ++field) {
    packet.value[field] &= UINT64_MAX >> (64 - kMeasureFields[field].bits);
  }
  return packet;
}

CollectedPacket Expected(const PacketValues& packet, uint64_t now, uint32_t endpoint) {
  CollectedPacket expected;
  expected.now = now;
  expected.present = packet.present;
  expected.endpoint = endpoint;
  for (uint32_t field = 0; field < kMaxPacketFields; ++field) {
    if ((packet.present >> field & 1) != 0) expected.values.push_back(packet.value[field]);
  }
  return expected;
}

bool Put(const PacketValues& packet, uint64_t now, uint32_t endpoint, CollectedRing::Batch* batch) {
  FieldMoves moves;
  moves.Become(packet.present);
  uint8_t* const record = batch->Add(now, endpoint, moves);
  if (record == nullptr) return false;
  moves.Copy(packet, record);
  return true;
}

void ExpectRead(CollectedRing* ring, const CollectedPacket& expected) {
  CollectedPacket read;
  ASSERT_TRUE(ring->Read(&read));
  EXPECT_EQ(read.now, expected.now);
  EXPECT_EQ(read.present, expected.present);
  EXPECT_EQ(read.endpoint, expected.endpoint);
  EXPECT_EQ(read.values, expected.values);
}

TEST(CollectedRing, PacketsOfAnyFieldsComeOutAsTheyWentIn) {
  std::mt19937_64 random(1);
  CollectedRing ring(1 << 13);
  std::deque<CollectedPacket> expected;
  for (int step = 0; step < 20000; ++step) {
    {
      CollectedRing::Batch batch(&ring);
      for (uint64_t i = random() % 4; i > 0; --i) {
        uint64_t present = random();
        for (uint64_t sparse = random() % 4; sparse > 0; --sparse) present &= random();
        const PacketValues packet = RandomValues(present, &random);
        const auto endpoint = static_cast<uint32_t>(random());
        if (!Put(packet, random.max() - step, endpoint, &batch)) break;
        expected.push_back(Expected(packet, random.max() - step, endpoint));
      }
    }
    while (!expected.empty() && random() % 3 != 0) {
      ASSERT_NO_FATAL_FAILURE(ExpectRead(&ring, expected.front())) << "step " << step;
      expected.pop_front();
    }
  }
  for (const CollectedPacket& packet : expected) ExpectRead(&ring, packet);
  CollectedPacket none;
  EXPECT_FALSE(ring.Read(&none));
}

FrameCopy RandomFrame(std::vector<uint8_t>* bytes, std::mt19937_64* random) {
  bytes->resize((*random)() % (FrameCopy::kMostBytes + 1));
  for (uint8_t& byte : *bytes) byte = static_cast<uint8_t>((*random)());
  FrameCopy frame;
  frame.now = (*random)();
  frame.place = {static_cast<uint16_t>((*random)()), 0, 300, 9};
  frame.wire_length = 1500;
  frame.copy = static_cast<uint16_t>((*random)() % 2);
  frame.bytes = static_cast<uint16_t>(bytes->size());
  frame.data = bytes->data();
  return frame;
}

// Round the end of the ring, and until there is no room.
TEST(CollectedRing, FramesComeOutBesideFields) {
  std::mt19937_64 random(1);
  std::vector<BurstCopy> copies(2);
  copies[1].endpoint = 5;
  CollectedRing ring(1 << 10, &copies);
  std::deque<CollectedPacket> expected;
  uint64_t refused = 0;
  for (uint64_t step = 0; step < 20000; ++step) {
    std::vector<uint8_t> bytes;
    const FrameCopy frame = RandomFrame(&bytes, &random);
    PacketValues packet = RandomValues(random() & random(), &random);
    CollectedPacket next = Expected(packet, frame.now, 3);
    bool is_taken;
    if (CollectedRing::Batch batch(&ring); random() % 2 == 0) {
      ReadFrameCopy(frame, copies[frame.copy], &packet);
      next = Expected(packet, frame.now, copies[frame.copy].endpoint);
      is_taken = batch.AddFrame(frame);
    } else {
      is_taken = Put(packet, frame.now, 3, &batch);
    }
    if (is_taken) {
      expected.push_back(next);
    } else {
      ++refused;
    }
    while (!expected.empty() && random() % 3 == 0) {
      ASSERT_NO_FATAL_FAILURE(ExpectRead(&ring, expected.front())) << "step " << step;
      expected.pop_front();
    }
  }
  EXPECT_GT(refused, 100u);
}

TEST(CollectedRing, TakesNoMoreThanItHasRoomFor) {
  std::mt19937_64 random(1);
  CollectedRing ring(1024);
  const PacketValues packet = RandomValues(kTableFieldBits, &random);
  uint32_t taken = 0;
  {
    CollectedRing::Batch batch(&ring);
    while (Put(packet, taken, 0, &batch)) taken++;
  }
  EXPECT_GE(taken, 4u);
  for (uint32_t i = 0; i < taken; ++i) ExpectRead(&ring, Expected(packet, i, 0));
  CollectedRing::Batch batch(&ring);
  EXPECT_TRUE(Put(packet, 0, 0, &batch));
}

uint64_t BitOf(uint32_t field) { return uint64_t{1} << field; }

// What a record takes: a half for most fields, two for those that may need both.
TEST(CollectedRing, RecordsHaveHalvesOfMostFields) {
  const std::pair<uint64_t, size_t> cases[] = {
      {0, 0},
      {BitOf(kPktSize) | BitOf(kIpv4Src), 8},
      {BitOf(kEthDst), 8},
      {BitOf(kEthDst) | BitOf(kTcpSrc) | BitOf(kSegwayTime), 20},
      {BitOf(kMaxPacketFields - 1), 8},
  };
  for (const auto& [present, bytes] : cases) {
    FieldMoves moves;
    moves.Become(present);
    EXPECT_EQ(moves.bytes(), bytes) << present;
  }
}

}  // namespace
}  // namespace trumpet
