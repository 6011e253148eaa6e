// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/ovsdb/json_splitter.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace trumpet {
namespace {

struct Cut {
  std::vector<std::string> objects;
  std::string error;
};

// Feeds the text in pieces that `next_size` says.
template <typename NextSize>
Cut SplitInPieces(std::string_view text, const JsonLimits& limits, const NextSize& next_size) {
  JsonSplitter splitter(limits);
  Cut cut;
  while (!text.empty()) {
    std::string_view piece = text.substr(0, next_size());
    text.remove_prefix(piece.size());
    while (!piece.empty()) {
      std::string object;
      const Status status = splitter.Take(&piece, &object);
      if (!status.ok()) {
        cut.error = status.message();
        return cut;
      }
      if (!object.empty()) cut.objects.push_back(object);
    }
  }
  return cut;
}

Cut Split(std::string_view text, const JsonLimits& limits = JsonLimits()) {
  return SplitInPieces(text, limits, [&] { return text.size(); });
}

TEST(JsonSplitter, CutsBetweenObjects) {
  const Cut cut = Split(R"( {"a":1}{"b":[{}]} {"c":"}{"}
)");
  EXPECT_EQ(cut.objects,
            (std::vector<std::string>{R"({"a":1})", R"({"b":[{}]})", R"({"c":"}{"})"}));
}

TEST(JsonSplitter, KnowsQuotesInsideStrings) {
  const std::string object = R"({"a":"\\\"}","b\\":"{["})";
  EXPECT_EQ(Split(object + object).objects, (std::vector<std::string>{object, object}));
}

TEST(JsonSplitter, RefusesWhatIsNoObject) {
  for (const char* text : {"[1]", "1", "\"a\"", "}", "{}x", "HTTP/1.1 400", "\x16\x03\x01"}) {
    EXPECT_EQ(Split(text).error, "the stream has something that is no object") << text;
  }
}

TEST(JsonSplitter, RefusesMoreThanAllowed) {
  JsonLimits limits;
  limits.max_bytes = 20;
  limits.max_values = 5;
  limits.max_depth = 3;
  EXPECT_EQ(Split(R"({"a":"12345678901234"})", limits).error,
            "an object of the stream has more bytes than the 20 that are allowed");
  EXPECT_EQ(Split("{[1,2,3,4,5]}", limits).error,
            "an object of the stream has more values than the 5 that are allowed");
  EXPECT_EQ(Split("{[[[", limits).error,
            "an object of the stream has more brackets in each other than the 3 that are allowed");
  EXPECT_EQ(Split(R"({"a":"123456789012"})", limits).error, "");
}

TEST(JsonSplitter, RefusesAnEndlessStringBeforeItIsAllThere) {
  JsonLimits limits;
  limits.max_bytes = 1000;
  const std::string text = "{\"" + std::string(5000, 'a');
  const Cut cut = SplitInPieces(text, limits, [] { return size_t{100}; });
  EXPECT_NE(cut.error, "");
}

// The slow twin: the objects that the stream was made of.
TEST(JsonSplitter, CutsRandomStreamsAnywhere) {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    std::mt19937 random(seed);
    const std::vector<std::string> parts = {R"("\"")", R"("\\")", "[",   "]",      "{", "}",
                                            ",",       ":",       "1.5", "\"]{\"", "[]"};
    std::string stream;
    std::vector<std::string> objects;
    for (int i = 0; i < 10; ++i) {
      std::string object = "{";
      int depth = 1;
      for (unsigned length = random() % 40; length > 0; --length) {
        const std::string& part = parts[random() % parts.size()];
        const int change = part == "[" || part == "{" ? 1 : part == "]" || part == "}" ? -1 : 0;
        if (depth + change < 1) continue;
        depth += change;
        object += part;
      }
      object += std::string(static_cast<size_t>(depth), '}');
      objects.push_back(object);
      stream += object + (random() % 2 == 0 ? " \n" : "");
    }
    JsonLimits limits;
    limits.max_depth = 100;
    const Cut cut = SplitInPieces(stream, limits, [&] { return 1 + random() % 20; });
    ASSERT_EQ(cut.error, "") << "seed " << seed;
    ASSERT_EQ(cut.objects, objects) << "seed " << seed;
  }
}

}  // namespace
}  // namespace trumpet
