// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/trace/trace_rule_book.h"

namespace trumpet {

const char* TraceRuleStateName(TraceRuleState state) {
  switch (state) {
    case TraceRuleState::kAway:
      return "away";
    case TraceRuleState::kPending:
      return "pending";
    case TraceRuleState::kTesting:
      return "testing";
    case TraceRuleState::kActive:
      return "active";
    case TraceRuleState::kFailed:
      return "failed";
  }
  return "";
}

TraceRuleVerdict TogetherOf(const std::vector<TraceRuleAtSwitch>& at) {
  const auto find = [&](TraceRuleState state) -> std::optional<TraceRuleVerdict> {
    for (const TraceRuleAtSwitch& one : at) {
      if (one.verdict.state != state) continue;
      const std::string& why = one.verdict.why;
      return TraceRuleVerdict{state, why.empty() ? "" : "at " + one.switch_name + ": " + why};
    }
    return std::nullopt;
  };
  for (const TraceRuleState state :
       {TraceRuleState::kFailed, TraceRuleState::kPending, TraceRuleState::kTesting,
        TraceRuleState::kActive, TraceRuleState::kAway}) {
    if (auto found = find(state)) return *found;
  }
  return {TraceRuleState::kPending, "no switch copies"};
}

}  // namespace trumpet
