// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/view/bounce_tables.h"

#include <gtest/gtest.h>

namespace trumpet {
namespace {

TEST(BounceTables, OneShowsItsRoundTrips) {
  const std::string text = BounceText(ApiJson::parse(
      R"({"id": "1", "state": "done", "switch": "a", "port": 1, "to": "b", "to_port": 2,
          "sent": 3, "returned": 3, "lost": 0, "not_copied": 1, "round_trip": {"min_ns": 900,
          "histogram": [{"below_ns": 1000, "packets": 1}, {"below_ns": 2000, "packets": 2}]}})"));
  EXPECT_NE(text.find("2  ####"), std::string::npos) << text;
  EXPECT_NE(text.find("3 of 3 packets came back, 0 lost, 1 not copied"), std::string::npos) << text;
}

TEST(BounceTables, TakeAnyAnswer) {
  for (const char* json :
       {"null", "[]", "{}", "1", R"({"not_copied": "x", "notes": 1})",
        R"({"round_trip": {"histogram": [1, {"packets": "x"}, {"packets": -1}]}})"}) {
    const ApiJson answer = ApiJson::parse(json);
    EXPECT_NO_THROW(BounceText(answer)) << json;
    EXPECT_NO_THROW(BounceTable(ApiJson::array({answer}))) << json;
  }
}

}  // namespace
}  // namespace trumpet
