// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What every TraceStore does, beside a slow twin that keeps all in memory; and what that in files
// does with its files.

#include "controller/store/trace_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>

#include "controller/store/sqlite_trace_store.h"
#include "controller/store/trace_folder.h"
#include "lib/ovsdb/ovsdb_server_test.h"

namespace trumpet {
namespace {

constexpr Nanos kBegin = 1700000000 * kNanosPerSecond;

std::string Describe(const StoredTrace& trace) {
  std::string text;
  for (const uint64_t value :
       {trace.id, uint64_t{trace.revision}, static_cast<uint64_t>(trace.start),
        uint64_t{trace.flow.protocol}, uint64_t{trace.flow.src_port}, uint64_t{trace.flow.dst_port},
        uint64_t{trace.flow.ip_family}, uint64_t{trace.marks}, uint64_t{trace.wire_bytes},
        uint64_t{trace.fault}, uint64_t{trace.drop_ppm}, uint64_t{trace.last_switch}}) {
    text += std::to_string(value) + " ";
  }
  text += StoredAddress(trace.flow.src_ip, trace.flow.ip_family) + " > " +
          StoredAddress(trace.flow.dst_ip, trace.flow.ip_family) + " " + trace.evidence + " " +
          trace.packet;
  for (const StoredHop& hop : trace.hops) {
    text += " (" + std::to_string(hop.switch_number) + " " + std::to_string(hop.tag) + " " +
            std::to_string(hop.ttl) + " " + std::to_string(hop.time) + ")";
  }
  return text;
}

std::string Describe(const std::vector<StoredTrace>& traces) {
  std::string text;
  for (const StoredTrace& trace : traces) text += Describe(trace) + "\n";
  return text;
}

// Bit by bit.
bool IsWithin(const std::optional<Prefix>& prefix, const IpBytes& address, uint8_t ip_family) {
  if (!prefix) return true;
  if (ip_family != (prefix->is_ipv6 ? 6 : 4)) return false;
  const int width = prefix->is_ipv6 ? 128 : 32;
  for (int i = 0; i < prefix->length; ++i) {
    const auto asked = static_cast<unsigned>(prefix->address >> (width - 1 - i)) & 1;
    if (asked != (address[static_cast<size_t>(i / 8)] >> (7 - i % 8) & 1u)) return false;
  }
  return true;
}

bool IsWithinOneOf(const std::vector<Prefix>& prefixes, const FlowKey& flow) {
  return prefixes.empty() ||
         std::any_of(prefixes.begin(), prefixes.end(), [&](const Prefix& prefix) {
           return IsWithin(prefix, flow.src_ip, flow.ip_family) ||
                  IsWithin(prefix, flow.dst_ip, flow.ip_family);
         });
}

bool Matches(const StoredTrace& trace, const TraceQuery& query) {
  const FlowKey& flow = trace.flow;
  const bool is_through =
      !query.through || std::any_of(trace.hops.begin(), trace.hops.end(), [&](const auto& hop) {
        return hop.switch_number == *query.through;
      });
  const auto place = std::make_pair(trace.start, static_cast<int64_t>(trace.id));
  const bool is_behind =
      !query.behind ||
      place > std::make_pair(query.behind->first, static_cast<int64_t>(query.behind->second));
  return trace.start >= query.from && trace.start < query.until &&
         IsWithin(query.src, flow.src_ip, flow.ip_family) &&
         IsWithin(query.dst, flow.dst_ip, flow.ip_family) && IsWithinOneOf(query.within, flow) &&
         query.protocol.value_or(flow.protocol) == flow.protocol &&
         query.src_port.value_or(flow.src_port) == flow.src_port &&
         query.dst_port.value_or(flow.dst_port) == flow.dst_port &&
         (query.marks == 0 || (query.marks & trace.marks) != 0) &&
         query.fault.value_or(trace.fault) == trace.fault && trace.hops.size() >= query.min_hops &&
         is_through && is_behind;
}

std::vector<StoredTrace> SlowFind(const std::map<uint64_t, StoredTrace>& all,
                                  const TraceQuery& query) {
  std::vector<StoredTrace> found;
  for (const auto& [id, trace] : all) {
    if (Matches(trace, query)) found.push_back(trace);
  }
  std::sort(found.begin(), found.end(), [](const StoredTrace& a, const StoredTrace& b) {
    return std::make_pair(a.start, static_cast<int64_t>(a.id)) <
           std::make_pair(b.start, static_cast<int64_t>(b.id));
  });
  if (found.size() > query.limit) found.resize(query.limit);
  return found;
}

class TraceStores : public testing::Test {
 protected:
  std::unique_ptr<SqliteTraceStore> Open(Nanos now = kBegin) {
    options_.folder = folder_.File("traces");
    auto store = SqliteTraceStore::Open(options_, now);
    EXPECT_TRUE(store.ok()) << store.message();
    return store.ok() ? std::move(*store) : nullptr;
  }

  uint64_t Below(uint64_t bound) { return random_() % bound; }

  StoredTrace Some(uint64_t id, Nanos start) {
    StoredTrace trace;
    trace.id = id;
    trace.start = start;
    FlowKey& flow = trace.flow;
    flow.ip_family = Below(2) == 0 ? 4 : 6;
    flow.src_ip[0] = flow.dst_ip[0] = 10;
    flow.src_ip[3] = static_cast<uint8_t>(Below(4));
    flow.dst_ip[3] = static_cast<uint8_t>(Below(4));
    if (flow.ip_family == 6) flow.dst_ip[15] = static_cast<uint8_t>(Below(4));
    flow.protocol = Below(2) == 0 ? 6 : 17;
    flow.src_port = static_cast<uint16_t>(Below(3));
    flow.dst_port = static_cast<uint16_t>(65535 - Below(3));
    if (Below(10) == 0) flow = FlowKey();
    trace.marks = static_cast<uint8_t>(Below(8));
    trace.wire_bytes = static_cast<uint32_t>(Below(9000));
    trace.evidence = "{'\"" + std::to_string(Below(9)) + "}";
    trace.packet = std::string(1, '\0') + std::string(Below(3), '\xff') + "'\\\n\t";
    trace.fault = static_cast<uint8_t>(Below(4));
    trace.drop_ppm = static_cast<uint32_t>(Below(1000001));
    trace.last_switch = static_cast<uint16_t>(Below(5));
    const uint64_t hops = Below(6);
    for (uint64_t i = 0; i < hops; ++i) {
      trace.hops.push_back({start + static_cast<Nanos>(i), static_cast<uint32_t>(Below(1 << 20)),
                            static_cast<uint16_t>(Below(5)), static_cast<uint8_t>(Below(256))});
    }
    return trace;
  }

  Prefix SomePrefix() {
    const char* const texts[] = {"10.0.0.0/30", "10.0.0.2/31", "10.0.0.1/32", "0.0.0.0/0",
                                 "a00::/16",    "a00:2::/127", "::/0",        "10.0.0.0/9"};
    return *ParsePrefix(texts[Below(std::size(texts))]);
  }

  TraceQuery SomeQuery(Nanos until) {
    TraceQuery query;
    const auto instant = [&] {
      return kBegin + static_cast<Nanos>(Below(static_cast<uint64_t>(until - kBegin)));
    };
    if (Below(2) == 0) query.from = instant();
    if (Below(2) == 0) query.until = instant();
    if (Below(3) == 0) query.src = SomePrefix();
    if (Below(3) == 0) query.dst = SomePrefix();
    for (uint64_t i = Below(4); i > 1; --i) query.within.push_back(SomePrefix());
    if (Below(4) == 0) query.marks = static_cast<uint8_t>(Below(8));
    if (Below(4) == 0) query.protocol = 6;
    if (Below(4) == 0) query.src_port = static_cast<uint16_t>(Below(3));
    if (Below(4) == 0) query.dst_port = static_cast<uint16_t>(65535 - Below(3));
    if (Below(4) == 0) query.fault = static_cast<uint8_t>(Below(4));
    if (Below(4) == 0) query.through = static_cast<uint16_t>(Below(5));
    if (Below(4) == 0) query.min_hops = Below(5);
    if (Below(4) == 0) query.behind = {instant(), Below(1000)};
    query.limit = 1 + Below(60);
    return query;
  }

  OvsdbTestFolder folder_;
  SqliteTraceStoreOptions options_;
  std::mt19937_64 random_{20261122};
};

TEST_F(TraceStores, AnswerLikeTheSlowTwinOverFilesRevisionsAndRestarts) {
  options_.seal_after = 20 * kNanosPerSecond;
  auto store = Open();
  ASSERT_NE(store, nullptr);
  std::map<uint64_t, StoredTrace> twin;
  Nanos now = kBegin;
  for (int round = 0; round < 60; ++round) {
    std::vector<StoredTrace> batch;
    for (uint64_t i = Below(20); i > 0; --i) {
      // The highest bit is set in half of the ids.
      const uint64_t id = random_() >> 1 | Below(2) << 63;
      batch.push_back(Some(id, now - static_cast<Nanos>(Below(5 * kNanosPerSecond))));
    }
    if (!twin.empty() && Below(2) == 0) {
      auto at = twin.begin();
      std::advance(at, static_cast<long>(Below(twin.size())));
      StoredTrace again = Some(at->first, at->second.start);
      again.revision = at->second.revision + 1;
      batch.push_back(again);
    }
    ASSERT_TRUE(store->Append(batch, now).ok());
    for (const StoredTrace& trace : batch) twin[trace.id] = trace;
    if (round % 20 == 19) {
      store.reset();
      store = Open(now);
      ASSERT_NE(store, nullptr);
    }
    now += kNanosPerSecond * static_cast<Nanos>(Below(6));
    for (int i = 0; i < 5; ++i) {
      const TraceQuery query = SomeQuery(now + kNanosPerSecond);
      const auto found = store->Find(query);
      ASSERT_TRUE(found.ok()) << found.message();
      ASSERT_EQ(Describe(*found), Describe(SlowFind(twin, query))) << "round " << round;
      // The same from outside, while the store has the folder.
      const auto read = FindInTraceFolder(options_.folder, query);
      ASSERT_TRUE(read.ok()) << read.message();
      ASSERT_EQ(Describe(*read), Describe(*found)) << "round " << round;
      TraceQuery all = query;
      all.limit = twin.size() + 1;
      std::map<Nanos, uint64_t> counts;
      for (const StoredTrace& trace : SlowFind(twin, all)) {
        ++counts[trace.start / kNanosPerSecond * kNanosPerSecond];
      }
      const auto counted = CountInTraceFolder(options_.folder, query, kNanosPerSecond);
      ASSERT_TRUE(counted.ok()) << counted.message();
      ASSERT_EQ(counted->size(), counts.size());
      for (const auto& [begin, count] : *counted) ASSERT_EQ(count.traces, counts[begin]);
      for (const auto& [id, trace] : twin) {
        ASSERT_EQ(IsAskedFor(trace, query), Matches(trace, query)) << Describe(trace);
      }
    }
  }
  EXPECT_GT(store->file_count(), 4u);
  EXPECT_GT(twin.size(), 300u);
}

TEST_F(TraceStores, PageThroughAllTraces) {
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

TEST_F(TraceStores, EstimateWhatAQuestionCosts) {
  options_.seal_after = 10 * kNanosPerSecond;
  auto store = Open();
  ASSERT_NE(store, nullptr);
  for (uint64_t i = 0; i < 30; ++i) {
    const Nanos now = kBegin + static_cast<Nanos>(i) * kNanosPerSecond;
    ASSERT_TRUE(store->Append({Some(i + 1, now)}, now).ok());
  }
  ASSERT_EQ(store->file_count(), 3u);
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

TEST_F(TraceStores, StopALongSearchWhenNobodyWantsItsAnswer) {
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

TEST_F(TraceStores, AddUpTheCountersOfManyAnalyzers) {
  options_.seal_after = 2 * kNanosPerSecond;
  auto store = Open();
  ASSERT_NE(store, nullptr);
  for (int round = 0; round < 4; ++round) {
    LinkCounters one{1, 2, kBegin, {1, 0, 3, 0, 0, 0, 0, 0, 0, uint64_t{1} << 40}};
    LinkCounters other{1, 2, kBegin + kNanosPerSecond, {5}};
    LinkCounters back{2, 1, kBegin, {7}};
    const Nanos now = kBegin + round * kNanosPerSecond;
    ASSERT_TRUE(store->AppendCounters({one, other, back}, now).ok());
  }
  const auto found = store->FindCounters(1, 2, kBegin, kBegin + 2 * kNanosPerSecond);
  ASSERT_TRUE(found.ok()) << found.message();
  ASSERT_EQ(found->size(), 2u);
  EXPECT_EQ((*found)[0].values[2], 12u);
  EXPECT_EQ((*found)[0].values[9], uint64_t{4} << 40);
  EXPECT_EQ((*found)[1].values[0], 20u);
  EXPECT_EQ(store->FindCounters(1, 2, kBegin + 1, kBegin + kNanosPerSecond)->size(), 0u);
  const auto links = LinksInTraceFolder(options_.folder, kBegin, kBegin + 1);
  ASSERT_TRUE(links.ok()) << links.message();
  ASSERT_EQ(links->size(), 2u);
  EXPECT_EQ((*links)[0].values, (*found)[0].values);
  EXPECT_EQ((*links)[1].from, 2);
  EXPECT_EQ((*links)[1].values[0], 28u);
  EXPECT_GT(store->file_count(), 1u);
}

TEST_F(TraceStores, LetWhatIsTooOldGo) {
  options_.seal_after = 10 * kNanosPerSecond;
  options_.max_age = 60 * kNanosPerSecond;
  auto store = Open();
  ASSERT_NE(store, nullptr);
  Nanos now = kBegin;
  for (uint64_t id = 1; id <= 200; ++id, now += kNanosPerSecond) {
    ASSERT_TRUE(store->Append({Some(id, now)}, now).ok());
    ASSERT_TRUE(store->Expire(now).ok());
  }
  TraceQuery query;
  query.limit = 1000;
  const auto found = store->Find(query);
  ASSERT_TRUE(found.ok());
  EXPECT_GE(found->size(), 60u);
  EXPECT_LE(found->size(), 80u);
  EXPECT_EQ(found->back().id, 200u);
  EXPECT_LE(store->file_count(), 9u);
}

TEST_F(TraceStores, KeepToTheirSize) {
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

TEST_F(TraceStores, SetABrokenFileAsideAndGoOn) {
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
