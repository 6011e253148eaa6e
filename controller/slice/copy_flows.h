// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The flows of a bridge that copy what its datapath marks (docs/slices.md): installed once, they
// serve all slices.  Each sends a copy to the analyzer, with the tag of the mark, and then the
// packet itself through table 0 again, without the mark.
//
// Threads: pure functions.

#ifndef TRUMPET_CONTROLLER_SLICE_COPY_FLOWS_H
#define TRUMPET_CONTROLLER_SLICE_COPY_FLOWS_H

#include <cstdint>
#include <vector>

#include "controller/openflow/openflow_message.h"
#include "controller/slice/openflow_driver.h"

namespace trumpet {

// What the upper 12 bits of a mark ask for.
constexpr uint16_t kWholeMark = 0x721;
constexpr uint16_t kBeginningMark = 0x722;  // the first kSliceSnapBytes of each packet

// A flow for each of the two.
std::vector<OpenflowRule> CopyFlows(const OpenflowCopyPort& to);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_SLICE_COPY_FLOWS_H
