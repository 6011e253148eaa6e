// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// CounterFile: the sums of named counters in one file of a store's folder; and the answers to who
// asks for them, or for the same of traces that are stored.
//
// Sums of the same step add up.  Steps that are older than `max_age`, and all but the last
// kMaxSteps of a counter, go.
//
// Threads: one at a time, so it is a worker's; the functions that read: any.  Calls wait for the
// disk.

#ifndef TRUMPET_CONTROLLER_TRACES_COUNTER_FILE_H
#define TRUMPET_CONTROLLER_TRACES_COUNTER_FILE_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "controller/store/sqlite_file.h"
#include "controller/store/trace_reader.h"
#include "controller/traces/counter_book.h"

namespace trumpet {

class CounterFile {
 public:
  static constexpr int64_t kMaxSteps = 20000;

  // What is broken is set aside, and a new one begun.
  static Result<CounterFile> Open(const std::string& folder);

  // All or none.
  Status Append(const std::vector<CounterRow>& rows);
  Status Expire(Nanos now, Nanos max_age);

 private:
  explicit CounterFile(SqliteFile file) : file_(std::move(file)) {}

  SqliteFile file_;
};

struct CounterQuestion {
  std::optional<uint64_t> counter;  // none: of the traces that are stored
  // Of a counter only the time and where to go on mean something.
  TraceQuery query;
  Nanos step = 60 * kNanosPerSecond;  // of a counter: a multiple of its own
};

// Records by begin of the step, at most query.limit: {"packets":1,"bytes":58,...}, what is 0 left
// out.  `reader` has the traces that are stored.  A step that has begun before `from` is told if it
// ends behind it.
Result<std::vector<TraceRecord>> ReadCounters(const std::string& folder, TraceReader* reader,
                                              const CounterQuestion& question,
                                              const TraceReader::MayGoOn& may_go_on,
                                              TraceReader::Missing* missing);

// The counters that there are, as they were told: for a start without the controller.  Empty: none
// were.
std::string LoadCounterText(const std::string& folder);
Status SaveCounterText(const std::string& text, const std::string& folder);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACES_COUNTER_FILE_H
