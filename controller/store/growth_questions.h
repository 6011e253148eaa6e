// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What the benchmark of growing stores asks, and what has to come back.  Private to it.

#ifndef TRUMPET_CONTROLLER_STORE_GROWTH_QUESTIONS_H
#define TRUMPET_CONTROLLER_STORE_GROWTH_QUESTIONS_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "controller/store/trace_reader.h"

namespace trumpet::bench {

struct GrowthQuestion {
  const char* name;
  // GetTrace() of all that fits, in pages; or how many of them there are in each hour.
  bool is_count;
  // The query of the run that has this number, over `count` traces that begin `step` apart.
  std::function<TraceQuery(uint64_t run, uint64_t count, Nanos step)> query;
  int warm_runs;
};

const std::vector<GrowthQuestion>& GrowthQuestions();

// Asks to the end; how many there were.  Ends the program if there ought to be `expected` others.
uint64_t AskToTheEnd(TraceReader* reader, const GrowthQuestion& question, TraceQuery query);

// How many of the traces the query is for, by their numbers.
uint64_t ExpectedOf(const TraceQuery& query, uint64_t count, Nanos step);

}  // namespace trumpet::bench

#endif  // TRUMPET_CONTROLLER_STORE_GROWTH_QUESTIONS_H
