// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ParsePacket against ReferenceParse on frames nobody thought of.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "lib/packet/random_frames.h"
#include "lib/packet/reference_parse.h"

namespace trumpet {
namespace {

using test_frames::Bytes;
using test_frames::FrameMaker;
using test_frames::Parse;

TEST(ParseRandom, AgreesWithTheReferenceOnSoundAndDamagedFrames) {
  for (uint32_t seed = 1; seed <= 20000; ++seed) {
    FrameMaker maker(seed);
    Bytes frame = maker.MakeEthernet(static_cast<int>(maker.Below(11)));
    if (seed % 4 != 0) maker.Mutate(&frame);
    const uint32_t wire_length = static_cast<uint32_t>(frame.size()) + maker.Below(5);
    ASSERT_EQ(Describe(Parse(frame, wire_length)),
              Describe(ReferenceParse(frame, wire_length, ParseOptions())))
        << "seed " << seed;
  }
}

TEST(ParseRandom, AgreesWithTheReferenceOnEveryPrefix) {
  for (uint32_t seed = 1; seed <= 150; ++seed) {
    FrameMaker maker(seed);
    const Bytes frame = maker.MakeEthernet(static_cast<int>(seed % 10));
    for (size_t length = 0; length <= frame.size(); ++length) {
      const Bytes prefix(frame.begin(), frame.begin() + length);
      ASSERT_EQ(Describe(Parse(prefix, 5000)), Describe(ReferenceParse(prefix, 5000, {})))
          << "seed " << seed << ", first " << length << " bytes";
    }
  }
}

// More bytes never take a field away at the outer level.
TEST(ParseRandom, KeepsWhatAShorterCaptureKnew) {
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    FrameMaker maker(seed);
    const Bytes frame = maker.MakeEthernet(static_cast<int>(seed % 10));
    uint16_t known = 0;
    for (size_t length = 0; length <= frame.size(); ++length) {
      const Bytes prefix(frame.begin(), frame.begin() + length);
      const uint16_t present = Parse(prefix, 5000).outermost().present;
      ASSERT_EQ(present & known, known) << "seed " << seed << ", first " << length << " bytes";
      known = present;
    }
  }
}

// The result says nothing of the packet that was in its place before.
TEST(ParseRandom, OverwritesThePacketBefore) {
  FrameMaker maker(7);
  ParsedPacket reused;
  for (int i = 0; i < 5000; ++i) {
    Bytes frame = maker.MakeEthernet(static_cast<int>(maker.Below(4)));
    maker.Mutate(&frame);
    const uint32_t length = static_cast<uint32_t>(frame.size());
    ParsePacket({frame.data(), length, length}, ParseOptions(), &reused);
    ASSERT_EQ(Describe(reused), Describe(Parse(frame))) << "frame " << i;
  }
}

}  // namespace
}  // namespace trumpet
