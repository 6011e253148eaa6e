// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// MeasurementPlace: what a measurement program is told of the place of its switch in the network,
// and what follows for the program.
//
// Threads: values; pure function.

#ifndef TRUMPET_VSWITCHD_PLUGIN_MEASUREMENT_PLACE_H
#define TRUMPET_VSWITCHD_PLUGIN_MEASUREMENT_PLACE_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/status.h"
#include "lib/measure/carried_tags.h"
#include "lib/measure/compiled_program.h"

namespace trumpet {

constexpr size_t kMaxEdgePorts = 1024;

// Said by who installs the program.
struct MeasurementPlace {
  std::vector<std::string> edges;    // names of ports; those that do not exist yet count later
  std::optional<uint8_t> switch_id;  // what switch.id reads as
  bool is_lab = false;               // header checksums may be used (lib/measure/carried_tags.h)
};

// How the switch runs it.
struct MeasurementWay {
  bool is_sent = false;             // takes packets as they leave, else as they come
  bool wants_queue_length = false;  // reads pkt.in_queue_length
  uint8_t switch_id = 0;
  TagCarriage carriage;
};

// An error if the program needs more than `place` tells, or than this switch does.
Result<MeasurementWay> PlanMeasurement(const CompiledProgram& program,
                                       const MeasurementPlace& place);

}  // namespace trumpet

#endif  // TRUMPET_VSWITCHD_PLUGIN_MEASUREMENT_PLACE_H
