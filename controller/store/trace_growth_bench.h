// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What writing and asking cost as a store of traces grows.  Part of trace_store_bench.

#ifndef TRUMPET_CONTROLLER_STORE_TRACE_GROWTH_BENCH_H
#define TRUMPET_CONTROLLER_STORE_TRACE_GROWTH_BENCH_H

#include <string>
#include <vector>

namespace trumpet::bench {

struct GrowthOptions {
  std::vector<double> gigabytes;  // sizes to fill the store to, the least first, and to ask at
  bool is_servers = false;        // a server of ClickHouse; else files
  // Where the store is; it stays, and is gone on with.  Empty: a folder that goes in the end.
  std::string folder;
  bool is_filled = true;  // else what is there is asked
  bool is_asked = true;   // else it is filled only
  std::string json;       // a line for each size is appended; empty: none
};

// Ends the program with an error if something is wrong, an answer among it.
void MeasureGrowth(const GrowthOptions& options);

}  // namespace trumpet::bench

#endif  // TRUMPET_CONTROLLER_STORE_TRACE_GROWTH_BENCH_H
