// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Answers of the API about measurements, as text for people.
//
// Threads: no state.

#ifndef TRUMPET_CONTROLLER_VIEW_MEASUREMENT_TABLES_H
#define TRUMPET_CONTROLLER_VIEW_MEASUREMENT_TABLES_H

#include <string>

#include "controller/view/api_tables.h"

namespace trumpet {

std::string MeasurementTable(const ApiJson& measurements);
std::string MeasurementText(const ApiJson& measurement);
// What was read of it.
std::string ReadingText(const ApiJson& reading);
// What tasks of ctrl have answered.
std::string AnswerText(const ApiJson& answer);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_VIEW_MEASUREMENT_TABLES_H
