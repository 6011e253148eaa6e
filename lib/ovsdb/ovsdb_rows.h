// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Ways from row to row in copies of tables.  What is missing or of another shape is empty.
//
// Threads: values; no state.

#ifndef TRUMPET_LIB_OVSDB_OVSDB_ROWS_H
#define TRUMPET_LIB_OVSDB_OVSDB_ROWS_H

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lib/ovsdb/ovsdb_copy.h"

namespace trumpet {

using OvsdbPairs = std::map<std::string, std::string>;

// Null if there is none.
const Json* FindOvsdbRow(const OvsdbTables& tables, const char* table, const std::string& uuid);

// UUIDs and rows of `table` that the column refers to, each once, as a set has it.
std::vector<std::pair<std::string, const Json*>> OvsdbRowsOf(const OvsdbTables& tables,
                                                             const char* table, const Json& row,
                                                             const char* column);

OvsdbPairs OvsdbPairsOf(const Json& row, const char* column);

// The value of a key; empty if it is not there.
std::string FindOvsdbPair(const OvsdbPairs& pairs, const std::string& key);

}  // namespace trumpet

#endif  // TRUMPET_LIB_OVSDB_OVSDB_ROWS_H
