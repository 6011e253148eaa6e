// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/counter_book.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controller/analyzer/trace_packet.h"
#include "controller/store/sqlite_trace_store.h"
#include "controller/traces/counter_file.h"
#include "controller/traces/program_kit_test.h"
#include "lib/base/log_buckets.h"
#include "lib/base/random_runs_test.h"

namespace trumpet {
namespace {

using Json = nlohmann::json;

constexpr Nanos kSecond = kNanosPerSecond;
constexpr Nanos kStart = 1700000000 * kSecond;

IpBytes Ipv4(uint32_t address) {
  IpBytes bytes{};
  for (size_t i = 0; i < 4; ++i) bytes[i] = static_cast<uint8_t>(address >> (24 - 8 * i));
  return bytes;
}

// As analyzers may have them, of a small world, so that filters fit some.
StoredTrace AnyTrace(std::mt19937_64* random) {
  const auto below = [&](uint64_t n) { return (*random)() % n; };
  StoredTrace trace;
  trace.id = (*random)();
  trace.start = kStart + static_cast<Nanos>(below(100 * kSecond));
  trace.flow.ip_family = 4;
  trace.flow.src_ip = Ipv4(0x0a000000 + static_cast<uint32_t>(below(4)) * 256 + 1);
  trace.flow.dst_ip = Ipv4(0x0a000000 + static_cast<uint32_t>(below(4)) * 256 + 2);
  trace.flow.protocol = below(2) == 0 ? kProtocolTcp : kProtocolUdp;
  trace.flow.src_port = static_cast<uint16_t>(1000 + below(3));
  trace.flow.dst_port = static_cast<uint16_t>(80 + below(3));
  trace.wire_bytes = static_cast<uint32_t>(60 + below(1000));
  trace.marks = static_cast<uint8_t>(below(32));
  trace.fault = static_cast<uint8_t>(below(5));
  Nanos time = trace.start;
  for (size_t i = 1 + below(4); i > 0; --i) {
    trace.hops.push_back({time, 5, static_cast<uint16_t>(1 + below(4)), 64});
    time += static_cast<Nanos>(below(50000));
  }
  return trace;
}

struct Filter {
  std::vector<std::pair<std::string, std::string>> words;
  std::function<bool(const StoredTrace&)> fits;
};

// Filters, and what they mean said in another way.
Filter AnyFilter(std::mt19937_64* random) {
  const uint64_t number = (*random)() % 4;
  const std::string text = std::to_string(number);
  switch ((*random)() % 8) {
    case 0:
      return {{}, [](const StoredTrace&) { return true; }};
    case 1:
      return {{{"src", "10.0." + text + ".0/24"}},
              [=](const StoredTrace& trace) { return trace.flow.src_ip[2] == number; }};
    case 2:
      return {{{"within", "10.0." + text + ".0/24"}, {"within", "10.0.0.0/24"}},
              [=](const StoredTrace& trace) {
                const std::set<uint64_t> all = {0, number};
                return all.count(trace.flow.src_ip[2]) + all.count(trace.flow.dst_ip[2]) > 0;
              }};
    case 3:
      return {{{"verdict", "dropped"}}, [](const StoredTrace& trace) { return trace.fault == 1; }};
    case 4:
      return {{{"through", std::to_string(number + 1)}}, [=](const StoredTrace& trace) {
                for (const StoredHop& hop : trace.hops) {
                  if (hop.switch_number == number + 1) return true;
                }
                return false;
              }};
    case 5:
      return {{{"protocol", "udp"}, {"dst-port", "81"}}, [](const StoredTrace& trace) {
                return trace.flow.protocol == kProtocolUdp && trace.flow.dst_port == 81;
              }};
    case 6:
      return {{{"mark", "debug"}, {"mark", "probe"}},
              [](const StoredTrace& trace) { return (trace.marks & (4 | 16)) != 0; }};
    default:
      return {{{"min-hops", std::to_string(number + 1)}},
              [=](const StoredTrace& trace) { return trace.hops.size() > number; }};
  }
}

// Of all traces that fit and begin in the step, by looking at each again for each sum.
Json SlowSums(const std::vector<StoredTrace>& traces, const Filter& filter, Nanos begin,
              Nanos step) {
  std::map<std::string, uint64_t> sums;
  const char* const verdicts[] = {"delivered", "dropped", "copies_lost", "loop", "not_known"};
  for (const StoredTrace& trace : traces) {
    if (!filter.fits(trace) || trace.start < begin || trace.start >= begin + step) continue;
    sums["packets"] += 1;
    sums["bytes"] += trace.wire_bytes;
    sums["connections"] += (trace.marks & 8) != 0 ? 1 : 0;
    sums[verdicts[trace.fault]] += 1;
    sums["hops"] += trace.hops.size();
    for (size_t i = 0; i + 1 < trace.hops.size(); ++i) {
      if (trace.hops[i].switch_number == trace.hops[i + 1].switch_number) continue;
      const auto latency = static_cast<uint64_t>(trace.hops[i + 1].time - trace.hops[i].time);
      sums["hop_times"] += 1;
      sums["hop_ns"] += latency;
      sums["b" + std::to_string(LogBucketOf(latency))] += 1;
    }
  }
  Json json = Json::object();
  for (const auto& [name, sum] : sums) {
    if (sum > 0) json[name] = sum;
  }
  return json;
}

class Counters : public ::testing::Test {
 protected:
  Counters() : folder_(::testing::TempDir() + "trumpet-counters-XXXXXX") {
    EXPECT_NE(mkdtemp(folder_.data()), nullptr);
  }
  ~Counters() override { std::filesystem::remove_all(folder_); }

  std::map<Nanos, Json> Read(const CounterQuestion& question) const {
    std::map<Nanos, Json> all;
    const auto records = ReadCounters(folder_, nullptr, question, nullptr, nullptr);
    EXPECT_TRUE(records.ok()) << records.message();
    if (!records.ok()) return all;
    for (const TraceRecord& record : *records) all[record.start] = Json::parse(record.text);
    return all;
  }

  std::string folder_;
};

NamedCounter Counter(uint64_t id, const Filter& filter, Nanos step) {
  Json words = Json::array();
  for (const auto& [name, value] : filter.words) words.push_back({name, value});
  const Json told = {{"counters",
                      {{{"id", id},
                        {"name", "c" + std::to_string(id)},
                        {"step_s", step / kSecond},
                        {"words", words}}}}};
  std::vector<std::string> left_out;
  const auto counters = ParseNamedCounters(told.dump(), SwitchBook(), &left_out);
  EXPECT_TRUE(counters.ok() && left_out.empty()) << told << (left_out.empty() ? "" : left_out[0]);
  return counters.ok() && !counters->empty() ? counters->front() : NamedCounter();
}

// Live, written in pieces and read in other steps; and the same of traces that are stored.
TEST_F(Counters, CountWhatSomebodyCountsWhoLooksAtAllTraces) {
  for (uint64_t seed = testing::FirstSeed(); seed <= testing::LastSeed(60); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
    std::vector<Filter> filters;
    std::vector<NamedCounter> counters;
    for (uint64_t id = 1; id <= 4; ++id) {
      filters.push_back(AnyFilter(&random));
      const Nanos step = static_cast<Nanos>(1 + random() % 12) * kSecond;
      counters.push_back(Counter(id << 62 | id, filters.back(), step));
    }
    std::vector<StoredTrace> traces(random() % 300);
    for (StoredTrace& trace : traces) trace = AnyTrace(&random);
    CounterBook book;
    book.Set(counters);
    auto file = CounterFile::Open(folder_);
    ASSERT_TRUE(file.ok()) << file.message();
    for (const StoredTrace& trace : traces) {
      book.Add(trace);
      if (random() % 50 == 0) {
        ASSERT_TRUE(file->Append(book.TakeAll()).ok());
      }
    }
    ASSERT_TRUE(file->Append(book.TakeAll()).ok());
    auto store = SqliteTraceStore::Open({folder_ + "/traces"}, kStart);
    ASSERT_TRUE(store.ok());
    ASSERT_TRUE(traces.empty() || (*store)->Append(traces, kStart).ok());

    for (size_t i = 0; i < counters.size(); ++i) {
      CounterQuestion question;
      question.counter = counters[i].id;
      question.step = counters[i].step * static_cast<Nanos>(1 + random() % 3);
      question.query.limit = 10000;
      std::map<Nanos, Json> expected;
      for (Nanos begin = kStart / question.step * question.step; begin < kStart + 100 * kSecond;
           begin += question.step) {
        const Json sums = SlowSums(traces, filters[i], begin, question.step);
        if (!sums.empty()) expected[begin] = sums;
      }
      ASSERT_EQ(Read(question), expected);
      question.counter.reset();
      question.query = counters[i].query;
      question.query.limit = 10000;
      auto reader = OpenTraceReader(folder_ + "/traces");
      ASSERT_TRUE(reader.ok()) << reader.message();
      const auto stored = ReadCounters(folder_, reader->get(), question, nullptr, nullptr);
      ASSERT_TRUE(stored.ok()) << stored.message();
      std::map<Nanos, Json> found;
      for (const TraceRecord& record : *stored) found[record.start] = Json::parse(record.text);
      ASSERT_EQ(found, expected);
    }
  }
}

TEST_F(Counters, TellPagesAndTheTimeThatIsAskedFor) {
  CounterBook book;
  book.Set({Counter(1, Filter(), kSecond)});
  std::mt19937_64 random(7);
  for (Nanos second = 0; second < 5; ++second) {
    StoredTrace trace = AnyTrace(&random);
    trace.start = kStart + second * kSecond + 1;
    book.Add(trace);
  }
  auto file = CounterFile::Open(folder_);
  ASSERT_TRUE(file.ok() && file->Append(book.TakeAll()).ok());
  CounterQuestion question;
  question.counter = 1;
  question.step = kSecond;
  question.query.from = kStart + kSecond + 5;  // within its step
  question.query.until = kStart + 4 * kSecond;
  EXPECT_EQ(Read(question).size(), 3u);
  question.query.limit = 1;
  question.query.behind = {kStart + 2 * kSecond, 0};
  const auto page = Read(question);
  ASSERT_EQ(page.size(), 1u);
  EXPECT_EQ(page.begin()->first, kStart + 3 * kSecond);
  question.counter = 2;
  EXPECT_TRUE(Read(question).empty());
}

TEST_F(Counters, ForgetWhatIsOldAndWhatIsTooMuch) {
  auto file = CounterFile::Open(folder_);
  ASSERT_TRUE(file.ok()) << file.message();
  std::vector<CounterRow> rows;
  for (Nanos i = 0; i < CounterFile::kMaxSteps + 10; ++i) {
    rows.push_back({uint64_t{1} << 63, kStart + i * kSecond, kCountedPackets, 1});
  }
  rows.push_back({5, kStart, kCountedPackets, 1});
  rows.push_back({5, kStart - 100 * kSecond, kCountedPackets, 1});
  ASSERT_TRUE(file->Append(rows).ok());
  ASSERT_TRUE(file->Expire(kStart + 50 * kSecond, 50 * kSecond).ok());
  CounterQuestion question;
  question.step = kSecond;
  question.query.limit = 100000;
  question.counter = uint64_t{1} << 63;
  auto left = Read(question);
  EXPECT_EQ(left.size(), static_cast<size_t>(CounterFile::kMaxSteps));
  EXPECT_EQ(left.begin()->first, kStart + 10 * kSecond);
  question.counter = 5;
  EXPECT_EQ(Read(question).size(), 1u);
}

TEST_F(Counters, BeginAnewBesideAFileThatIsBroken) {
  std::ofstream(folder_ + "/counters.sqlite") << std::string(4096, 'x');
  auto file = CounterFile::Open(folder_);
  ASSERT_TRUE(file.ok()) << file.message();
  EXPECT_TRUE(file->Append({{1, kStart, kCountedPackets, 1}}).ok());
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/counters.sqlite.broken"));
}

TEST_F(Counters, LeaveOutWhatMeansNothingHere) {
  std::vector<std::string> left_out;
  const auto counters = ParseNamedCounters(
      R"({"counters":[{"id":1,"name":"a","step_s":10,"words":[["through","leaf9"]]},
          {"id":2,"name":"b","step_s":0,"words":[]},7,
          {"id":3,"name":"c","step_s":10,"words":[["verdict","loop"]]}]})",
      SwitchBook(), &left_out);
  ASSERT_TRUE(counters.ok());
  ASSERT_EQ(counters->size(), 1u);
  EXPECT_EQ(counters->front().name, "c");
  EXPECT_EQ(left_out, (std::vector<std::string>{"a: through: there is no switch 'leaf9'",
                                                "b: has no step", "a counter: is no counter"}));
  EXPECT_FALSE(ParseNamedCounters("[]", SwitchBook(), &left_out).ok());
}

}  // namespace
}  // namespace trumpet
