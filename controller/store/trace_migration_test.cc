// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/store/trace_migration.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "controller/store/clickhouse_server_test.h"
#include "controller/store/clickhouse_trace_store.h"
#include "controller/store/sqlite_trace_store.h"
#include "controller/store/trace_reader.h"
#include "controller/store/trace_store_kit_test.h"

namespace trumpet {
namespace {

class TraceMigrations : public ::testing::Test, protected TracesByChance {
 protected:
  void SetUp() override {
    if (!WhyNoClickHouse().empty()) GTEST_SKIP() << WhyNoClickHouse();
    server_ = std::make_unique<ClickHouseTestServer>();
    files_ = folder_.File("files");
    servers_ = "clickhouse:" + server_->url();
    SqliteTraceStoreOptions options;
    options.folder = files_;
    options.seal_after = 600 * kNanosPerSecond;
    source_ = std::move(*SqliteTraceStore::Open(options, kBegin));
  }

  // A row of counters and a trace each ten seconds, some of them told again.
  void Tell(int count) {
    for (int i = 0; i < count; ++i, now_ += 10 * kNanosPerSecond) {
      std::vector<StoredTrace> batch = {Some(next_id_++, now_)};
      if (Below(4) == 0) {
        batch.push_back(Some(batch[0].id, now_));
        batch.back().revision = 1;
      }
      for (const StoredTrace& trace : batch) twin_[trace.id] = trace;
      ASSERT_TRUE(source_->Append(batch, now_).ok());
      LinkCounters link{1, 2, now_ / kMinute * kMinute, {1, Below(1000)}};
      ASSERT_TRUE(source_->AppendCounters({link}, now_).ok());
      LinkCounters& sum =
          links_.emplace(link.time, LinkCounters{1, 2, link.time, {}}).first->second;
      for (size_t k = 0; k < 2; ++k) sum.values[k] += link.values[k];
    }
  }

  TraceMigrationOptions Options(const std::string& from, const std::string& to) {
    TraceMigrationOptions options;
    options.from = from;
    options.to = to;
    options.progress_file = folder_.File("progress");
    options.batch = 64;
    options.now = [this] { return now_; };
    return options;
  }

  void ExpectAll(const std::string& place) {
    const auto reader = OpenTraceReader(place);
    ASSERT_TRUE(reader.ok()) << reader.message();
    TraceQuery query;
    query.limit = 100000;
    const auto found = (*reader)->Find(query, {}, nullptr);
    ASSERT_TRUE(found.ok()) << found.message();
    EXPECT_EQ(Describe(*found), Describe(SlowFind(twin_, query)));
    const auto links = (*reader)->Links(INT64_MIN, INT64_MAX, nullptr);
    ASSERT_TRUE(links.ok()) << links.message();
    ASSERT_EQ(links->size(), links_.size());
    for (const LinkCounters& link : *links) EXPECT_EQ(link.values, links_[link.time].values);
  }

  static constexpr Nanos kMinute = 60 * kNanosPerSecond;
  OvsdbTestFolder folder_;
  std::unique_ptr<ClickHouseTestServer> server_;
  std::string files_;
  std::string servers_;
  std::unique_ptr<SqliteTraceStore> source_;
  std::map<uint64_t, StoredTrace> twin_;
  std::map<Nanos, LinkCounters> links_;
  uint64_t next_id_ = 1;
  Nanos now_ = kBegin;
};

TEST_F(TraceMigrations, GoThereAndBack) {
  Tell(900);
  const auto there = MigrateTraces(Options(files_, servers_));
  ASSERT_TRUE(there.ok()) << there.message();
  EXPECT_EQ(there->traces_there, 900u);
  EXPECT_EQ(there->rounds, 1u);
  EXPECT_FALSE(std::filesystem::exists(folder_.File("progress")));
  ExpectAll(servers_);
  const std::string other = folder_.File("other");
  const auto back = MigrateTraces(Options(servers_, other));
  ASSERT_TRUE(back.ok()) << back.message();
  EXPECT_EQ(back->traces_there, 900u);
  ExpectAll(other);
  // Once more changes nothing.
  ASSERT_TRUE(MigrateTraces(Options(files_, servers_)).ok());
  ASSERT_TRUE(MigrateTraces(Options(servers_, other)).ok());
  ExpectAll(servers_);
  ExpectAll(other);
}

TEST_F(TraceMigrations, GoOnWhereTheyWereEndedWhileOthersWrite) {
  Tell(600);
  TraceMigrationOptions options = Options(files_, servers_);
  int asked = 0;
  int runs = 0;
  options.may_go_on = [&] {
    Tell(1);  // whoever makes traces goes on
    return ++asked % 5 != 0;
  };
  std::optional<TraceMigrationReport> report;
  for (; !report && runs < 100; ++runs) {
    const auto run = MigrateTraces(options);
    if (run.ok()) {
      report = *run;
    } else {
      ASSERT_NE(run.message().find("it was ended"), std::string::npos) << run.message();
      // Later runs need not go back to before the first.
      if (runs == 3) options.may_go_on = [&] { return true; };
    }
  }
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->has_gone_on);
  EXPECT_EQ(runs, 5);
  ExpectAll(servers_);
}

TEST_F(TraceMigrations, AddToWhatAnAnalyzerCountsThereMeanwhile) {
  Tell(60);
  ClickHouseTraceStoreOptions options;
  options.place = *ParseClickHousePlace(servers_);
  auto analyzer = std::move(*ClickHouseTraceStore::Open(options, now_));
  LinkCounters link{1, 2, links_.begin()->first, {5, 7}};
  ASSERT_TRUE(analyzer->AppendCounters({link}, now_).ok());
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(MigrateTraces(Options(files_, servers_)).ok());
  links_.begin()->second.values[0] += 5;
  links_.begin()->second.values[1] += 7;
  ExpectAll(servers_);
}

TEST_F(TraceMigrations, SayWhatIsWrong) {
  Tell(10);
  EXPECT_EQ(MigrateTraces(Options(files_, files_)).message(), "both places are the same");
  WriteTestFile(folder_.File("progress"), "here\nthere\n1 2 3 4\n");
  const auto other = MigrateTraces(Options(files_, servers_));
  ASSERT_FALSE(other.ok());
  EXPECT_NE(other.message().find("is of another migration"), std::string::npos);
  std::filesystem::remove(folder_.File("progress"));
  server_->Kill();
  EXPECT_FALSE(MigrateTraces(Options(files_, servers_)).ok());
  server_->Start();
  ASSERT_TRUE(MigrateTraces(Options(files_, servers_)).ok());
  ExpectAll(servers_);
}

}  // namespace
}  // namespace trumpet
