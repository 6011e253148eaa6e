// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What a report costs the thread that writes, and a query the one that answers.
//
// The time is that of the wall, for the disk is part of it; run it where reports would lie:
// TMPDIR is not looked at, the files are under /tmp.

#include <benchmark/benchmark.h>

#include <random>

#include "controller/store/report_kit_test.h"
#include "controller/store/report_tables.h"
#include "lib/ovsdb/ovsdb_server_test.h"

namespace trumpet {
namespace {

constexpr size_t kBatch = 20000;

void WriteReports(benchmark::State& state) {
  const OvsdbTestFolder folder;
  std::mt19937 random(1);
  ReportFileLimits limits;
  limits.max_bytes = static_cast<uint64_t>(state.range(1)) << 20;
  bool is_broken = false;
  auto writer = ReportWriter::Open(folder.File("reports.db"), limits, &is_broken);
  if (!writer.ok()) return state.SkipWithError(writer.message().c_str());
  uint64_t last = 0;
  uint64_t expired = 0;
  const auto batch = static_cast<size_t>(state.range(2));
  for (auto _ : state) {
    state.PauseTiming();
    const ReportRows rows =
        SomeReports(last, batch, static_cast<unsigned>(state.range(0)), &random);
    last += batch;
    state.ResumeTiming();
    if (!writer->Write(rows).ok()) state.SkipWithError("refused");
    const auto gone = writer->Expire(kFirstReportEnd, 2 * batch);
    if (gone.ok()) expired += *gone;
  }
  state.SetItemsProcessed(static_cast<int64_t>(last));
  state.counters["expired"] = static_cast<double>(expired);
  state.counters["bytes_per_report"] =
      static_cast<double>(writer->stored_bytes()) / static_cast<double>(last - expired);
}
// Events, MiB of the file: large enough to take all, and so small that as much goes as comes.
BENCHMARK(WriteReports)
    ->ArgNames({"events", "MiB", "batch"})
    ->ArgsProduct({{1, 100, 4096}, {8192, 128}, {kBatch}})
    ->Iterations(100)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->MeasureProcessCPUTime();
// The plain way: a transaction for each report.
BENCHMARK(WriteReports)
    ->ArgNames({"events", "MiB", "batch"})
    ->Args({100, 8192, 1})
    ->Iterations(10000)
    ->Unit(benchmark::kMicrosecond)
    ->UseRealTime()
    ->MeasureProcessCPUTime();

void FindReports(benchmark::State& state) {
  const OvsdbTestFolder folder;
  std::mt19937 random(1);
  bool is_broken = false;
  auto writer = ReportWriter::Open(folder.File("reports.db"), ReportFileLimits(), &is_broken);
  if (!writer.ok()) return state.SkipWithError(writer.message().c_str());
  for (uint64_t last = 0; last < 1000000; last += kBatch) {
    if (!writer->Write(SomeReports(last, kBatch, 4096, &random)).ok()) {
      state.SkipWithError("refused");
    }
  }
  auto reader = ReportReader::Open(folder.File("reports.db"));
  if (!reader.ok()) return state.SkipWithError(reader.message().c_str());
  size_t found = 0;
  for (auto _ : state) {
    ReportQuery query;
    query.is_newest_first = true;
    query.event = state.range(0) == 1 ? "event-" + std::to_string(random() % 4096) : "";
    if (state.range(0) == 2) {
      query.from_ns = kFirstReportEnd + static_cast<Nanos>(random() % 9000) * 10 * kNanosPerMilli;
      query.until_ns = query.from_ns + kNanosPerSecond;
    }
    const auto rows = reader->Find(query);
    if (rows.ok()) found += rows->size();
  }
  state.SetItemsProcessed(static_cast<int64_t>(found));
}
// Of a million: the newest hundred; those of one event; those of one second.
BENCHMARK(FindReports)->ArgName("by")->DenseRange(0, 2)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace trumpet
