// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What is in the folder of a SqliteTraceStore, which another process may be writing to.
//
// Each call opens the files anew: it sees all that was written before, and a file that goes
// meanwhile is as if it had gone before.
//
// Threads: any.  Calls wait for the disk.

#ifndef TRUMPET_CONTROLLER_STORE_TRACE_FOLDER_H
#define TRUMPET_CONTROLLER_STORE_TRACE_FOLDER_H

#include <string>
#include <vector>

#include "controller/store/trace_store.h"

namespace trumpet {

// As TraceStore::Find().
Result<std::vector<StoredTrace>> FindInTraceFolder(const std::string& folder,
                                                   const TraceQuery& query);
// Of all links, by link and time, from <= time < until.
Result<std::vector<LinkCounters>> LinksInTraceFolder(const std::string& folder, Nanos from,
                                                     Nanos until);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_STORE_TRACE_FOLDER_H
