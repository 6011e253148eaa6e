// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// MigrateTraces: copies all traces and counters from one place to another, while both may be
// written to.
//
// It goes by time and notes how far it has come, so that a run that was ended goes on there.  What
// is there twice in the end is there once, for a trace is known by its id, and counters are put and
// not added.  Then it counts on both sides, hour by hour, and copies again what is missing.
//
// Nothing is removed.  A folder of files that is copied to must have no other writer meanwhile.
//
// Threads: any; waits for disks and servers.

#ifndef TRUMPET_CONTROLLER_STORE_TRACE_MIGRATION_H
#define TRUMPET_CONTROLLER_STORE_TRACE_MIGRATION_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "lib/base/status.h"
#include "lib/base/units.h"

namespace trumpet {

struct TraceMigrationOptions {
  std::string from;  // places, as OpenTraceReader() takes them
  std::string to;
  std::string progress_file;
  size_t batch = 4096;                     // traces
  Nanos lateness = 600 * kNanosPerSecond;  // what began before so long is told no more
  std::function<Nanos()> now;              // of Unix
  std::function<bool()> may_go_on;         // may be empty; asked between batches
};

struct TraceMigrationReport {
  bool has_gone_on = false;  // behind where an earlier run ended
  uint64_t traces_copied = 0;
  uint64_t links_copied = 0;  // rows of counters
  // Of what began before this run.
  uint64_t traces_there = 0;  // where they came from
  uint64_t rounds = 0;        // of comparing, and of copying what was missing
};

// An error leaves what has been copied, and how far.
Result<TraceMigrationReport> MigrateTraces(const TraceMigrationOptions& options);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_STORE_TRACE_MIGRATION_H
