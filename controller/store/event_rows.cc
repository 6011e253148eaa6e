// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/store/event_rows.h"

#include <cstdio>
#include <utility>

#include "lib/base/hash.h"

namespace trumpet {
namespace {

Json ById(const std::string& uuid) { return Json::array({OvsdbEquals("_uuid", OvsdbUuid(uuid))}); }

Json IdColumns(const EventRecord& record) {
  return {{"event_id", record.id}, {"event_digest", EventDigest(record)}};
}

Json Columns(const EventRecord& record) {
  Json row = IdColumns(record);
  row["name"] = record.name;
  row["tenant"] = record.tenant;
  row["definition"] = record.definition;
  row["enabled"] = record.is_enabled;
  row["created"] = record.created_ns;
  row["changed"] = record.changed_ns;
  row["changed_by"] = record.changed_by;
  return row;
}

Json Update(const std::string& table, const std::string& uuid, Json row) {
  return {{"op", "update"}, {"table", table}, {"where", ById(uuid)}, {"row", std::move(row)}};
}

}  // namespace

std::string IdCounterOf(const std::string& table) {
  if (table == kMeasurementTable) return "next_measurement_id";
  if (table == kTraceRulesTable) return "next_trace_rules_id";
  if (table == kTraceCounterTable) return "next_trace_counter_id";
  return table == kSliceTable ? "next_slice_id" : "next_event_id";
}

std::map<std::string, std::vector<std::string>> TrumpetColumns(const std::string& table) {
  return {{kGlobalTable, {"controller_id", IdCounterOf(table)}},
          {table,
           {"name", "tenant", "definition", "enabled", "event_id", "event_digest", "created",
            "changed", "changed_by"}}};
}

bool EventRow::has_own_id() const { return record.id != 0 && digest == EventDigest(record); }

bool ReadEventRow(const std::string& uuid, const Json& columns, EventRow* row) {
  row->uuid = uuid;
  EventRecord& record = row->record;
  int64_t id = 0;
  const bool is_whole =
      ReadColumn(columns, "name", &record.name) && ReadColumn(columns, "tenant", &record.tenant) &&
      ReadColumn(columns, "definition", &record.definition) &&
      ReadColumn(columns, "enabled", &record.is_enabled) && ReadColumn(columns, "event_id", &id) &&
      ReadColumn(columns, "event_digest", &row->digest) &&
      ReadColumn(columns, "created", &record.created_ns) &&
      ReadColumn(columns, "changed", &record.changed_ns) &&
      ReadColumn(columns, "changed_by", &record.changed_by);
  if (!is_whole || id < 0 || id > int64_t{UINT32_MAX}) return false;
  record.id = static_cast<uint32_t>(id);
  return !record.name.empty() && record.name.size() <= kMaxEventNameBytes &&
         !record.definition.empty() && record.definition.size() <= kMaxDefinitionBytes;
}

// Against oversight, not against enemies: who may write here may write anything.
std::string EventDigest(const EventRecord& record) {
  const std::string text = record.name + '\0' + record.definition;
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx",
                static_cast<unsigned long long>(HashBytes(text.data(), text.size(), 0)));
  return digits;
}

Json AssertLock(const std::string& lock) { return {{"op", "assert"}, {"lock", lock}}; }

Json CommitDurably() { return {{"op", "commit"}, {"durable", true}}; }

Json WaitForRows(const std::string& table, Json where, std::vector<std::string> columns,
                 Json rows) {
  return {{"op", "wait"},
          {"timeout", 0},
          {"table", table},
          {"where", std::move(where)},
          {"columns", std::move(columns)},
          {"until", "=="},
          {"rows", std::move(rows)}};
}

// By UUID, which is the only column that the server finds without looking at every row.
Json WaitForEvent(const EventRow& row, const std::string& table) {
  Json rows = Json::array({{{"name", row.record.name},
                            {"definition", row.record.definition},
                            {"enabled", row.record.is_enabled},
                            {"event_id", row.record.id}}});
  return WaitForRows(table, ById(row.uuid), {"name", "definition", "enabled", "event_id"},
                     std::move(rows));
}

Json InsertEvent(const EventRecord& record, const std::string& table) {
  return {{"op", "insert"}, {"table", table}, {"row", Columns(record)}};
}

Json UpdateEvent(const std::string& uuid, const EventRecord& record, const std::string& table) {
  return Update(table, uuid, Columns(record));
}

Json UpdateEventId(const std::string& uuid, const EventRecord& record, const std::string& table) {
  return Update(table, uuid, IdColumns(record));
}

Json DeleteEvent(const std::string& uuid, const std::string& table) {
  return {{"op", "delete"}, {"table", table}, {"where", ById(uuid)}};
}

}  // namespace trumpet
