// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/view/trace_rule_tables.h"

#include <gtest/gtest.h>

namespace trumpet {
namespace {

TEST(TraceRuleTables, ShowWhatWasTriedOfEachRuleAndWhere) {
  const ApiJson rule = ApiJson::parse(
      R"({"name": "web", "filter": "dstPort=80", "sample": "1/4", "truncate": 64, "state": "failed",
          "why": "at s1: no copy", "switches": [{"name": "s1", "state": "failed", "why": "no copy"},
                                                {"name": "s2", "state": "active"}]})");
  const std::string text = TraceRuleText(rule);
  EXPECT_NE(text.find("web   failed  dstPort=80  sample 1/4, truncate 64  at s1: no copy"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("s1      failed  no copy"), std::string::npos) << text;
  EXPECT_NE(text.find("s2      active"), std::string::npos) << text;
}

TEST(TraceRuleTables, SayThatThereAreNone) {
  EXPECT_EQ(TraceRulesText(ApiJson::parse(R"({"rules": []})")), "no trace rules\n");
  EXPECT_EQ(TraceRulesText(ApiJson::parse(R"({"rules": [], "problem": "p"})")),
            "problem: p\nno trace rules\n");
}

}  // namespace
}  // namespace trumpet
