// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// CaseRun: one case of the bench, all contenders by turns in one process.

#ifndef TRUMPET_TESTS_BENCH_CASE_RUN_H
#define TRUMPET_TESTS_BENCH_CASE_RUN_H

#include <string>
#include <vector>

#include "tests/bench/contender.h"
#include "tests/bench/traffic.h"
#include "tests/bench/triggers.h"

namespace trumpet::bench {

struct BenchCase {
  TrafficSpec traffic;
  TriggersSpec triggers;
  uint32_t repeats = 7;
  uint32_t epochs = 5;         // per sample
  uint32_t warm_epochs = 10;   // at least; many flows take more
  uint32_t batch = kBatch;     // frames per call of the monitor: a divisor of kBatch
  bool with_strawmen = false;  // match-first and match-later, which take long
};

// What sets the case apart from the base, in a few words: "10000 flows, random".
std::string LabelOf(const BenchCase& bench_case);

// Members of every JSON line of the case.
Json FieldsOf(const BenchCase& bench_case);

// One object per contender, the yardstick first.  Empty when there is no memory.
std::vector<Json> RunCase(const BenchCase& bench_case);

}  // namespace trumpet::bench

#endif  // TRUMPET_TESTS_BENCH_CASE_RUN_H
