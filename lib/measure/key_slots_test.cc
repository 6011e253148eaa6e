// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/key_slots.h"

#include <gtest/gtest.h>

#include <random>

#include "lib/measure/packet_values.h"
#include "lib/measure/program_loader.h"
#include "lib/measure/test_programs.h"

namespace trumpet {
namespace {

constexpr uint64_t kSeed = 99;

struct RandomBurst {
  explicit RandomBurst(uint64_t seed) {
    std::mt19937_64 random(seed);
    for (uint32_t i = 0; i < kMaxMeasureBurst; ++i) {
      for (MeasureFieldId field = 0; field < kMeasureFieldCount; ++field) {
        const uint32_t bits = kMeasureFields[field].bits;
        values[i].Set(field, random() >> (64 - bits));
      }
      packets[i].values = &values[i];
    }
  }
  PacketValues values[kMaxMeasureBurst];
  MeasuredPacket packets[kMaxMeasureBurst];
};

MeasureProgram ProgramOf(const std::vector<MeasureFieldId>& key,
                         const std::vector<MeasureVariable>& variables) {
  MeasureProgram program;
  program.streams = {{"pkts"}, {"ctrl"}};
  program.keys.push_back({"key", kNoIndex, key, 0});
  program.variables = variables;
  return program;
}

std::unique_ptr<const CompiledProgram> Load(const MeasureProgram& program) {
  MeasureLoadOptions options;
  options.seed = kSeed;
  auto compiled = LoadMeasureProgram(program, options);
  EXPECT_TRUE(compiled.ok()) << compiled.status().message();
  return compiled.ok() ? std::move(*compiled) : nullptr;
}

TEST(HashKeys, AreThoseOfThePackedKeyWhateverItsShape) {
  const RandomBurst burst(1);
  const std::vector<std::vector<MeasureFieldId>> keys = {
      {kIpv4Src},
      {kEthSrc},
      {kIpv4Dst, kIpv4Src},
      {kIpv4Src, kIpv4Dst, kTcpSrc, kTcpDst, kIpv4Proto},
      {kIpv4Dst, kIpv4Src, kUdpDst, kUdpSrc, kIpv4Ttl},
      {kIpv4Src, kTcpSrc},
      {kEthSrc, kEthDst, kIpv4Src},
  };
  for (const auto& key : keys) {
    const auto program = Load(ProgramOf(key, {TestSketch(MeasureKind::kCounterMap, 1, 16, 32)}));
    ASSERT_NE(program, nullptr);
    uint64_t hashes[kMaxMeasureBurst];
    HashKeys(program->keys[0], burst.packets, kMaxMeasureBurst, kSeed, hashes);
    for (uint32_t i = 0; i < kMaxMeasureBurst; ++i) {
      PackedKey packed;
      PackKey(*program, 0, burst.values[i], &packed);
      EXPECT_EQ(hashes[i], packed.hash) << "key of " << key.size() << " fields, packet " << i;
    }
  }
}

// Most are plain, the others have a byte that tells of something else, or end early.
std::vector<uint8_t> NearlyPlainFrame(std::mt19937_64* random) {
  std::vector<uint8_t> bytes(64);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>((*random)());
  const auto one_of = [random](const std::vector<uint8_t>& choice) {
    return choice[(*random)() % choice.size()];
  };
  bytes[12] = one_of({0x08, 0x08, 0x08, 0x81});
  bytes[13] = 0;
  bytes[14] = one_of({0x45, 0x45, 0x45, 0x46, 0x65});
  bytes[20] = one_of({0x00, 0x40, 0x20, 0x01});
  bytes[21] = one_of({0x00, 0x00, 0x01});
  bytes[23] = one_of({kProtocolTcp, kProtocolUdp, 1});
  if ((*random)() % 4 == 0) bytes.resize((*random)() % 64);
  return bytes;
}

TEST(FrameHash, IsTheHashOfTheFieldsThatWereRead) {
  std::mt19937_64 random(1);
  const std::vector<MeasureFieldId> tcp = {kIpv4Src, kIpv4Dst, kTcpSrc, kTcpDst, kIpv4Proto};
  const std::vector<MeasureFieldId> udp = {kIpv4Src, kIpv4Dst, kUdpSrc, kUdpDst, kIpv4Proto};
  for (const std::vector<MeasureFieldId>& key : {tcp, udp}) {
    const auto compiled = Load(ProgramOf(key, {}));
    ASSERT_NE(compiled, nullptr);
    ASSERT_TRUE(IsUsualTuple(compiled->keys[0]));
    for (int round = 0; round < 2000; ++round) {
      std::vector<uint8_t> bytes[kMaxMeasureBurst];
      Frame frames[kMaxMeasureBurst];
      PacketValues values[kMaxMeasureBurst];
      MeasuredPacket packets[kMaxMeasureBurst];
      for (uint32_t i = 0; i < kMaxMeasureBurst; ++i) {
        bytes[i] = NearlyPlainFrame(&random);
        const auto length = static_cast<uint32_t>(bytes[i].size());
        frames[i] = {bytes[i].data(), length, length};
        ReadPacketValues(frames[i], &values[i]);
        packets[i].values = &values[i];
      }
      uint64_t by_frames[kMaxMeasureBurst];
      uint64_t by_fields[kMaxMeasureBurst];
      FrameHashOf(compiled->keys[0])(frames, kMaxMeasureBurst, kSeed, by_frames);
      HashKeys(compiled->keys[0], packets, kMaxMeasureBurst, kSeed, by_fields);
      for (uint32_t i = 0; i < kMaxMeasureBurst; ++i) ASSERT_EQ(by_frames[i], by_fields[i]);
    }
  }
}

// What the cell of a row is by definition, one at a time.
uint32_t ExpectedSlot(const SlotPlan& plan, uint64_t hash, uint32_t row) {
  const uint64_t own = FastVariableHash(hash, plan.number);
  const uint32_t bits = static_cast<uint32_t>(own >> 32);
  const uint32_t log2_size = static_cast<uint32_t>(__builtin_ctz(plan.size));
  switch (plan.form) {
    case SlotForm::kRows:
      return (row * plan.size + FastRowIndex(own, row, plan.size, plan.is_sliced)) << plan.log2;
    case SlotForm::kFilter:
      return FastRowIndex(own, row, plan.size, plan.is_sliced) << plan.log2;
    case SlotForm::kBitmap:
      return row == 0 ? RankOf(bits, log2_size).bucket << plan.log2
                      : std::min<uint32_t>(RankOf(bits, log2_size).zeros, plan.bits - 1u);
    case SlotForm::kRegister:
      return row == 0 ? RankOf(bits, log2_size).bucket << plan.log2
                      : RankOf(bits, log2_size).zeros + 1;
    default:
      return ScaleHash(bits, plan.size) * plan.stride;
  }
}

TEST(FastSlots, OfABurstAreThoseOfEachKeyAlone) {
  using K = MeasureKind;
  const auto program = Load(ProgramOf(
      {kIpv4Src}, {TestSketch(K::kCountMin, 4, 256, 32), TestSketch(K::kCountMin, 3, 4096, 64),
                   TestSketch(K::kCountMin, 2, 1, 8), TestSketch(K::kStore, 4, 4095, 16),
                   TestSketch(K::kCountMin, 5, 77, 32), TestSketch(K::kCountMin, 4, 4097, 32),
                   TestSketch(K::kBloomMembership, 4, 64, 1),
                   TestSketch(K::kBloomCounting, 3, 1000, 12), TestSketch(K::kPcsa, 1, 128, 32),
                   TestSketch(K::kPcsa, 1, 64, 7), TestSketch(K::kHyperLogLog, 1, 256, 8),
                   TestSketch(K::kHyperLogLog, 1, 1, 5), TestSketch(K::kCounterMap, 1, 1000, 32)}));
  ASSERT_NE(program, nullptr);
  const std::vector<SlotPlan>& plans = program->slots[0];
  ASSERT_EQ(plans.size(), 13u);
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    uint64_t hashes[kMaxMeasureBurst];
    for (uint64_t& hash : hashes) hash = random();
    const uint32_t stride = program->slot_count;
    std::vector<uint32_t> slots(size_t{stride} * kMaxMeasureBurst);
    FillFastSlots(plans, hashes, kMaxMeasureBurst, stride, slots.data());
    for (uint32_t i = 0; i < kMaxMeasureBurst; ++i) {
      for (const SlotPlan& plan : plans) {
        const bool has_two = plan.form == SlotForm::kBitmap || plan.form == SlotForm::kRegister;
        for (uint32_t row = 0; row < (has_two ? 2 : plan.rows); ++row) {
          ASSERT_EQ(slots[i * stride + plan.first + row], ExpectedSlot(plan, hashes[i], row))
              << "variable " << plan.number << ", row " << row;
        }
      }
    }
  }
}

}  // namespace
}  // namespace trumpet
