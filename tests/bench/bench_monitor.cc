// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// bench-monitor: CPU time per packet of the monitor alone, on the workload of the Trumpet paper's
// experiments, beside its alternatives in one interleaved run.
//
// Contenders: see yardstick.h, simple_contenders.h, strawmen.h, monitor_contender.h.  As in the
// figures of the paper's authors, a time contains the writing of the frames, but those of yardstick
// and map do not; ratio = time of the contender / time of the yardstick, minima of the repeats.
// "own" is the time without the frames.
//
// A run only counts if every trigger counted exactly the packets that match it.  Exit status: 0;
// 1: something was counted wrongly; 2: bad usage, or no memory; 3: a sweep did not end in its
// epoch.

#include <cstdio>

#include "tests/bench/case_run.h"
#include "tests/bench/install_run.h"
#include "tests/bench/matcher_run.h"
#include "tests/bench/matrix.h"
#include "tests/bench/options.h"
#include "tests/bench/report_run.h"
#include "tests/bench/results.h"

namespace trumpet::bench {
namespace {

struct Job {
  RunKind run;
  BenchCase bench_case;
};

std::vector<Job> JobsOf(const Options& options) {
  std::vector<uint32_t> flows = options.flows;
  if (flows.empty() && options.run == RunKind::kPackets) {
    flows = {10, 300, 1000, 10000, 30000, 100000};
  }
  if (options.run == RunKind::kMatcher) flows = {1};  // it has its own
  if (flows.empty()) flows = {300, 10000};
  std::vector<Job> jobs;
  for (const uint32_t count : flows) {
    jobs.push_back({options.run, options.base});
    jobs.back().bench_case.traffic.flows = count;
  }
  return jobs;
}

// Packets first, then reports, installations and the matcher, which are few.
std::vector<Job> JobsOf(const std::vector<BenchCase>& cases, const std::vector<uint32_t>& flows) {
  std::vector<Job> jobs;
  for (const BenchCase& bench_case : cases) jobs.push_back({RunKind::kPackets, bench_case});
  for (const RunKind run : {RunKind::kReports, RunKind::kInstall}) {
    for (const uint32_t count : flows) {
      jobs.push_back({run, BenchCase()});
      jobs.back().bench_case.traffic.flows = count;
      jobs.back().bench_case.repeats = 5;
    }
  }
  jobs.push_back({RunKind::kMatcher, BenchCase()});
  return jobs;
}

std::vector<Json> Run(const Job& job) {
  switch (job.run) {
    case RunKind::kReports:
      return RunReports(job.bench_case);
    case RunKind::kInstall:
      return RunInstall(job.bench_case);
    case RunKind::kMatcher:
      return RunMatcher(job.bench_case);
    case RunKind::kPackets:
      break;
  }
  return RunCase(job.bench_case);
}

int Main(int argc, char** argv) {
  Options options;
  std::string bad;
  if (!ParseOptions(argc, argv, &options, &bad)) {
    std::fprintf(stderr, "bench-monitor: cannot use %s\n%s", bad.c_str(), kUsage);
    return 2;
  }
  std::vector<Job> jobs = JobsOf(options);
  if (options.matrix == MatrixKind::kQuick) jobs = JobsOf(QuickMatrix(), {10000});
  if (options.matrix == MatrixKind::kFull) jobs = JobsOf(FullMatrix(), {300, 10000, 100000});
  Results results(options.json_file);
  for (const Job& job : jobs) {
    const std::vector<Json> rows = Run(job);
    if (rows.empty()) return 2;
    results.Add(rows);
  }
  if (!results.Finish()) return 2;
  return results.exit_status();
}

}  // namespace
}  // namespace trumpet::bench

int main(int argc, char** argv) { return trumpet::bench::Main(argc, argv); }
