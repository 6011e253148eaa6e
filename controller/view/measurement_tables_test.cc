// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/view/measurement_tables.h"

#include <gtest/gtest.h>

namespace trumpet {
namespace {

TEST(MeasurementTables, TellsOnHowManyHostsItRuns) {
  const std::string table = MeasurementTable(ApiJson::parse(R"([
    {"name": "hh", "installed": true, "changed_by": "ann", "variables": [{"name": "a"}],
     "hosts": [{"id": "h1", "state": "running"}, {"id": "h2", "state": "refused"}]},
    {"name": "bad", "problem": "no", "installed": true}])"));
  EXPECT_NE(table.find("hh"), table.npos);
  EXPECT_NE(table.find("installed"), table.npos);
  EXPECT_NE(table.find("problem"), table.npos);
  EXPECT_NE(table.find("ann"), table.npos);
}

TEST(MeasurementTables, NamesHostsThatAreSilentAndShowsEstimates) {
  const std::string text = ReadingText(ApiJson::parse(R"({
    "silent": [{"id": "h2", "why": "it has gone"}],
    "variables": [{"name": "size", "kind": "count-min", "in_use": 4,
                   "estimate": {"value": 480, "low": 474, "high": 480, "confidence": 0.98},
                   "top_keys": [{"key": "10.0.0.1", "value": 480, "estimate":
                                 {"value": 480, "low": 474, "high": 480, "confidence": 0.98}},
                                {"key": "10.0.0.2", "value": 3}],
                   "largest": [{"cell": 7, "value": 480}]}]})"));
  EXPECT_NE(text.find("10.0.0.1"), text.npos);
  EXPECT_NE(text.find("98.0%"), text.npos);
  EXPECT_EQ(text.substr(0, 29), "without host h2: it has gone\n");
  EXPECT_NE(text.find("about 480 (474 to 480)"), text.npos);
  EXPECT_NE(text.find("   7"), text.npos);
}

TEST(MeasurementTables, TellsWhatBecameOfCopies) {
  const std::string text = MeasurementText(ApiJson::parse(R"({
    "name": "hh", "copy_rate": 50,
    "hosts": [{"id": "h1", "state": "running", "copies": {"collected": 9, "sent": 4,
               "over_rate": 3, "failed": 0, "lost": 1, "unbound": 1}},
              {"id": "h2", "state": "running"}],
    "copies": {"collected": 9, "sent": 4, "over_rate": 3, "failed": 0, "lost": 1, "unbound": 1,
               "endpoints": [{"endpoint": "C", "address": "udp:10.0.0.9:4729", "sent": 4,
                              "over_rate": 3, "failed": 0},
                             {"endpoint": "D", "sent": 0, "over_rate": 0, "failed": 0}]}})"));
  EXPECT_NE(text.find("endpoint  copies go to       sent  over rate  failed\n"
                      "C         udp:10.0.0.9:4729     4          3       0\n"
                      "D         -                     0          0       0\n"
                      "at most 50 copies a second\n"
                      "collected at  packets  sent  over rate  failed  lost  no address\n"
                      "h1                  9     4          3       0     1           1\n"
                      "all hosts           9     4          3       0     1           1\n"),
            text.npos)
      << text;
}

TEST(MeasurementTables, ShowsAnswersOfEachHost) {
  EXPECT_EQ(AnswerText(ApiJson::parse(R"({
    "answers": [{"host": "h1", "copies": [{"endpoint": "C", "packet": {"ipv4.dst": 7}}]}],
    "silent": [{"id": "h2", "why": "it does not answer"}], "left_out": 2})")),
            "without host h2: it does not answer\n"
            "2 copies are left out\n"
            "host  endpoint  packet\n"
            "h1    C         ipv4.dst=7\n");
  EXPECT_EQ(AnswerText(ApiJson::parse(R"({"answers": [{"host": "h1", "copies": []}]})")),
            "no host has an answer\n");
}

TEST(MeasurementTables, TakesAnyAnswer) {
  for (const char* json : {"null", "[]", "{}", "1", R"({"variables": [1, {}], "silent": [null]})",
                           R"({"variables": [{"keys": {"value": "x"}}]})",
                           R"({"copies": 1, "hosts": [{"copies": []}], "answers": [1]})",
                           R"({"copies": {"endpoints": [1]}, "answers": [{"copies": [{}, 1]}]})",
                           R"({"variables": [{"top_keys": [1, {"estimate": {"low": []}}]}]})"}) {
    EXPECT_NO_FATAL_FAILURE(ReadingText(ApiJson::parse(json))) << json;
    EXPECT_NO_FATAL_FAILURE(MeasurementText(ApiJson::parse(json))) << json;
    EXPECT_NO_FATAL_FAILURE(AnswerText(ApiJson::parse(json))) << json;
  }
}

}  // namespace
}  // namespace trumpet
