// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/packet/bgp_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "lib/packet/bgp_frames.h"

namespace trumpet {
namespace {

using namespace bgp_frames;  // NOLINT(google-build-using-namespace): a language for tests

constexpr uint32_t kFirst = 0xffffff00;  // numbers go round soon

// Bytes of a stream as segments; what comes out as a text: O, U, N, K or R for each message, in
// small letters if it is cut.
class StreamTest : public testing::Test {
 protected:
  void Take(uint32_t at, const Bytes& data, size_t captured = SIZE_MAX) {
    const Bytes exact(data.begin(),
                      data.begin() + static_cast<ptrdiff_t>(std::min(captured, data.size())));
    stream_.Take({time_ += kNanosPerMilli, kFirst + at, exact.data(),
                  static_cast<uint32_t>(exact.size()), static_cast<uint32_t>(data.size())},
                 tell_);
  }
  void Take(uint32_t at, const Bytes& all, size_t begin, size_t end) {
    Take(at + static_cast<uint32_t>(begin), Bytes(all.begin() + static_cast<ptrdiff_t>(begin),
                                                  all.begin() + static_cast<ptrdiff_t>(end)));
  }

  Nanos time_ = kNanosPerSecond;
  std::string told_;
  std::vector<Bytes> messages_;
  BgpStream stream_;
  const BgpStream::Tell tell_ = [this](const BgpMessage& message) {
    const char name = "?OUNKR"[static_cast<size_t>(message.header.type)];
    const bool is_cut = message.captured < message.header.bytes;
    told_ += is_cut ? static_cast<char>(name + 32) : name;
    messages_.emplace_back(message.data, message.data + message.captured);
  };
};

TEST_F(StreamTest, TellsMessagesOfOneSegment) {
  stream_.Begin(kFirst);
  Take(0, Join({Open(1, 9, 1), Keepalive(), Update({}, {}, {}), Notification(6, 2)}));
  EXPECT_EQ(told_, "OKUN");
  EXPECT_EQ(messages_[1], Keepalive());
}

TEST_F(StreamTest, PutsTogetherWhatLiesInSeveral) {
  stream_.Begin(kFirst);
  const Bytes all = Join({Open(1, 9, 1), Keepalive(), Keepalive()});
  for (size_t at = 0; at < all.size(); ++at) Take(0, all, at, at + 1);
  EXPECT_EQ(told_, "OKK");
  EXPECT_EQ(stream_.not_read_bytes(), 0u);
}

TEST_F(StreamTest, BringsSegmentsInOrderAndTakesNoneTwice) {
  stream_.Begin(kFirst);
  const Bytes all = Join({Open(1, 9, 1), Keepalive(), Notification(4, 0)});
  Take(0, all, 40, all.size());
  Take(0, all, 40, all.size());
  Take(0, all, 10, 45);
  EXPECT_EQ(told_, "");
  Take(0, all, 0, 12);
  Take(0, all, 0, 30);
  EXPECT_EQ(told_, "OKN");
  EXPECT_GT(stream_.repeated_bytes(), 0u);
}

TEST_F(StreamTest, SkipsWhatWasCutOffByTheLengthOfItsMessage) {
  stream_.Begin(kFirst);
  const Bytes update = Update({}, PathAttributes(), Prefixes({{0x0a000000, 8}}));
  Take(0, Join({Keepalive(), update}), 19 + 25);
  Take(19 + static_cast<uint32_t>(update.size()), Keepalive());
  EXPECT_EQ(told_, "KuK");
  EXPECT_EQ(stream_.not_read_bytes(), 0u);
}

TEST_F(StreamTest, LooksForAMessageBehindOneWhoseLengthIsNotKnown) {
  stream_.Begin(kFirst);
  const Bytes update = Update({}, PathAttributes(), Prefixes({{0x0a000000, 8}}));
  Take(0, Join({Keepalive(), update, Keepalive()}), 19 + 17);
  EXPECT_EQ(told_, "K");
  Take(38 + static_cast<uint32_t>(update.size()), Join({Bytes(5, 0xff), Keepalive(), Keepalive()}));
  EXPECT_EQ(told_, "KKK");
  EXPECT_EQ(stream_.not_read_bytes(), update.size() + 19 + 5);
}

TEST_F(StreamTest, GoesOnBehindASegmentThatDoesNotCome) {
  stream_.Begin(kFirst);
  Take(0, Keepalive());
  Take(38, Keepalive());
  EXPECT_EQ(told_, "K");
  time_ += BgpStream::kPatience;
  Take(57, Keepalive());
  EXPECT_EQ(told_, "KKK");
  EXPECT_EQ(stream_.not_read_bytes(), 19u);
  Take(19, Keepalive());  // too late
  EXPECT_EQ(told_, "KKK");
}

TEST_F(StreamTest, HoldsNoMoreThanItMay) {
  stream_.Begin(kFirst);
  for (uint32_t i = 1; i <= BgpStream::kMaxHeld; ++i) Take(19 * i, Keepalive());
  EXPECT_EQ(told_, "");
  Take(19 * (BgpStream::kMaxHeld + 1), Keepalive());
  EXPECT_EQ(told_, std::string(BgpStream::kMaxHeld + 1, 'K'));
}

TEST_F(StreamTest, TellsWhatWaitsWhenItEnds) {
  stream_.Begin(kFirst);
  Take(19, Keepalive());
  Take(57, Keepalive());
  stream_.Finish(tell_);
  EXPECT_EQ(told_, "KK");
  EXPECT_EQ(stream_.not_read_bytes(), 38u);
}

TEST_F(StreamTest, BeginsInTheMiddle) {
  const Bytes update = Update({}, PathAttributes(), Prefixes({{0x0a000000, 8}}));
  Take(1000, Join({Bytes(update.begin() + 20, update.end()), Keepalive(), update}));
  EXPECT_EQ(told_, "KU");
  EXPECT_EQ(stream_.not_read_bytes(), update.size() - 20);
}

TEST_F(StreamTest, IsNotLedAstrayByOneSegmentFarAhead) {
  stream_.Begin(kFirst);
  Take(0, Keepalive());
  Take(0x40000000, Keepalive());
  Take(19, Keepalive());
  EXPECT_EQ(told_, "KK");
  EXPECT_EQ(stream_.strays(), 1u);
  // Many of them are the stream.
  for (uint32_t i = 0; i < BgpStream::kMaxStrays + 2; ++i) Take(0x40000000 + 19 * i, Keepalive());
  EXPECT_EQ(told_, "KKKKK");
}

TEST_F(StreamTest, KeepsTheBeginningOfALongMessage) {
  stream_.Begin(kFirst);
  const Bytes large = Message(2, Bytes(20000));
  Take(0, Join({large, Keepalive()}));
  EXPECT_EQ(told_, "uK");
  EXPECT_EQ(messages_[0].size(), size_t{BgpStream::kMaxKept});
}

// Whatever the order, and however often: the messages are the same if none is missing.
TEST_F(StreamTest, TellsTheSameOfAnySegments) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    std::mt19937_64 random(seed);
    Bytes all;
    std::vector<Bytes> wanted;
    for (int i = 0; i < 30; ++i) {
      const Bytes some = RandomPrefixes(&random, random() % 40);
      wanted.push_back(random() % 2 == 0 ? Keepalive() : Update({}, PathAttributes(), some));
      all.insert(all.end(), wanted.back().begin(), wanted.back().end());
    }
    messages_.clear();
    stream_ = BgpStream();
    stream_.Begin(kFirst);
    std::vector<std::pair<size_t, size_t>> segments;
    for (size_t at = 0; at < all.size();) {
      const size_t end = std::min(all.size(), at + 1 + random() % 300);
      segments.emplace_back(at, end);
      if (random() % 8 == 0) segments.emplace_back(at, end);
      at = end;
    }
    for (size_t i = 0; i + 1 < segments.size(); i += 2) {
      if (random() % 3 == 0) std::swap(segments[i], segments[i + 1]);
    }
    for (const auto& [begin, end] : segments) Take(0, all, begin, end);
    stream_.Finish(tell_);
    ASSERT_EQ(messages_, wanted) << "seed " << seed;
    ASSERT_EQ(stream_.not_read_bytes(), 0u) << "seed " << seed;
  }
}

}  // namespace
}  // namespace trumpet
