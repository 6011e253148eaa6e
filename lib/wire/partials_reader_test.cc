// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/wire/partials_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "lib/wire/codec.h"
#include "lib/wire/limits.h"
#include "lib/wire/random_message_test.h"
#include "lib/wire/same_message_test.h"

namespace trumpet {
namespace {

std::string RandomFrame(uint64_t seed) {
  std::string frame;
  const Message message = RandomMessages(seed).Of(MessageKind::kPartials);
  EXPECT_TRUE(EncodeMessage(message, kMaxFrameToAgent, &frame).ok()) << "seed " << seed;
  return frame;
}

// A few bytes are changed, added or taken away, most often by little.
std::string Damaged(std::string frame, std::mt19937_64* random) {
  const auto below = [random](size_t limit) { return static_cast<size_t>((*random)() % limit); };
  for (size_t count = 1 + below(3); count > 0 && !frame.empty(); --count) {
    const size_t at =
        below(2) == 0 ? below(frame.size()) : below(std::min<size_t>(40, frame.size()));
    switch (below(4)) {
      case 0:
        frame[at] = static_cast<char>(below(256));
        break;
      case 1:
        frame[at] = static_cast<char>(frame[at] ^ (1 << below(8)));
        break;
      case 2:
        frame.insert(at, 1, static_cast<char>(below(256)));
        break;
      default:
        frame.erase(at, 1);
    }
  }
  return frame;
}

TEST(PartialsReader, ReadsWhatTheEncoderWrites) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    const std::string frame = RandomFrame(seed);
    Partials partials;
    ASSERT_TRUE(ReadPartialsFrame(frame, &partials)) << "seed " << seed;
    const auto twin = DecodeByProtobuf(frame);
    ASSERT_TRUE(twin.ok()) << twin.message();
    ASSERT_TRUE(SameMessage(Message(partials), *twin)) << "seed " << seed;
  }
}

TEST(PartialsReader, ReadsDamagedFramesAsProtobufDoesOrNotAtAll) {
  int read = 0;
  int left = 0;
  for (uint64_t seed = 0; seed < 20000; ++seed) {
    std::mt19937_64 random(seed);
    const std::string frame = Damaged(RandomFrame(seed % 500), &random);
    const auto message = DecodeMessage(frame);
    const auto twin = DecodeByProtobuf(frame);
    ASSERT_EQ(message.ok(), twin.ok()) << "seed " << seed;
    ASSERT_TRUE(!message.ok() || SameMessage(*message, *twin)) << "seed " << seed;
    Partials partials;
    ++(ReadPartialsFrame(frame, &partials) ? read : left);
  }
  EXPECT_GT(read, 1000);
  EXPECT_GT(left, 1000);
}

TEST(PartialsReader, LeavesOtherMessagesAlone) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    const Message message = RandomMessages(seed).Any();
    if (KindOf(message) == MessageKind::kPartials) continue;
    std::string frame;
    ASSERT_TRUE(EncodeMessage(message, size_t{16} << 20, &frame).ok());
    Partials partials;
    ASSERT_FALSE(ReadPartialsFrame(frame, &partials)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace trumpet
