// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/view/reshuffler_tables.h"

#include <gtest/gtest.h>

namespace trumpet {
namespace {

TEST(ReshufflerTables, ShowWhoseSlotsAreAndWhatWentWhere) {
  const ApiJson one = ApiJson::parse(
      R"({"name": "shuf1", "address": "192.0.2.9", "state": "in order", "received": 500, "unassigned": 0,
          "moved_slots": 86, "analyzers": [
            {"name": "an1", "address": "192.0.2.21", "weight": 1, "state": "alive", "slots": 128,
             "home_slots": 86, "copies": 300, "heard_ms_ago": 40},
            {"name": "an2", "address": "192.0.2.22", "weight": 1, "state": "away", "slots": 0,
             "home_slots": 85, "copies": 200}],
          "last_move": {"at_ns": 1700000000000000000, "slots": 86, "gone": ["an2"], "come": [],
                        "failover_ms": 240}})");
  const std::string text = ReshufflerText(one);
  EXPECT_NE(text.find("shuf1  192.0.2.9  in order  1 of 2"), std::string::npos) << text;
  EXPECT_NE(text.find(", 240 ms after the last sign of an2"), std::string::npos) << text;
  EXPECT_NE(text.find("an1       192.0.2.21  alive            40       1    128    86     300"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("an2       192.0.2.22  away"), std::string::npos) << text;
}

TEST(ReshufflerTables, SayThatThereAreNone) {
  EXPECT_EQ(ReshufflerTable(ApiJson::array()), "no reshufflers\n");
}

TEST(ReshufflerTables, TakeAnyAnswer) {
  for (const char* json : {"null", "[]", "{}", "1", R"({"last_move": 1})",
                           R"({"last_move": {"at_ns": "x"}, "analyzers": 1})"}) {
    const ApiJson answer = ApiJson::parse(json);
    EXPECT_NO_THROW(ReshufflerText(answer)) << json;
    EXPECT_NO_THROW(ReshufflerTable(ApiJson::array({answer}))) << json;
  }
}

}  // namespace
}  // namespace trumpet
