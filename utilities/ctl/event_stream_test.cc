// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "utilities/ctl/event_stream.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace trumpet {
namespace {

struct Seen {
  std::vector<std::string> events;  // "type|data|last id"
  std::string Joined() const {
    std::string text;
    for (const std::string& event : events) text += event + "\n";
    return text;
  }
};

// Reads the pieces one after the other.
std::string ReadAll(const std::vector<std::string>& pieces) {
  Seen seen;
  std::string id;
  EventStreamReader reader(
      [&](const StreamedEvent& event) { seen.events.push_back(event.type + "|" + event.data); });
  for (const std::string& piece : pieces) EXPECT_TRUE(reader.Read(piece));
  return seen.Joined() + "last " + reader.last_id();
}

TEST(EventStream, FindsEventsTypesAndIds) {
  EXPECT_EQ(ReadAll({"retry: 2000\n: hello\n\nid: 7\ndata: {\"a\":1}\n\n"
                     "event: gap\ndata: x\ndata: y\n\n"}),
            "|{\"a\":1}\ngap|x\ny\nlast 7");
}

TEST(EventStream, KeepsAnIdOnlyOnceItsEventIsWhole) {
  EXPECT_EQ(ReadAll({"id: 7\ndata: a\n\nid: 8\ndata: b"}), "|a\nlast 7");
}

TEST(EventStream, ForgetsHalfAnEventWhenAStreamBeginsAnew) {
  Seen seen;
  EventStreamReader reader([&](const StreamedEvent& event) { seen.events.push_back(event.data); });
  EXPECT_TRUE(reader.Read("id: 1\ndata: a\n\nid: 2\ndata: ha"));
  reader.Restart();
  EXPECT_TRUE(reader.Read("id: 2\ndata: whole\n\n"));
  EXPECT_EQ(seen.Joined(), "a\nwhole\n");
}

TEST(EventStream, RefusesAnEndlessLine) {
  EventStreamReader reader([](const StreamedEvent&) {});
  const std::string piece(1 << 20, 'x');
  bool is_read = true;
  for (int i = 0; i < 5 && is_read; ++i) is_read = reader.Read(piece);
  EXPECT_FALSE(is_read);
}

// However the bytes are cut, and whatever ends the lines, the same is read.
TEST(EventStream, ReadsTheSameHoweverTheBytesAreCut) {
  constexpr uint32_t kSeed = 4711;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  std::mt19937 random(kSeed);
  for (int round = 0; round < 300; ++round) {
    std::string text;
    const int lines = static_cast<int>(random() % 30);
    for (int i = 0; i < lines; ++i) {
      const char* const kinds[] = {"data: a", "data:b",   "data", ": note",
                                   "id: ",    "event: e", "",     "x"};
      text += kinds[random() % 8];
      if (random() % 2 == 0) text += std::to_string(random() % 100);
      const char* const ends[] = {"\n", "\r\n", "\r"};
      text += ends[random() % 3];
    }
    std::vector<std::string> pieces;
    for (size_t at = 0; at < text.size();) {
      const size_t length = 1 + random() % 7;
      pieces.push_back(text.substr(at, length));
      at += length;
    }
    ASSERT_EQ(ReadAll(pieces), ReadAll({text})) << text;
  }
}

}  // namespace
}  // namespace trumpet
