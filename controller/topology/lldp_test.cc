// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/topology/lldp.h"

#include <gtest/gtest.h>

#include <random>

namespace trumpet {
namespace {

LldpIdentity TestIdentity() {
  LldpIdentity identity;
  identity.speaker = 0x0102030405060708;
  for (size_t i = 0; i < identity.key.size(); ++i) identity.key[i] = static_cast<uint8_t>(i);
  return identity;
}

LldpVerdict Decode(const std::vector<uint8_t>& frame, const LldpIdentity& identity) {
  LldpProbe probe;
  return DecodeLldp(frame.data(), frame.size(), identity, &probe);
}

TEST(Lldp, ComesBackAsItWasSent) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 1000; ++round) {
    const LldpProbe sent{{random(), static_cast<uint32_t>(random())}, random()};
    const auto frame = EncodeLldp(sent, TestIdentity());
    LldpProbe got;
    ASSERT_EQ(DecodeLldp(frame.data(), frame.size(), TestIdentity(), &got), LldpVerdict::kOurs);
    EXPECT_EQ(got.from, sent.from);
    EXPECT_EQ(got.nonce, sent.nonce);
  }
}

TEST(Lldp, IsForgedOrWorseWithAnyBitOfTheClaimChanged) {
  const auto frame = EncodeLldp({{5, 6}, 7}, TestIdentity());
  size_t forged = 0;
  for (size_t bit = 0; bit < frame.size() * 8; ++bit) {
    auto changed = frame;
    changed[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    LldpProbe probe;
    const auto verdict = DecodeLldp(changed.data(), changed.size(), TestIdentity(), &probe);
    forged += verdict == LldpVerdict::kForged;
    // What says the same to us, as addresses or the ids for people, is not ours to check.
    if (verdict != LldpVerdict::kOurs) continue;
    EXPECT_EQ(probe.from, (SwitchPortId{5, 6}));
    EXPECT_EQ(probe.nonce, 7u);
  }
  EXPECT_EQ(forged, (8u + 4 + 8 + 32) * 8) << "all bits but those of the speaker";
}

TEST(Lldp, OfOthersIsForeign) {
  const auto frame = EncodeLldp({{5, 6}, 7}, TestIdentity());
  LldpIdentity other = TestIdentity();
  ++other.speaker;
  EXPECT_EQ(Decode(frame, other), LldpVerdict::kForeign);
  other = TestIdentity();
  ++other.key[0];
  EXPECT_EQ(Decode(frame, other), LldpVerdict::kForged);
  EXPECT_EQ(Decode({}, other), LldpVerdict::kForeign);
  EXPECT_NE(LldpIdentity::New().speaker, LldpIdentity::New().speaker);
  EXPECT_NE(LldpIdentity::New().key, LldpIdentity::New().key);
}

TEST(Lldp, IsMalformedWhenCutShort) {
  const auto frame = EncodeLldp({{5, 6}, 7}, TestIdentity());
  for (size_t size = 14; size < frame.size(); ++size) {
    EXPECT_EQ(Decode({frame.begin(), frame.begin() + static_cast<long>(size)}, TestIdentity()),
              LldpVerdict::kMalformed)
        << size;
  }
}

}  // namespace
}  // namespace trumpet
