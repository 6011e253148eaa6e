// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/store/sqlite_report_store.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "controller/store/memory_report_store.h"
#include "controller/store/report_kit_test.h"
#include "lib/ovsdb/ovsdb_server_test.h"

namespace trumpet {
namespace {

std::vector<std::string> Shown(const ReportRows& rows) {
  std::vector<std::string> shown;
  for (const auto& row : rows) {
    shown.push_back(std::to_string(row->number) + " " + row->event + " " + row->tenant + " " +
                    row->bucket + " " + std::to_string(row->start_ns) + " " +
                    std::to_string(row->end_ns) + " " + std::to_string(row->is_clear) +
                    std::to_string(row->is_complete) + " " + row->json);
  }
  return shown;
}

class SqliteReportStoreTest : public testing::Test {
 protected:
  SqliteReportStoreTest() {
    options_.path = folder_.File("reports.db");
    options_.retry_after = 20 * kNanosPerMilli;
    options_.unix_now = [] { return kFirstReportEnd; };
    options_.log = [this](const char* level, const std::string& text) {
      log_.push_back(std::string(level) + ": " + text);
    };
  }

  void Open() { store_ = std::make_unique<SqliteReportStore>(loop_.base(), options_); }

  Result<ReportRows> Find(ReportStore* store, const ReportQuery& query) {
    std::optional<Result<ReportRows>> found;
    store->Query(query, [&](const Result<ReportRows>& rows) { found = rows; });
    EXPECT_FALSE(found.has_value()) << "called back from within the call";
    if (!loop_.RunUntil([&] { return found.has_value(); })) return Status::Error("no answer");
    return *found;
  }

  size_t CountStored() {
    ReportQuery query;
    query.limit = 10000;
    const auto rows = Find(store_.get(), query);
    EXPECT_TRUE(rows.ok()) << rows.message();
    return rows.ok() ? rows->size() : 0;
  }

  // Polls: the threads tell nobody when counters change.
  bool RunUntil(const std::function<bool(const ReportStoreCounters&)>& holds) {
    LoopEvent poll(loop_.base(), [] {});
    poll.RunEvery(5 * kNanosPerMilli);
    return loop_.RunUntil([&] { return holds(store_->counters()); });
  }

  OvsdbTestFolder folder_;
  OvsdbTestLoop loop_;
  SqliteReportStoreOptions options_;
  std::vector<std::string> log_;
  std::unique_ptr<SqliteReportStore> store_;
  std::mt19937 random_{3};
};

TEST_F(SqliteReportStoreTest, QuerySeesWhatWasAppendedBefore) {
  Open();
  for (size_t count = 1; count <= 20; ++count) {
    store_->Append(SomeReports(count - 1, 1, 3, &random_));
    ASSERT_EQ(CountStored(), count);
  }
}

TEST_F(SqliteReportStoreTest, AnswersAsAListWould) {
  Open();
  MemoryReportStore twin(loop_.base(), 100000, 0);
  uint64_t last = 0;
  for (int round = 0; round < 20; ++round) {
    const ReportRows rows = SomeReports(last, random_() % 1500, 12, &random_);
    last += rows.size();
    store_->Append(rows);
    twin.Append(rows);
    for (int i = 0; i < 20; ++i) {
      ReportQuery query;
      if (random_() % 3 == 0) query.event = "event-" + std::to_string(random_() % 14);
      if (random_() % 3 == 0) query.tenant = std::string(random_() % 4, 't');
      if (random_() % 4 == 0) query.bucket = R"({"dstIP":"10.0.0.3"})";
      const auto time = [&] {
        return kFirstReportEnd +
               static_cast<Nanos>(random_() % (last / 100 + 4)) * 10 * kNanosPerMilli;
      };
      if (random_() % 3 == 0) query.from_ns = time();
      if (random_() % 3 == 0) query.until_ns = time();
      if (random_() % 3 == 0) query.after_number = random_() % (last + 2);
      if (random_() % 3 == 0) query.before_number = random_() % (last + 2);
      query.is_newest_first = random_() % 2 == 0;
      query.limit = random_() % 50;
      const auto found = Find(store_.get(), query);
      ASSERT_TRUE(found.ok()) << found.message();
      ASSERT_EQ(Shown(*found), Shown(*Find(&twin, query))) << "round " << round << " query " << i;
    }
  }
}

TEST_F(SqliteReportStoreTest, WritesWhatWaitsAtItsEndAndGoesOnWithNumbers) {
  Open();
  store_->Append(SomeReports(0, 500, 3, &random_));
  store_.reset();
  Open();
  EXPECT_GE(store_->last_number(), 500u);
  EXPECT_EQ(CountStored(), 500u);
}

TEST_F(SqliteReportStoreTest, CountsWhatFindsNoPlaceWhileTheDiskIsAway) {
  options_.path = folder_.File("later/reports.db");
  options_.max_waiting = 10;
  Open();
  EXPECT_GT(store_->last_number(), uint64_t{1} << 50) << "nobody knows what was given before";
  store_->Append(SomeReports(0, 25, 3, &random_));
  ASSERT_TRUE(RunUntil([](const auto& counters) { return counters.write_failures >= 3; }));
  ReportStoreCounters counters = store_->counters();
  EXPECT_EQ(counters.lost, 15u);
  EXPECT_EQ(counters.waiting, 10u);
  EXPECT_NE(counters.problem.find("unable to open"), std::string::npos) << counters.problem;
  std::filesystem::create_directory(folder_.File("later"));
  ASSERT_TRUE(RunUntil([](const auto& now) { return now.written == 10; }));
  EXPECT_EQ(store_->counters().problem, "");
  EXPECT_EQ(CountStored(), 10u);
  ASSERT_EQ(log_.size(), 2u);
  EXPECT_EQ(log_[0].find("err: reports cannot be written: "), 0u) << log_[0];
  EXPECT_EQ(log_[1], "info: reports are written again");
}

TEST_F(SqliteReportStoreTest, BoundsTheBytesThatWait) {
  options_.path = folder_.File("none/reports.db");
  options_.max_waiting_bytes = 5000;
  Open();
  store_->Append(SomeReports(0, 1000, 3, &random_));
  const ReportStoreCounters counters = store_->counters();
  EXPECT_EQ(counters.waiting + counters.lost, 1000u);
  EXPECT_LT(counters.waiting, 30u);
  EXPECT_GT(counters.waiting, 5u);
}

// As if the disk were full: files may not grow beyond a limit, which is then raised.
TEST_F(SqliteReportStoreTest, GoesOnWhenAFullDiskHasRoomAgain) {
  signal(SIGXFSZ, SIG_IGN);
  Open();
  store_->Append(SomeReports(0, 100, 3, &random_));
  ASSERT_TRUE(RunUntil([](const auto& counters) { return counters.written == 100; }));
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit full = before;
  full.rlim_cur = 200000;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &full), 0);
  store_->Append(SomeReports(100, 5000, 3, &random_));
  EXPECT_TRUE(RunUntil([](const auto& counters) { return counters.write_failures >= 2; }));
  EXPECT_NE(store_->counters().problem, "");
  EXPECT_EQ(store_->counters().waiting, 5000u);
  EXPECT_EQ(CountStored(), 100u) << "what is there can be asked for";
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_TRUE(RunUntil([](const auto& counters) { return counters.written == 5100; }));
  EXPECT_EQ(store_->counters().problem, "");
  EXPECT_EQ(store_->counters().lost, 0u);
  EXPECT_EQ(CountStored(), 5100u);
}

TEST_F(SqliteReportStoreTest, SetsABrokenFileAside) {
  WriteTestFile(options_.path, std::string(100000, 'x'));
  Open();
  EXPECT_EQ(store_->last_number(), NumberOfTime(kFirstReportEnd));
  store_->Append(SomeReports(store_->last_number(), 10, 3, &random_));
  EXPECT_EQ(CountStored(), 10u);
  EXPECT_EQ(store_->counters().problem, "");
  EXPECT_TRUE(std::filesystem::exists(options_.path + ".broken-1700000000"));
  ASSERT_GE(log_.size(), 2u);
  EXPECT_NE(log_[1].find("a new one is begun"), std::string::npos) << log_[1];
}

TEST_F(SqliteReportStoreTest, SetsAFileAsideThatBreaksMeanwhile) {
  Open();
  store_->Append(SomeReports(0, 20000, 50, &random_));
  EXPECT_EQ(CountStored(), 10000u);
  store_.reset();
  {
    // All pages but the first.
    std::fstream file(options_.path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096);
    const std::string garbage(std::filesystem::file_size(options_.path) - 4096, '\x5a');
    file.write(garbage.data(), static_cast<std::streamsize>(garbage.size()));
  }
  Open();
  store_->Append(SomeReports(store_->last_number(), 10, 3, &random_));
  ASSERT_TRUE(RunUntil([](const auto& counters) { return counters.written == 10; }));
  EXPECT_EQ(CountStored(), 10u);
  EXPECT_TRUE(std::filesystem::exists(options_.path + ".broken-1700000000"));
}

TEST_F(SqliteReportStoreTest, RefusesMoreQueriesThanItWillHold) {
  Open();
  int answers = 0;
  int errors = 0;
  for (int i = 0; i < 100; ++i) {
    store_->Query(ReportQuery(), [&](const Result<ReportRows>& rows) {
      ++answers;
      if (!rows.ok()) ++errors;
    });
  }
  EXPECT_TRUE(loop_.RunUntil([&] { return answers == 100; }));
  EXPECT_EQ(errors, 36);
  EXPECT_EQ(CountStored(), 0u) << "and answers again";
}

TEST_F(SqliteReportStoreTest, EndsWithQueriesUnderWay) {
  Open();
  store_->Append(SomeReports(0, 20000, 3, &random_));
  for (int i = 0; i < 10; ++i) {
    store_->Query(ReportQuery(),
                  [](const Result<ReportRows>&) { FAIL() << "called after the end"; });
  }
  store_.reset();
  loop_.RunFor(10 * kNanosPerMilli);
}

TEST_F(SqliteReportStoreTest, ExpiresOnItsOwn) {
  options_.limits.max_bytes = 2 << 20;
  Open();
  uint64_t last = 0;
  for (int i = 0; i < 20; ++i) {
    store_->Append(SomeReports(last, 2000, 20, &random_));
    last += 2000;
    ASSERT_TRUE(RunUntil([&](const auto& counters) { return counters.written == last; }));
  }
  EXPECT_TRUE(RunUntil([](const auto& counters) {
    return counters.expired > 0 && counters.stored_bytes <= size_t{2} << 20;
  }));
  EXPECT_EQ(store_->counters().lost, 0u);
}

}  // namespace
}  // namespace trumpet
