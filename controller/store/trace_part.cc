// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/store/trace_part.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <system_error>

#include "controller/store/trace_sql.h"
#include "controller/store/trace_summary.h"

namespace trumpet {
namespace {

constexpr char kTables[] =
    "CREATE TABLE IF NOT EXISTS trace (id INTEGER PRIMARY KEY, revision INTEGER NOT NULL,"
    " start INTEGER NOT NULL, src TEXT NOT NULL, dst TEXT NOT NULL, protocol INTEGER NOT NULL,"
    " src_port INTEGER NOT NULL, dst_port INTEGER NOT NULL, fault INTEGER NOT NULL,"
    " drop_ppm INTEGER NOT NULL, last_switch INTEGER NOT NULL, hops INTEGER NOT NULL,"
    " marks INTEGER NOT NULL, bytes INTEGER NOT NULL, evidence TEXT NOT NULL,"
    " packet BLOB NOT NULL);"
    "CREATE TABLE IF NOT EXISTS hop (trace INTEGER NOT NULL, place INTEGER NOT NULL,"
    " switch INTEGER NOT NULL, tag INTEGER NOT NULL, ttl INTEGER NOT NULL, time INTEGER NOT NULL,"
    " PRIMARY KEY (trace, place)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS link (a INTEGER NOT NULL, b INTEGER NOT NULL,"
    " time INTEGER NOT NULL, c0 INTEGER, c1 INTEGER, c2 INTEGER, c3 INTEGER, c4 INTEGER,"
    " c5 INTEGER, c6 INTEGER, c7 INTEGER, c8 INTEGER, c9 INTEGER, PRIMARY KEY (a, b, time))"
    " WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS part (id INTEGER PRIMARY KEY CHECK (id = 1),"
    " begun INTEGER NOT NULL, sealed INTEGER NOT NULL);"
    "PRAGMA user_version = 1;";

// That of time has all that traces are asked for by, so that a question that no other index helps
// reads a tenth of the file, in order, and of the traces those it is for.
constexpr char kIndexes[] =
    "CREATE INDEX trace_of_flow ON trace (src, dst, src_port, dst_port, start);"
    "CREATE INDEX trace_of_receiver ON trace (dst, dst_port, start);"
    "CREATE INDEX trace_of_fault ON trace (fault, start, id, hops, bytes);"
    "CREATE INDEX trace_of_time ON trace (start, id, hops, marks, fault, protocol, src_port,"
    " dst_port, src, dst, bytes);"
    "CREATE INDEX hop_of_switch ON hop (switch, trace);"
    "UPDATE part SET sealed = 1;";

// Ids have no order, so that each batch changes a page in many places: with a cache for a file of
// an hour, and a longer log, each page is written once for many batches.
constexpr char kModes[] =
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 0;"
    "PRAGMA wal_autocheckpoint = 8192; PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY;";

Status RunInOne(SqliteFile* file, const std::function<Status()>& steps) {
  Status status = file->Run("BEGIN IMMEDIATE");
  if (!status.ok()) return status;
  status = steps();
  if (status.ok()) status = file->Run("COMMIT");
  if (status.ok()) return status;
  const Status rolled_back = file->Run("ROLLBACK");  // fails where SQLite has done it itself
  (void)rolled_back;
  return status;
}

Status ForEachRow(SqliteStatement* statement, const std::function<void()>& take) {
  Result<bool> has_row = statement->Step();
  for (; has_row.ok() && *has_row; has_row = statement->Step()) take();
  return has_row.ok() ? Status::Ok() : has_row.status();
}

// Traces that are asked for together lie anywhere in a file, for ids have no order.  Where many
// come and each waits for the disk, the whole file is read at once.
class WaitsForDisk {
 public:
  explicit WaitsForDisk(SqliteFile* file) : file_(file) {}

  void CountRow() {
    if (++rows_ != kRows) return;
    if (std::chrono::steady_clock::now() - begun_ > kRows * kSlowRow) file_->ReadAhead();
  }

 private:
  static constexpr int kRows = 500;
  static constexpr std::chrono::microseconds kSlowRow{50};  // of a cached one some 10

  SqliteFile* const file_;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  int rows_ = 0;
};

Status InsertOne(const StoredTrace& trace, SqliteStatement* insert, SqliteStatement* insert_hop) {
  const int64_t numbers[] = {ToSqlite(trace.id), trace.revision, trace.start};
  for (int i = 0; i < 3; ++i) insert->Bind(i + 1, numbers[i]);
  const FlowKey& flow = trace.flow;
  const std::string src = StoredAddress(flow.src_ip, flow.ip_family);
  const std::string dst = StoredAddress(flow.dst_ip, flow.ip_family);
  insert->Bind(4, std::string_view(src));
  insert->Bind(5, std::string_view(dst));
  const int64_t rest[] = {flow.protocol,
                          flow.src_port,
                          flow.dst_port,
                          trace.fault,
                          trace.drop_ppm,
                          trace.last_switch,
                          static_cast<int64_t>(trace.hops.size()),
                          trace.marks,
                          trace.wire_bytes};
  for (int i = 0; i < 9; ++i) insert->Bind(i + 6, rest[i]);
  insert->Bind(15, std::string_view(trace.evidence));
  insert->Bind(16, std::string_view(trace.packet));
  Status status = insert->Run();
  for (size_t i = 0; status.ok() && i < trace.hops.size(); ++i) {
    const StoredHop& hop = trace.hops[i];
    const int64_t values[] = {
        ToSqlite(trace.id), static_cast<int64_t>(i), hop.switch_number, hop.tag, hop.ttl, hop.time};
    for (int at = 0; at < 6; ++at) insert_hop->Bind(at + 1, values[at]);
    status = insert_hop->Run();
  }
  return status;
}

StoredTrace ReadTrace(const SqliteStatement& row) {
  StoredTrace trace;
  trace.id = static_cast<uint64_t>(row.Number(0));
  trace.revision = static_cast<uint32_t>(row.Number(1));
  trace.start = row.Number(2);
  FlowKey& flow = trace.flow;
  // What is no address of ours is told as none.
  const bool is_src = ReadStoredAddress(row.Text(3), &flow.src_ip, &flow.ip_family);
  const bool is_dst = ReadStoredAddress(row.Text(4), &flow.dst_ip, &flow.ip_family);
  if (!is_src || !is_dst) flow = FlowKey();
  flow.protocol = static_cast<uint8_t>(row.Number(5));
  flow.src_port = static_cast<uint16_t>(row.Number(6));
  flow.dst_port = static_cast<uint16_t>(row.Number(7));
  trace.fault = static_cast<uint8_t>(row.Number(8));
  trace.drop_ppm = static_cast<uint32_t>(row.Number(9));
  trace.last_switch = static_cast<uint16_t>(row.Number(10));
  trace.marks = static_cast<uint8_t>(row.Number(12));
  trace.wire_bytes = static_cast<uint32_t>(row.Number(13));
  trace.evidence = row.Text(14);
  trace.packet = row.Text(15);
  return trace;
}

// 0: no file of ours.
uint64_t NumberOf(const std::string& name) {
  const std::string prefix = kTracePartPrefix;
  const std::string suffix = kTracePartSuffix;
  const bool is_ours = name.size() > prefix.size() + suffix.size() &&
                       name.compare(0, prefix.size(), prefix) == 0 &&
                       name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0;
  return is_ours ? std::strtoull(name.c_str() + prefix.size(), nullptr, 10) : 0;
}

// The columns of a row of links, from the first.
LinkCounters ReadLink(const SqliteStatement& row) {
  LinkCounters link{static_cast<uint16_t>(row.Number(0)),
                    static_cast<uint16_t>(row.Number(1)),
                    row.Number(2),
                    {}};
  for (size_t i = 0; i < kLinkCounters; ++i) {
    link.values[i] = static_cast<uint64_t>(row.Number(static_cast<int>(i) + 3));
  }
  return link;
}

}  // namespace

Result<std::map<uint64_t, std::string>> ListTraceParts(const std::string& folder) {
  std::map<uint64_t, std::string> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const uint64_t number = NumberOf(entry.path().filename());
    if (number != 0) paths[number] = entry.path();
  }
  if (error) return Status::Error(folder + ": " + error.message());
  return paths;
}

Result<std::unique_ptr<TracePart>> TracePart::OpenForReading(const std::string& path,
                                                             uint64_t number) {
  Result<SqliteFile> file = SqliteFile::Open(path, SqliteFile::Mode::kRead);
  if (!file.ok()) return file.status();
  std::unique_ptr<TracePart> part(new TracePart(std::move(*file), path, number));
  const Result<int64_t> version = part->file_.Number("PRAGMA user_version", 0);
  if (!version.ok()) return version.status();
  if (*version != 1) return Status::Error(path + ": holds no traces of this release");
  return part;
}

Result<std::unique_ptr<TracePart>> TracePart::Open(const std::string& path, uint64_t number,
                                                   Nanos now, bool* is_broken) {
  *is_broken = false;
  Result<SqliteFile> file = SqliteFile::Open(path, SqliteFile::Mode::kCreate);
  if (!file.ok()) return file.status();
  std::unique_ptr<TracePart> part(new TracePart(std::move(*file), path, number));
  const Status status = part->MakeTables(now);
  *is_broken = part->file_.is_broken();
  if (!status.ok()) return status;
  return part;
}

Status TracePart::MakeTables(Nanos now) {
  const Result<int64_t> version = file_.Number("PRAGMA user_version", 0);
  if (!version.ok()) return version.status();
  if (*version > 1) return Status::Error(path_ + ": is of a later release");
  Status status = file_.Run(kModes);
  if (status.ok()) status = file_.Run(kTables);
  const std::string begin = "INSERT OR IGNORE INTO part VALUES (1, " + std::to_string(now) + ", 0)";
  if (status.ok()) status = file_.Run(begin.c_str());
  if (!status.ok()) return status;
  const Result<int64_t> begun = file_.Number("SELECT begun FROM part", now);
  const Result<int64_t> sealed = file_.Number("SELECT sealed FROM part", 0);
  if (!begun.ok()) return begun.status();
  if (!sealed.ok()) return sealed.status();
  begun_ = *begun;
  is_sealed_ = *sealed != 0;
  // Of an earlier file with this number, or of a sealing that was not to be.
  std::error_code ignored;
  if (!is_sealed_) std::filesystem::remove(SummaryPathOf(path_), ignored);
  return ignored ? Status::Error(SummaryPathOf(path_) + ": " + ignored.message()) : Status::Ok();
}

Status TracePart::Append(const std::vector<StoredTrace>& traces) {
  return RunInOne(&file_, [&] { return InsertAll(traces); });
}

Status TracePart::InsertAll(const std::vector<StoredTrace>& traces) {
  auto insert = SqliteStatement::Prepare(
      &file_,
      "INSERT OR REPLACE INTO trace VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
      " ?, ?)");
  auto insert_hop = SqliteStatement::Prepare(&file_, "INSERT INTO hop VALUES (?, ?, ?, ?, ?, ?)");
  auto revision = SqliteStatement::Prepare(&file_, "SELECT revision FROM trace WHERE id = ?");
  auto remove = SqliteStatement::Prepare(&file_, "DELETE FROM hop WHERE trace = ?");
  for (const auto* statement : {&insert, &insert_hop, &revision, &remove}) {
    if (!statement->ok()) return statement->status();
  }
  for (const StoredTrace& trace : traces) {
    revision->Bind(1, ToSqlite(trace.id));
    const Result<bool> is_there = revision->Step();
    const bool is_newer = is_there.ok() && *is_there && revision->Number(0) > trace.revision;
    revision->Rewind();
    if (!is_there.ok()) return is_there.status();
    if (is_newer) continue;
    remove->Bind(1, ToSqlite(trace.id));
    Status status = *is_there ? remove->Run() : Status::Ok();
    if (status.ok()) status = InsertOne(trace, &*insert, &*insert_hop);
    if (!status.ok()) return status;
  }
  return Status::Ok();
}

Status TracePart::Forget(uint64_t trace_id) {
  const std::string id = std::to_string(ToSqlite(trace_id));
  return RunInOne(&file_, [&] {
    return file_.Run(
        ("DELETE FROM trace WHERE id = " + id + "; DELETE FROM hop WHERE trace = " + id).c_str());
  });
}

Status TracePart::AppendCounters(const std::vector<LinkCounters>& counters) {
  std::string sql = "INSERT INTO link VALUES (?, ?, ?";
  std::string update;
  for (size_t i = 0; i < kLinkCounters; ++i) {
    sql += ", ?";
    const std::string name = "c" + std::to_string(i);
    update.append(i == 0 ? "" : ", ").append(name).append(" = ").append(name);
    update.append(" + excluded.").append(name);
  }
  auto insert =
      SqliteStatement::Prepare(&file_, sql + ") ON CONFLICT (a, b, time) DO UPDATE SET " + update);
  if (!insert.ok()) return insert.status();
  return RunInOne(&file_, [&] {
    for (const LinkCounters& link : counters) {
      insert->Bind(1, int64_t{link.from});
      insert->Bind(2, int64_t{link.to});
      insert->Bind(3, link.time);
      for (size_t i = 0; i < kLinkCounters; ++i) {
        insert->Bind(static_cast<int>(i) + 4, ToSqlite(link.values[i]));
      }
      const Status status = insert->Run();
      if (!status.ok()) return status;
    }
    return Status::Ok();
  });
}

Status TracePart::Find(const TraceQuery& query, std::vector<StoredTrace>* traces) {
  auto find = SqliteStatement::Prepare(&file_, TraceSearchSql(query));
  if (!find.ok()) return find.status();
  TraceQueryTexts texts;
  BindTraceQuery(query, &texts, &*find);
  const size_t first = traces->size();
  WaitsForDisk waits(&file_);
  const Status status = ForEachRow(&*find, [&] {
    traces->push_back(ReadTrace(*find));
    waits.CountRow();
  });
  return status.ok() ? ReadHops(traces, first) : status;
}

Status TracePart::Count(const TraceQuery& query, Nanos step, const TakeCount& take) {
  auto count = SqliteStatement::Prepare(&file_, TraceCountSql(query));
  if (!count.ok()) return count.status();
  TraceQueryTexts texts;
  BindTraceQuery(query, &texts, &*count);
  count->Bind(kTraceCountStep, step);
  return ForEachRow(&*count, [&] {
    take(count->Number(0), static_cast<uint64_t>(count->Number(1)),
         static_cast<uint64_t>(count->Number(2)));
  });
}

Result<uint64_t> TracePart::CountTraces(Nanos from, Nanos until) {
  const Result<int64_t> sealed = file_.Number("SELECT sealed FROM part", 0);
  if (!sealed.ok()) return sealed.status();
  auto count = SqliteStatement::Prepare(
      &file_, *sealed == 0 ? "SELECT count(*) FROM trace"
                           : "SELECT count(*) FROM trace WHERE start >= ?1 AND start < ?2");
  if (!count.ok()) return count.status();
  if (*sealed != 0) {
    count->Bind(1, from);
    count->Bind(2, until);
  }
  const Result<bool> has_row = count->Step();
  if (!has_row.ok()) return has_row.status();
  return static_cast<uint64_t>(count->Number(0));
}

void TracePart::AskWhetherToGoOn(std::function<bool()>* may_go_on) {
  constexpr int kSteps = 100000;  // a few milliseconds
  file_.LimitSteps(
      kSteps, [](void* asked) { return (*static_cast<std::function<bool()>*>(asked))(); },
      may_go_on);
}

Status TracePart::ReadHops(std::vector<StoredTrace>* traces, size_t first) {
  auto find = SqliteStatement::Prepare(
      &file_, "SELECT switch, tag, ttl, time FROM hop WHERE trace = ? ORDER BY place");
  if (!find.ok()) return find.status();
  for (size_t i = first; i < traces->size(); ++i) {
    StoredTrace& trace = (*traces)[i];
    find->Bind(1, ToSqlite(trace.id));
    const Status status = ForEachRow(&*find, [&] {
      trace.hops.push_back({find->Number(3), static_cast<uint32_t>(find->Number(1)),
                            static_cast<uint16_t>(find->Number(0)),
                            static_cast<uint8_t>(find->Number(2))});
    });
    find->Rewind();
    if (!status.ok()) return status;
  }
  return Status::Ok();
}

Status TracePart::FindCounters(uint16_t from_switch, uint16_t to_switch, Nanos from, Nanos until,
                               std::vector<LinkCounters>* counters) {
  auto find = SqliteStatement::Prepare(
      &file_, "SELECT * FROM link WHERE a = ? AND b = ? AND time >= ? AND time < ? ORDER BY time");
  if (!find.ok()) return find.status();
  const int64_t values[] = {from_switch, to_switch, from, until};
  for (int i = 0; i < 4; ++i) find->Bind(i + 1, values[i]);
  return ForEachRow(&*find, [&] { counters->push_back(ReadLink(*find)); });
}

Status TracePart::FindAllCounters(Nanos from, Nanos until, std::vector<LinkCounters>* counters) {
  auto find = SqliteStatement::Prepare(&file_, "SELECT * FROM link WHERE time >= ? AND time < ?");
  if (!find.ok()) return find.status();
  find->Bind(1, from);
  find->Bind(2, until);
  return ForEachRow(&*find, [&] { counters->push_back(ReadLink(*find)); });
}

Result<std::pair<Nanos, Nanos>> TracePart::LinkTimes() {
  const auto first = file_.Number("SELECT min(time) FROM link", INT64_MAX);
  if (!first.ok()) return first.status();
  const auto last = file_.Number("SELECT max(time) FROM link", INT64_MIN);
  if (!last.ok()) return last.status();
  return std::make_pair(*first, *last);
}

Status TracePart::Seal() {
  const Status status = RunInOne(&file_, [this] { return file_.Run(kIndexes); });
  is_sealed_ = status.ok();
  if (!status.ok()) return status;
  // Without a summary it is looked into more often than need be, and that is all.
  (void)WriteSummary().ok();
  // The log of a file that nothing comes to any more would stay as long as the file is open.
  return file_.Run(
      "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA cache_size = -2000; PRAGMA shrink_memory");
}

Status TracePart::WriteSummary() {
  auto all = SqliteStatement::Prepare(&file_, "SELECT id, start, src, dst FROM trace");
  if (!all.ok()) return all.status();
  TraceSummaryWriter summary;
  const Status status = ForEachRow(&*all, [&] {
    summary.Add(static_cast<uint64_t>(all->Number(0)), all->Number(1), all->Text(2), all->Text(3));
  });
  return status.ok() ? summary.Write(SummaryPathOf(path_)) : status;
}

void TracePart::Remove() {
  std::error_code ignored;  // it is tried again with the next
  for (const char* part : {"", "-wal", "-shm"}) std::filesystem::remove(path_ + part, ignored);
  std::filesystem::remove(SummaryPathOf(path_), ignored);
}

uint64_t TracePart::Bytes() const {
  uint64_t sum = 0;
  for (const std::string& part : {path_, path_ + "-wal", SummaryPathOf(path_)}) {
    std::error_code error;
    const uint64_t bytes = std::filesystem::file_size(part, error);
    if (!error) sum += bytes;
  }
  return sum;
}

}  // namespace trumpet
