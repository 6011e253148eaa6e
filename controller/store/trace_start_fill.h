// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// TraceStartFill: fills the table of starts of a server whose tables are of an earlier version, a
// bounded piece at a time, while traces are written and asked for.
//
// What was told again comes first, for it must not be found as it was; then the newest.  The server
// notes which pieces are done: whoever comes after an end in between goes on there.  A piece that
// fails, or takes too long, is cut smaller before it is tried again; one that was done and not
// noted is done once more, which changes nothing.
//
// Threads: one at a time.  Step() waits for the server, kTimeout at most for each statement.

#ifndef TRUMPET_CONTROLLER_STORE_TRACE_START_FILL_H
#define TRUMPET_CONTROLLER_STORE_TRACE_START_FILL_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "controller/store/clickhouse_rows.h"
#include "controller/store/clickhouse_servers.h"
#include "lib/base/status.h"

namespace trumpet {

class TraceStartFill {
 public:
  static constexpr Nanos kTimeout = 60 * kNanosPerSecond;

  // `slice_bytes`: of traces, on the server's disk, that one statement looks at.
  explicit TraceStartFill(uint64_t slice_bytes = uint64_t{32} << 20) : slice_bytes_(slice_bytes) {}

  // The tables are there.  True: all is filled, and the server's tables are of this version.
  Result<bool> Step(ClickHouseServers* servers, size_t server);

 private:
  Status Plan(ClickHouseServers* servers, size_t server);

  const uint64_t slice_bytes_;
  bool has_plan_ = false;
  std::vector<StartPiece> pieces_;  // the last comes next
  uint64_t next_slice_ = 0;         // of the last
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_STORE_TRACE_START_FILL_H
