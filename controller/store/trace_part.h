// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// One file of SqliteTraceStore.  Private to it.
//
//   trace(id, revision, start, src, dst, protocol, ports, fault, ...)
//   hop(trace, place, switch, tag, ttl, time)     by trace and place in its path
//   link(from, to, time, ten counters)
//   part(begun, sealed)                           one row

#ifndef TRUMPET_CONTROLLER_STORE_TRACE_PART_H
#define TRUMPET_CONTROLLER_STORE_TRACE_PART_H

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "controller/store/sqlite_file.h"
#include "controller/store/trace_store.h"

namespace trumpet {

// traces-7.db
constexpr char kTracePartPrefix[] = "traces-";
constexpr char kTracePartSuffix[] = ".db";

// The files of a folder, by their numbers.
Result<std::map<uint64_t, std::string>> ListTraceParts(const std::string& folder);

class TracePart {
 public:
  // Makes it if it is not there.  `*is_broken` if it is none of ours, or no more.
  static Result<std::unique_ptr<TracePart>> Open(const std::string& path, uint64_t number,
                                                 Nanos now, bool* is_broken);

  // For Find...() alone, while another process may write to it.
  static Result<std::unique_ptr<TracePart>> OpenForReading(const std::string& path,
                                                           uint64_t number);

  Status Append(const std::vector<StoredTrace>& traces);
  Status Forget(uint64_t trace_id);
  Status AppendCounters(const std::vector<LinkCounters>& counters);
  Status Find(const TraceQuery& query, std::vector<StoredTrace>* traces);
  // In steps of time; `take` is given the begin of each that has any, traces, and their bytes.
  using TakeCount = std::function<void(Nanos begin, uint64_t traces, uint64_t bytes)>;
  Status Count(const TraceQuery& query, Nanos step, const TakeCount& take);
  // With a start from <= start < until; of a file that is not sealed: all.
  Result<uint64_t> CountTraces(Nanos from, Nanos until);
  // `may_go_on` is asked now and then while Find...() run; false ends them with an error.
  void AskWhetherToGoOn(std::function<bool()>* may_go_on);
  Status FindCounters(uint16_t from_switch, uint16_t to_switch, Nanos from, Nanos until,
                      std::vector<LinkCounters>* counters);
  // Of all links.
  Status FindAllCounters(Nanos from, Nanos until, std::vector<LinkCounters>* counters);
  // The first and the last; the first is later if there are none.
  Result<std::pair<Nanos, Nanos>> LinkTimes();
  // Indexes, and a summary beside it; nothing is written to it any more.
  Status Seal();
  // The file, and what SQLite has put beside it.
  void Remove();
  uint64_t Bytes() const;

  uint64_t number() const { return number_; }
  Nanos begun() const { return begun_; }
  bool is_sealed() const { return is_sealed_; }
  // The last call failed for want of room.
  bool is_full() const { return file_.is_full(); }

 private:
  TracePart(SqliteFile file, std::string path, uint64_t number)
      : file_(std::move(file)), path_(std::move(path)), number_(number) {}
  Status MakeTables(Nanos now);
  Status InsertAll(const std::vector<StoredTrace>& traces);
  Status WriteSummary();
  Status ReadHops(std::vector<StoredTrace>* traces, size_t first);

  SqliteFile file_;
  const std::string path_;
  const uint64_t number_;
  Nanos begun_ = 0;
  bool is_sealed_ = false;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_STORE_TRACE_PART_H
