// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What the API says of measurements, as JSON (openapi.json: schemas).
//
// Threads: no state.

#ifndef TRUMPET_CONTROLLER_REST_MEASUREMENT_VIEWS_H
#define TRUMPET_CONTROLLER_REST_MEASUREMENT_VIEWS_H

#include <nlohmann/json.hpp>

#include "controller/measure/measurement_manager.h"
#include "lib/base/status.h"

namespace trumpet {

using Json = nlohmann::ordered_json;

Json ToJson(const NetworkMeasurement& measurement);

// What is asked for of a measurement.
struct MeasurementQuestion {
  std::string variable;  // its label; empty: all that merge
  std::string key;       // as ReadMeasureKey() takes it; empty: the variable as a whole
  std::string host;      // id; empty: all
  size_t top = 10;       // of the largest cells
};

// The cells that answer it, or what is wrong with the question.
Result<std::vector<CellQuestion>> CellsFor(const MeasureProgram& program,
                                           const MeasurementQuestion& question);
// What is asked of tasks of ctrl: {"fields": {"ipv4.dst": "10.0.0.1", "pkt.request": 7}}
Result<std::vector<AskedField>> ReadAskedFields(const MeasureProgram& program,
                                                const std::string& body);
Json RequestAnswerJson(const NetworkMeasurement& measurement, const RequestAnswer& answer);

Json ReadingJson(const NetworkMeasurement& measurement, const MeasurementQuestion& question,
                 const std::vector<CellQuestion>& cells, const CellReading& reading);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_REST_MEASUREMENT_VIEWS_H
