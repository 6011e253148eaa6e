// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/store/report_tables.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "controller/store/report_kit_test.h"
#include "lib/ovsdb/ovsdb_server_test.h"

namespace trumpet {
namespace {

class ReportTablesTest : public testing::Test {
 protected:
  std::string File() const { return folder_.File("reports.db"); }

  Result<ReportWriter> Open(const std::string& path) {
    return ReportWriter::Open(path, limits_, &is_broken_);
  }

  ReportRows FindAll() {
    ReportQuery query;
    query.limit = 1000000;
    auto reader = ReportReader::Open(File());
    EXPECT_TRUE(reader.ok()) << reader.message();
    auto rows = reader->Find(query);
    EXPECT_TRUE(rows.ok());
    return *rows;
  }

  OvsdbTestFolder folder_;
  ReportFileLimits limits_;
  bool is_broken_ = false;
  std::mt19937 random_{11};
};

TEST_F(ReportTablesTest, GivesNoNumberTwiceAfterAKill) {
  auto writer = Open(File());
  ASSERT_TRUE(writer.ok()) << writer.message();
  EXPECT_EQ(writer->last_number(), 0u);
  ASSERT_TRUE(writer->Write(SomeReports(0, 10, 3, &random_)).ok());
  // As after a kill: the journal has not been taken into the file, and what came later is lost.
  for (const char* part : {"", "-wal"}) {
    std::filesystem::copy_file(File() + part, folder_.File("copy") + part);
  }
  const auto again = Open(folder_.File("copy"));
  ASSERT_TRUE(again.ok()) << again.message();
  EXPECT_GE(again->last_number(), 100000u);
}

TEST_F(ReportTablesTest, KeepsToItsSize) {
  limits_.max_bytes = 4 << 20;
  auto writer = Open(File());
  ASSERT_TRUE(writer.ok()) << writer.message();
  uint64_t last = 0;
  uint64_t expired = 0;
  for (int i = 0; i < 60; ++i) {
    ASSERT_TRUE(writer->Write(SomeReports(last, 1000, 50, &random_)).ok());
    last += 1000;
    const auto gone = writer->Expire(kFirstReportEnd, 2000);
    ASSERT_TRUE(gone.ok()) << gone.message();
    expired += *gone;
    ASSERT_LE(std::filesystem::file_size(File()), limits_.max_bytes);
  }
  EXPECT_GT(expired, 0u);
  const ReportRows left = FindAll();
  EXPECT_EQ(left.size() + expired, last);
  EXPECT_EQ(left.back()->number, last);
  EXPECT_EQ(left.front()->number, expired + 1);
}

TEST_F(ReportTablesTest, GivesPagesBackWhenItsSizeIsLessThanBefore) {
  limits_.max_bytes = 8 << 20;
  {
    auto writer = Open(File());
    ASSERT_TRUE(writer.ok()) << writer.message();
    ASSERT_TRUE(writer->Write(SomeReports(0, 30000, 50, &random_)).ok());
  }
  ASSERT_GT(std::filesystem::file_size(File()), size_t{4} << 20);
  limits_.max_bytes = 1 << 20;
  {
    auto writer = Open(File());
    ASSERT_TRUE(writer.ok()) << writer.message();
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(writer->Expire(kFirstReportEnd, 5000).ok());
  }
  EXPECT_LE(std::filesystem::file_size(File()), size_t{1} << 20);
}

TEST_F(ReportTablesTest, RemovesWhatIsTooOld) {
  limits_.max_age = 60 * kNanosPerSecond;
  auto writer = Open(File());
  ASSERT_TRUE(writer.ok()) << writer.message();
  // Twenty seconds a thousand reports.
  ReportRows rows = SomeReports(0, 10000, 5, &random_);
  for (const auto& row : rows) {
    const_cast<ReportRow&>(*row).end_ns =
        kFirstReportEnd + static_cast<Nanos>(row->number) * 20 * kNanosPerMilli;
  }
  ASSERT_TRUE(writer->Write(rows).ok());
  const Nanos now = rows.back()->end_ns;
  uint64_t expired = 0;
  for (int i = 0; i < 20; ++i) expired += *writer->Expire(now, 1000);
  const ReportRows left = FindAll();
  EXPECT_EQ(left.size() + expired, 10000u);
  // Whole spans go, which are of ten seconds here.
  EXPECT_LT(left.front()->end_ns, now - 60 * kNanosPerSecond + kNanosPerSecond);
  EXPECT_GT(left.front()->end_ns, now - 72 * kNanosPerSecond);
  EXPECT_EQ(*writer->Expire(now, 1000), 0u);
}

TEST_F(ReportTablesTest, RemovesWhatAWrongClockToldWithWhatCameAfterIt) {
  limits_.max_age = 60 * kNanosPerSecond;
  auto writer = Open(File());
  ASSERT_TRUE(writer.ok()) << writer.message();
  ReportRows rows = SomeReports(0, 1000, 5, &random_);
  for (const auto& row : rows) {
    const Nanos ahead = row->number % 50 == 0 ? 7200 * kNanosPerSecond : 0;
    const_cast<ReportRow&>(*row).end_ns =
        kFirstReportEnd + ahead + static_cast<Nanos>(row->number) * 100 * kNanosPerMilli;
  }
  ASSERT_TRUE(writer->Write(rows).ok());
  const Nanos now = kFirstReportEnd + 100 * kNanosPerSecond;
  uint64_t expired = 0;
  for (int i = 0; i < 20; ++i) {
    const auto gone = writer->Expire(now, 100);
    ASSERT_TRUE(gone.ok()) << gone.message();
    ASSERT_LE(*gone, 200u) << "in pieces";
    expired += *gone;
  }
  EXPECT_GT(expired, 250u);  // of 400 that are too old; whole spans go
  EXPECT_LE(expired, 400u);
  EXPECT_EQ(FindAll().size() + expired, 1000u);
}

TEST_F(ReportTablesTest, ReportsRefusedLeaveNothingBehind) {
  limits_.max_bytes = 64 << 10;
  auto writer = Open(File());
  ASSERT_TRUE(writer.ok()) << writer.message();
  ASSERT_TRUE(writer->Write(SomeReports(0, 10, 3, &random_)).ok());
  EXPECT_FALSE(writer->Write(SomeReports(10, 5000, 3, &random_)).ok());
  EXPECT_FALSE(writer->is_broken());
  ASSERT_TRUE(writer->Write(SomeReports(10, 10, 3, &random_)).ok());
  EXPECT_EQ(FindAll().size(), 20u);
}

TEST_F(ReportTablesTest, KnowsWhatIsNoFileOfOurs) {
  WriteTestFile(File(), std::string(10000, 'x'));
  EXPECT_FALSE(Open(File()).ok());
  EXPECT_TRUE(is_broken_);
  EXPECT_FALSE(Open(folder_.File("none/reports.db")).ok());
  EXPECT_FALSE(is_broken_);
}

}  // namespace
}  // namespace trumpet
