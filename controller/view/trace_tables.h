// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What the API says of traces, for people.
//
// Threads: pure functions.

#ifndef TRUMPET_CONTROLLER_VIEW_TRACE_TABLES_H
#define TRUMPET_CONTROLLER_VIEW_TRACE_TABLES_H

#include <string>

#include "controller/view/api_tables.h"

namespace trumpet {

std::string TraceTable(const ApiJson& traces);
// One line, without newline.
std::string TraceLine(const ApiJson& trace);
// One trace, with each of its hops.
std::string TraceText(const ApiJson& trace);
// Counters of links, or of traces, in steps of time.
std::string TraceCounterTable(const ApiJson& counters);
// What an application found: a verdict and a sentence for each.
std::string AppFindingsText(const ApiJson& answer);
// Named counters, and what one of them has counted.
std::string NamedCounterTable(const ApiJson& counters);
std::string CounterValueTable(const ApiJson& values);
// What a question would cost.
std::string TraceEstimateText(const ApiJson& estimate);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_VIEW_TRACE_TABLES_H
