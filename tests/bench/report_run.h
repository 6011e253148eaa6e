// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ReportRun: what reports cost the packet thread.
//
// Predicates are decided by the agent, so the packet thread pushes a record (a partial) for every
// bucket that saw a packet, whether its event will fire or not.  Measured at each number of flows,
// by turns:
//
//   4,096 triggers, never and always firing      a partial per touched trigger
//   one event per 5-tuple, never and always      a partial per flow
//   one event without granularity                one partial; the sweep of the same flows alone
//
// The sweep of an epoch runs to its end before the next packet and is timed by itself.  Cost of a
// report: what the packet thread takes more when all fire, per report; of a partial: the whole
// sweep per partial (4,096 triggers), and what it takes more than the sweep of the flows alone (per
// 5-tuple).

#ifndef TRUMPET_TESTS_BENCH_REPORT_RUN_H
#define TRUMPET_TESTS_BENCH_REPORT_RUN_H

#include <vector>

#include "tests/bench/case_run.h"

namespace trumpet::bench {

// One object per variant, then one with the costs.  Empty when there is no memory.
std::vector<Json> RunReports(const BenchCase& bench_case);

}  // namespace trumpet::bench

#endif  // TRUMPET_TESTS_BENCH_REPORT_RUN_H
