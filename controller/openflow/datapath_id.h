// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Datapath ids as people write them: "00000000000000ab", as `ovs-vsctl get bridge br0 datapath_id`
// has it.

#ifndef TRUMPET_CONTROLLER_OPENFLOW_DATAPATH_ID_H
#define TRUMPET_CONTROLLER_OPENFLOW_DATAPATH_ID_H

#include <cstdint>
#include <string>
#include <string_view>

#include "lib/base/status.h"

namespace trumpet {

std::string DatapathIdText(uint64_t datapath_id);
// 1 to 16 hexadecimal digits, perhaps after 0x.
Result<uint64_t> ParseDatapathId(std::string_view text);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_OPENFLOW_DATAPATH_ID_H
