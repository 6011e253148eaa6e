// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Threads: pure function.

#ifndef TRUMPET_CONTROLLER_OPENFLOW_FRAME_MATCH_H
#define TRUMPET_CONTROLLER_OPENFLOW_FRAME_MATCH_H

#include <cstdint>
#include <string>
#include <string_view>

#include "lib/base/status.h"

namespace trumpet {

// Does the match, "priority=5,tcp,tp_dst=80", take the frame as it comes in at that port (0: none)?
// Registers and tunnels are taken for empty.  An error: it is no match.
Result<bool> TakesFrame(const std::string& match, uint32_t in_port, std::string_view frame);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_OPENFLOW_FRAME_MATCH_H
