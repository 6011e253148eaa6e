// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// InstallRun: how long the packet thread is held up when triggers are added under full load.
//
// Every call of OnIdle() and OnBatch() is timed, in the three epochs before a new program takes
// effect and in the three after, in the middle of an epoch; a fresh monitor in each round.  The
// programs add 1 trigger (packets to a /24) and 4,096 (all over again) to 4,096.  Times are CPU
// times of the thread, less the cost of reading that clock.  As an interrupt counts like a stall,
// the largest is given of the quietest round, of the middle one and of the worst.  Besides, the
// time per packet of three epochs before, and of three that begin three epochs after.
//
// Afterwards every trigger must have counted exactly the packets from its instant on.

#ifndef TRUMPET_TESTS_BENCH_INSTALL_RUN_H
#define TRUMPET_TESTS_BENCH_INSTALL_RUN_H

#include <vector>

#include "tests/bench/case_run.h"

namespace trumpet::bench {

// One object per number of added triggers and call.  Empty when there is no memory.
std::vector<Json> RunInstall(const BenchCase& bench_case);

}  // namespace trumpet::bench

#endif  // TRUMPET_TESTS_BENCH_INSTALL_RUN_H
