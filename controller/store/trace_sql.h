// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What a TracePart asks SQLite for a TraceQuery.  Private to it.
//
// Threads: functions without state; any.

#ifndef TRUMPET_CONTROLLER_STORE_TRACE_SQL_H
#define TRUMPET_CONTROLLER_STORE_TRACE_SQL_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "controller/store/sqlite_file.h"
#include "controller/store/trace_store.h"

namespace trumpet {

// SQLite's integers are signed; order of ids is that of the signed ones, too.
inline int64_t ToSqlite(uint64_t value) { return static_cast<int64_t>(value); }

// The traces that the query is for, by start and id.
std::string TraceSearchSql(const TraceQuery& query);
// The begin of each step of time that has any, how many, and their bytes.  The step, in
// nanoseconds, is parameter kTraceCountStep.
std::string TraceCountSql(const TraceQuery& query);
constexpr int kTraceCountStep = 18;

// Texts that a statement refers to.
struct TraceQueryTexts {
  std::pair<std::string, std::string> src;
  std::pair<std::string, std::string> dst;
  std::vector<std::pair<std::string, std::string>> within;
};

// All parameters but kTraceCountStep.  `texts` must outlive the steps of `find`.
void BindTraceQuery(const TraceQuery& query, TraceQueryTexts* texts, SqliteStatement* find);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_STORE_TRACE_SQL_H
