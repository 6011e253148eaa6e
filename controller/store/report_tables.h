// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ReportWriter, ReportReader: reports in a file of SQLite's.
//
//   report(number, source, bucket, start_ns, end_ns, flags, json)   by number; and by source,
//   number source(id, event, tenant) span(first, last, min_end_ns, max_end_ns)   of about 4,096
//   reports in a row counter(next_number)   no number below it is given again, whatever became of
//   its report
//
// Spans lead from times to numbers: reports come nearly in the order of their times, so an index of
// a row for thousands does what one of a row for each would.
//
// Threads: one each.  One writer a file, any readers.

#ifndef TRUMPET_CONTROLLER_STORE_REPORT_TABLES_H
#define TRUMPET_CONTROLLER_STORE_REPORT_TABLES_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/store/report_store.h"
#include "controller/store/sqlite_file.h"
#include "lib/base/status.h"
#include "lib/base/units.h"

namespace trumpet {

struct ReportFileLimits {
  uint64_t max_bytes = uint64_t{1} << 30;  // of the file; beside it lie up to 64 MiB of journal
  Nanos max_age = 7 * 24 * 3600 * kNanosPerSecond;
};

class ReportWriter {
 public:
  // Makes the tables if they are not there.  `*is_broken` if the file is none of ours, or no more.
  static Result<ReportWriter> Open(const std::string& path, const ReportFileLimits& limits,
                                   bool* is_broken);

  // The highest number that has been given, or may have been.
  uint64_t last_number() const { return reserved_number_; }

  // In one transaction: all or none.
  Status Write(const ReportRows& rows);
  // Removes the oldest reports that are too old or too many, at most `max_rows`; how many it did.
  Result<uint64_t> Expire(Nanos now, uint64_t max_rows);

  bool is_broken() const { return file_.is_broken(); }
  // Of the file, free pages not counted.
  uint64_t stored_bytes() const { return stored_bytes_; }

 private:
  struct Span {
    uint64_t first = 0;
    uint64_t last = 0;
    Nanos min_end = 0;
    Nanos max_end = 0;
    size_t count = 0;
  };
  // What a transaction that fails must leave as it was.
  struct Memory {
    Span span;
    uint64_t reserved_number;
  };

  ReportWriter(SqliteFile file, const ReportFileLimits& limits)
      : limits_(limits), file_(std::move(file)) {}
  Status MakeTables();
  Status Prepare();
  Status Insert(const ReportRow& row);
  Status AddToSpan(const ReportRow& row);
  Status WriteSpan();
  Status Reserve(uint64_t number);
  Result<int64_t> SourceId(const ReportRow& row);
  Status Measure();
  Result<uint64_t> LastToExpire(Nanos now, uint64_t max_rows);
  Status Remove(uint64_t last, uint64_t* count);

  ReportFileLimits limits_;
  SqliteFile file_;
  int64_t page_size_ = 4096;
  uint64_t reserved_number_ = 0;
  uint64_t stored_bytes_ = 0;
  uint64_t file_bytes_ = 0;  // free pages counted
  Span span_;
  std::map<std::pair<std::string, std::string>, int64_t> sources_;  // at most kMaxSources
  std::optional<SqliteStatement> insert_;
  std::optional<SqliteStatement> insert_source_;
  std::optional<SqliteStatement> find_source_;
  std::optional<SqliteStatement> put_span_;
  std::optional<SqliteStatement> set_counter_;
  std::optional<SqliteStatement> oldest_spans_;
  std::optional<SqliteStatement> remove_reports_;
  std::optional<SqliteStatement> remove_spans_;
};

class ReportReader {
 public:
  // A query takes at most this long.
  static constexpr Nanos kMaxQueryTime = 5 * kNanosPerSecond;

  static Result<ReportReader> Open(const std::string& path);
  // As ReportStore::Query().
  Result<ReportRows> Find(const ReportQuery& query);

 private:
  // Numbers between which all reports of the query are.
  struct Range {
    uint64_t after = 0;
    uint64_t before = UINT64_MAX;
  };

  explicit ReportReader(SqliteFile file) : file_(std::move(file)) {}
  Status NarrowByTime(const ReportQuery& query, Range* range);
  Result<std::vector<int64_t>> Sources(const ReportQuery& query);
  Status FindOfSource(const ReportQuery& query, std::optional<int64_t> source, Range* range,
                      ReportRows* rows);

  SqliteFile file_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_STORE_REPORT_TABLES_H
