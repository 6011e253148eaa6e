// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/trace/switch_rules.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace trumpet {
namespace {

constexpr uint64_t kTraceCookie = kOpenflowCookie | uint64_t{4} << 40;

// What makes it another one if it differs; ours are all spelled by one compiler.
std::string PlaceOf(const OpenflowRule& rule) {
  const char* const end = rule.kind == OpenflowRule::Kind::kMeter ? "," : ",actions=";
  return rule.text.substr(0, rule.text.find(end));
}

bool IsSame(const OpenflowRule& one, const OpenflowRule& other) {
  return one.text == other.text && one.cookie == other.cookie;
}

// The rules that are looked through wherever a packet passes.
std::vector<TraceRule> OfAllHops(const TraceRules& rules) {
  std::vector<TraceRule> found;
  std::copy_if(rules.rules.begin(), rules.rules.end(), std::back_inserter(found),
               [](const TraceRule& rule) { return !rule.is_at_edge; });
  return found;
}

}  // namespace

OpenflowClaim TraceRuleClaim() {
  return ClaimOfKind(kTraceCookie, kFirstTraceMeter,
                     kFirstTraceMeter + static_cast<uint32_t>(kMaxTraceRules));
}

Result<std::vector<OpenflowRule>> CompileAt(const TraceRules& rules, const TraceSwitch& at) {
  std::vector<OpenflowRule> all;
  if (rules.rules.empty()) return all;
  auto flows = CompileTraceRules(rules, at);
  if (!flows.ok()) return flows.status();
  for (std::string& meter : flows->meters) {
    all.push_back({OpenflowRule::Kind::kMeter, std::move(meter), 0, true});
  }
  for (TraceFlow& flow : flows->flows) {
    flow.text.insert(flow.text.find(','), ",send_flow_rem");
    all.push_back({OpenflowRule::Kind::kFlow, std::move(flow.text),
                   kTraceCookie | static_cast<uint64_t>(flow.rule + 1), true});
  }
  return all;
}

OpenflowChange ChangeOf(const std::vector<OpenflowRule>& before,
                        const std::vector<OpenflowRule>& after) {
  std::map<std::string, const OpenflowRule*> old;
  std::set<std::string> places;
  OpenflowChange change;
  for (const OpenflowRule& rule : before) old[PlaceOf(rule)] = &rule;
  for (const OpenflowRule& rule : after) {
    const auto found = old.find(PlaceOf(rule));
    if (found == old.end() || !IsSame(*found->second, rule)) change.add.push_back(rule);
    places.insert(PlaceOf(rule));
  }
  for (const OpenflowRule& rule : before) {
    if (places.count(PlaceOf(rule)) == 0) change.remove.push_back(rule);
  }
  return change;
}

bool IsDecidedAtEdges(const TraceRules& before, const TraceRules& after) {
  return before.debug_bit == after.debug_bit && OfAllHops(before) == OfAllHops(after);
}

}  // namespace trumpet
