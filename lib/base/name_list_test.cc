// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/base/name_list.h"

#include <gtest/gtest.h>

namespace trumpet {
namespace {

using Names = std::vector<std::string>;

TEST(NameList, IsSplitAtCommas) {
  EXPECT_EQ(SplitNames("a,b c"), (Names{"a", "b c"}));
  EXPECT_EQ(SplitNames(",a,,b,"), (Names{"a", "b"}));
  EXPECT_EQ(SplitNames(""), Names());
  EXPECT_EQ(SplitNames(","), Names());
}

TEST(NameList, HasCommasAndBackslashesInNames) {
  EXPECT_EQ(SplitNames(R"(a\,b,c)"), (Names{"a,b", "c"}));
  EXPECT_EQ(SplitNames(R"(a\\,b)"), (Names{R"(a\)", "b"}));
  EXPECT_EQ(SplitNames(R"(a\b,c\)"), (Names{R"(a\b)", R"(c\)"}));
  for (const Names& names : {Names{"a,b", "c"}, Names{R"(a\)", ",", R"(\\,\)"}, Names{R"(\,b)"}}) {
    EXPECT_EQ(SplitNames(JoinNames(names)), names) << JoinNames(names);
  }
}

}  // namespace
}  // namespace trumpet
