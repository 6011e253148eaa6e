// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <ctime>
#include <utility>

#include "controller/store/report_tables.h"

namespace trumpet {
namespace {

Nanos MonotonicNow() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * kNanosPerSecond + now.tv_nsec;
}

int64_t ToSqlite(uint64_t number) {
  return static_cast<int64_t>(std::min(number, uint64_t{INT64_MAX}));
}

bool IsBeforeDeadline(void* deadline) { return MonotonicNow() < *static_cast<Nanos*>(deadline); }

std::shared_ptr<const ReportRow> ReadRow(const SqliteStatement& statement) {
  auto row = std::make_shared<ReportRow>();
  row->number = static_cast<uint64_t>(statement.Number(0));
  row->event = statement.Text(1);
  row->tenant = statement.Text(2);
  row->bucket = statement.Text(3);
  row->start_ns = statement.Number(4);
  row->end_ns = statement.Number(5);
  row->is_clear = (statement.Number(6) & 1) != 0;
  row->is_complete = (statement.Number(6) & 2) != 0;
  row->json = statement.Text(7);
  return row;
}

}  // namespace

Result<ReportReader> ReportReader::Open(const std::string& path) {
  Result<SqliteFile> file = SqliteFile::Open(path, SqliteFile::Mode::kRead);
  if (!file.ok()) return file.status();
  return ReportReader(std::move(*file));
}

Status ReportReader::NarrowByTime(const ReportQuery& query, Range* range) {
  *range = {query.after_number, query.before_number};
  const struct {
    const char* sql;
    Nanos time;
    bool is_needed;
  } bounds[] = {{"SELECT min(first) FROM span WHERE max_end_ns >= ?", query.from_ns,
                 query.from_ns != INT64_MIN},
                {"SELECT max(last) FROM span WHERE min_end_ns < ?", query.until_ns,
                 query.until_ns != INT64_MAX}};
  for (const auto& bound : bounds) {
    if (!bound.is_needed) continue;
    Result<SqliteStatement> statement = SqliteStatement::Prepare(&file_, bound.sql);
    if (!statement.ok()) return statement.status();
    statement->Bind(1, bound.time);
    const Result<bool> has_row = statement->Step();
    if (!has_row.ok()) return has_row.status();
    const auto number = static_cast<uint64_t>(statement->Number(0));  // 0: there is none
    if (&bound == &bounds[1]) {
      range->before = std::min(range->before, number + 1);
    } else if (number == 0) {
      range->before = 0;
    } else {
      range->after = std::max(range->after, number - 1);
    }
  }
  return Status::Ok();
}

Result<std::vector<int64_t>> ReportReader::Sources(const ReportQuery& query) {
  std::string sql = "SELECT id FROM source WHERE 1";
  if (!query.event.empty()) sql += " AND event = ?1";
  if (!query.tenant.empty()) sql += " AND tenant = ?2";
  Result<SqliteStatement> statement = SqliteStatement::Prepare(&file_, sql);
  if (!statement.ok()) return statement.status();
  statement->Bind(1, std::string_view(query.event));
  statement->Bind(2, std::string_view(query.tenant));
  std::vector<int64_t> ids;
  Result<bool> has_row = statement->Step();
  for (; has_row.ok() && *has_row; has_row = statement->Step()) {
    ids.push_back(statement->Number(0));
  }
  if (!has_row.ok()) return has_row.status();
  return ids;
}

// Adds what it finds to `rows`, keeps the first `limit`, and draws the range in to what could still
// be among them.
Status ReportReader::FindOfSource(const ReportQuery& query, std::optional<int64_t> source,
                                  Range* range, ReportRows* rows) {
  std::string sql =
      "SELECT number, event, tenant, bucket, start_ns, end_ns, flags, json FROM report"
      " JOIN source ON source.id = report.source WHERE number > ?1 AND number < ?2"
      " AND end_ns >= ?3 AND end_ns < ?4";
  if (source) sql += " AND report.source = ?5";
  if (!query.bucket.empty()) sql += " AND bucket = ?6";
  sql += std::string(" ORDER BY number") + (query.is_newest_first ? " DESC" : "") + " LIMIT ?7";
  Result<SqliteStatement> statement = SqliteStatement::Prepare(&file_, sql);
  if (!statement.ok()) return statement.status();
  statement->Bind(1, ToSqlite(range->after));
  statement->Bind(2, ToSqlite(range->before));
  statement->Bind(3, query.from_ns);
  statement->Bind(4, query.until_ns);
  statement->Bind(5, source.value_or(0));
  statement->Bind(6, std::string_view(query.bucket));
  statement->Bind(7, static_cast<int64_t>(query.limit));
  Result<bool> has_row = statement->Step();
  for (; has_row.ok() && *has_row; has_row = statement->Step())
    rows->push_back(ReadRow(*statement));
  if (!has_row.ok()) return has_row.status();
  std::sort(rows->begin(), rows->end(), [&](const auto& a, const auto& b) {
    return query.is_newest_first ? a->number > b->number : a->number < b->number;
  });
  if (rows->size() < query.limit) return Status::Ok();
  rows->resize(query.limit);
  if (query.is_newest_first) {
    range->after = rows->back()->number;
  } else {
    range->before = rows->back()->number;
  }
  return Status::Ok();
}

Result<ReportRows> ReportReader::Find(const ReportQuery& query) {
  ReportRows rows;
  if (query.limit == 0) return rows;
  Nanos deadline = MonotonicNow() + kMaxQueryTime;
  file_.LimitSteps(100000, IsBeforeDeadline, &deadline);
  Range range;
  Status status = NarrowByTime(query, &range);
  if (!status.ok()) return status;
  if (query.event.empty() && query.tenant.empty()) {
    status = FindOfSource(query, std::nullopt, &range, &rows);
  } else {
    const Result<std::vector<int64_t>> sources = Sources(query);
    if (!sources.ok()) return sources.status();
    for (const int64_t source : *sources) {
      if (status.ok()) status = FindOfSource(query, source, &range, &rows);
    }
  }
  if (!status.ok() && MonotonicNow() >= deadline) {
    return Status::Error("the query took too long; ask for less time, or for one event");
  }
  if (!status.ok()) return status;
  return rows;
}

}  // namespace trumpet
