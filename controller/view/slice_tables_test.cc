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
    "path":["A","B"],"locations":["A","B"],"slots":12,"packets":34}],"answers":{"run":7,"analyzers":[
    {"analyzer":"an1","confidence":0.95,"queries":[
      {"query":0,"kind":"mirror","locations":["A","B","D"],
       "packets":{"at_ingress":391,"unjudged":12,"silent_flows":0},
       "loss":{"value":0.008,"low":0.0,"high":0.027},"share":{"value":0.98,"low":0.95,"high":1.0},
       "copy_loss":{"value":0.015,"low":0.009,"high":0.027},
       "delay":{"median_ns":15000000,"p5_ns":14900000,"p95_ns":15200000,"error_ns":300000}},
      {"query":1,"kind":"mirror","locations":["A","D"],
       "packets":{"at_ingress":3,"unjudged":120,"silent_flows":2},
       "loss":{"value":0.0,"low":0.0,"high":0.6},"share":null,"copy_loss":null,
       "delay":null,"no_delay":"probes of D have not come"},
      {"query":2,"kind":"confine","violations":4}]}]}})");
  const std::string text = SliceRunText(run);
  for (const char* piece :
       {"run 7: done", "slots: 12", "the network changed", "warning: f:1:1: odd", "MIRROR q", "A B",
        "analyzer an1, intervals for 95 % of", "391 of 403", "0.8 (0.0-2.7)", "98.0 (95.0-100.0)",
        "15.00 (14.90-15.20)", "1.5 (0.9-2.7)", "Q1: delays may be wrong by 0.30",
        "Q2: most packets say nothing of loss", "Q2: 2 flows were seen at the",
        "Q2: no delay: probes of D have not", "Q3: 4 packets left the region"}) {
    EXPECT_NE(text.find(piece), text.npos) << piece << "\n" << text;
  }
}

TEST(SliceTables, BearWhatIsMissingOrWrong) {
  for (const char* json :
       {"null", "{}", "[]", "3", R"({"queries":[1],"warnings":[2],"links":{}})",
        R"({"answers":{"analyzers":[1,{"queries":[2,{"loss":3,"packets":[],"delay":{}}]}]}})"}) {
    const ApiJson value = ApiJson::parse(json);
    SliceTable(value);
    SliceText(value);
    SliceRunText(value);
    SlicePlanText(value);
  }
}

}  // namespace
}  // namespace trumpet
