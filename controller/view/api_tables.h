// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What the API says as JSON, as tables for people: for trumpetctl, and for commands of the control
// socket.
//
// What is missing in a value is left blank: another version may have said it.
//
// Threads: no state.

#ifndef TRUMPET_CONTROLLER_VIEW_API_TABLES_H
#define TRUMPET_CONTROLLER_VIEW_API_TABLES_H

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

namespace trumpet {

// Keys in the order in which the server says them.
using ApiJson = nlohmann::ordered_json;

std::string EventTable(const ApiJson& events);
std::string EventText(const ApiJson& event, const ApiJson& hosts);
std::string CheckTable(const ApiJson& checks);
std::string HostTable(const ApiJson& hosts);
std::string HostText(const ApiJson& host);
std::string TopologyText(const ApiJson& topology);
std::string ReportTable(const ApiJson& reports);
std::string ReportLine(const ApiJson& report);  // one line, without newline

// The member as text: of a list its items, of what is missing nothing.
std::string ApiText(const ApiJson& value, const char* key);
// The member as a whole number; of what is none, 0.
int64_t ApiWhole(const ApiJson& value, const char* key);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_VIEW_API_TABLES_H
