// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ClickHouseTraceStore: traces on one or several servers of ClickHouse, for those who outgrow one
// machine.
//
// A trace lies on one server, by its id; counters of a link, by the link.  Rows for a server that
// is away go to a spool on this machine, and from there to the server when it is back: what
// Append() took is on a disk.  Only what the spool has no room for is not taken, and counted.  A
// server that failed is asked again after a second, then ever more rarely, up to half a minute.
//
// Tables of an earlier version are brought up to date a piece at a time, with Expire().
//
// Many analyzers may write to the same servers, each with a spool of its own.
//
// Threads: one at a time; calls wait for servers and disk, kTimeout at most for each server's
// batch.

#ifndef TRUMPET_CONTROLLER_STORE_CLICKHOUSE_TRACE_STORE_H
#define TRUMPET_CONTROLLER_STORE_CLICKHOUSE_TRACE_STORE_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controller/store/clickhouse_place.h"
#include "controller/store/clickhouse_servers.h"
#include "controller/store/clickhouse_trace_reader.h"
#include "controller/store/row_spool.h"
#include "controller/store/trace_start_fill.h"
#include "controller/store/trace_store.h"

namespace trumpet {

struct ClickHouseTraceStoreOptions {
  ClickHousePlace place;
  std::string spool_folder;  // empty: rows for a server that is away are not taken
  uint64_t max_spool_bytes = uint64_t{1} << 30;
  Nanos max_age = 7 * 24 * 3600 * kNanosPerSecond;
  uint64_t max_bytes = uint64_t{10} << 30;  // on all servers
  Nanos partition = 0;  // of tables that are made; 0: max_age / 32, in whole hours
  uint64_t writer = 0;  // unlike that of any other store, and of this one before; 0: by chance
};

class ClickHouseTraceStore final : public TraceStore {
 public:
  static constexpr Nanos kTimeout = 5 * kNanosPerSecond;
  static constexpr Nanos kLongestBackoff = 30 * kNanosPerSecond;

  // Servers may be away.
  static Result<std::unique_ptr<ClickHouseTraceStore>> Open(
      const ClickHouseTraceStoreOptions& options, Nanos now);

  Status Append(const std::vector<StoredTrace>& traces, Nanos now) override;
  Status AppendCounters(const std::vector<LinkCounters>& counters, Nanos now) override;
  // All that `origin` counted of these links and times: takes the place of what it said before.
  Status PutCounters(const std::vector<LinkCounters>& counters, uint64_t origin, Nanos now);
  Result<std::vector<StoredTrace>> Find(const TraceQuery& query) override;
  Result<std::vector<LinkCounters>> FindCounters(uint16_t from_switch, uint16_t to_switch,
                                                 Nanos from, Nanos until) override;
  Status Expire(Nanos now) override;
  TraceStoreCounters counters() const override;

 private:
  struct Server {
    bool has_tables = false;
    bool is_away = false;
    Nanos backoff = 0;
    Nanos retry_at = 0;
    Nanos expire_at = INT64_MIN;
    uint64_t stored_bytes = 0;
    std::string trouble;
    std::optional<TraceStartFill> fill;  // of tables of an earlier version, until it is done
  };
  struct Batch;

  explicit ClickHouseTraceStore(const ClickHouseTraceStoreOptions& options);
  Status Send(std::vector<SpooledBatch> batches, Nanos now);
  Status Spool(size_t server, const SpooledBatch& batch);
  bool IsReady(size_t server, Nanos now);
  void NoteAway(size_t server, const Status& why, Nanos now);
  void Replay(size_t server, int files, Nanos now);
  Status Expire(size_t server, Nanos now);
  Status Fill(size_t server);
  Status WriteCounters(const std::vector<LinkCounters>& counters, uint64_t writer, uint64_t batch,
                       Nanos now);

  const ClickHouseTraceStoreOptions options_;
  std::unique_ptr<ClickHouseServers> link_;
  std::unique_ptr<ClickHouseTraceReader> reader_;
  std::unique_ptr<RowSpool> spool_;  // may be null
  std::vector<Server> servers_;
  uint64_t writer_;
  uint64_t next_batch_ = 1;
  TraceStoreCounters counters_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_STORE_CLICKHOUSE_TRACE_STORE_H
