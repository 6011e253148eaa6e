// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/report_log.h"

#include <gtest/gtest.h>

namespace trumpet {
namespace {

std::vector<Report> Numbered(int first, int count, const std::string& event = "a") {
  std::vector<Report> reports(static_cast<size_t>(count));
  for (Report& report : reports) {
    report.event = event;
    report.end_ns = first++;
  }
  return reports;
}

TEST(ReportLog, KeepsTheLatestAndCountsTheOthers) {
  ReportLog log;
  log.Add(Numbered(0, 600));
  log.Add(Numbered(600, 600));
  const std::vector<Report> last = log.Last(2, "");
  ASSERT_EQ(last.size(), 2u);
  EXPECT_EQ(last[0].end_ns, 1198);
  EXPECT_EQ(last[1].end_ns, 1199);
  EXPECT_EQ(log.Last(5000, "").size(), ReportLog::kCapacity);
  EXPECT_EQ(log.total(), 1200u);
  EXPECT_EQ(log.forgotten(), 200u);
}

TEST(ReportLog, TakesMoreAtOnceThanItKeeps) {
  ReportLog log;
  log.Add(Numbered(0, 2500));
  EXPECT_EQ(log.Last(5000, "").front().end_ns, 1500);
  EXPECT_EQ(log.forgotten(), 1500u);
}

TEST(ReportLog, FindsTheReportsOfOneEvent) {
  ReportLog log;
  log.Add(Numbered(0, 3, "a"));
  log.Add(Numbered(3, 3, "b"));
  ASSERT_EQ(log.Last(10, "a").size(), 3u);
  EXPECT_EQ(log.Last(1, "a")[0].end_ns, 2);
  EXPECT_TRUE(log.Last(10, "c").empty());
}

}  // namespace
}  // namespace trumpet
