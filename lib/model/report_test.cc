// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/model/report.h"

#include <gtest/gtest.h>

namespace trumpet {
namespace {

Report SomeReport() {
  Report report;
  report.event = "heavy";
  report.bucket_json = R"({"dstPort":80})";
  report.start_ns = 1700000000000000000;
  report.end_ns = 1700000000010000000;
  report.value = Number::Integer(130000);
  report.threshold = Number::Real(0.5);
  return report;
}

TEST(Report, IsOneLineWithTheKeysOfTheContractInOrder) {
  EXPECT_EQ(ToJsonLine(SomeReport()),
            R"({"event":"heavy","bucket":{"dstPort":80},"start_ns":1700000000000000000,)"
            R"("end_ns":1700000000010000000,"value":130000,"threshold":0.5,"complete":true})");
}

TEST(Report, AddsFurtherKeysOnlyWhenTheyTellSomething) {
  Report report = SomeReport();
  report.is_unscaled = true;
  report.incomplete_reasons = kFlowTableFull | kBucketEvicted;
  report.severity = "warning";
  report.detected_ns = 1700000000010500000;
  const std::string line = ToJsonLine(report);
  EXPECT_EQ(line.substr(line.find("\"complete\"")),
            R"("complete":false,"unscaled":true,"reasons":["flow-table-full","bucket-evicted"],)"
            R"("severity":"warning","detected_ns":1700000000010500000})");
}

TEST(Report, WithoutABucketHasAnEmptyObject) {
  Report report = SomeReport();
  report.bucket_json.clear();
  EXPECT_NE(ToJsonLine(report).find(R"("bucket":{},)"), std::string::npos);
}

struct Row {
  std::string text;
  std::string json;
};

TEST(JsonQuote, EscapesWhatMustBeAndReplacesWhatIsNoText) {
  const std::string replacement = "\xef\xbf\xbd";
  const Row rows[] = {
      {"plain", "\"plain\""},
      {"a\"b\\c/", "\"a\\\"b\\\\c/\""},
      {"line\nfeed\ttab\rreturn", "\"line\\nfeed\\ttab\\rreturn\""},
      {std::string("\0\x1f\x7f", 3), "\"\\u0000\\u001f\\u007f\""},
      {"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x8e\xba",
       "\"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x8e\xba\""},
      {"\xff", "\"" + replacement + "\""},
      {"cut \xe2\x82", "\"cut " + replacement + replacement + "\""},
      {"\xc0\xaf", "\"" + replacement + replacement + "\""},                    // overlong
      {"\xed\xa0\x80", "\"" + replacement + replacement + replacement + "\""},  // surrogate
      {"\xf4\x90\x80\x80", "\"" + replacement + replacement + replacement + replacement + "\""},
      {"", "\"\""},
  };
  for (const Row& row : rows) EXPECT_EQ(JsonQuote(row.text), row.json);
}

}  // namespace
}  // namespace trumpet
