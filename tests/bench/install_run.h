// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// InstallRun: what the packet thread is held up by when triggers are added or removed under full
// load (no idle call ever comes).
//
// Each batch is timed by the time stamp counter, without the bounded steps of the sweep: three
// epochs of them before a new program, then six from its handing over on, an epoch before its
// instant, as the agent does; a fresh monitor in each round.  All rounds do the same work batch by
// batch, so the least time of a batch over the rounds is free of interrupts and of other processes
// (`least_`), unless they come always.  The stall is how much longer the longest batch takes than a
// usual one of the new program.  After each batch comes some work that needs no memory, the
// control: its figures are what the machine does to any work.
//
// Afterwards every trigger must have counted exactly the packets of its time.

#ifndef TRUMPET_TESTS_BENCH_INSTALL_RUN_H
#define TRUMPET_TESTS_BENCH_INSTALL_RUN_H

#include <vector>

#include "tests/bench/case_run.h"

namespace trumpet::bench {

// One object per change of programs.  Empty when there is no memory.
std::vector<Json> RunInstall(const BenchCase& bench_case);

}  // namespace trumpet::bench

#endif  // TRUMPET_TESTS_BENCH_INSTALL_RUN_H
