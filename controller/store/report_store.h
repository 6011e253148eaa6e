// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ReportStore: the reports of the past.
//
// Reports have numbers that rise for ever, over restarts too: subscribers name the last one they
// have and get what came after.  Append() never waits for a disk: what waits is bounded, and what
// finds no place there, or on the disk, is counted as lost.
//
// Threads: one, that of the libevent loop; implementations have threads of their own for the disk.
// Lifetime: the end of the store writes what waits and drops calls back.

#ifndef TRUMPET_CONTROLLER_STORE_REPORT_STORE_H
#define TRUMPET_CONTROLLER_STORE_REPORT_STORE_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/status.h"
#include "lib/base/units.h"

namespace trumpet {

// A report as it is kept and told: what is asked for by columns, the rest as one line of JSON.
struct ReportRow {
  uint64_t number = 0;
  std::string event;
  std::string tenant;  // of the event
  std::string bucket;  // JSON object, as in the line
  Nanos start_ns = 0;
  Nanos end_ns = 0;
  bool is_clear = false;
  bool is_complete = true;
  std::string json;  // the whole report, without newline and without its number
};

using ReportRows = std::vector<std::shared_ptr<const ReportRow>>;

struct ReportQuery {
  Nanos from_ns = INT64_MIN;   // end_ns >= from_ns
  Nanos until_ns = INT64_MAX;  // end_ns < until_ns
  std::string event;           // empty: any
  std::string tenant;          // empty: any
  std::string bucket;          // empty: any; else the JSON object, exactly
  uint64_t after_number = 0;
  uint64_t before_number = UINT64_MAX;
  bool is_newest_first = false;
  size_t limit = 100;
};

struct ReportStoreCounters {
  uint64_t appended = 0;
  uint64_t written = 0;
  uint64_t lost = 0;            // no room in the queue, or the disk refused
  uint64_t expired = 0;         // removed by age or size
  uint64_t write_failures = 0;  // batches that the disk refused at first or for good
  size_t waiting = 0;
  uint64_t stored_bytes = 0;
  std::string problem;  // why writing fails now; empty: it does not
};

class ReportStore {
 public:
  using Done = std::function<void(Result<ReportRows>)>;

  virtual ~ReportStore() = default;
  // The highest number there is; known from the beginning.
  virtual uint64_t last_number() const = 0;
  virtual void Append(const ReportRows& rows) = 0;
  // `done` comes from the loop, once.
  virtual void Query(const ReportQuery& query, Done done) = 0;
  virtual ReportStoreCounters counters() const = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_STORE_REPORT_STORE_H
