// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What every TraceStore does, and its TraceReader, beside a slow twin that keeps all in memory: in
// files, on a server, and on two servers.

#include "controller/store/trace_store.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "controller/store/clickhouse_server_test.h"
#include "controller/store/clickhouse_trace_store.h"
#include "controller/store/sqlite_trace_store.h"
#include "controller/store/trace_reader.h"
#include "controller/store/trace_store_kit_test.h"
#include "lib/base/random_runs_test.h"
#include "lib/ovsdb/ovsdb_server_test.h"

namespace trumpet {
namespace {

// One for all tests, each of which has a database of its own there.
const ClickHouseTestServer& Server(size_t number) {
  static std::unique_ptr<ClickHouseTestServer> servers[2];
  if (servers[number] == nullptr) servers[number] = std::make_unique<ClickHouseTestServer>();
  return *servers[number];
}

// The number of servers; 0: files.
class TraceStores : public ::testing::TestWithParam<size_t>, protected TracesByChance {
 protected:
  void SetUp() override {
    if (GetParam() > 0 && !WhyNoClickHouse().empty()) GTEST_SKIP() << WhyNoClickHouse();
    place_ = folder_.File("traces");
    if (GetParam() == 0) return;
    static int tests = 0;
    place_ = "clickhouse:database=test" + std::to_string(++tests);
    for (size_t i = 0; i < GetParam(); ++i) place_ += "," + Server(i).url();
  }

  std::unique_ptr<TraceStore> Open(Nanos now = kBegin) {
    if (GetParam() > 0) {
      ClickHouseTraceStoreOptions options;
      options.place = *ParseClickHousePlace(place_);
      options.spool_folder = folder_.File("spool");
      options.max_age = max_age_;
      options.partition = stretch_;
      return Made(ClickHouseTraceStore::Open(options, now));
    }
    SqliteTraceStoreOptions options;
    options.folder = place_;
    options.max_age = max_age_;
    options.seal_after = stretch_;
    return Made(SqliteTraceStore::Open(options, now));
  }

  template <typename T>
  std::unique_ptr<TraceStore> Made(Result<std::unique_ptr<T>> store) {
    EXPECT_TRUE(store.ok()) << store.message();
    return store.ok() ? std::unique_ptr<TraceStore>(std::move(*store)) : nullptr;
  }

  std::unique_ptr<TraceReader> Reader() {
    auto reader = OpenTraceReader(place_);
    EXPECT_TRUE(reader.ok()) << reader.message();
    return reader.ok() ? std::move(*reader) : nullptr;
  }

  // Store and reader answer like the twin.
  void Compare(const std::map<uint64_t, StoredTrace>& twin, const TraceQuery& query,
               TraceStore* store, TraceReader* reader) {
    const std::string expected = Describe(SlowFind(twin, query));
    const auto found = store->Find(query);
    ASSERT_TRUE(found.ok()) << found.message();
    ASSERT_EQ(Describe(*found), expected);
    const auto read = reader->Find(query, {}, nullptr);
    ASSERT_TRUE(read.ok()) << read.message();
    ASSERT_EQ(Describe(*read), expected);
    TraceQuery all = query;
    all.limit = twin.size() + 1;
    std::map<Nanos, TraceCount> counts;
    for (const StoredTrace& trace : SlowFind(twin, all)) {
      TraceCount& count = counts[trace.start / kNanosPerSecond * kNanosPerSecond];
      ++count.traces;
      count.bytes += trace.wire_bytes;
    }
    const auto counted = reader->Count(query, kNanosPerSecond, {}, nullptr);
    ASSERT_TRUE(counted.ok()) << counted.message();
    ASSERT_EQ(counted->size(), counts.size());
    for (const auto& [begin, count] : *counted) {
      ASSERT_EQ(count.traces, counts[begin].traces);
      ASSERT_EQ(count.bytes, counts[begin].bytes);
    }
    for (const auto& [id, trace] : twin) {
      ASSERT_EQ(IsAskedFor(trace, query), Matches(trace, query)) << Describe(trace);
    }
  }

  OvsdbTestFolder folder_;
  std::string place_;
  Nanos max_age_ = 7 * 24 * 3600 * kNanosPerSecond;
  Nanos stretch_ = 3600 * kNanosPerSecond;
};

TEST_P(TraceStores, AnswerLikeTheSlowTwinOverRevisionsAndRestarts) {
  stretch_ = 20 * kNanosPerSecond;
  auto store = Open();
  ASSERT_NE(store, nullptr);
  const auto reader = Reader();
  ASSERT_NE(reader, nullptr);
  std::map<uint64_t, StoredTrace> twin;
  Nanos now = kBegin;
  const uint64_t rounds = testing::LastSeed(GetParam() == 0 ? 60 : 15);
  for (uint64_t round = 0; round < rounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    std::vector<StoredTrace> batch;
    for (uint64_t i = Below(20); i > 0; --i) {
      // The highest bit is set in half of the ids.
      const uint64_t id = Below(UINT64_MAX) >> 1 | Below(2) << 63;
      batch.push_back(Some(id, now - static_cast<Nanos>(Below(5 * kNanosPerSecond))));
    }
    if (!twin.empty() && Below(2) == 0) {
      auto at = twin.begin();
      std::advance(at, static_cast<long>(Below(twin.size())));
      // What comes late may be what was first.
      const Nanos earlier = static_cast<Nanos>(Below(2) * Below(kNanosPerSecond));
      StoredTrace again = Some(at->first, at->second.start - earlier);
      again.revision = at->second.revision + 1;
      batch.push_back(again);
    }
    ASSERT_TRUE(store->Append(batch, now).ok());
    for (const StoredTrace& trace : batch) twin[trace.id] = trace;
    if (round % 5 == 4) {
      store.reset();
      store = Open(now);
      ASSERT_NE(store, nullptr);
    }
    now += kNanosPerSecond * static_cast<Nanos>(Below(6));
    for (int i = 0; i < 5; ++i) {
      Compare(twin, SomeQuery(now + kNanosPerSecond), store.get(), reader.get());
      if (HasFatalFailure()) return;
    }
    if (twin.empty()) continue;
    TraceQuery one;
    one.id = std::next(twin.begin(), static_cast<long>(Below(twin.size())))->first;
    const auto found = reader->Find(one, {}, nullptr);
    ASSERT_TRUE(found.ok()) << found.message();
    ASSERT_EQ(Describe(*found), Describe(twin[*one.id]) + "\n");
  }
  EXPECT_EQ(store->counters().refused, 0u);
}

TEST_P(TraceStores, TakeWhatIsToldTwiceOnce) {
  auto store = Open();
  ASSERT_NE(store, nullptr);
  std::map<uint64_t, StoredTrace> twin;
  std::vector<StoredTrace> batch;
  for (uint64_t id = 1; id <= 200; ++id) {
    batch.push_back(Some(id, kBegin + static_cast<Nanos>(Below(kNanosPerSecond))));
    twin[id] = batch.back();
  }
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(store->Append(batch, kBegin).ok());
  // What was told before a revision comes again behind it.
  std::vector<StoredTrace> revised;
  for (uint64_t id = 1; id <= 100; ++id) {
    revised.push_back(Some(id, twin[id].start));
    revised.back().revision = 1 + static_cast<uint32_t>(Below(3));
    twin[id] = revised.back();
  }
  ASSERT_TRUE(store->Append(revised, kBegin).ok());
  ASSERT_TRUE(store->Append(batch, kBegin).ok());
  const auto reader = Reader();
  for (int i = 0; i < 20; ++i) {
    Compare(twin, SomeQuery(kBegin + kNanosPerSecond), store.get(), reader.get());
    if (HasFatalFailure()) return;
  }
}

TEST_P(TraceStores, PageThroughAllTraces) {
  auto store = Open();
  ASSERT_NE(store, nullptr);
  std::vector<StoredTrace> all;
  for (uint64_t id = 1; id <= 50; ++id) {
    all.push_back(Some(id, kBegin + static_cast<Nanos>(id / 7)));  // some at the same time
  }
  ASSERT_TRUE(store->Append(all, kBegin + 100).ok());
  TraceQuery query;
  query.limit = 8;
  std::vector<StoredTrace> paged;
  for (;;) {
    const auto page = store->Find(query);
    ASSERT_TRUE(page.ok());
    if (page->empty()) break;
    paged.insert(paged.end(), page->begin(), page->end());
    query.behind = {page->back().start, page->back().id};
  }
  EXPECT_EQ(Describe(paged), Describe(all));
}

TEST_P(TraceStores, AddUpTheCountersOfManyAnalyzers) {
  auto store = Open();
  auto other_store = GetParam() > 0 ? Open() : nullptr;
  ASSERT_NE(store, nullptr);
  for (int round = 0; round < 4; ++round) {
    LinkCounters one{1, 2, kBegin, {1, 0, 3, 0, 0, 0, 0, 0, 0, uint64_t{1} << 40}};
    LinkCounters other{1, 2, kBegin + kNanosPerSecond, {5}};
    LinkCounters back{2, 1, kBegin, {7}};
    const Nanos now = kBegin + round * kNanosPerSecond;
    TraceStore* const to = round % 2 == 1 && other_store ? other_store.get() : store.get();
    ASSERT_TRUE(to->AppendCounters({one, other, back}, now).ok());
  }
  const auto found = store->FindCounters(1, 2, kBegin, kBegin + 2 * kNanosPerSecond);
  ASSERT_TRUE(found.ok()) << found.message();
  ASSERT_EQ(found->size(), 2u);
  EXPECT_EQ((*found)[0].values[2], 12u);
  EXPECT_EQ((*found)[0].values[9], uint64_t{4} << 40);
  EXPECT_EQ((*found)[1].values[0], 20u);
  EXPECT_EQ(store->FindCounters(1, 2, kBegin + 1, kBegin + kNanosPerSecond)->size(), 0u);
  const auto links = Reader()->Links(kBegin, kBegin + 1, nullptr);
  ASSERT_TRUE(links.ok()) << links.message();
  ASSERT_EQ(links->size(), 2u);
  EXPECT_EQ((*links)[0].values, (*found)[0].values);
  EXPECT_EQ((*links)[1].from, 2);
  EXPECT_EQ((*links)[1].values[0], 28u);
}

TEST_P(TraceStores, LetWhatIsTooOldGo) {
  stretch_ = 10 * kNanosPerSecond;
  max_age_ = 60 * kNanosPerSecond;
  auto store = Open();
  ASSERT_NE(store, nullptr);
  Nanos now = kBegin;
  for (uint64_t id = 1; id <= 120; ++id, now += kNanosPerSecond) {
    ASSERT_TRUE(store->Append({Some(id, now)}, now).ok());
    ASSERT_TRUE(store->Expire(now).ok());
  }
  TraceQuery query;
  query.limit = 1000;
  const auto found = store->Find(query);
  ASSERT_TRUE(found.ok()) << found.message();
  EXPECT_GE(found->size(), 60u);
  EXPECT_LE(found->size(), 80u);
  EXPECT_EQ(found->back().id, 120u);
}

TEST_P(TraceStores, SayWhatAQuestionCostsAtMost) {
  stretch_ = 10 * kNanosPerSecond;
  auto store = Open();
  ASSERT_NE(store, nullptr);
  for (uint64_t i = 0; i < 30; ++i) {
    const Nanos now = kBegin + static_cast<Nanos>(i) * kNanosPerSecond;
    ASSERT_TRUE(store->Append({Some(i + 1, now)}, now).ok());
  }
  const auto reader = Reader();
  const auto all = reader->Estimate({}, nullptr);
  ASSERT_TRUE(all.ok()) << all.message();
  EXPECT_EQ(all->traces, 30u);
  EXPECT_GE(all->files, 3u);
  EXPECT_GT(all->bytes, 0u);
  TraceQuery late;
  late.from = kBegin + 25 * kNanosPerSecond;
  const auto some = reader->Estimate(late, nullptr);
  EXPECT_LT(some->bytes, all->bytes);
  EXPECT_GE(some->traces, 5u);
  EXPECT_LE(some->traces, 15u);
}

std::string NameOf(const ::testing::TestParamInfo<size_t>& where) {
  const char* const names[] = {"Files", "OneServer", "TwoServers"};
  return names[where.param];
}

INSTANTIATE_TEST_SUITE_P(Everywhere, TraceStores, ::testing::Values(0, 1, 2), NameOf);

}  // namespace
}  // namespace trumpet
