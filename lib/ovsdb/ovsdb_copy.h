// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Copies of tables, kept up to date by what `monitor` of RFC 7047 tells.
//
// Threads: values; no state.

#ifndef TRUMPET_LIB_OVSDB_OVSDB_COPY_H
#define TRUMPET_LIB_OVSDB_OVSDB_COPY_H

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "lib/base/status.h"
#include "lib/ovsdb/ovsdb_value.h"

namespace trumpet {

// Rows by UUID, each an object of the columns asked for.
using OvsdbTable = std::map<std::string, Json>;
using OvsdbTables = std::map<std::string, OvsdbTable>;

// A row that was added, changed, or, if the copy does not have it any more, removed.
struct OvsdbRowChange {
  std::string table;
  std::string uuid;
  Json old_row;  // null: it was added
};

// Brings `tables`, whose names are the tables asked for, up to date with the <table-updates> of a
// server, and adds to `changes` what that changed.  `*bytes` is about what the copy takes as text;
// an error is what is malformed or would take more than `max_bytes`, and `tables` is then half
// done.
Status ApplyUpdates(const Json& updates, size_t max_bytes, OvsdbTables* tables, size_t* bytes,
                    std::vector<OvsdbRowChange>* changes);

}  // namespace trumpet

#endif  // TRUMPET_LIB_OVSDB_OVSDB_COPY_H
