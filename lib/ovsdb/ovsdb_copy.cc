// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/ovsdb/ovsdb_copy.h"

#include <utility>

namespace trumpet {
namespace {

// About the length of its text, and for members of objects what they take beside it; the depth of
// what came through the splitter is bounded.
size_t BytesOf(const Json& value) {
  constexpr size_t kMemberBytes = 48;
  if (value.is_string()) return value.get_ref<const std::string&>().size() + 3;
  if (!value.is_structured()) return 8;
  size_t bytes = 2;
  for (const Json& element : value) bytes += BytesOf(element);
  if (!value.is_object()) return bytes;
  for (const auto& [name, member] : value.items()) bytes += name.size() + kMemberBytes;
  return bytes;
}

Status ApplyRow(const std::string& uuid, const Json& update, const std::string& name,
                OvsdbTable* table, size_t* bytes, std::vector<OvsdbRowChange>* changes) {
  const Json* row = FindColumn(update, "new");
  if (!update.is_object() || (row != nullptr && !row->is_object() && !row->is_null())) {
    return Status::Error("the update of row " + uuid.substr(0, 40) + " of " + name +
                         " is malformed");
  }
  const bool is_there = row != nullptr && !row->is_null();
  const auto found = table->find(uuid);
  if (!is_there && found == table->end()) return Status::Ok();
  OvsdbRowChange& change = changes->emplace_back(OvsdbRowChange{name, uuid, Json()});
  if (found != table->end()) {
    change.old_row = std::move(found->second);
    *bytes -= BytesOf(change.old_row) + uuid.size();
    table->erase(found);
  }
  if (is_there) {
    *bytes += BytesOf(*row) + uuid.size();
    table->emplace(uuid, *row);
  }
  return Status::Ok();
}

}  // namespace

Status ApplyUpdates(const Json& updates, size_t max_bytes, OvsdbTables* tables, size_t* bytes,
                    std::vector<OvsdbRowChange>* changes) {
  if (!updates.is_object()) return Status::Error("an update is no object of tables");
  for (const auto& [name, rows] : updates.items()) {
    const auto table = tables->find(name);
    if (table == tables->end() || !rows.is_object()) {
      return Status::Error("an update of table " + name.substr(0, 40) + " is malformed");
    }
    for (const auto& [uuid, update] : rows.items()) {
      const Status status = ApplyRow(uuid, update, name, &table->second, bytes, changes);
      if (!status.ok()) return status;
      if (*bytes > max_bytes) {
        return Status::Error("the tables take more than the " + std::to_string(max_bytes) +
                             " bytes that are allowed");
      }
    }
  }
  return Status::Ok();
}

}  // namespace trumpet
