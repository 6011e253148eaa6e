// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What the API says of events, hosts, reports and the network, as JSON (openapi.json: schemas).
//
// Threads: no state.

#ifndef TRUMPET_CONTROLLER_REST_JSON_VIEWS_H
#define TRUMPET_CONTROLLER_REST_JSON_VIEWS_H

#include <string>

#include <nlohmann/json.hpp>

#include "controller/plan/topology.h"
#include "controller/store/report_store.h"
#include "controller/tem/event_manager.h"

namespace trumpet {

using Json = nlohmann::ordered_json;

Json ToJson(const EventView& event);
Json ToJson(const EventCheck& check);
Json ToJson(const EventOnHost& host);
Json ToJson(const HostView& host);
Json ToJson(const Topology& topology);
// The report's own line with its number in front; as text, for there may be many.
std::string ToJsonText(const ReportRow& row);
void AppendJsonText(const ReportRow& row, std::string* text);

// "e17", or "e17-off" while it is disabled: changes when the definition does, or that.
std::string EntityTag(const EventRecord& record);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_REST_JSON_VIEWS_H
