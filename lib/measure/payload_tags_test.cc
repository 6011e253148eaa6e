// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/payload_tags.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "lib/base/byte_order.h"
#include "lib/measure/program_loader.h"
#include "lib/measure/test_programs.h"

namespace trumpet {
namespace {

using Bytes = std::vector<uint8_t>;
constexpr size_t kIp = 14;
constexpr size_t kL4 = kIp + 20;

// Word by word over the pseudo header and the segment, as RFC 768 and RFC 9293 say it; what stands
// behind it in the frame is none of it.
uint16_t SumFromScratch(const Bytes& frame) {
  const size_t segment = frame[kIp + 9] == 17 ? LoadBe16(&frame[kL4 + 4])
                                              : static_cast<size_t>(LoadBe16(&frame[kIp + 2]) - 20);
  const size_t end = kL4 + segment;
  uint64_t sum = frame[kIp + 9] + segment;
  for (size_t at = kIp + 12; at < kIp + 20; at += 2) sum += frame[at] * 256u + frame[at + 1];
  for (size_t at = kL4; at < end; ++at) sum += at % 2 == 0 ? frame[at] * 256u : frame[at];
  return static_cast<uint16_t>(sum % 65535);
}

class PayloadTagsTest : public ::testing::Test {
 protected:
  PayloadTagsTest() {
    MeasureProgram program = TestProgram();
    MeasureExpr ttl;  // the header is there if it is not 0
    ttl.kind = MeasureExprKind::kField;
    ttl.field = kIpv4Ttl;
    program.exprs.push_back(ttl);
    program.headers = {{"mine", static_cast<MeasureIndex>(program.exprs.size() - 1), 3, 4}};
    program.header_fields = {{"mine.a", 0, 0, 8}, {"mine.b", 0, 1, 24}};
    auto loaded = LoadMeasureProgram(program, MeasureLoadOptions());
    EXPECT_TRUE(loaded.ok()) << loaded.message();
    program_ = std::move(*loaded);
  }
  // With a right checksum, `payload` random bytes behind the header of `protocol`, and `padding`
  // behind them.
  Bytes Packet(uint8_t protocol, size_t payload, size_t padding = 0) {
    const size_t header = protocol == 17 ? 8 : 20;
    Bytes frame(kL4 + header + payload);
    for (size_t at = kL4; at < frame.size(); ++at) frame[at] = static_cast<uint8_t>(random_());
    StoreBe16(&frame[12], 0x0800);
    frame[kIp] = 0x45;
    StoreBe16(&frame[kIp + 2], static_cast<uint16_t>(20 + header + payload));
    frame[kIp + 8] = 64;
    frame[kIp + 9] = protocol;
    StoreBe16(&frame[kL4 + 2], protocol == 17 && payload >= 10 ? 30000 : 7);
    if (protocol == 6) frame[kL4 + 12] = 0x50;
    if (protocol == 17) StoreBe16(&frame[kL4 + 4], static_cast<uint16_t>(8 + payload));
    StoreBe16(Checksum(&frame), 0);
    const auto sum = static_cast<uint16_t>(65535 - SumFromScratch(frame));
    StoreBe16(Checksum(&frame), sum);
    for (; padding > 0; --padding) frame.push_back(static_cast<uint8_t>(random_()));
    return frame;
  }
  static uint8_t* Checksum(Bytes* frame) {
    return frame->data() + kL4 + ((*frame)[kIp + 9] == 17 ? 6 : 16);
  }
  PacketValues Tagged(const Bytes& frame) {
    PacketValues values;
    const auto size = static_cast<uint32_t>(frame.size());
    ReadPacketValues({frame.data(), size, size}, &values);
    values.tagged = random_() & kPayloadFields & ((uint64_t{1} << (kMeasureFieldCount + 2)) - 1);
    for (uint64_t& value : values.value) value = random_();
    values.value[kIpv4Proto] = frame[kIp + 9];
    return values;
  }

  void Write(const PacketValues& values, bool makes_checksum, Bytes* frame) {
    WritePayloadTags(*program_, values, makes_checksum, frame->data(),
                     static_cast<uint32_t>(frame->size()));
  }

  std::mt19937_64 random_{20261123};
  std::unique_ptr<const CompiledProgram> program_;
};

TEST_F(PayloadTagsTest, ChecksumsStayRightWhateverIsTagged) {
  int changed = 0;
  for (int round = 0; round < 2000; ++round) {
    const Bytes before = Packet(round % 2 == 0 ? 17 : 6, random_() % 40);
    Bytes frame = before;
    const PacketValues values = Tagged(frame);
    Write(values, /*makes_checksum=*/false, &frame);
    ASSERT_EQ(SumFromScratch(frame), 0u) << "round " << round;
    changed += frame != before ? 1 : 0;
  }
  EXPECT_GT(changed, 500);
}

// Short packets are padded to 60 bytes, and some cards leave the check sequence behind them.
TEST_F(PayloadTagsTest, WritesNothingBehindTheMessage) {
  int changed = 0;
  for (int round = 0; round < 2000; ++round) {
    const size_t padding = random_() % 20;
    Bytes before = Packet(round % 2 == 0 ? 17 : 6, random_() % 12, padding);
    if (round % 16 == 0) StoreBe16(&before[kIp + 2], static_cast<uint16_t>(random_() % 21));
    const size_t end = before.size() - padding;
    StoreBe16(&before[kL4 + 2], round % 4 == 0 ? 30000 : 7);
    if (round % 16 != 0) {
      StoreBe16(Checksum(&before), 0);
      StoreBe16(Checksum(&before), static_cast<uint16_t>(65535 - SumFromScratch(before)));
    }
    Bytes frame = before;
    Write(Tagged(frame), /*makes_checksum=*/false, &frame);
    ASSERT_TRUE(std::equal(before.begin() + static_cast<long>(end), before.end(),
                           frame.begin() + static_cast<long>(end)))
        << "round " << round;
    if (round % 16 == 0) {
      ASSERT_EQ(frame, before) << "the packet ends before its payload";
    } else {
      ASSERT_EQ(SumFromScratch(frame), 0u) << "round " << round;
    }
    changed += frame != before ? 1 : 0;
  }
  EXPECT_GT(changed, 100);
}

TEST_F(PayloadTagsTest, LeavesChecksumsThatAreMadeLaterOrAreNone) {
  for (int round = 0; round < 200; ++round) {
    Bytes frame = Packet(17, 20);
    const bool is_later = round % 2 == 0;
    if (!is_later) StoreBe16(Checksum(&frame), 0);
    const uint16_t before = LoadBe16(Checksum(&frame));
    Write(Tagged(frame), is_later, &frame);
    ASSERT_EQ(LoadBe16(Checksum(&frame)), before) << "round " << round;
  }
}

TEST_F(PayloadTagsTest, NeverSaysThatUdpHasNoChecksum) {
  Bytes frame = Packet(17, 12);
  const uint16_t old = LoadBe16(Checksum(&frame));
  PacketValues values = Tagged(frame);
  values.tagged = uint64_t{1} << kSegwayTime;
  // Takes from the payload what the checksum is short of all ones.
  const uint16_t word = LoadBe16(&frame[kL4 + 8 + 8]);
  uint32_t sum = uint32_t{word} + old;
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  values.value[kSegwayTime] = LoadBe64(&frame[kL4 + 8 + 2]) >> 16 << 16 | sum;
  Write(values, false, &frame);
  EXPECT_EQ(LoadBe16(Checksum(&frame)), 0xffff);
  EXPECT_EQ(SumFromScratch(frame), 0u);
}

TEST_F(PayloadTagsTest, WritesNoHeaderThatIsNotThere) {
  for (int round = 0; round < 200; ++round) {
    Bytes frame = Packet(round % 2 == 0 ? 17 : 6, 6);  // too short for either header
    if (round % 4 >= 2) frame = Packet(6, 40);
    frame[kIp + 8] = 0;
    const Bytes before = frame;
    Write(Tagged(frame), false, &frame);
    ASSERT_EQ(frame, before) << "round " << round;
  }
}

}  // namespace
}  // namespace trumpet
