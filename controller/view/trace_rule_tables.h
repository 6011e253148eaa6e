// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What the API says of trace rules, for people.
//
// Threads: pure functions.

#ifndef TRUMPET_CONTROLLER_VIEW_TRACE_RULE_TABLES_H
#define TRUMPET_CONTROLLER_VIEW_TRACE_RULE_TABLES_H

#include <string>

#include "controller/view/api_tables.h"

namespace trumpet {

// Of a list of rules.
std::string TraceRuleTable(const ApiJson& rules);
// Of the answer that has them, and of a rule by itself, with its switches.
std::string TraceRulesText(const ApiJson& answer);
std::string DebugMarkTable(const ApiJson& marks);
std::string TraceRuleText(const ApiJson& rule);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_VIEW_TRACE_RULE_TABLES_H
