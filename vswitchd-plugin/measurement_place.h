// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// MeasurementWay: what follows for a measurement program from the place of its switch.
//
// Threads: values; pure function.

#ifndef TRUMPET_VSWITCHD_PLUGIN_MEASUREMENT_PLACE_H
#define TRUMPET_VSWITCHD_PLUGIN_MEASUREMENT_PLACE_H

#include <cstdint>

#include "lib/base/status.h"
#include "lib/measure/carried_tags.h"
#include "lib/measure/compiled_program.h"
#include "lib/model/measure_place.h"

namespace trumpet {

// How the switch runs it.
struct MeasurementWay {
  bool is_sent = false;             // takes packets as they leave, else as they come
  bool wants_queue_length = false;  // reads pkt.in_queue_length
  uint8_t switch_id = 0;
  TagCarriage carriage;
};

// An error if the program needs more than `place` tells, or than this switch does.
// `has_carriers`: there are ports on which packets may carry more than their bytes.
Result<MeasurementWay> PlanMeasurement(const CompiledProgram& program,
                                       const MeasurementPlace& place, bool has_carriers);

}  // namespace trumpet

#endif  // TRUMPET_VSWITCHD_PLUGIN_MEASUREMENT_PLACE_H
