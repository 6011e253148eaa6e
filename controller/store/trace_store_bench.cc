// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// trace_store_bench [TRACES [files|servers]]: what stores of traces take, beside each other: files
// of SQLite's, a server of ClickHouse, two of them.  Traces of five hops over seven days; the
// median of some runs.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "controller/store/clickhouse_server_test.h"
#include "controller/store/clickhouse_trace_store.h"
#include "controller/store/sqlite_trace_store.h"
#include "controller/store/trace_reader.h"

namespace trumpet {
namespace {

constexpr Nanos kBegin = 1700000000 * kNanosPerSecond;
constexpr Nanos kDays = 7 * 24 * 3600 * kNanosPerSecond;
constexpr uint64_t kBatch = 4096;
constexpr uint64_t kHops = 5;

uint64_t IdOf(uint64_t number) { return number * 0x9e3779b97f4a7c15; }

FlowKey FlowOf(uint64_t number) {
  const uint64_t some = IdOf(number % 200000);
  FlowKey flow;
  flow.ip_family = 4;
  flow.protocol = 6;
  flow.src_ip[0] = flow.dst_ip[0] = 10;
  for (size_t i = 1; i < 4; ++i) {
    flow.src_ip[i] = static_cast<uint8_t>(some >> (8 * i));
    flow.dst_ip[i] = static_cast<uint8_t>(some >> (24 + 8 * i));
  }
  flow.src_port = static_cast<uint16_t>(1024 + number % 50000);
  flow.dst_port = 443;
  return flow;
}

StoredTrace TraceOf(uint64_t number, Nanos step) {
  StoredTrace trace;
  trace.id = IdOf(number + 1);
  trace.start = kBegin + static_cast<Nanos>(number) * step;
  trace.flow = FlowOf(number);
  trace.wire_bytes = static_cast<uint32_t>(64 + number % 1400);
  trace.fault = number % 10 == 0 ? 3 : 1;
  trace.revision = number % 50 == 0 ? 1 : 0;
  trace.evidence = R"({"last":"leaf12","next":"spine3"})";
  trace.packet.assign(54, static_cast<char>(number));
  for (uint64_t i = 0; i < kHops; ++i) {
    trace.hops.push_back({trace.start + static_cast<Nanos>(20000 * i), 7,
                          static_cast<uint16_t>((number * 7 + i * 131) % 1000),
                          static_cast<uint8_t>(64 - i)});
  }
  return trace;
}

double SecondsOf(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double MedianOf(int runs, const std::function<void()>& work) {
  std::vector<double> times;
  for (int i = 0; i < runs; ++i) times.push_back(SecondsOf(work));
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

double ProcessorSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

void Check(bool is_right, const std::string& what) {
  if (is_right) return;
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

// Ten counters of each of 250,000 links: what a network of the paper's size counts in ten seconds.
// The time that passed, and that of processors in this process.
std::pair<double, double> WriteCounters(TraceStore* store) {
  constexpr size_t kLinks = 250000;
  constexpr size_t kTo = 500;
  std::vector<LinkCounters> links;
  for (size_t i = 0; i < kLinks; ++i) {
    LinkCounters link{
        static_cast<uint16_t>(i / kTo), static_cast<uint16_t>(i % kTo), kBegin + kDays, {}};
    for (size_t k = 0; k < kLinkCounters; ++k) link.values[k] = i * (k + 1) % 1000003;
    links.push_back(link);
  }
  const double before = ProcessorSeconds();
  const double passed = SecondsOf([&] {
    const Status status = store->AppendCounters(links, kBegin + kDays);
    Check(status.ok(), status.ok() ? "" : status.message());
  });
  return {passed, ProcessorSeconds() - before};
}

void Measure(const char* name, const std::string& place, TraceStore* store, uint64_t count) {
  const Nanos step = kDays / static_cast<Nanos>(count);
  const double writing = SecondsOf([&] {
    for (uint64_t at = 0; at < count; at += kBatch) {
      std::vector<StoredTrace> batch;
      for (uint64_t i = at; i < std::min(count, at + kBatch); ++i) {
        batch.push_back(TraceOf(i, step));
      }
      const Status status = store->Append(batch, batch.back().start);
      Check(status.ok(), status.ok() ? "" : status.message());
    }
    (void)store->Expire(kBegin + kDays).ok();
  });
  const auto [counters_passed, counters_worked] = WriteCounters(store);
  auto reader = std::move(*OpenTraceReader(place));
  std::mt19937_64 random(1);
  const auto point = [&](bool by_flow) {
    const StoredTrace wanted = TraceOf(random() % count, step);
    TraceQuery query;
    if (by_flow) {
      query.src = *ParsePrefix(std::to_string(wanted.flow.src_ip[0]) + "." +
                               std::to_string(wanted.flow.src_ip[1]) + "." +
                               std::to_string(wanted.flow.src_ip[2]) + "." +
                               std::to_string(wanted.flow.src_ip[3]));
      query.src_port = wanted.flow.src_port;
    } else {
      query.id = wanted.id;
    }
    const auto found = reader->Find(query, {}, nullptr);
    Check(found.ok() && !found->empty(), "a trace is not found");
  };
  const auto scan = [&](bool through) {
    TraceQuery query;
    if (through) query.through = static_cast<uint16_t>(random() % 1000);
    if (!through) query.fault = 3;
    const auto counts = reader->Count(query, 3600 * kNanosPerSecond, {}, nullptr);
    Check(counts.ok() && !counts->empty(), "nothing is counted");
  };
  const double by_id = MedianOf(51, [&] { point(false); });
  const double by_flow = MedianOf(11, [&] { point(true); });
  const double through = MedianOf(5, [&] { scan(true); });
  const double faults = MedianOf(5, [&] { scan(false); });
  std::printf("| %s | %.0f | %.0f | %.1f | %.1f | %.0f | %.0f | %.2f (%.2f) |\n", name,
              static_cast<double>(count * kHops) / writing / 1000,
              static_cast<double>(store->counters().stored_bytes) / static_cast<double>(count),
              by_id * 1000, by_flow * 1000, through * 1000, faults * 1000, counters_passed,
              counters_worked);
  std::fflush(stdout);
}

void MeasureFiles(const std::string& folder, uint64_t count) {
  SqliteTraceStoreOptions options;
  options.folder = folder;
  options.seal_after = 6 * 3600 * kNanosPerSecond;
  auto store = SqliteTraceStore::Open(options, kBegin);
  Check(store.ok(), "the files cannot be opened");
  Measure("SQLite", folder, store->get(), count);
}

void MeasureServers(const std::string& place, const char* name, uint64_t count) {
  ClickHouseTraceStoreOptions options;
  options.place = *ParseClickHousePlace(place);
  auto store = ClickHouseTraceStore::Open(options, kBegin);
  Check(store.ok(), "the servers cannot be opened");
  Measure(name, place, store->get(), count);
}

int Main(int argc, char** argv) {
  const uint64_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 2000000;
  const std::string only = argc > 2 ? argv[2] : "";
  Check(count > 0 && (only.empty() || only == "files" || only == "servers"),
        "usage: trace_store_bench [TRACES [files|servers]]");
  Check(WhyNoClickHouse().empty(), WhyNoClickHouse());
  std::printf("%llu traces, %llu hops\n", static_cast<unsigned long long>(count),
              static_cast<unsigned long long>(count * kHops));
  std::printf(
      "| store | 1,000 hops/s written | bytes/trace | by id, ms | by flow, ms |"
      " all through a switch, ms | all of a verdict, ms | 2.5 M counters, s (of processors here) "
      "|\n"
      "|---|---|---|---|---|---|---|---|\n");
  OvsdbTestFolder folder;
  if (only != "servers") MeasureFiles(folder.File("traces"), count);
  if (only == "files") return 0;
  const ClickHouseTestServer one;
  MeasureServers("clickhouse:" + one.url() + ",database=one", "ClickHouse", count);
  const ClickHouseTestServer other;
  MeasureServers("clickhouse:" + one.url() + "," + other.url() + ",database=two",
                 "ClickHouse, two servers", count);
  return 0;
}

}  // namespace
}  // namespace trumpet

int main(int argc, char** argv) { return trumpet::Main(argc, argv); }
