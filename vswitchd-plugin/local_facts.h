// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// LocalFacts: what the switch's database says of this host: for the controller its bridges and
// ports, for the session with it keys and a name.
//
// Threads: a value.

#ifndef TRUMPET_VSWITCHD_PLUGIN_LOCAL_FACTS_H
#define TRUMPET_VSWITCHD_PLUGIN_LOCAL_FACTS_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lib/ovsdb/ovsdb_copy.h"
#include "lib/wire/message.h"
#include "lib/wire/tls_context.h"

namespace trumpet {

// Of what is told to the controller, so that a database of any size fits into the session's queue.
constexpr size_t kMaxFactsBytes = 2 << 20;
constexpr size_t kMaxIdsBytes = 16 << 10;  // of the external_ids of one row

struct LocalFacts {
  std::string system_id;  // external_ids:system-id; may be empty
  TlsFiles ssl;           // of the SSL table; may be empty
  HostFacts facts;
  uint64_t left_out = 0;  // bridges, ports and external_ids beyond the limits
};

// Tables of the database Open_vSwitch, and the columns that are read of them.
const std::map<std::string, std::vector<std::string>>& LocalFactsColumns();

// Reads a copy of those tables.  `uplinks` are the patterns of trumpet-uplinks.  What is malformed
// is passed over.
LocalFacts ReadLocalFacts(const OvsdbTables& tables, const std::vector<std::string>& uplinks);

}  // namespace trumpet

#endif  // TRUMPET_VSWITCHD_PLUGIN_LOCAL_FACTS_H
