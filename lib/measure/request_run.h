// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// RequestRun: a packet of `ctrl` goes through a program, over what all packet threads have measured
// together.
//
// It runs on a copy of the merged cells that its tasks read, so packet threads hear nothing of it;
// tasks of ctrl that would change cells are refused.  It plays all roles by place but intermediate.
//
// Threads: any but packet threads, which go on meanwhile.  It takes the time and memory that a copy
// of the program's state does.

#ifndef TRUMPET_LIB_MEASURE_REQUEST_RUN_H
#define TRUMPET_LIB_MEASURE_REQUEST_RUN_H

#include <cstdint>
#include <vector>

#include "lib/base/status.h"
#include "lib/measure/program_state.h"

namespace trumpet {

constexpr uint64_t kMaxRequestCells = uint64_t{1} << 20;  // that tasks of ctrl read

// What was collected.  `states` are of one program and at least one; `request` has the fields that
// its tasks look at.
Result<std::vector<CollectedPacket>> RunRequest(const std::vector<const ProgramState*>& states,
                                                const PacketValues& request, uint64_t now);

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_REQUEST_RUN_H
