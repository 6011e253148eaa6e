// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/base/text_table.h"

#include <gtest/gtest.h>

namespace trumpet {
namespace {

TEST(TextTable, LinesColumnsUp) {
  TextTable table({"name", ">count", "note"});
  table.Add({"a", "1", "x"});
  table.Add({"long name", "12345678", "-"});
  EXPECT_EQ(table.ToString(2),
            "  name          count  note\n"
            "  a                 1  x\n"
            "  long name  12345678  -\n");
}

TEST(TextTable, LinesUpNamesBeyondAscii) {
  TextTable table({"name", ">count"});
  table.Add({"\xc3\xa9t\xc3\xa9", "1"});
  EXPECT_EQ(table.ToString(0),
            "name  count\n"
            "\xc3\xa9t\xc3\xa9       1\n");
}

TEST(TextTable, WritesTimesInUtc) {
  EXPECT_EQ(FormatTime(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(FormatTime(1'700'000'000'123'999'999), "2023-11-14T22:13:20.123Z");
  EXPECT_EQ(FormatTime(-1), "1969-12-31T23:59:59.999Z");
}

TEST(TextTable, NeverDividesByNothing) {
  EXPECT_EQ(FormatShare(1, 8), "12.5%");
  EXPECT_EQ(FormatShare(1, 0), "-");
  EXPECT_EQ(FormatRatio(1, 4), "0.2");
  EXPECT_EQ(FormatRatio(1, 0), "-");
}

}  // namespace
}  // namespace trumpet
