// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// MeasurementDefinition: a measurement as users write it and as it is stored.
//
//   {"name": "hh", "program": "total = Counter(width=32); pkts >> total.set(total + 1);",
//    "params": {"LIMIT": "10"}, "hosts": ["h1", "h2"]}
//
// and further keys of places (measurement_places.h).
//
// Threads: values; no state.

#ifndef TRUMPET_CONTROLLER_MEASURE_MEASUREMENT_DEFINITION_H
#define TRUMPET_CONTROLLER_MEASURE_MEASUREMENT_DEFINITION_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "controller/measure/measurement_places.h"
#include "lib/base/status.h"
#include "lib/model/measure_program.h"

namespace trumpet {

constexpr size_t kMaxMeasurementHosts = 4096;

struct MeasurementDefinition {
  std::string name;
  std::string text;                           // in the measurement language
  std::map<std::string, std::string> params;  // as the text would have them: "10ms", "0.05"
  std::vector<std::string> hosts;             // ids or names; none: every host
  uint64_t seed = 0;                          // of hashes; drawn when it is installed
  MeasurementPlaces places = {};

  // As a user wrote it: without what was drawn.
  bool IsSameAs(const MeasurementDefinition& other) const {
    return name == other.name && text == other.text && params == other.params &&
           hosts == other.hosts && places.IsSameAs(other.places);
  }
};

// `json` may leave out the name if `name` says it.  The error names the key.  Only what is stored
// has a seed.
Result<MeasurementDefinition> ReadMeasurementDefinition(std::string_view json,
                                                        const std::string& name, bool is_stored);
// As it is stored.
std::string PrintMeasurementDefinition(const MeasurementDefinition& definition);

// What switches run, of the same name.  The error has all problems of the text, with their places.
Result<MeasureProgram> CompileMeasurement(const MeasurementDefinition& definition);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_MEASURE_MEASUREMENT_DEFINITION_H
