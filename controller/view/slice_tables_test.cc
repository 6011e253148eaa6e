// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/view/slice_tables.h"

#include <gtest/gtest.h>

namespace trumpet {
namespace {

TEST(SliceTables, ShowCampaignsAndRuns) {
  const ApiJson campaign = ApiJson::parse(R"({"name":"web","campaign":"MIRROR ...","priority":5,
    "enabled":true,"problem":"","using_bps":15000000,"during_ns":450000000,"every_ns":5000000000,
    "waiting":true,"next_start_ns":0,"runs":2,"missed":1,"now":null,
    "last":{"state":"failed","problem":"no analyzer"}})");
  const std::string table = SliceTable(ApiJson::array({campaign}));
  EXPECT_NE(table.find("web"), table.npos) << table;
  EXPECT_NE(table.find("waiting"), table.npos) << table;
  EXPECT_NE(table.find("failed: no analyzer"), table.npos) << table;
  EXPECT_NE(SliceText(campaign).find("starts missed 1"), std::string::npos);
  const ApiJson run = ApiJson::parse(R"({"run":7,"state":"done","slots":12,"topology_changed":true,
    "warnings":["f:1:1: odd"],"queries":[{"action":"MIRROR","name":"q","prefix":"1.2.3.0/24",
    "path":["A","B"],"locations":["A","B"],"slots":12,"packets":34}],"answers":{"loss":0.05}})");
  const std::string text = SliceRunText(run);
  for (const char* piece : {"run 7: done", "slots: 12", "the network changed",
                            "warning: f:1:1: odd", "MIRROR q", "A B", "\"loss\": 0.05"}) {
    EXPECT_NE(text.find(piece), text.npos) << piece << "\n" << text;
  }
}

TEST(SliceTables, BearWhatIsMissingOrWrong) {
  for (const char* json :
       {"null", "{}", "[]", "3", R"({"queries":[1],"warnings":[2],"links":{}})"}) {
    const ApiJson value = ApiJson::parse(json);
    SliceTable(value);
    SliceText(value);
    SliceRunText(value);
    SlicePlanText(value);
  }
}

}  // namespace
}  // namespace trumpet
