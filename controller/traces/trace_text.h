// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Traces as they are stored and as JSON; docs/traces.md says what the keys mean.
//
// Threads: pure functions.

#ifndef TRUMPET_CONTROLLER_TRACES_TRACE_TEXT_H
#define TRUMPET_CONTROLLER_TRACES_TRACE_TEXT_H

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "controller/store/trace_store.h"
#include "controller/traces/passed_lengths.h"
#include "controller/traces/switch_book.h"
#include "controller/traces/trace_maker.h"

namespace trumpet {

// "dropped", in the order of TraceFault.
constexpr std::array<std::string_view, kTraceFaults> kTraceVerdicts = {
    "delivered", "dropped", "copies_lost", "loop", "not_known"};

// "connection", "protocol", "debug", "probe"; 0: there is no such mark.
uint8_t TraceMarkOf(std::string_view name);

// "bridged", in the order of TraceLoop.
constexpr std::array<std::string_view, 3> kTraceLoops = {"bridged", "routed", "overlay"};

// `passed`: of packets like one that was dropped; `truncated_to`: as RuleSums says it.
StoredTrace ToStored(const TraceReport& report, const SwitchBook& switches,
                     const PassedLengths::Longest& passed = {}, uint32_t truncated_to = 0);
// "10.0.1.1", or as IPv6 is written.
std::string AddressText(const IpBytes& address, uint8_t ip_family);
// "tcp 10.0.1.1:1000 > 10.0.2.2:80", for people; "not IP".
std::string FlowText(const FlowKey& flow);
// One trace.
nlohmann::ordered_json ToJson(const StoredTrace& trace, const SwitchBook& switches);
nlohmann::ordered_json ToJson(const TraceMaker& maker, const SwitchBook& switches);

// With its end of line; what is no UTF-8 is replaced.
std::string JsonLine(const nlohmann::ordered_json& json);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TRACES_TRACE_TEXT_H
