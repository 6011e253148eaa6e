// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/view/drop_tables.h"

#include <gtest/gtest.h>

namespace trumpet {
namespace {

ApiJson Search() {
  return ApiJson::parse(R"({"id":"00000000000000ab","state":"done","begun_ns":0,"switch":"leaf1",
    "port":"3","packet":{"Protocol":"UDP","srcIP":"10.0.1.1","dstIP":"10.0.2.2"},"sent":130,
    "verdict":"pattern","persistence":"persistent","packets":{"lost":48,"known":48},
    "fields":[{"field":"dstPort","role":"decides","lost":"443","passed":"442, 444",
               "packets":{"lost":0,"known":30}},
              {"field":"srcIP","role":"not_tried","packets":{"lost":0,"known":0}}],
    "explanation":"they vanish","notes":["a note",7],
    "kinds":[{"traces":{"lost":["00000000000000cd",7]}}]})");
}

TEST(DropTables, ASearchSaysWhatEachFieldHasToDoWithIt) {
  EXPECT_EQ(DropSearchText(Search()),
            "search 00000000000000ab at switch leaf1, port 3\n"
            "Protocol=UDP srcIP=10.0.1.1 dstIP=10.0.2.2\n"
            "field    role        lost  vanish with  pass with\n"
            "dstPort  decides  0 of 30  443          442, 444\n"
            "traces of lost packets: 00000000000000cd\n"
            "note: a note\n"
            "pattern, persistent: they vanish\n");
}

TEST(DropTables, OneThatRunsSaysSo) {
  const ApiJson running = ApiJson::parse(R"({"id":"1","state":"running","switch":"a","port":"1"})");
  EXPECT_EQ(DropSearchText(running), "search 1 at switch a, port 1\n\nrunning\n");
}

TEST(DropTables, SearchesAreALineEach) {
  EXPECT_EQ(DropSearchTable(ApiJson::array()), "no searches\n");
  const std::string table = DropSearchTable(ApiJson::array({Search()}));
  EXPECT_NE(table.find("leaf1:3  UDP 10.0.1.1 > 10.0.2.2   130  48 of 48  pattern"),
            std::string::npos)
      << table;
}

TEST(DropTables, TakeAnyAnswer) {
  for (const char* json : {"null", "[]", "{}", "1",
                           R"({"begun_ns": "x", "packets": 1, "fields": [1], "kinds": [1]})"}) {
    const ApiJson answer = ApiJson::parse(json);
    EXPECT_NO_THROW(DropSearchText(answer)) << json;
    EXPECT_NO_THROW(DropSearchTable(ApiJson::array({answer}))) << json;
  }
}

}  // namespace
}  // namespace trumpet
