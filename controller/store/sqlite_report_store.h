// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// SqliteReportStore: reports in a file, which keeps itself within an age and a size.
//
// One thread writes, in transactions of what has come meanwhile, and one answers queries, so that
// neither waits for the other.  A query sees what was appended before it.
//
// Faults: while the disk refuses (full, read-only, broken), what comes waits in the queue and is
// tried again every second; what finds no place there is lost, and counted.  A file that is corrupt
// or none of ours is set aside under another name, and a new one begun.  `problem` of the counters
// says what is wrong now; `log` tells when it begins and ends.
//
// Lifetime: as ReportStore; `base` must outlive it.  The end writes what waits, if the disk takes
// it.
// Memory: a queue of `max_waiting` reports and `max_waiting_bytes`; kMaxQueries answers of at most
// kMaxLimit reports.

#ifndef TRUMPET_CONTROLLER_STORE_SQLITE_REPORT_STORE_H
#define TRUMPET_CONTROLLER_STORE_SQLITE_REPORT_STORE_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "controller/store/report_store.h"
#include "controller/store/report_tables.h"
#include "lib/base/units.h"

struct event_base;

namespace trumpet {

struct SqliteReportStoreOptions {
  std::string path;
  ReportFileLimits limits;
  size_t max_waiting = 200000;
  size_t max_waiting_bytes = size_t{128} << 20;
  Nanos retry_after = kNanosPerSecond;
  std::function<Nanos()> unix_now;  // called by any thread; empty: the system's clock
  std::function<void(const char* level, const std::string& text)> log;  // from the loop
};

class SqliteReportStore final : public ReportStore {
 public:
  static constexpr size_t kMaxLimit = 10000;  // of a query
  static constexpr size_t kMaxQueries = 64;   // that are not answered yet

  // Opens the file; if it cannot, reports wait until it can.
  SqliteReportStore(event_base* base, SqliteReportStoreOptions options);
  ~SqliteReportStore() override;

  uint64_t last_number() const override;
  void Append(const ReportRows& rows) override;
  void Query(const ReportQuery& query, Done done) override;
  ReportStoreCounters counters() const override;

 private:
  class Threads;
  std::unique_ptr<Threads> threads_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_STORE_SQLITE_REPORT_STORE_H
