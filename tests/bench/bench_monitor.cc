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
#include "tests/bench/matrix.h"
#include "tests/bench/options.h"
#include "tests/bench/results.h"

namespace trumpet::bench {
namespace {

std::vector<BenchCase> CasesOf(const Options& options) {
  std::vector<uint32_t> flows = options.flows;
  if (flows.empty()) flows = {10, 300, 1000, 10000, 30000, 100000};
  std::vector<BenchCase> cases;
  for (const uint32_t count : flows) {
    BenchCase bench_case = options.base;
    bench_case.traffic.flows = count;
    cases.push_back(bench_case);
  }
  return cases;
}

int Main(int argc, char** argv) {
  Options options;
  std::string bad;
  if (!ParseOptions(argc, argv, &options, &bad)) {
    std::fprintf(stderr, "bench-monitor: cannot use %s\n%s", bad.c_str(), kUsage);
    return 2;
  }
  Results results(options.json_file);
  std::vector<BenchCase> cases;
  if (options.matrix == MatrixKind::kNone) cases = CasesOf(options);
  if (options.matrix == MatrixKind::kQuick) cases = QuickMatrix();
  if (options.matrix == MatrixKind::kFull) cases = FullMatrix();
  for (const BenchCase& bench_case : cases) {
    const std::vector<Json> rows = RunCase(bench_case);
    if (rows.empty()) return 2;
    results.Add(rows);
  }
  if (!results.Finish()) return 2;
  return results.exit_status();
}

}  // namespace
}  // namespace trumpet::bench

int main(int argc, char** argv) { return trumpet::bench::Main(argc, argv); }
