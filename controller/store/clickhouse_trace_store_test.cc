// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What a store on servers does when they go, come back, are full, or tell nonsense.

#include "controller/store/clickhouse_trace_store.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "controller/store/clickhouse_rows.h"
#include "controller/store/clickhouse_server_test.h"
#include "controller/store/trace_reader.h"
#include "controller/store/trace_store_kit_test.h"
#include "lib/base/random_runs_test.h"

namespace trumpet {
namespace {

class ClickHouseFaults : public ::testing::Test, protected TracesByChance {
 protected:
  void SetUp() override {
    if (!WhyNoClickHouse().empty()) GTEST_SKIP() << WhyNoClickHouse();
    one_ = std::make_unique<ClickHouseTestServer>();
    other_ = std::make_unique<ClickHouseTestServer>();
    place_ = "clickhouse:" + one_->url() + "," + other_->url();
    options_.place = *ParseClickHousePlace(place_);
    options_.spool_folder = folder_.File("spool");
    options_.writer = 7;
  }

  std::unique_ptr<ClickHouseTraceStore> Open() {
    auto store = ClickHouseTraceStore::Open(options_, now_);
    EXPECT_TRUE(store.ok()) << store.message();
    return store.ok() ? std::move(*store) : nullptr;
  }

  // What the twin has, too, if the store has taken it.
  Status Tell(ClickHouseTraceStore* store, size_t count = 50) {
    now_ += kNanosPerSecond;
    std::vector<StoredTrace> batch;
    for (size_t i = 0; i < count; ++i) batch.push_back(Some(next_id_++, now_));
    const Status status = store->Append(batch, now_);
    if (status.ok()) {
      for (const StoredTrace& trace : batch) twin_[trace.id] = trace;
    }
    return status;
  }

  // Until the servers have it all.
  void Settle(ClickHouseTraceStore* store) {
    for (int i = 0; i < 100 && store->counters().spool_bytes > 0; ++i) {
      now_ += ClickHouseTraceStore::kLongestBackoff;
      (void)store->Expire(now_).ok();
    }
    EXPECT_EQ(store->counters().spool_bytes, 0u) << store->counters().trouble;
  }

  void ExpectAll(ClickHouseTraceStore* store) {
    TraceQuery query;
    query.limit = 100000;
    const auto found = store->Find(query);
    ASSERT_TRUE(found.ok()) << found.message();
    EXPECT_EQ(Describe(*found), Describe(SlowFind(twin_, query)));
  }

  // The table of starts has all traces, and nothing that was not.
  static void ExpectFilled(const ClickHouseTestServer& server) {
    EXPECT_EQ(server.Ask("trumpet", "SELECT max(version) FROM store_version"), "2\n");
    EXPECT_EQ(server.Ask("trumpet", "EXISTS trace_start_filled"), "0\n");
    const auto last_of = [&](const std::string& table) {
      return server.Ask("trumpet", "SELECT id, max(revision), argMax(start, revision) FROM " +
                                       table + " GROUP BY id ORDER BY id");
    };
    EXPECT_EQ(last_of("trace_start"), last_of("trace"));
  }

  OvsdbTestFolder folder_;
  std::unique_ptr<ClickHouseTestServer> one_;
  std::unique_ptr<ClickHouseTestServer> other_;
  std::string place_;
  ClickHouseTraceStoreOptions options_;
  std::map<uint64_t, StoredTrace> twin_;
  uint64_t next_id_ = 1;
  Nanos now_ = kBegin;
};

TEST_F(ClickHouseFaults, LoseNothingAndDoubleNothingWhenAServerIsKilled) {
  auto store = Open();
  ASSERT_NE(store, nullptr);
  constexpr int kRounds = 40;
  for (int round = 0; round < kRounds; ++round) {
    std::thread killer;
    if (round == 10) killer = std::thread([this] { other_->Kill(); });
    if (round == 25) other_->Start();
    ASSERT_TRUE(Tell(store.get()).ok());
    std::vector<LinkCounters> links;
    for (uint16_t link = 0; link < 8; ++link) links.push_back({link, 9, kBegin, {1, link}});
    ASSERT_TRUE(store->AppendCounters(links, now_).ok());
    if (killer.joinable()) killer.join();
    ASSERT_TRUE(store->Expire(now_).ok());
    if (round != 20) continue;
    EXPECT_EQ(store->counters().servers_away, 1u);
    // What is asked meanwhile is not all, and says so.
    const auto reader = OpenTraceReader(place_);
    TraceQuery query;
    query.limit = 100000;
    EXPECT_FALSE((*reader)->Find(query, {}, nullptr).ok());
    TraceReader::Missing missing;
    const auto found = (*reader)->Find(query, {}, &missing);
    ASSERT_TRUE(found.ok()) << found.message();
    ASSERT_EQ(missing.size(), 1u);
    EXPECT_EQ(missing[0].rfind(other_->url(), 0), 0u) << missing[0];
    EXPECT_GT(found->size(), 0u);
    EXPECT_LT(found->size(), twin_.size());
  }
  Settle(store.get());
  EXPECT_GT(store->counters().spooled, 0u);
  EXPECT_EQ(store->counters().spooled, store->counters().replayed);
  EXPECT_EQ(store->counters().refused, 0u);
  EXPECT_EQ(store->counters().written, 50u * kRounds);
  ExpectAll(store.get());
  for (uint16_t link = 0; link < 8; ++link) {
    const auto found = store->FindCounters(link, 9, kBegin, kBegin + 1);
    ASSERT_TRUE(found.ok()) << found.message();
    ASSERT_EQ(found->size(), 1u);
    EXPECT_EQ((*found)[0].values[0], uint64_t{kRounds});
    EXPECT_EQ((*found)[0].values[1], uint64_t{kRounds} * link);
  }
}

TEST_F(ClickHouseFaults, SendWhatAnEarlierLifeHasSpooledAndCountWhatIsBroken) {
  auto store = Open();
  ASSERT_NE(store, nullptr);
  ASSERT_TRUE(Tell(store.get()).ok());
  one_->Kill();
  other_->Kill();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(Tell(store.get()).ok());
  store.reset();
  // A disk that is broken has changed one of the files.
  uint64_t lost = 0;
  for (const auto& file : std::filesystem::directory_iterator(options_.spool_folder)) {
    std::fstream stream(file.path(), std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(40);
    stream.put('\x55').put('\x55').put('\x55');
    const std::string name = file.path().filename();
    lost = std::stoull(name.substr(name.rfind('-') + 1));
    break;
  }
  ASSERT_GT(lost, 0u);
  one_->Start();
  other_->Start();
  store = Open();
  ASSERT_NE(store, nullptr);
  Settle(store.get());
  EXPECT_EQ(store->counters().spool_lost, lost);
  TraceQuery query;
  query.limit = 100000;
  const auto found = store->Find(query);
  ASSERT_TRUE(found.ok()) << found.message();
  EXPECT_EQ(found->size() + lost, twin_.size());
  // It is still there for whoever can read it.
  size_t left = 0;
  for (const auto& file : std::filesystem::directory_iterator(options_.spool_folder)) {
    left += file.path().extension() == ".broken";
  }
  EXPECT_EQ(left, 1u);
}

TEST_F(ClickHouseFaults, CountWhatTheSpoolHasNoRoomFor) {
  options_.max_spool_bytes = 20000;
  auto store = Open();
  ASSERT_NE(store, nullptr);
  ASSERT_TRUE(Tell(store.get()).ok());
  other_->Kill();
  uint64_t told = 50;
  bool is_full = false;
  for (int i = 0; i < 20; ++i) {
    const Status status = Tell(store.get());
    told += 50;
    is_full |= !status.ok() && status.message().find("no room") != std::string::npos;
  }
  EXPECT_TRUE(is_full);
  const TraceStoreCounters counters = store->counters();
  EXPECT_LE(counters.spool_bytes, 20000u);
  EXPECT_GT(counters.refused, 0u);
  EXPECT_EQ(counters.written + counters.refused, told);
  other_->Start();
  Settle(store.get());
  TraceQuery query;
  query.limit = 100000;
  const auto found = store->Find(query);
  ASSERT_TRUE(found.ok()) << found.message();
  EXPECT_EQ(found->size(), counters.written);
}

TEST_F(ClickHouseFaults, KeepToTheirSize) {
  options_.partition = 10 * kNanosPerSecond;
  auto store = Open();
  ASSERT_NE(store, nullptr);
  for (int i = 0; i < 60; ++i) {
    ASSERT_TRUE(Tell(store.get(), 100).ok());
    ASSERT_TRUE(store->Expire(now_).ok());
    if (i == 30) {
      EXPECT_GT(store->counters().stored_bytes, 0u);
      options_.max_bytes = store->counters().stored_bytes / 2;
      store = Open();
    }
  }
  EXPECT_GT(store->counters().expired_files, 0u);
  EXPECT_LE(store->counters().stored_bytes, options_.max_bytes);
  TraceQuery query;
  query.limit = 100000;
  const auto found = store->Find(query);
  ASSERT_TRUE(found.ok()) << found.message();
  ASSERT_FALSE(found->empty());
  EXPECT_EQ(found->back().id, next_id_ - 1);
  EXPECT_LT(found->size(), next_id_ - 1);
}

TEST_F(ClickHouseFaults, RefuseTablesOfALaterRelease) {
  options_.spool_folder.clear();
  auto store = Open();
  ASSERT_NE(store, nullptr);
  ASSERT_TRUE(Tell(store.get()).ok());
  for (const auto* server : {one_.get(), other_.get()}) {
    server->Ask("trumpet", "INSERT INTO store_version VALUES (3)");
  }
  store = Open();
  const Status status = Tell(store.get());
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("is of a later release"), std::string::npos) << status.message();
  EXPECT_EQ(store->counters().refused, 50u);
}

// Who only reads asks as it was done then; who writes brings the tables up to date.
TEST_F(ClickHouseFaults, FindTracesInTablesOfAnEarlierRelease) {
  auto store = Open();
  ASSERT_NE(store, nullptr);
  ASSERT_TRUE(Tell(store.get()).ok());
  now_ += kNanosPerSecond;
  StoredTrace again = Some(7, now_);
  again.revision = 1;
  ASSERT_TRUE(store->Append({again}, now_).ok());
  twin_[7] = again;
  const auto expect_each = [this] {
    auto reader = OpenTraceReader(place_);
    ASSERT_TRUE(reader.ok());
    for (uint64_t id = 1; id <= next_id_; ++id) {
      TraceQuery query;
      query.id = id;
      const auto found = (*reader)->Find(query, {}, nullptr);
      ASSERT_TRUE(found.ok()) << found.message();
      std::vector<StoredTrace> expected;
      if (twin_.count(id) != 0) expected.push_back(twin_[id]);
      ASSERT_EQ(Describe(*found), Describe(expected)) << id;
    }
  };
  expect_each();
  for (const auto* server : {one_.get(), other_.get()}) {
    server->Ask("trumpet", "DROP TABLE write_trace_start");
    server->Ask("trumpet", "DROP TABLE trace_start");
    server->Ask("trumpet", "DROP TABLE store_version");
    server->Ask("trumpet", "CREATE TABLE store_version (version UInt64) ENGINE = TinyLog");
    server->Ask("trumpet", "INSERT INTO store_version VALUES (1)");
  }
  expect_each();
  store = Open();
  ASSERT_TRUE(Tell(store.get()).ok());
  expect_each();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(store->Expire(now_ += kNanosPerSecond).ok());
  expect_each();
  ExpectFilled(*one_);
  ExpectFilled(*other_);
}

// A store of an earlier version with traces of ten partitions, some of them told again.
class ClickHouseFill : public ClickHouseFaults {
 protected:
  void SetUp() override {
    ClickHouseFaults::SetUp();
    if (IsSkipped()) return;
    options_.place = *ParseClickHousePlace("clickhouse:" + one_->url());
    options_.partition = 10 * kNanosPerSecond;
    auto store = Open();
    ASSERT_NE(store, nullptr);
    for (int i = 0; i < 10; ++i) {
      now_ += 9 * kNanosPerSecond;
      ASSERT_TRUE(Tell(store.get()).ok());
    }
    std::vector<StoredTrace> again;
    for (uint64_t id = 5; id < next_id_; id += 9) {
      again.push_back(Some(id, twin_[id].start));
      again.back().revision = 1;
      twin_[id] = again.back();
    }
    ASSERT_TRUE(store->Append(again, now_).ok());
    // As that version had it, and then with the tables that this one makes.
    for (const char* const sql :
         {"DROP TABLE write_trace_start", "DROP TABLE trace_start", "DROP TABLE store_version",
          "CREATE TABLE store_version (version UInt64) ENGINE = TinyLog",
          "INSERT INTO store_version VALUES (1)"}) {
      one_->Ask("trumpet", sql);
    }
    for (const std::string& table : ClickHouseTables(options_.partition)) {
      one_->Ask("trumpet", table);
    }
    auto link = ClickHouseServers::Open(options_.place, kNanosPerSecond);
    ASSERT_TRUE(link.ok());
    link_ = std::move(*link);
  }

  static bool IsSkipped() { return !WhyNoClickHouse().empty(); }

  // Ends after so many steps, or when it is done.
  bool Fill(TraceStartFill* fill, int steps) {
    for (int i = 0; i < steps; ++i) {
      const auto is_done = fill->Step(link_.get(), 0);
      EXPECT_TRUE(is_done.ok()) << is_done.message();
      if (!is_done.ok() || *is_done) return is_done.ok();
    }
    return false;
  }

  void ExpectEach() {
    auto reader = OpenTraceReader("clickhouse:" + one_->url());
    ASSERT_TRUE(reader.ok());
    for (uint64_t id = 1; id < next_id_; id += 7) {
      TraceQuery query;
      query.id = id;
      const auto found = (*reader)->Find(query, {}, nullptr);
      ASSERT_TRUE(found.ok()) << found.message();
      ASSERT_EQ(Describe(*found), Describe(twin_[id]) + "\n") << id;
    }
  }

  std::unique_ptr<ClickHouseServers> link_;
};

TEST_F(ClickHouseFill, GoesOnWhereAnEarlierLifeHasEnded) {
  // Slices of a few rows each, and an end after some of them.
  int lives = 0;
  for (bool is_done = false; !is_done && lives < 50; ++lives) {
    TraceStartFill fill(4000);
    is_done = Fill(&fill, 6);
    if (lives % 3 == 0) ExpectEach();
  }
  EXPECT_GT(lives, 3);
  EXPECT_LT(lives, 50);
  ExpectFilled(*one_);
  ExpectEach();
}

TEST_F(ClickHouseFill, CutsSmallerWhatFailsAndLeavesNothingOut) {
  TraceStartFill fill(8000);
  ASSERT_FALSE(Fill(&fill, 2));
  // As a server that has no memory for it: the statement fails some times.
  one_->Ask("trumpet", "RENAME TABLE trace_start TO away");
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(fill.Step(link_.get(), 0).ok());
  one_->Ask("trumpet", "RENAME TABLE away TO trace_start");
  EXPECT_TRUE(Fill(&fill, 1000));
  ExpectFilled(*one_);
}

TEST_F(ClickHouseFill, IsDoneWhileTracesAreWrittenAndAsked) {
  auto store = Open();
  ASSERT_NE(store, nullptr);
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(Tell(store.get()).ok());
    ASSERT_TRUE(store->Expire(now_).ok());
    if (i % 6 == 0) ExpectEach();
  }
  EXPECT_EQ(store->counters().spooled, 0u);
  ExpectFilled(*one_);
  ExpectEach();
}

// An id leads to a server, and other servers are asked where that has nothing.
TEST_F(ClickHouseFaults, FindTracesByIdWhateverTheListOfServersIs) {
  auto store = Open();
  ASSERT_NE(store, nullptr);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(Tell(store.get()).ok());
  const auto expect_each = [this](const std::string& place) {
    auto reader = OpenTraceReader(place);
    ASSERT_TRUE(reader.ok());
    for (uint64_t id = 1; id <= next_id_; ++id) {
      TraceQuery query;
      query.id = id;
      const auto found = (*reader)->Find(query, {}, nullptr);
      ASSERT_TRUE(found.ok()) << found.message();
      ASSERT_EQ(found->size(), twin_.count(id)) << id;
      const std::string expected = found->empty() ? "" : Describe(twin_[id]) + "\n";
      ASSERT_EQ(Describe(*found), expected);
      query.until = kBegin;  // it has begun later
      ASSERT_EQ((*reader)->Find(query, {}, nullptr)->size(), 0u);
    }
  };
  expect_each(place_);
  expect_each("clickhouse:" + other_->url() + "," + one_->url());
  // One that is away is missed by those that it may have.
  other_->Kill();
  auto reader = OpenTraceReader(place_);
  ASSERT_TRUE(reader.ok());
  size_t found_count = 0;
  for (uint64_t id = 1; id < next_id_; ++id) {
    TraceQuery query;
    query.id = id;
    TraceReader::Missing missing;
    const auto found = (*reader)->Find(query, {}, &missing);
    ASSERT_TRUE(found.ok()) << found.message();
    found_count += found->size();
    ASSERT_EQ(missing.empty(), found->size() == 1) << id;
    ASSERT_EQ((*reader)->Find(query, {}, nullptr).ok(), found->size() == 1) << id;
  }
  EXPECT_GT(found_count, 50u);
  EXPECT_LT(found_count, 150u);
}

TEST_F(ClickHouseFaults, TakeAPasswordFromAFile) {
  const ClickHouseTestServer server("s3cret");
  WriteTestFile(folder_.File("password"), "s3cret\n");
  options_.place = *ParseClickHousePlace("clickhouse:" + server.url() +
                                         ",password_file=" + folder_.File("password"));
  auto store = Open();
  ASSERT_NE(store, nullptr);
  EXPECT_TRUE(Tell(store.get()).ok());
  ExpectAll(store.get());
  WriteTestFile(folder_.File("password"), "wrong\n");
  options_.spool_folder.clear();
  store = Open();
  EXPECT_FALSE(Tell(store.get()).ok());
  options_.place.password_file = folder_.File("nowhere");
  EXPECT_FALSE(ClickHouseTraceStore::Open(options_, now_).ok());
}

class ClickHouseRows : public ::testing::Test, protected TracesByChance {};

TEST_F(ClickHouseRows, AreReadAsTheyAreWritten) {
  for (uint64_t run = 0; run < testing::LastSeed(500); ++run) {
    std::vector<StoredTrace> traces;
    std::string rows;
    for (uint64_t i = Below(5); i > 0; --i) {
      traces.push_back(Some(Below(UINT64_MAX), static_cast<Nanos>(Below(INT64_MAX))));
      AppendRow(traces.back(), &rows);
    }
    const auto read = ReadTraceRows(rows);
    ASSERT_TRUE(read.ok()) << read.message();
    ASSERT_EQ(Describe(*read), Describe(traces));
  }
}

TEST_F(ClickHouseRows, ThatAreCutOrChangedAreRefusedOrRead) {
  std::string rows;
  for (uint64_t id = 1; id <= 3; ++id) AppendRow(Some(id, kBegin), &rows);
  const std::string first = [&] {
    std::string one;
    AppendRow((*ReadTraceRows(rows))[0], &one);
    return one;
  }();
  for (size_t size = 1; size < first.size(); ++size) {
    const auto cut = ReadTraceRows(first.substr(0, size));
    ASSERT_FALSE(cut.ok()) << size;
    ASSERT_EQ(cut.message().rfind("byte ", 0), 0u) << cut.message();
  }
  for (uint64_t run = 0; run < testing::LastSeed(5000); ++run) {
    std::string changed = rows;
    for (uint64_t i = 1 + Below(4); i > 0; --i) {
      changed[Below(changed.size())] = static_cast<char>(Below(256));
    }
    (void)ReadTraceRows(changed).ok();
    (void)ReadLinkRows(changed).ok();
    (void)ReadCountRows(changed).ok();
    (void)ReadPartitionRows(changed).ok();
  }
  // Lengths that no memory has room for.
  const std::string endless = first.substr(0, 20) + std::string(12, '\xff');
  EXPECT_FALSE(ReadTraceRows(endless).ok());
}

struct WrongPlace {
  const char* text;
  const char* error;
};

TEST(ClickHousePlaces, SayWhatIsWrong) {
  const WrongPlace wrong[] = {
      {"/var/lib", "does not begin with clickhouse:"},
      {"clickhouse:", "no server is named"},
      {"clickhouse:database=x", "no server is named"},
      {"clickhouse:a:8123", "'a:8123' is neither a URL nor NAME=VALUE"},
      {"clickhouse:http://a:8123/x", "must have no path"},
      {"clickhouse:http://me@a:8123", "must have no user"},
      {"clickhouse:http://a,http://a/", "'http://a' is there twice"},
      {"clickhouse:http://a,colour=red", "'colour' is not known"},
      {"clickhouse:http://a,database=a;b", "'a;b' is no name of a database"},
  };
  for (const WrongPlace& one : wrong) {
    const auto place = ParseClickHousePlace(one.text);
    ASSERT_FALSE(place.ok()) << one.text;
    EXPECT_NE(place.message().find(one.error), std::string::npos) << place.message();
  }
  const auto place = ParseClickHousePlace(
      "clickhouse:https://a:8443,http://b/,database=t1,user=u,password_file=/p,ca_certificate=/c");
  ASSERT_TRUE(place.ok()) << place.message();
  EXPECT_EQ(place->servers, (std::vector<std::string>{"https://a:8443", "http://b"}));
  EXPECT_EQ(place->database + place->user + place->password_file + place->ca_file, "t1u/p/c");
}

TEST(ClickHousePlaces, GiveEachAnalyzerADatabase) {
  EXPECT_EQ(DatabaseOfAnalyzer("an1"), "trumpet_an1");
  EXPECT_EQ(DatabaseOfAnalyzer("an-1"), "trumpet_an_2d1");
  EXPECT_EQ(DatabaseOfAnalyzer("an_1"), "trumpet_an_5f1");
  EXPECT_TRUE(
      ParseClickHousePlace("clickhouse:http://a,database=" + DatabaseOfAnalyzer("a.b c")).ok());
}

}  // namespace
}  // namespace trumpet
