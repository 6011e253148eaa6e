// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <utility>

#include "controller/store/report_tables.h"

namespace trumpet {
namespace {

constexpr size_t kReportsPerSpan = 4096;
constexpr Nanos kTimePerSpan = 10 * kNanosPerSecond;
// Ends of one span: what a wrong clock told is in spans of its own.
constexpr Nanos kMostApart = 3600 * kNanosPerSecond;
// Numbers are reserved so many at a time, so that a kill costs a gap and no number twice.
constexpr uint64_t kNumbersReserved = 1000000;
constexpr size_t kMaxSources = 65536;
// When the file is filled so far, the oldest reports make room.
constexpr uint64_t kFillPercent = 90;

constexpr char kTables[] =
    "CREATE TABLE IF NOT EXISTS report (number INTEGER PRIMARY KEY, source INTEGER NOT NULL,"
    " bucket TEXT NOT NULL, start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL,"
    " flags INTEGER NOT NULL, json TEXT NOT NULL);"
    "CREATE INDEX IF NOT EXISTS report_of_source ON report (source, number);"
    "CREATE TABLE IF NOT EXISTS source (id INTEGER PRIMARY KEY, event TEXT NOT NULL,"
    " tenant TEXT NOT NULL, UNIQUE (event, tenant));"
    "CREATE TABLE IF NOT EXISTS span (first INTEGER PRIMARY KEY, last INTEGER NOT NULL,"
    " min_end_ns INTEGER NOT NULL, max_end_ns INTEGER NOT NULL);"
    "CREATE TABLE IF NOT EXISTS counter (id INTEGER PRIMARY KEY CHECK (id = 1),"
    " next_number INTEGER NOT NULL);"
    "PRAGMA user_version = 1;";

// Hosts say when a report ends: it may be any time.
bool IsLongAfter(Nanos end, Nanos other, Nanos by) {
  Nanos apart = 0;
  return end > other && (__builtin_sub_overflow(end, other, &apart) || apart > by);
}

Status PrepareInto(SqliteFile* file, const char* sql, std::optional<SqliteStatement>* out) {
  Result<SqliteStatement> statement = SqliteStatement::Prepare(file, sql);
  if (!statement.ok()) return statement.status();
  out->emplace(std::move(*statement));
  return Status::Ok();
}

}  // namespace

Result<ReportWriter> ReportWriter::Open(const std::string& path, const ReportFileLimits& limits,
                                        bool* is_broken) {
  *is_broken = false;
  Result<SqliteFile> file = SqliteFile::Open(path, SqliteFile::Mode::kCreate);
  if (!file.ok()) return file.status();
  ReportWriter writer(std::move(*file), limits);
  Status status = writer.MakeTables();
  if (status.ok()) {
    const Result<int64_t> next = writer.file_.Number("SELECT next_number FROM counter", 1);
    const Result<int64_t> last = writer.file_.Number("SELECT max(number) FROM report", 0);
    status = !next.ok() ? next.status() : last.status();
    if (status.ok()) {
      writer.reserved_number_ = static_cast<uint64_t>(std::max(*next - 1, *last));
    }
  }
  if (status.ok()) status = writer.Measure();
  *is_broken = writer.is_broken();
  if (!status.ok()) return status;
  return writer;
}

Status ReportWriter::MakeTables() {
  // The first that reads the file; a new one is not made WAL if it cannot be written.
  const Result<int64_t> version = file_.Number("PRAGMA user_version", 0);
  if (!version.ok()) return version.status();
  if (*version > 1) {
    return Status::Error("the reports' file is of a later release (version " +
                         std::to_string(*version) + ")");
  }
  Status status = file_.Run(
      "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
      "PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 67108864;"
      "PRAGMA cache_size = -32768; PRAGMA temp_store = MEMORY;");
  if (status.ok()) status = file_.Run(kTables);
  const Result<int64_t> page_size = file_.Number("PRAGMA page_size", 4096);
  if (status.ok() && page_size.ok()) page_size_ = *page_size;
  const auto pages = limits_.max_bytes / static_cast<uint64_t>(page_size_);
  if (status.ok()) {
    status = file_.Run(("PRAGMA max_page_count = " + std::to_string(pages)).c_str());
  }
  return status;
}

// Statements point to the file, so this waits until the writer is where it stays.
Status ReportWriter::Prepare() {
  if (insert_) return Status::Ok();
  const std::pair<const char*, std::optional<SqliteStatement>*> statements[] = {
      {"INSERT OR REPLACE INTO report VALUES (?, ?, ?, ?, ?, ?, ?)", &insert_},
      {"INSERT INTO source (event, tenant) VALUES (?, ?)", &insert_source_},
      {"SELECT id FROM source WHERE event = ? AND tenant = ?", &find_source_},
      {"INSERT OR REPLACE INTO span VALUES (?, ?, ?, ?)", &put_span_},
      {"INSERT OR REPLACE INTO counter VALUES (1, ?)", &set_counter_},
      {"SELECT first, last, max_end_ns FROM span ORDER BY first", &oldest_spans_},
      {"DELETE FROM report WHERE number <= ?", &remove_reports_},
      {"DELETE FROM span WHERE last <= ?", &remove_spans_},
  };
  for (auto at = std::rbegin(statements); at != std::rend(statements); ++at) {
    const Status status = PrepareInto(&file_, at->first, at->second);
    if (!status.ok()) return status;
  }
  return Status::Ok();
}

Status ReportWriter::Write(const ReportRows& rows) {
  Status status = Prepare();
  if (!status.ok()) return status;
  const Memory before = {span_, reserved_number_};
  status = file_.Run("BEGIN IMMEDIATE");
  if (!status.ok()) return status;
  if (!rows.empty()) status = Reserve(rows.back()->number);
  for (size_t i = 0; status.ok() && i < rows.size(); ++i) status = Insert(*rows[i]);
  if (status.ok()) status = WriteSpan();
  if (status.ok()) status = file_.Run("COMMIT");
  if (status.ok()) return Measure();
  const Status rolled_back = file_.Run("ROLLBACK");  // fails where SQLite has done it itself
  (void)rolled_back;
  span_ = before.span;
  reserved_number_ = before.reserved_number;
  sources_.clear();
  return status;
}

Status ReportWriter::Reserve(uint64_t number) {
  if (number <= reserved_number_) return Status::Ok();
  reserved_number_ = number + kNumbersReserved;
  set_counter_->Bind(1, static_cast<int64_t>(reserved_number_ + 1));
  return set_counter_->Run();
}

Status ReportWriter::Insert(const ReportRow& row) {
  const Result<int64_t> source = SourceId(row);
  if (!source.ok()) return source.status();
  insert_->Bind(1, static_cast<int64_t>(row.number));
  insert_->Bind(2, *source);
  insert_->Bind(3, std::string_view(row.bucket));
  insert_->Bind(4, row.start_ns);
  insert_->Bind(5, row.end_ns);
  insert_->Bind(6, int64_t{row.is_clear} | int64_t{row.is_complete} << 1);
  insert_->Bind(7, std::string_view(row.json));
  const Status status = insert_->Run();
  return status.ok() ? AddToSpan(row) : status;
}

Result<int64_t> ReportWriter::SourceId(const ReportRow& row) {
  const auto key = std::make_pair(row.event, row.tenant);
  const auto found = sources_.find(key);
  if (found != sources_.end()) return found->second;
  for (const bool is_first : {true, false}) {
    find_source_->Bind(1, std::string_view(row.event));
    find_source_->Bind(2, std::string_view(row.tenant));
    const Result<bool> is_there = find_source_->Step();
    const int64_t id = is_there.ok() && *is_there ? find_source_->Number(0) : 0;
    find_source_->Rewind();
    if (!is_there.ok()) return is_there.status();
    if (*is_there) {
      if (sources_.size() >= kMaxSources) sources_.clear();
      sources_[key] = id;
      return id;
    }
    if (!is_first) break;
    insert_source_->Bind(1, std::string_view(row.event));
    insert_source_->Bind(2, std::string_view(row.tenant));
    const Status status = insert_source_->Run();
    if (!status.ok()) return status;
  }
  return Status::Error("an event's name was not kept");
}

Status ReportWriter::AddToSpan(const ReportRow& row) {
  const bool is_apart = IsLongAfter(row.end_ns, span_.min_end, kTimePerSpan) ||
                        IsLongAfter(span_.max_end, row.end_ns, kMostApart);
  const bool is_full = span_.count >= kReportsPerSpan || (span_.count > 0 && is_apart);
  if (is_full) {
    const Status status = WriteSpan();
    if (!status.ok()) return status;
    span_ = Span();
  }
  if (span_.count++ == 0) span_ = {row.number, row.number, row.end_ns, row.end_ns, 1};
  span_.last = row.number;
  span_.min_end = std::min(span_.min_end, row.end_ns);
  span_.max_end = std::max(span_.max_end, row.end_ns);
  return Status::Ok();
}

Status ReportWriter::WriteSpan() {
  if (span_.count == 0) return Status::Ok();
  put_span_->Bind(1, static_cast<int64_t>(span_.first));
  put_span_->Bind(2, static_cast<int64_t>(span_.last));
  put_span_->Bind(3, span_.min_end);
  put_span_->Bind(4, span_.max_end);
  return put_span_->Run();
}

Status ReportWriter::Measure() {
  const Result<int64_t> pages = file_.Number("PRAGMA page_count", 0);
  const Result<int64_t> free_pages = file_.Number("PRAGMA freelist_count", 0);
  if (!pages.ok()) return pages.status();
  if (!free_pages.ok()) return free_pages.status();
  stored_bytes_ = static_cast<uint64_t>((*pages - *free_pages) * page_size_);
  file_bytes_ = static_cast<uint64_t>(*pages * page_size_);
  return Status::Ok();
}

// Whole spans go; 0: none has to.  What ends later than now was told by a clock that was wrong, and
// says nothing of its age: it goes when what came after it is old.
Result<uint64_t> ReportWriter::LastToExpire(Nanos now, uint64_t max_rows) {
  const bool is_full = stored_bytes_ > limits_.max_bytes / 100 * kFillPercent;
  uint64_t last = 0;
  uint64_t last_of_enough = 0;
  uint64_t rows = 0;
  Result<bool> has_row = oldest_spans_->Step();
  for (; has_row.ok() && *has_row; has_row = oldest_spans_->Step()) {
    const Nanos end = oldest_spans_->Number(2);
    if (rows < max_rows) last_of_enough = static_cast<uint64_t>(oldest_spans_->Number(1));
    rows += static_cast<uint64_t>(oldest_spans_->Number(1) - oldest_spans_->Number(0) + 1);
    if (end > now && !is_full) continue;
    if (end >= now - limits_.max_age && !is_full) break;
    last = last_of_enough;
    if (rows >= max_rows) break;
  }
  oldest_spans_->Rewind();
  if (!has_row.ok()) return has_row.status();
  return last;
}

Status ReportWriter::Remove(uint64_t last, uint64_t* count) {
  Status status = file_.Run("BEGIN IMMEDIATE");
  if (!status.ok()) return status;
  remove_reports_->Bind(1, static_cast<int64_t>(last));
  status = remove_reports_->Run();
  *count = static_cast<uint64_t>(file_.changed_rows());
  remove_spans_->Bind(1, static_cast<int64_t>(last));
  if (status.ok()) status = remove_spans_->Run();
  if (status.ok()) status = file_.Run("COMMIT");
  if (!status.ok()) {
    const Status rolled_back = file_.Run("ROLLBACK");
    (void)rolled_back;
  }
  return status;
}

Result<uint64_t> ReportWriter::Expire(Nanos now, uint64_t max_rows) {
  Status status = Prepare();
  if (!status.ok()) return status;
  const Result<uint64_t> last = LastToExpire(now, max_rows);
  if (!last.ok()) return last.status();
  if (*last == 0) {
    // The limit is less than it was: the file gives pages back, some at a time.
    if (file_bytes_ > limits_.max_bytes) status = file_.Run("PRAGMA incremental_vacuum(2000)");
    if (status.ok()) status = Measure();
    if (!status.ok()) return status;
    return uint64_t{0};
  }
  uint64_t count = 0;
  status = Remove(*last, &count);
  // What was removed may be the span that is still being filled.
  if (status.ok() && span_.last <= *last) span_ = Span();
  if (status.ok()) status = Measure();
  if (!status.ok()) return status;
  return count;
}

}  // namespace trumpet
