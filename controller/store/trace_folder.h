// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What is in the folder of a SqliteTraceStore, which another process may be writing to.
//
// Each call opens the files anew: it sees all that was written before, and a file that goes
// meanwhile is as if it had gone before.
//
// Threads: any.  Calls wait for the disk; those that look for traces have up to three threads of
// their own meanwhile, which ask `may_go_on` one at a time.

#ifndef TRUMPET_CONTROLLER_STORE_TRACE_FOLDER_H
#define TRUMPET_CONTROLLER_STORE_TRACE_FOLDER_H

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "controller/store/trace_store.h"

namespace trumpet {

// As TraceStore::Find().  `may_go_on`, which may be empty, is asked many times a second.
Result<std::vector<StoredTrace>> FindInTraceFolder(const std::string& folder,
                                                   const TraceQuery& query,
                                                   std::function<bool()> may_go_on = {});

// What FindInTraceFolder() has to look at, at most, if it is asked for all pages.
struct TraceCost {
  uint64_t files = 0;
  uint64_t traces = 0;  // of the time that is asked for
  uint64_t bytes = 0;   // of these files
};
Result<TraceCost> EstimateInTraceFolder(const std::string& folder, const TraceQuery& query);

// Of all that is asked for, whatever the limit, in steps of time: by the begin of the step.
struct TraceCount {
  uint64_t traces = 0;
  uint64_t bytes = 0;  // of their packets
};
Result<std::map<Nanos, TraceCount>> CountInTraceFolder(const std::string& folder,
                                                       const TraceQuery& query, Nanos step,
                                                       std::function<bool()> may_go_on = {});
// Of all links, by link and time, from <= time < until.
Result<std::vector<LinkCounters>> LinksInTraceFolder(const std::string& folder, Nanos from,
                                                     Nanos until);

// The first and the last time of counters; the first is later if there are none.
Result<std::pair<Nanos, Nanos>> LinkTimesInTraceFolder(const std::string& folder);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_STORE_TRACE_FOLDER_H
