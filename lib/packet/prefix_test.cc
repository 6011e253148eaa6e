// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/packet/prefix.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace trumpet {
namespace {

TEST(Prefix, IsReadAndPrinted) {
  const std::pair<const char*, const char*> cases[] = {
      {"10.1.0.0/16", "10.1.0.0/16"},
      {"10.1.2.3", "10.1.2.3/32"},
      {"0.0.0.0/0", "0.0.0.0/0"},
      {"2001:DB8::/32", "2001:db8::/32"},
      {"::1", "::1/128"},
      {"::/0", "::/0"},
      {"10.1.0.0/33", "error: '10.1.0.0/33' is not a prefix; its length takes 0 to 32"},
      {"10.1.0.0/", "error: '10.1.0.0/' is not a prefix; its length takes 0 to 32"},
      {"::/129", "error: '::/129' is not a prefix; its length takes 0 to 128"},
      {"10.1.0.0/+8", "error: '10.1.0.0/+8' is not a prefix; its length takes 0 to 32"},
      {"10.1/16", "error: '10.1/16' is not a prefix; write 10.1.0.0/16 or 2001:db8::/32"},
      {"", "error: '' is not a prefix; write 10.1.0.0/16 or 2001:db8::/32"},
      {"10.1.2.3/16",
       "error: '10.1.2.3/16' is not a prefix, because it has bits behind its length; did you mean "
       "'10.1.0.0/16'?"},
  };
  for (const auto& [text, expected] : cases) {
    const Result<Prefix> prefix = ParsePrefix(text);
    EXPECT_EQ(prefix.ok() ? PrintPrefix(*prefix) : "error: " + prefix.message(), expected);
  }
}

TEST(Prefix, KnowsItsEnds) {
  EXPECT_EQ(FirstOf(*ParsePrefix("10.1.0.0/16")), 0x0a010000u);
  EXPECT_EQ(LastOf(*ParsePrefix("10.1.0.0/16")), 0x0a01ffffu);
  EXPECT_EQ(LastOf(*ParsePrefix("0.0.0.0/0")), 0xffffffffu);
  EXPECT_EQ(LastOf(*ParsePrefix("::/0")), ~Uint128{0});
  EXPECT_EQ(LastOf(*ParsePrefix("::5")), Uint128{5});
}

}  // namespace
}  // namespace trumpet
