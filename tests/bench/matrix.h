// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The cases that `make bench` and `make bench-quick` run.

#ifndef TRUMPET_TESTS_BENCH_MATRIX_H
#define TRUMPET_TESTS_BENCH_MATRIX_H

#include <vector>

#include "tests/bench/case_run.h"

namespace trumpet::bench {

// Section by section as the paper's authors' workload: flows, order, triggers, churn, frames,
// attack.
std::vector<BenchCase> FullMatrix();

// The four cases that have a goal, and one of each other kind.
std::vector<BenchCase> QuickMatrix();

// With how many flows the authors ran a churn of that many new flows per second: 0 if they did not.
uint32_t FlowsOfChurn(uint32_t new_flows_per_second);

}  // namespace trumpet::bench

#endif  // TRUMPET_TESTS_BENCH_MATRIX_H
