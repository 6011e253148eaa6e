// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Traces and counters as rows of ClickHouse, and the questions about them as its SQL: of what
// releases from 18.16 on understand.  Private to the stores.
//
//   trace         a row for each revision of a trace, its hops in arrays
//   trace_start   the same rows, of id, revision and start only, and of longer partitions: to find
//   by
//                 its id the partition that has a trace.  A view of the server writes it.
//   link          a row for what one batch of one writer counted of a link and a time
//   store_version
//
// Partitions are named after the end of their time, so that they can be dropped by age without
// looking into them, and those of revised traces stand apart: few traces are told again, and so
// each search may look for them.
//
// A batch that is sent again, because nobody knows whether it has arrived, changes nothing: of a
// trace the highest revision holds, and of equal ones one; of a link, a writer and a batch one row.
//
// Threads: pure functions.

#ifndef TRUMPET_CONTROLLER_STORE_CLICKHOUSE_ROWS_H
#define TRUMPET_CONTROLLER_STORE_CLICKHOUSE_ROWS_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "controller/store/trace_store.h"
#include "lib/base/status.h"

namespace trumpet {

constexpr uint64_t kClickHouseVersion = 2;  // of the tables; 1 had no trace_start

// In the database that the connection is told; `partition` is the time of one.
std::vector<std::string> ClickHouseTables(Nanos partition);
// What tables of version 1 lack, once the others are there: a piece of the traces, in slices by
// their ids.  May be done again.
struct StartPiece {
  bool is_revised = false;  // those that were told again; else by their start
  Nanos from = INT64_MIN;
  Nanos until = INT64_MAX;
  uint64_t slices = 1;
};
std::string FillStartsSql(const StartPiece& piece, uint64_t slice);

extern const char kInsertTraces[];
extern const char kInsertLinks[];
void AppendRow(const StoredTrace& trace, std::string* rows);
// What `writer` counted in its `batch`; told again with more it holds with more.
void AppendRow(const LinkCounters& link, uint64_t writer, uint64_t batch, std::string* rows);

std::string FindTracesSql(const TraceQuery& query);
// The last revision of one, whatever else is asked for: what was replaced need not be looked for.
std::string FindTraceSql(uint64_t id);
// The same of tables of version 1, as long as nobody has written to them since.
std::string FindOldTraceSql(uint64_t id);
// An error of a server: it has no such table.
bool SaysNoSuchTable(const std::string& error);
// Rows of begin, traces, bytes.
std::string CountTracesSql(const TraceQuery& query, Nanos step);
// One row of the same, of the time that is asked for: how much there is to look at, at most.
std::string EstimateTracesSql(const TraceQuery& query);
// Rows of from, to, time, values; of one link or of all.
std::string FindLinksSql(Nanos from, Nanos until);
// A count row of the first time, rows, and the last time.
extern const char kLinkTimesSql[];
std::string FindLinkSql(uint16_t from_switch, uint16_t to_switch, Nanos from, Nanos until);

// Of hostile answers, too: an error says where it is wrong.
Result<std::vector<StoredTrace>> ReadTraceRows(std::string_view rows);
Result<std::vector<LinkCounters>> ReadLinkRows(std::string_view rows);
struct TraceCountRow {
  Nanos begin = 0;
  uint64_t traces = 0;
  uint64_t bytes = 0;
};
Result<std::vector<TraceCountRow>> ReadCountRows(std::string_view rows);

// Partitions that have data.
extern const char kPartitionsSql[];
struct ClickHousePartition {
  std::string table;
  std::string id;
  Nanos end = 0;
  uint64_t bytes = 0;
};
Result<std::vector<ClickHousePartition>> ReadPartitionRows(std::string_view rows);
std::string DropSql(const ClickHousePartition& partition);
// The order in which they are dropped, the oldest first; what leads to traces after the traces.
bool GoesBefore(const ClickHousePartition& a, const ClickHousePartition& b);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_STORE_CLICKHOUSE_ROWS_H
