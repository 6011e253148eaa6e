// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What a store does with its files.

#include "controller/store/sqlite_trace_store.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "controller/store/trace_folder.h"
#include "controller/store/trace_store_kit_test.h"
#include "lib/ovsdb/ovsdb_server_test.h"

namespace trumpet {
namespace {

class SqliteTraceStores : public testing::Test, protected TracesByChance {
 protected:
  std::unique_ptr<SqliteTraceStore> Open(Nanos now = kBegin) {
    options_.folder = folder_.File("traces");
    auto store = SqliteTraceStore::Open(options_, now);
    EXPECT_TRUE(store.ok()) << store.message();
    return store.ok() ? std::move(*store) : nullptr;
  }

  // With a trace a second, for ten seconds each; two of them are sealed.
  std::unique_ptr<SqliteTraceStore> OpenThreeFiles() {
    options_.seal_after = 10 * kNanosPerSecond;
    auto store = Open();
    if (store == nullptr) return nullptr;
    for (uint64_t i = 0; i < 30; ++i) {
      const Nanos now = kBegin + static_cast<Nanos>(i) * kNanosPerSecond;
      EXPECT_TRUE(store->Append({Some(i + 1, now)}, now).ok());
    }
    EXPECT_EQ(store->file_count(), 3u);
    return store;
  }

  OvsdbTestFolder folder_;
  SqliteTraceStoreOptions options_;
};

TEST_F(SqliteTraceStores, EstimateWhatAQuestionCosts) {
  const auto store = OpenThreeFiles();
  ASSERT_NE(store, nullptr);
  const auto all = EstimateInTraceFolder(options_.folder, {});
  ASSERT_TRUE(all.ok()) << all.message();
  EXPECT_EQ(all->files, 3u);
  EXPECT_EQ(all->traces, 30u);
  EXPECT_GE(all->bytes, 3 * 4096u);
  TraceQuery early;
  early.until = kBegin + 5 * kNanosPerSecond;
  // Those in the file that is written to may all be asked for.
  const auto some = EstimateInTraceFolder(options_.folder, early);
  EXPECT_EQ(some->files, 2u);
  EXPECT_EQ(some->traces, 5u + (30u - 20u));
  EXPECT_LT(some->bytes, all->bytes);
}

TEST_F(SqliteTraceStores, LeaveNoLogsBesideFilesThatAreSealed) {
  const auto store = OpenThreeFiles();
  ASSERT_NE(store, nullptr);
  for (const char* const name : {"/traces-1.db-wal", "/traces-2.db-wal"}) {
    std::error_code error;
    const uintmax_t bytes = std::filesystem::file_size(options_.folder + name, error);
    EXPECT_TRUE(error || bytes == 0) << name << ": " << bytes;
  }
  EXPECT_GT(std::filesystem::file_size(options_.folder + "/traces-3.db-wal"), 0u);
}

TEST_F(SqliteTraceStores, StopALongSearchWhenNobodyWantsItsAnswer) {
  auto store = Open();
  ASSERT_NE(store, nullptr);
  std::vector<StoredTrace> many;
  for (uint64_t id = 1; id <= 20000; ++id) many.push_back(Some(id, kBegin));
  ASSERT_TRUE(store->Append(many, kBegin).ok());
  TraceQuery query;
  query.limit = 20000;
  int asked = 0;
  EXPECT_FALSE(FindInTraceFolder(options_.folder, query, [&] { return ++asked < 3; }).ok());
  EXPECT_EQ(asked, 3);
  const auto found = FindInTraceFolder(options_.folder, query, [] { return true; });
  ASSERT_TRUE(found.ok()) << found.message();
  EXPECT_EQ(found->size(), 20000u);
}

// What is found then is the conformance suite's to say (trace_store_test.cc).
TEST_F(SqliteTraceStores, PutCountersOfLaterTimesIntoFilesOfTheirOwn) {
  options_.seal_after = 2 * kNanosPerSecond;
  auto store = Open();
  ASSERT_NE(store, nullptr);
  for (int round = 0; round < 4; ++round) {
    const Nanos now = kBegin + round * kNanosPerSecond;
    ASSERT_TRUE(store->AppendCounters({LinkCounters{1, 2, kBegin, {1}}}, now).ok());
  }
  EXPECT_GT(store->file_count(), 1u);
}

TEST_F(SqliteTraceStores, KeepFewFilesWhenWhatIsTooOldGoes) {
  options_.seal_after = 10 * kNanosPerSecond;
  options_.max_age = 60 * kNanosPerSecond;
  auto store = Open();
  ASSERT_NE(store, nullptr);
  Nanos now = kBegin;
  for (uint64_t id = 1; id <= 200; ++id, now += kNanosPerSecond) {
    ASSERT_TRUE(store->Append({Some(id, now)}, now).ok());
    ASSERT_TRUE(store->Expire(now).ok());
  }
  EXPECT_LE(store->file_count(), 9u);
}

TEST_F(SqliteTraceStores, ExpireBesideAFileThatBeganWhileTheClockWasAhead) {
  options_.seal_after = 10 * kNanosPerSecond;
  options_.max_age = 60 * kNanosPerSecond;
  auto store = Open();
  ASSERT_NE(store, nullptr);
  constexpr Nanos kYear = 365 * 24 * 3600 * kNanosPerSecond;
  for (uint64_t id = 1; id <= 200; ++id) {
    const Nanos now = kBegin + static_cast<Nanos>(id) * kNanosPerSecond;
    const bool is_ahead = id >= 15 && id < 20;
    // Expiry is not asked for meanwhile, or all before would be too old.
    ASSERT_TRUE(store->Append({Some(id, now)}, is_ahead ? now + kYear : now).ok());
    if (is_ahead) continue;
    ASSERT_TRUE(store->Expire(now).ok());
  }
  EXPECT_LE(store->file_count(), 9u);
  EXPECT_GT(store->Find({})->front().id, 100u);
}

TEST_F(SqliteTraceStores, KeepToTheirSize) {
  options_.max_bytes = 4 << 20;
  auto store = Open();
  ASSERT_NE(store, nullptr);
  uint64_t id = 0;
  for (int batch = 0; batch < 60; ++batch) {
    std::vector<StoredTrace> traces;
    for (int i = 0; i < 1000; ++i) {
      ++id;
      traces.push_back(Some(id, kBegin + static_cast<Nanos>(id)));
    }
    ASSERT_TRUE(store->Append(traces, kBegin + static_cast<Nanos>(id)).ok());
    ASSERT_TRUE(store->Expire(kBegin + static_cast<Nanos>(id)).ok());
    ASSERT_LE(store->counters().stored_bytes, options_.max_bytes);
  }
  EXPECT_GT(store->counters().expired_files, 0u);
  EXPECT_EQ(store->counters().written, id);
  TraceQuery query;
  query.limit = 100000;
  const auto found = store->Find(query);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->back().id, id);
  EXPECT_GT(found->size(), 5000u);
}

TEST_F(SqliteTraceStores, SetABrokenFileAsideAndGoOn) {
  options_.seal_after = kNanosPerSecond;
  auto store = Open();
  ASSERT_NE(store, nullptr);
  for (uint64_t id = 1; id <= 3; ++id) {
    const Nanos now = kBegin + static_cast<Nanos>(id) * 2 * kNanosPerSecond;
    ASSERT_TRUE(store->Append({Some(id, now)}, now).ok());
  }
  store.reset();
  const std::string path = options_.folder + "/traces-2.db";
  ASSERT_TRUE(std::filesystem::exists(path));
  std::ofstream(path, std::ios::trunc) << std::string(5000, 'x');
  store = Open(kBegin + 10 * kNanosPerSecond);
  ASSERT_NE(store, nullptr);
  EXPECT_TRUE(std::filesystem::exists(path + ".broken"));
  EXPECT_EQ(store->Find({})->size(), 2u);
}

}  // namespace
}  // namespace trumpet
