// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/lang/event/source.h"

#include <gtest/gtest.h>

namespace trumpet::event_lang {
namespace {

// Where in `file`, whose scalar starts at its first byte, the wanted word of `decoded` stands.
size_t Find(std::string_view file, std::string_view decoded, std::string_view word) {
  return RawOffset(file, 0, decoded, decoded.find(word));
}

TEST(Source, CountsLinesAndCharactersFromOne) {
  const Source source{"f", "ab\ncd\xc3\xa9 e\n"};
  EXPECT_EQ(source.PlaceOf(0), "f:1:1");
  EXPECT_EQ(source.PlaceOf(4), "f:2:2");
  EXPECT_EQ(source.PlaceOf(8), "f:2:5");
  EXPECT_EQ(source.PlaceOf(999), "f:3:1");
}

TEST(LineIndex, KeepsOddMarksInsideTheText) {
  const LineIndex lines("ab\ncd");
  EXPECT_EQ(lines.OffsetOf(1, 1), 4u);
  EXPECT_EQ(lines.OffsetOf(-1, -1), 0u);
  EXPECT_EQ(lines.OffsetOf(7, 0), 5u);
  EXPECT_EQ(lines.OffsetOf(1, 99), 5u);
}

TEST(RawOffset, FollowsPlainScalars) {
  EXPECT_EQ(Find("a b c", "a b c", "c"), 4u);
  EXPECT_EQ(Find("a\n   b\n\n  c", "a b\nc", "c"), 10u);
}

TEST(RawOffset, FollowsSingleQuotes) { EXPECT_EQ(Find("'a''b c'", "a'b c", "c"), 6u); }

TEST(RawOffset, FollowsEscapes) {
  EXPECT_EQ(Find("\"\\x41\\tb\\\"c\"", "A\tb\"c", "c"), 10u);
  EXPECT_EQ(Find("\"\\u00e9c\"",
                 "\xc3\xa9"
                 "c",
                 "c"),
            7u);
  EXPECT_EQ(Find("\"\\ud83d\\ude00c\"",
                 "\xf0\x9f\x98\x80"
                 "c",
                 "c"),
            13u);
  EXPECT_EQ(Find("\"a \\\n  b\"", "a b", "b"), 7u);
}

TEST(RawOffset, FollowsEscapesOfSeparators) {
  EXPECT_EQ(Find(R"("a\Lb\Pc")", "a\u2028b\u2029c", "b"), 4u);
  EXPECT_EQ(Find(R"("a\Lb\Pc")", "a\u2028b\u2029c", "c"), 7u);
}

TEST(RawOffset, FollowsBlocks) {
  EXPECT_EQ(Find("|\n  a\n  b\n", "a\nb\n", "b"), 8u);
  EXPECT_EQ(Find(">-\n  a\n  b\n", "a b", "b"), 9u);
}

TEST(RawOffset, PointsBehindTheLastCharacterForTheEnd) {
  EXPECT_EQ(RawOffset("'ab'  ", 0, "ab", 2), 3u);
}

TEST(RawOffset, StaysInsideAFileThatDoesNotFit) {
  EXPECT_LE(RawOffset("\"\\u12", 0, "abcdef", 5), 5u);
  EXPECT_EQ(RawOffset("ab", 7, "abcdef", 5), 7u);
}

TEST(IsUtf8, FindsTheFirstBadByte) {
  size_t offset = 0;
  EXPECT_TRUE(IsUtf8("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", &offset));
  for (const char* bad : {"ab\x80", "ab\xc0\x80", "ab\xc3", "ab\xe2\x82", "ab\xed\xa0\x80",
                          "ab\xf4\x90\x80\x80", "ab\xe0\x80\x80", "ab\xff"}) {
    EXPECT_FALSE(IsUtf8(bad, &offset)) << bad;
    EXPECT_EQ(offset, 2u);
  }
}

}  // namespace
}  // namespace trumpet::event_lang
