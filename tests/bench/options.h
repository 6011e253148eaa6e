// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Options of bench-monitor.

#ifndef TRUMPET_TESTS_BENCH_OPTIONS_H
#define TRUMPET_TESTS_BENCH_OPTIONS_H

#include <string>
#include <vector>

#include "tests/bench/case_run.h"

namespace trumpet::bench {

enum class RunKind { kPackets, kReports, kInstall, kMatcher };
enum class MatrixKind { kNone, kQuick, kFull };

struct Options {
  BenchCase base;               // for each number of flows
  std::vector<uint32_t> flows;  // empty: not said
  RunKind run = RunKind::kPackets;
  MatrixKind matrix = MatrixKind::kNone;
  std::string json_file;
};

extern const char kUsage[];

// False when an option is not understood; then it is in `*bad`.
bool ParseOptions(int argc, char** argv, Options* options, std::string* bad);

}  // namespace trumpet::bench

#endif  // TRUMPET_TESTS_BENCH_OPTIONS_H
