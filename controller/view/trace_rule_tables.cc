// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/view/trace_rule_tables.h"

#include "lib/base/text_table.h"

namespace trumpet {
namespace {

// "sample 1/4, truncate 64"
std::string LimitsOf(const ApiJson& rule) {
  std::string text = ApiText(rule, "marked") == "yes" ? "marked" : "";
  if (ApiText(rule, "edge") == "yes") text = "edge";
  for (const char* key : {"sample", "truncate", "rate"}) {
    const std::string value = ApiText(rule, key);
    if (!value.empty()) text += (text.empty() ? "" : ", ") + std::string(key) + " " + value;
  }
  return text;
}

}  // namespace

std::string TraceRuleTable(const ApiJson& rules) {
  TextTable table({"name", "state", "filter", "limits", "why"});
  for (const ApiJson& rule : rules) {
    table.Add({ApiText(rule, "name"), ApiText(rule, "state"), ApiText(rule, "filter"),
               LimitsOf(rule), ApiText(rule, "why")});
  }
  return table.is_empty() ? "no trace rules\n" : table.ToString(0);
}

std::string TraceRulesText(const ApiJson& answer) {
  const std::string problem = ApiText(answer, "problem");
  const auto rules = answer.find("rules");
  const ApiJson list = rules == answer.end() ? ApiJson::array() : *rules;
  const auto marks = answer.find("marks");
  return (problem.empty() ? "" : "problem: " + problem + "\n") + TraceRuleTable(list) +
         (marks == answer.end() ? "" : "\n" + DebugMarkTable(*marks));
}

std::string DebugMarkTable(const ApiJson& marks) {
  TextTable table({"mark", "hosts", "filter"});
  for (const ApiJson& mark : marks) {
    std::string hosts;
    const auto list = mark.find("hosts");
    if (list != mark.end()) {
      for (const ApiJson& host : *list) {
        if (host.is_string()) hosts += (hosts.empty() ? "" : ", ") + host.get<std::string>();
      }
    }
    table.Add({ApiText(mark, "name"), hosts.empty() ? "all" : hosts, ApiText(mark, "filter")});
  }
  return table.is_empty() ? "no packets are marked\n" : table.ToString(0);
}

std::string TraceRuleText(const ApiJson& rule) {
  std::string text = TraceRuleTable(ApiJson::array({rule}));
  TextTable table({"switch", "state", "why"});
  const auto switches = rule.find("switches");
  const ApiJson list = switches == rule.end() ? ApiJson::array() : *switches;
  for (const ApiJson& one : list) {
    table.Add({ApiText(one, "name"), ApiText(one, "state"), ApiText(one, "why")});
  }
  return text + (table.is_empty() ? "" : table.ToString(0));
}

}  // namespace trumpet
