// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What analyzers say of traces, as the API says it.
//
// Threads: pure functions.

#ifndef TRUMPET_CONTROLLER_REST_TRACE_VIEWS_H
#define TRUMPET_CONTROLLER_REST_TRACE_VIEWS_H

#include <nlohmann/json.hpp>
#include <string>

#include "controller/slice/trace_asker.h"
#include "controller/trace/trace_counter_book.h"

namespace trumpet {

nlohmann::ordered_json TraceJson(const std::string& analyzer, const TraceRecord& record);
nlohmann::ordered_json TracePageJson(const TraceFindings& findings);
// Sums over all analyzers, in steps of time.
nlohmann::ordered_json CounterPageJson(const TraceFindings& findings);
// A named counter, without what it has counted; and with it, by analyzers' answers.
nlohmann::ordered_json TraceCounterJson(const TraceCounterView& counter);
nlohmann::ordered_json CounterValuesJson(const TraceCounterView& counter,
                                         const TraceFindings& findings);
// What an application found, by analyzer.
nlohmann::ordered_json AppFindingsJson(const TraceFindings& findings);
nlohmann::ordered_json TraceEstimateJson(const TraceFindings& findings);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_REST_TRACE_VIEWS_H
