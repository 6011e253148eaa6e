// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What the API says of trace rules, as JSON (openapi.json: schemas).
//
// Threads: no state.

#ifndef TRUMPET_CONTROLLER_REST_TRACE_RULE_VIEWS_H
#define TRUMPET_CONTROLLER_REST_TRACE_RULE_VIEWS_H

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "controller/trace/trace_rule_book.h"

namespace trumpet {

using Json = nlohmann::ordered_json;

// With its name, hosts and filter.
Json TraceMarkJson(const TraceMark& mark);
// None: without rules.
Json TraceRulesJson(const std::optional<TraceRuleSetView>& view);
// With what it is at each switch.
Json TraceRuleJson(const TraceRule& rule, const std::vector<TraceRuleAtSwitch>& at);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_REST_TRACE_RULE_VIEWS_H
