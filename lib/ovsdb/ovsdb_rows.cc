// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/ovsdb/ovsdb_rows.h"

#include <algorithm>

namespace trumpet {

const Json* FindOvsdbRow(const OvsdbTables& tables, const char* table, const std::string& uuid) {
  const auto rows = tables.find(table);
  if (rows == tables.end()) return nullptr;
  const auto row = rows->second.find(uuid);
  return row == rows->second.end() ? nullptr : &row->second;
}

std::vector<std::pair<std::string, const Json*>> OvsdbRowsOf(const OvsdbTables& tables,
                                                             const char* table, const Json& row,
                                                             const char* column) {
  std::vector<std::string> uuids;
  const Json* const value = FindColumn(row, column);
  if (value == nullptr || !ReadOvsdbUuids(*value, &uuids)) return {};
  std::sort(uuids.begin(), uuids.end());
  uuids.erase(std::unique(uuids.begin(), uuids.end()), uuids.end());
  std::vector<std::pair<std::string, const Json*>> found;
  for (const std::string& uuid : uuids) {
    if (const Json* one = FindOvsdbRow(tables, table, uuid)) found.emplace_back(uuid, one);
  }
  return found;
}

OvsdbPairs OvsdbPairsOf(const Json& row, const char* column) {
  OvsdbPairs pairs;
  return ReadColumn(row, column, &pairs) ? pairs : OvsdbPairs();
}

std::string FindOvsdbPair(const OvsdbPairs& pairs, const std::string& key) {
  const auto found = pairs.find(key);
  return found == pairs.end() ? "" : found->second;
}

}  // namespace trumpet
