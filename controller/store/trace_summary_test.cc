// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/store/trace_summary.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <string>

#include "controller/store/sqlite_trace_store.h"
#include "controller/store/trace_folder.h"
#include "controller/store/trace_store_kit_test.h"
#include "lib/base/random_runs_test.h"
#include "lib/ovsdb/ovsdb_server_test.h"

namespace trumpet {
namespace {

class TraceSummaries : public ::testing::Test, protected TracesByChance {
 protected:
  // Of traces by chance, kept in `told_`.
  void Tell(uint64_t count) {
    TraceSummaryWriter writer;
    for (uint64_t i = 0; i < count; ++i) {
      const Nanos start = kBegin + static_cast<Nanos>(Below(1000));
      told_.push_back(Some(Below(UINT64_MAX), start));
      const FlowKey& flow = told_.back().flow;
      writer.Add(told_.back().id, start, StoredAddress(flow.src_ip, flow.ip_family),
                 StoredAddress(flow.dst_ip, flow.ip_family));
    }
    const Status status = writer.Write(path_);
    ASSERT_TRUE(status.ok()) << status.message();
  }

  std::string Bytes() {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  OvsdbTestFolder folder_;
  const std::string path_ = folder_.File("traces-1.summary");
  std::vector<StoredTrace> told_;
};

TEST_F(TraceSummaries, NeverDenyWhatWasTold) {
  for (uint64_t run = 0; run < testing::LastSeed(40); ++run) {
    told_.clear();
    Tell(Below(200));
    const auto summary = TraceSummary::Open(path_);
    ASSERT_NE(summary, nullptr);
    for (int i = 0; i < 50; ++i) {
      TraceQuery query = SomeQuery(kBegin + 1000);
      if (!told_.empty() && Below(3) == 0) query.id = told_[Below(told_.size())].id;
      bool has_any = false;
      for (const StoredTrace& trace : told_) has_any |= IsAskedFor(trace, query);
      EXPECT_TRUE(!has_any || summary->MayHave(query));
    }
  }
}

TEST_F(TraceSummaries, DenyMostOfWhatWasNotTold) {
  Tell(20000);
  const auto summary = TraceSummary::Open(path_);
  ASSERT_NE(summary, nullptr);
  int taken = 0;
  for (uint64_t i = 0; i < 20000; ++i) {
    TraceQuery query;
    query.id = Below(UINT64_MAX);
    taken += summary->MayHave(query);
  }
  EXPECT_LT(taken, 20000 / 50);
  TraceQuery query;
  query.src = ParsePrefix("10.9.9.9").value();
  EXPECT_FALSE(summary->MayHave(query));
  query.src = ParsePrefix("10.9.9.8/31").value();  // of several nobody knows
  EXPECT_TRUE(summary->MayHave(query));
  query = {};
  query.until = kBegin;
  EXPECT_FALSE(summary->MayHave(query));
  query = {};
  query.from = kBegin + 1000;
  EXPECT_FALSE(summary->MayHave(query));
  query = {};
  query.behind = {kBegin + 1000, 0};
  EXPECT_FALSE(summary->MayHave(query));
}

TEST_F(TraceSummaries, OfNothingDenyEverything) {
  Tell(0);
  const auto summary = TraceSummary::Open(path_);
  ASSERT_NE(summary, nullptr);
  EXPECT_FALSE(summary->MayHave({}));
}

TEST_F(TraceSummaries, KnowNothingWhereABitHasChanged) {
  Tell(300);
  const std::string whole = Bytes();
  EXPECT_EQ(whole.size() % 64, 0u);
  EXPECT_GE(whole.size(), 64u * 10);
  for (uint64_t run = 0; run < testing::LastSeed(300); ++run) {
    std::string bytes = whole;
    if (Below(3) == 0) {
      bytes.resize(Below(bytes.size()));
    } else {
      const auto at = static_cast<size_t>(Below(bytes.size()));
      bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ 1u << Below(8));
    }
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
    const auto summary = TraceSummary::Open(path_);
    if (summary == nullptr) continue;
    for (const StoredTrace& trace : told_) {
      TraceQuery query;
      query.id = trace.id;
      ASSERT_TRUE(summary->MayHave(query));
    }
  }
  EXPECT_EQ(TraceSummary::Open(folder_.File("nowhere")), nullptr);
}

// The folder gives the same answers with summaries, without them, and with some that are broken.
TEST_F(TraceSummaries, ChangeNoAnswerOfAFolder) {
  SqliteTraceStoreOptions options;
  options.folder = folder_.File("traces");
  options.seal_after = 20 * kNanosPerSecond;
  auto store = SqliteTraceStore::Open(options, kBegin);
  ASSERT_TRUE(store.ok()) << store.message();
  std::map<uint64_t, StoredTrace> twin;
  Nanos now = kBegin;
  for (uint64_t id = 1; id <= 400; ++id, now += kNanosPerSecond) {
    // Some are told long after they began, and others once more.
    StoredTrace trace = Some(id, now - static_cast<Nanos>(Below(2) * Below(90)) * kNanosPerSecond);
    if (id > 10 && Below(8) == 0) {
      const StoredTrace& before =
          std::next(twin.begin(), static_cast<long>(Below(twin.size())))->second;
      trace = Some(before.id, before.start - static_cast<Nanos>(Below(2)) * kNanosPerSecond);
      trace.revision = before.revision + 1;
    }
    ASSERT_TRUE((*store)->Append({trace}, now).ok());
    twin[trace.id] = trace;
  }
  const auto expect_all = [&] {
    for (uint64_t run = 0; run < testing::LastSeed(60); ++run) {
      TraceQuery query = SomeQuery(now);
      query.limit = 1 + Below(20);
      if (Below(5) == 0) query.id = 1 + Below(400);
      std::vector<StoredTrace> expected = SlowFind(twin, query);
      if (query.id) {
        expected.clear();
        const auto at = twin.find(*query.id);
        if (at != twin.end() && IsAskedFor(at->second, query)) expected.push_back(at->second);
      }
      const auto found = FindInTraceFolder(options.folder, query);
      ASSERT_TRUE(found.ok()) << found.message();
      ASSERT_EQ(Describe(*found), Describe(expected));
    }
  };
  std::vector<std::string> summaries;
  for (const auto& entry : std::filesystem::directory_iterator(options.folder)) {
    if (entry.path().extension() == ".summary") summaries.push_back(entry.path());
  }
  ASSERT_GE(summaries.size(), 15u);
  expect_all();
  for (size_t i = 0; i < summaries.size(); i += 2) {
    std::ofstream(summaries[i], std::ios::trunc) << "broken";
  }
  expect_all();
  for (const std::string& summary : summaries) std::filesystem::remove(summary);
  expect_all();
}

TEST_F(TraceSummaries, GoWithTheirFilesAndAreNotThoseOfOthers) {
  SqliteTraceStoreOptions options;
  options.folder = folder_.File("traces");
  options.seal_after = 10 * kNanosPerSecond;
  options.max_age = 30 * kNanosPerSecond;
  std::filesystem::create_directories(options.folder);
  // Left by a store that is no more: it says that there is nothing in the first file.
  ASSERT_TRUE(TraceSummaryWriter().Write(options.folder + "/traces-1.summary").ok());
  auto store = SqliteTraceStore::Open(options, kBegin);
  ASSERT_TRUE(store.ok()) << store.message();
  ASSERT_TRUE((*store)->Append({Some(1, kBegin)}, kBegin).ok());
  TraceQuery query;
  query.id = 1;
  const auto found = FindInTraceFolder(options.folder, query);
  ASSERT_TRUE(found.ok()) << found.message();
  EXPECT_EQ(found->size(), 1u);
  Nanos now = kBegin;
  for (uint64_t id = 2; id <= 100; ++id, now += kNanosPerSecond) {
    ASSERT_TRUE((*store)->Append({Some(id, now)}, now).ok());
    ASSERT_TRUE((*store)->Expire(now).ok());
  }
  std::set<std::string> files;
  std::set<std::string> summaries;
  for (const auto& entry : std::filesystem::directory_iterator(options.folder)) {
    if (entry.path().extension() == ".db") files.insert(entry.path().stem());
    if (entry.path().extension() == ".summary") summaries.insert(entry.path().stem());
  }
  EXPECT_EQ(files.size(), summaries.size() + 1);  // the newest has none yet
  for (const std::string& summary : summaries) EXPECT_EQ(files.count(summary), 1u) << summary;
}

}  // namespace
}  // namespace trumpet
