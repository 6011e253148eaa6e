// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/counter_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "controller/traces/trace_query.h"

namespace trumpet {
namespace {

using Sums = std::map<Nanos, CountedValues>;

constexpr size_t kTracesAtATime = 4096;

std::string FilePath(const std::string& folder) { return folder + "/counters.sqlite"; }
std::string TextPath(const std::string& folder) { return folder + "/counters.json"; }

Result<SqliteFile> OpenFile(const std::string& path) {
  auto file = SqliteFile::Open(path, SqliteFile::Mode::kCreate);
  if (!file.ok()) return file.status();
  // What the last second brought may be lost with the machine, not with the process.
  const Status made = file->Run(
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
      "CREATE TABLE IF NOT EXISTS cell (counter INTEGER NOT NULL, time INTEGER NOT NULL,"
      " value INTEGER NOT NULL, sum INTEGER NOT NULL, PRIMARY KEY (counter, time, value))"
      " WITHOUT ROWID");
  if (made.ok()) return file;
  if (!file->is_broken()) return made;
  return Status::Error("");
}

int64_t ToSqlite(uint64_t value) { return static_cast<int64_t>(value); }

// None: there is no row, or NULL.
Result<std::optional<int64_t>> NextNumber(SqliteFile* file, const char* sql, int64_t parameter) {
  auto statement = SqliteStatement::Prepare(file, sql);
  if (!statement.ok()) return statement.status();
  statement->Bind(1, parameter);
  const auto has_row = statement->Step();
  if (!has_row.ok()) return has_row.status();
  if (!*has_row || statement->Text(0).empty()) return std::optional<int64_t>();
  return std::optional<int64_t>(statement->Number(0));
}

// All but the last kMaxSteps of a counter.
Status ForgetOldSteps(SqliteFile* file, int64_t counter) {
  const std::string oldest =
      "SELECT DISTINCT time FROM cell WHERE counter = ?1 ORDER BY time DESC "
      "LIMIT 1 OFFSET " +
      std::to_string(CounterFile::kMaxSteps - 1);
  const auto time = NextNumber(file, oldest.c_str(), counter);
  if (!time.ok() || !*time) return time.status();
  auto forget = SqliteStatement::Prepare(file, "DELETE FROM cell WHERE counter = ?1 AND time < ?2");
  if (!forget.ok()) return forget.status();
  forget->Bind(1, counter);
  forget->Bind(2, **time);
  return forget->Run();
}

Result<Sums> SumsOfCounter(const std::string& folder, const CounterQuestion& question,
                           const TraceReader::MayGoOn& may_go_on) {
  Sums sums;
  std::error_code error;
  if (!std::filesystem::exists(FilePath(folder), error)) return sums;
  auto file = SqliteFile::Open(FilePath(folder), SqliteFile::Mode::kRead);
  if (!file.ok()) return file.status();
  auto select = SqliteStatement::Prepare(
      &*file, "SELECT time, value, sum FROM cell WHERE counter = ?1 AND time >= ?2 AND time < ?3");
  if (!select.ok()) return select.status();
  const Nanos step = question.step;
  const Nanos from = question.query.from <= 0 ? 0 : CellOf(question.query.from, step) * step;
  select->Bind(1, ToSqlite(*question.counter));
  select->Bind(2, from);
  select->Bind(3, question.query.until);
  auto has_row = select->Step();
  for (size_t row = 1; has_row.ok() && *has_row; has_row = select->Step(), ++row) {
    if (row % kTracesAtATime == 0 && may_go_on && !may_go_on()) {
      return Status::Error("nobody waits for the answer");
    }
    const Nanos begin = CellOf(select->Number(0), step) * step;
    sums[begin][static_cast<uint32_t>(select->Number(1))] +=
        static_cast<uint64_t>(select->Number(2));
  }
  if (!has_row.ok()) return has_row.status();
  return sums;
}

Result<Sums> SumsOfStored(TraceReader* reader, const CounterQuestion& question,
                          const TraceReader::MayGoOn& may_go_on, TraceReader::Missing* missing) {
  Sums sums;
  TraceQuery query = question.query;
  query.behind.reset();  // a step, and no trace
  query.limit = kTracesAtATime;
  for (size_t count = 0; count < kMaxTracesAsked; count += kTracesAtATime) {
    const auto found = reader->Find(query, may_go_on, missing);
    if (!found.ok()) return found.status();
    for (const StoredTrace& trace : *found) {
      CountTrace(trace, &sums[CellOf(trace.start, question.step) * question.step]);
    }
    if (found->size() < query.limit) return sums;
    query.behind = {found->back().start, found->back().id};
  }
  return Status::Error("there are more than " + std::to_string(kMaxTracesAsked) +
                       " traces; ask for a shorter time");
}

}  // namespace

Result<CounterFile> CounterFile::Open(const std::string& folder) {
  const std::string path = FilePath(folder);
  auto file = OpenFile(path);
  if (!file.ok() && file.message().empty()) {
    std::error_code error;
    std::filesystem::rename(path, path + ".broken", error);
    for (const char* const beside : {"-wal", "-shm"}) std::filesystem::remove(path + beside, error);
    file = OpenFile(path);
  }
  if (file.ok()) return CounterFile(std::move(*file));
  return Status::Error(file.message().empty() ? path + ": is broken" : file.message());
}

Status CounterFile::Append(const std::vector<CounterRow>& rows) {
  Status status = file_.Run("BEGIN IMMEDIATE");
  if (!status.ok()) return status;
  {
    auto add = SqliteStatement::Prepare(&file_,
                                        "INSERT INTO cell VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO "
                                        "UPDATE SET sum = sum + excluded.sum");
    status = add.status();
    for (size_t i = 0; status.ok() && i < rows.size(); ++i) {
      const CounterRow& row = rows[i];
      const int64_t numbers[] = {ToSqlite(row.counter), row.time, row.value, ToSqlite(row.sum)};
      for (int at = 0; at < 4; ++at) add->Bind(at + 1, numbers[at]);
      status = add->Run();
    }
  }
  if (status.ok()) status = file_.Run("COMMIT");
  if (status.ok()) return status;
  const Status rolled_back = file_.Run("ROLLBACK");  // fails where SQLite has done it itself
  (void)rolled_back;
  return status;
}

Status CounterFile::Expire(Nanos now, Nanos max_age) {
  auto age = SqliteStatement::Prepare(&file_, "DELETE FROM cell WHERE time < ?1");
  if (!age.ok()) return age.status();
  age->Bind(1, now - max_age);
  const Status aged = age->Run();
  if (!aged.ok()) return aged;
  for (int64_t from = INT64_MIN;;) {
    const auto counter =
        NextNumber(&file_, "SELECT MIN(counter) FROM cell WHERE counter >= ?1", from);
    if (!counter.ok() || !*counter) return counter.status();
    const Status cut = ForgetOldSteps(&file_, **counter);
    if (!cut.ok() || **counter == INT64_MAX) return cut;
    from = **counter + 1;
  }
}

Result<std::vector<TraceRecord>> ReadCounters(const std::string& folder, TraceReader* reader,
                                              const CounterQuestion& question,
                                              const TraceReader::MayGoOn& may_go_on,
                                              TraceReader::Missing* missing) {
  const auto sums = question.counter ? SumsOfCounter(folder, question, may_go_on)
                                     : SumsOfStored(reader, question, may_go_on, missing);
  // Each page may have found the same ones away.
  if (missing != nullptr) {
    std::sort(missing->begin(), missing->end());
    missing->erase(std::unique(missing->begin(), missing->end()), missing->end());
  }
  if (!sums.ok()) return sums.status();
  std::vector<TraceRecord> records;
  for (const auto& [begin, values] : *sums) {
    if (records.size() == question.query.limit) break;
    const std::pair<Nanos, uint64_t> place{begin, 0};
    if (question.query.behind && place <= *question.query.behind) continue;
    nlohmann::ordered_json json = nlohmann::ordered_json::object();
    for (const auto& [value, sum] : values) {
      if (sum > 0) json[CountedName(value)] = sum;
    }
    records.push_back({begin, 0, json.dump()});
  }
  return records;
}

std::string LoadCounterText(const std::string& folder) {
  std::ifstream file(TextPath(folder));
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Status SaveCounterText(const std::string& text, const std::string& folder) {
  const std::string path = TextPath(folder);
  std::ofstream file(path + ".part");
  file << text;
  file.close();
  if (file && std::rename((path + ".part").c_str(), path.c_str()) == 0) return Status::Ok();
  return Status::Error(path + ": cannot be written: " + std::strerror(errno));
}

}  // namespace trumpet
