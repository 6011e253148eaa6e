// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What `ovs-appctl trumpet/slice-...` read and print.
//
// Threads: functions of values.

#ifndef TRUMPET_VSWITCHD_PLUGIN_SLICE_COMMANDS_H
#define TRUMPET_VSWITCHD_PLUGIN_SLICE_COMMANDS_H

#include <string>
#include <vector>

#include "lib/base/status.h"
#include "lib/model/slice_spec.h"
#include "lib/wire/slice_order.h"
#include "vswitchd-plugin/slice_table.h"

namespace trumpet {

// TAG MILLISECONDS FILTER [bridge=NAME] [packets=N] [bytes=N] [pps=N] [mark=N]
Result<SliceSpec> ReadSliceArguments(const std::vector<std::string>& arguments);
// TAG [bridge=NAME]
Result<SliceOff> ReadSliceOff(const std::vector<std::string>& arguments);

std::string FormatSlices(const SliceTableStatus& slices, bool as_json);

}  // namespace trumpet

#endif  // TRUMPET_VSWITCHD_PLUGIN_SLICE_COMMANDS_H
