// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// SqliteTraceStore: traces in a folder of files, one for each stretch of time.
//
// What comes is written to the newest file, which has no index but that of ids.  When the file is
// old or large enough it is sealed: it gets its indexes, and a new one begins.  What is too old, or
// too much, goes file by file, for that costs nothing.  If the disk takes no more, the oldest
// sealed file makes room, and the write is tried once again.
//
// A file that is broken is set aside (`.broken`) when the folder is opened.  The folder belongs to
// one store at a time.

#ifndef TRUMPET_CONTROLLER_STORE_SQLITE_TRACE_STORE_H
#define TRUMPET_CONTROLLER_STORE_SQLITE_TRACE_STORE_H

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "controller/store/trace_part.h"
#include "controller/store/trace_store.h"

namespace trumpet {

struct SqliteTraceStoreOptions {
  std::string folder;  // made if it is not there
  Nanos seal_after = 3600 * kNanosPerSecond;
  Nanos max_age = 7 * 24 * 3600 * kNanosPerSecond;
  uint64_t max_bytes = uint64_t{10} << 30;  // of all files; each has a sixteenth at most
};

class SqliteTraceStore final : public TraceStore {
 public:
  static Result<std::unique_ptr<SqliteTraceStore>> Open(const SqliteTraceStoreOptions& options,
                                                        Nanos now);
  ~SqliteTraceStore() override;

  Status Append(const std::vector<StoredTrace>& traces, Nanos now) override;
  Status AppendCounters(const std::vector<LinkCounters>& counters, Nanos now) override;
  Result<std::vector<StoredTrace>> Find(const TraceQuery& query) override;
  Result<std::vector<LinkCounters>> FindCounters(uint16_t from_switch, uint16_t to_switch,
                                                 Nanos from, Nanos until) override;
  Status Expire(Nanos now) override;
  TraceStoreCounters counters() const override;

  size_t file_count() const { return parts_.size(); }

 private:
  explicit SqliteTraceStore(SqliteTraceStoreOptions options);
  Status OpenOld();
  Status Begin(Nanos now);
  Status SealIfDue(Nanos now);
  Status Write(const std::function<Status(TracePart*)>& write, Nanos now);
  Status ForgetRevised(const std::vector<StoredTrace>& traces);
  Nanos EndOfOldest(Nanos now) const;
  void RemoveOldest();

  const SqliteTraceStoreOptions options_;
  std::vector<std::unique_ptr<TracePart>> parts_;  // the oldest first; the last is written to
  uint64_t next_number_ = 1;
  TraceStoreCounters counters_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_STORE_SQLITE_TRACE_STORE_H
