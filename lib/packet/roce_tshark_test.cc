// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// RoCE and frames that stop a sender beside tshark: the fields of random packets are the same.

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "lib/base/byte_order.h"
#include "lib/packet/random_roce.h"
#include "lib/packet/roce.h"
#include "lib/packet/test_captures.h"

namespace trumpet {
namespace {

using test_frames::Bytes;
using Values = std::map<std::string, uint64_t>;

constexpr const char* kFields[] = {
    "infiniband.bth.opcode",
    "infiniband.bth.se",
    "infiniband.bth.m",
    "infiniband.bth.padcnt",
    "infiniband.bth.p_key",
    "infiniband.bth.destqp",
    "infiniband.bth.a",
    "infiniband.bth.psn",
    "infiniband.deth.srcqp",
    "infiniband.reth.va",
    "infiniband.reth.r_key",
    "infiniband.reth.dmalen",
    "infiniband.aeth.syndrome",
    "infiniband.aeth.msn",
    "infiniband.immdt",
    "infiniband.invariant.crc",
    "macc.opcode",
    "macc.pause_time",
    "macc.cbfc.enbv",
    "macc.cbfc.pause_time.c0",
    "macc.cbfc.pause_time.c3",
    "macc.cbfc.pause_time.c7",
};

Values OursOf(const Bytes& frame) {
  Layers layers;
  ReadLayers(frame.data(), static_cast<uint32_t>(frame.size()), LayerKind::kEthernet, {}, &layers);
  Values values;
  RocePacket roce;
  if (ReadRoce(frame.data(), layers, 0, &roce) == RoceVerdict::kRoce) {
    values["infiniband.bth.opcode"] = roce.opcode;
    values["infiniband.bth.se"] = roce.is_solicited;
    values["infiniband.bth.m"] = roce.is_migrated;
    values["infiniband.bth.padcnt"] = roce.pad_bytes;
    values["infiniband.bth.p_key"] = roce.partition;
    values["infiniband.bth.destqp"] = roce.queue_pair;
    values["infiniband.bth.a"] = roce.wants_acknowledgement;
    values["infiniband.bth.psn"] = roce.sequence;
    if (roce.source_queue_pair) values["infiniband.deth.srcqp"] = *roce.source_queue_pair;
    if (roce.memory) {
      values["infiniband.reth.va"] = roce.memory->address;
      values["infiniband.reth.r_key"] = roce.memory->key;
      values["infiniband.reth.dmalen"] = roce.memory->bytes;
    }
    if (roce.ack) {
      values["infiniband.aeth.syndrome"] =
          static_cast<uint64_t>(roce.ack->kind) << 5 | roce.ack->value;
      values["infiniband.aeth.msn"] = roce.ack->messages;
    }
    if (roce.immediate) values["infiniband.immdt"] = *roce.immediate;
    EXPECT_EQ(CheckIcrc(frame.data(), layers, 0), IcrcVerdict::kRight);
    values["infiniband.invariant.crc"] = LoadBe32(frame.data() + frame.size() - kIcrcBytes);
  }
  const auto control = ReadMacControl(frame.data(), layers, 0);
  if (control && control->has_priorities) {
    values["macc.opcode"] = 0x0101;
    values["macc.cbfc.enbv"] = control->priorities;
    for (const unsigned i : {0u, 3u, 7u}) {
      const bool is_meant = (control->priorities >> i & 1u) != 0;
      if (is_meant) values["macc.cbfc.pause_time.c" + std::to_string(i)] = control->quanta[i];
    }
  } else if (control) {
    values["macc.opcode"] = 1;
    values["macc.pause_time"] = control->quanta[0];
  }
  return values;
}

uint64_t Number(const std::string& text, const std::string& field) {
  // It prints immediate data as bytes, and shows the reserved bit of a syndrome.
  const int base = field == "infiniband.immdt" ? 16 : 0;
  const uint64_t number = std::strtoull(text.c_str(), nullptr, base);
  return field == "infiniband.aeth.syndrome" ? number & 0x7f : number;
}

// Of priorities that are not meant it shows times, too, and of atomic operations what they are on.
bool IsMeant(const std::string& field, const Values& ours) {
  const bool may_be_extra =
      field.rfind("macc.cbfc.pause_time", 0) == 0 || field.rfind("infiniband.reth.", 0) == 0;
  return !may_be_extra || ours.count(field) != 0;
}

std::vector<std::map<std::string, std::string>> TsharksOf(const std::string& path) {
  std::vector<std::map<std::string, std::string>> frames;
  for (const auto& columns : test_captures::TsharkFields(path, kFields)) {
    frames.emplace_back();
    for (size_t i = 0; i < columns.size(); ++i) {
      if (!columns[i].empty()) frames.back()[kFields[i]] = columns[i];
    }
  }
  return frames;
}

TEST(RoceBesideTshark, OfRandomPacketsHasTheSameFields) {
  if (!test_captures::HasTshark()) GTEST_SKIP() << "no tshark";
  // Those that it knows as well; the other services are not used with RoCE.
  static constexpr uint8_t kServices[] = {0, 0, 1, 3};
  std::vector<Bytes> frames;
  Bytes file = test_captures::PcapHeader();
  test_frames::RandomRoce random(20261123);
  while (frames.size() < 3000) {
    Bytes frame;
    if (random.Below(5) == 0) {
      frame = random.Below(3) == 0 ? random.FrameOf(0x81) : random.Control();
    } else {
      const uint8_t service = kServices[random.Below(4)];
      frame = random.FrameOf(static_cast<uint8_t>(service << 5 | random.Below(24)));
    }
    // Left out are opcodes without a name, and packets too short for theirs.
    const Values ours = OursOf(frame);
    const auto opcode = ours.find("infiniband.bth.opcode");
    if (ours.empty()) continue;
    if (opcode != ours.end() &&
        RoceOpcodeName(static_cast<uint8_t>(opcode->second)).rfind("opcode", 0) == 0) {
      continue;
    }
    frames.push_back(frame);
    const Bytes record = test_captures::PcapPacket(1, 0, frame);
    file.insert(file.end(), record.begin(), record.end());
  }
  const test_captures::TemporaryFile capture(file);
  const auto theirs = TsharksOf(capture.path());
  ASSERT_EQ(theirs.size(), frames.size());
  size_t without_icrc = 0;
  for (size_t i = 0; i < frames.size(); ++i) {
    Values ours = OursOf(frames[i]);
    // Not shown where it expects no payload.
    const char* const icrc = "infiniband.invariant.crc";
    if (theirs[i].count(icrc) == 0) without_icrc += ours.erase(icrc);
    Values compared;
    for (const auto& [field, text] : theirs[i]) {
      if (IsMeant(field, ours)) compared[field] = Number(text, field);
    }
    EXPECT_EQ(compared, ours) << "frame " << i << " of seed 20261123";
  }
  EXPECT_LT(without_icrc, frames.size() / 2);
}

}  // namespace
}  // namespace trumpet
