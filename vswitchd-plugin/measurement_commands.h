// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What `ovs-appctl trumpet/program-...` print; what a program has measured is printed by
// measurement_text.h.
//
// Threads: functions of values.

#ifndef TRUMPET_VSWITCHD_PLUGIN_MEASUREMENT_COMMANDS_H
#define TRUMPET_VSWITCHD_PLUGIN_MEASUREMENT_COMMANDS_H

#include <string>
#include <vector>

#include "vswitchd-plugin/measurement_arguments.h"
#include "vswitchd-plugin/measurement_table.h"

namespace trumpet {

constexpr size_t kShownCopies = 16;  // of those that are kept

std::string FormatProgramAdded(const ProgramToAdd& added, bool is_enabled, bool as_json);
std::string FormatProgramList(const MeasurementTableStatus& programs, bool as_json);
std::string FormatProgram(const MeasurementStatus& program, bool as_json);
// What tasks of ctrl have collected.
std::string FormatAnswers(const std::string& name, const MeasureProgram& program,
                          const std::vector<CollectedPacket>& copies, bool as_json);
std::string FormatBudget(const MeasurementTableStatus& programs, bool as_json);

}  // namespace trumpet

#endif  // TRUMPET_VSWITCHD_PLUGIN_MEASUREMENT_COMMANDS_H
