// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What a measurement program has measured, as text or JSON: its variables over all packet threads.
//
// Numbers of distinct keys come with the interval that holds the true one in about 95 of 100 cases;
// what a count-min sketch tells of a key, with the least that it can be.
//
// Threads: functions of values; packet threads go on counting meanwhile.

#ifndef TRUMPET_VSWITCHD_PLUGIN_MEASUREMENT_TEXT_H
#define TRUMPET_VSWITCHD_PLUGIN_MEASUREMENT_TEXT_H

#include <string>

#include "lib/base/status.h"
#include "vswitchd-plugin/measurement_table.h"

namespace trumpet {

// All variables, a line each.
std::string FormatVariables(const MeasurementView& view, bool as_json);

// One variable: the `top` largest of its cells that are not 0, and of the keys of packets that were
// collected last.
Result<std::string> FormatVariable(const MeasurementStatus& status, const std::string& variable,
                                   size_t top, bool as_json);

// The fields of the variable's key with these values.
Result<PacketValues> PacketOfKey(const MeasureProgram& program, const std::string& variable,
                                 const std::string& key);

// One variable at the key whose fields have these values: "10.0.0.1,10.0.0.2,80,443,6".
Result<std::string> FormatAtKey(const MeasurementView& view, const std::string& variable,
                                const std::string& key, bool as_json);

}  // namespace trumpet

#endif  // TRUMPET_VSWITCHD_PLUGIN_MEASUREMENT_TEXT_H
