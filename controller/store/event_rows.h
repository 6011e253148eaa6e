// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Events as rows of the database Trumpet (trumpet.ovsschema), and the operations that change them.
//
// A row has the id that its definition was given and a digest of what it was given for.  Where the
// two do not fit, somebody has written the row without asking the controller (`ovsdb-client
// transact`), and it needs a new id before it can run.
//
// Threads: values; no state.

#ifndef TRUMPET_CONTROLLER_STORE_EVENT_ROWS_H
#define TRUMPET_CONTROLLER_STORE_EVENT_ROWS_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "controller/store/event_store.h"
#include "lib/ovsdb/ovsdb_value.h"

namespace trumpet {

constexpr char kTrumpetDatabase[] = "Trumpet";
constexpr char kGlobalTable[] = "Trumpet_Global";
constexpr char kEventTable[] = "Event";
constexpr char kSliceTable[] = "Slice";                 // campaigns of slices: the same columns
constexpr char kMeasurementTable[] = "Measurement";     // likewise
constexpr char kTraceRulesTable[] = "Trace_Rules";      // likewise; one row at most
constexpr char kTraceCounterTable[] = "Trace_Counter";  // likewise

// The column of kGlobalTable that counts the ids of a table.
std::string IdCounterOf(const std::string& table);

// Tables and columns that a store of `table` watches.
std::map<std::string, std::vector<std::string>> TrumpetColumns(
    const std::string& table = kEventTable);

struct EventRow {
  std::string uuid;
  EventRecord record;
  std::string digest;

  bool has_own_id() const;
};

// Longer ones are malformed.
constexpr size_t kMaxEventNameBytes = 256;
constexpr size_t kMaxDefinitionBytes = 1 << 20;

// False if the row is malformed.
bool ReadEventRow(const std::string& uuid, const Json& columns, EventRow* row);

// Name and definition: what an id is given for.
std::string EventDigest(const EventRecord& record);

// --- operations of a transaction ---

// Nothing is done unless we hold the lock.
Json AssertLock(const std::string& lock);
// What is done is on the disk before it is acknowledged.
Json CommitDurably();
// Nothing is done unless the only rows of `table` with `where` are these, as far as `columns` go.
Json WaitForRows(const std::string& table, Json where, std::vector<std::string> columns, Json rows);
// Nothing is done unless the row is as said.
Json WaitForEvent(const EventRow& row, const std::string& table = kEventTable);
// Fails as a "constraint violation" if there is an event of that name: the name is an index.
Json InsertEvent(const EventRecord& record, const std::string& table = kEventTable);
Json UpdateEvent(const std::string& uuid, const EventRecord& record,
                 const std::string& table = kEventTable);
Json UpdateEventId(const std::string& uuid, const EventRecord& record,
                   const std::string& table = kEventTable);
Json DeleteEvent(const std::string& uuid, const std::string& table = kEventTable);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_STORE_EVENT_ROWS_H
