// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/wire/frame_reader.h"

#include <event2/buffer.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace trumpet {
namespace {

struct BufferFree {
  void operator()(evbuffer* buffer) const { evbuffer_free(buffer); }
};
using Buffer = std::unique_ptr<evbuffer, BufferFree>;

std::string Framed(const std::string& body) {
  std::string frame(kFrameHeadBytes, '\0');
  PutFrameHead(body.size(), frame.data());
  return frame + body;
}

TEST(FrameReader, FindsAllFramesHoweverTheStreamIsCut) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    std::mt19937_64 random(seed);
    constexpr size_t kMax = 3000;
    std::vector<std::string> bodies(1 + random() % 20);
    std::string stream;
    for (std::string& body : bodies) {
      body.resize(1 + random() % (random() % 4 == 0 ? kMax : 20));
      for (char& c : body) c = static_cast<char>(random());
      stream += Framed(body);
    }
    const Buffer buffer(evbuffer_new());
    FrameReader reader(kMax);
    std::vector<std::string> found;
    for (size_t at = 0; at < stream.size();) {
      const size_t piece =
          std::min<size_t>(1 + random() % (seed % 2 == 0 ? 7 : 5000), stream.size() - at);
      evbuffer_add(buffer.get(), stream.data() + at, piece);
      at += piece;
      std::string_view frame;
      while (reader.Peek(buffer.get(), &frame) == FrameReader::State::kFrame) {
        found.emplace_back(frame);
        reader.Drop(buffer.get());
      }
    }
    EXPECT_EQ(found, bodies) << "seed " << seed;
    EXPECT_EQ(evbuffer_get_length(buffer.get()), 0u);
  }
}

TEST(FrameReader, SeesABadLengthBeforeTheFrameHasCome) {
  FrameReader reader(100);
  for (const size_t length : {size_t{0}, size_t{101}, size_t{0xffffffff}}) {
    const Buffer buffer(evbuffer_new());
    char head[kFrameHeadBytes];
    PutFrameHead(length, head);
    std::string_view frame;
    evbuffer_add(buffer.get(), head, 3);
    EXPECT_EQ(reader.Peek(buffer.get(), &frame), FrameReader::State::kNeedMore);
    evbuffer_add(buffer.get(), head + 3, 1);
    EXPECT_EQ(reader.Peek(buffer.get(), &frame), FrameReader::State::kBadLength);
    EXPECT_EQ(reader.bad_length(), length);
  }
}

TEST(FrameReader, TakesTheLargestFrame) {
  FrameReader reader(100);
  const Buffer buffer(evbuffer_new());
  const std::string whole = Framed(std::string(100, 'x'));
  evbuffer_add(buffer.get(), whole.data(), whole.size());
  std::string_view frame;
  ASSERT_EQ(reader.Peek(buffer.get(), &frame), FrameReader::State::kFrame);
  EXPECT_EQ(frame, std::string(100, 'x'));
}

}  // namespace
}  // namespace trumpet
