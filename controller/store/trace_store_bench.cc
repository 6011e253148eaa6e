// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// trace_store_bench: what stores of traces take, beside each other: files of SQLite's, a server of
// ClickHouse, two of them.  Traces of five hops over seven days; the median of some runs.  With
// --gigabytes, what one of them takes as it grows.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "controller/store/bench_traces.h"
#include "controller/store/clickhouse_server_test.h"
#include "controller/store/clickhouse_trace_store.h"
#include "controller/store/sqlite_trace_store.h"
#include "controller/store/trace_growth_bench.h"
#include "controller/store/trace_reader.h"

namespace trumpet::bench {
namespace {

constexpr uint64_t kBatch = 4096;

double ProcessorSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
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
  const double passed = SecondsOf([&] { Check(store->AppendCounters(links, kBegin + kDays)); });
  return {passed, ProcessorSeconds() - before};
}

void Measure(const char* name, const std::string& place, TraceStore* store, uint64_t count) {
  const Nanos step = kDays / static_cast<Nanos>(count);
  const double writing = SecondsOf([&] {
    for (uint64_t at = 0; at < count; at += kBatch) {
      const auto batch = TracesOf(at, std::min(count, at + kBatch), step);
      Check(store->Append(batch, batch.back().start));
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
    if (!through) query.fault = kDropped;
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

constexpr char kUsage[] =
    "usage: trace_store_bench [OPTION VALUE]...\n"
    "  --traces N              in each store (2000000)\n"
    "  --only files|servers    not the others\n"
    "  --gigabytes N,N,...     instead: fill a store to each of these sizes, and ask it then\n"
    "  --folder FOLDER         where that is; it stays there, and is gone on with (a temporary "
    "one)\n"
    "  --steps fill|ask|both   do only this to the store of the folder (both)\n"
    "  --json FILE             append a line for each size\n";

struct Options {
  uint64_t traces = 2000000;
  std::string only;
  GrowthOptions growth;
};

bool ReadSizes(const std::string& text, std::vector<double>* sizes) {
  std::istringstream items(text);
  for (std::string item; std::getline(items, item, ',');) {
    char* end = nullptr;
    sizes->push_back(std::strtod(item.c_str(), &end));
    if (item.empty() || *end != '\0' || sizes->back() <= 0 || sizes->back() > 1000) return false;
  }
  return !sizes->empty();
}

bool ReadOption(const std::string& name, const std::string& value, Options* options) {
  GrowthOptions& growth = options->growth;
  if (name == "--traces") {
    options->traces = std::strtoull(value.c_str(), nullptr, 10);
    return options->traces > 0;
  }
  if (name == "--only") {
    options->only = value;
    growth.is_servers = value == "servers";
    return value == "files" || value == "servers";
  }
  if (name == "--gigabytes") return ReadSizes(value, &growth.gigabytes);
  if (name == "--steps") {
    growth.is_filled = value != "ask";
    growth.is_asked = value != "fill";
    return value == "fill" || value == "ask" || value == "both";
  }
  if (name == "--folder") growth.folder = value;
  if (name == "--json") growth.json = value;
  return name == "--folder" || name == "--json";
}

// Which store grows has to be said: both take hours.
bool IsWhole(const Options& options) {
  const bool is_growth = !options.growth.gigabytes.empty() || !options.growth.is_filled;
  return !is_growth || !options.only.empty();
}

void MeasureAll(const Options& options) {
  const uint64_t count = options.traces;
  std::printf("%llu traces, %llu hops\n", static_cast<unsigned long long>(count),
              static_cast<unsigned long long>(count * kHops));
  std::printf(
      "| store | 1,000 hops/s written | bytes/trace | by id, ms | by flow, ms |"
      " all through a switch, ms | all of a verdict, ms | 2.5 M counters, s (of processors here) "
      "|\n"
      "|---|---|---|---|---|---|---|---|\n");
  OvsdbTestFolder folder;
  if (options.only != "servers") MeasureFiles(folder.File("traces"), count);
  if (options.only == "files") return;
  const ClickHouseTestServer one;
  MeasureServers("clickhouse:" + one.url() + ",database=one", "ClickHouse", count);
  const ClickHouseTestServer other;
  MeasureServers("clickhouse:" + one.url() + "," + other.url() + ",database=two",
                 "ClickHouse, two servers", count);
}

int Main(int argc, char** argv) {
  Options options;
  bool is_right = argc % 2 == 1;
  for (int i = 1; is_right && i < argc; i += 2) {
    is_right = ReadOption(argv[i], argv[i + 1], &options);
  }
  Check(is_right && IsWhole(options), kUsage);
  Check(options.only == "files" || WhyNoClickHouse().empty(), WhyNoClickHouse());
  if (options.growth.gigabytes.empty() && options.growth.is_filled) {
    MeasureAll(options);
  } else {
    MeasureGrowth(options.growth);
  }
  return 0;
}

}  // namespace
}  // namespace trumpet::bench

int main(int argc, char** argv) { return trumpet::bench::Main(argc, argv); }
