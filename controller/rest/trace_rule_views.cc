// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/rest/trace_rule_views.h"

#include "lib/lang/event/print.h"

namespace trumpet {
namespace {

void AddVerdict(const TraceRuleVerdict& verdict, Json* json) {
  (*json)["state"] = TraceRuleStateName(verdict.state);
  if (!verdict.why.empty()) (*json)["why"] = verdict.why;
}

Json RuleJson(const TraceRule& rule, const std::vector<TraceRuleAtSwitch>& at) {
  Json json = {{"name", rule.name}, {"filter", event_lang::PrintFilter(rule.filter)}};
  if (rule.is_marked) json["marked"] = true;
  if (rule.is_at_edge) json["edge"] = true;
  if (rule.sample_bits != 0) json["sample"] = "1/" + std::to_string(1u << rule.sample_bits);
  if (rule.snap_bytes != 0) json["truncate"] = rule.snap_bytes;
  if (rule.copies_per_second != 0) json["rate"] = rule.copies_per_second;
  AddVerdict(TogetherOf(at), &json);
  return json;
}

}  // namespace

Json TraceMarkJson(const TraceMark& mark) {
  Json json = {{"name", mark.name}, {"filter", event_lang::PrintFilter(mark.filter)}};
  if (!mark.hosts.empty()) json["hosts"] = mark.hosts;
  return json;
}

Json TraceRulesJson(const std::optional<TraceRuleSetView>& view) {
  Json json = {{"rules", Json::array()}};
  if (!view) return json;
  const TraceRules& rules = view->rules;
  if (rules.debug_bit >= 0) json["debug_bit"] = rules.debug_bit;
  if (rules.switch_rate != 0) json["switch_rate"] = rules.switch_rate;
  if (rules.network_rate != 0) json["network_rate"] = rules.network_rate;
  json["created_ns"] = view->record.created_ns;
  json["changed_by"] = view->record.changed_by;
  if (!view->problem.empty()) json["problem"] = view->problem;
  for (size_t i = 0; i < rules.rules.size(); ++i) {
    json["rules"].push_back(RuleJson(rules.rules[i], view->at[i]));
  }
  for (const TraceMark& mark : rules.marks) json["marks"].push_back(TraceMarkJson(mark));
  return json;
}

Json TraceRuleJson(const TraceRule& rule, const std::vector<TraceRuleAtSwitch>& at) {
  Json json = RuleJson(rule, at);
  json["switches"] = Json::array();
  for (const TraceRuleAtSwitch& one : at) {
    Json place = {{"name", one.switch_name}};
    AddVerdict(one.verdict, &place);
    json["switches"].push_back(std::move(place));
  }
  return json;
}

}  // namespace trumpet
