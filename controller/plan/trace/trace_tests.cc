// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/plan/trace/trace_tests.h"

#include <utility>

#include "controller/plan/flow_match.h"
#include "controller/plan/trace/trace_flows.h"

namespace trumpet {
namespace {

constexpr char kInPort[] = "in_port=";
constexpr char kIsTest[] = "load:1->NXM_NX_REG13[1],";

// "3" of "in_port=3,dl_type=0x800", taken out of it; "" if any port will do.
std::string TakePort(std::string* match) {
  const size_t at = match->find(kInPort);
  if (at == std::string::npos) return "";
  const size_t end = match->find(',', at);
  const size_t from = at + sizeof kInPort - 1;
  std::string port = match->substr(from, end == std::string::npos ? end : end - from);
  if (end != std::string::npos) {
    match->erase(at, end + 1 - at);
  } else {
    match->erase(at == 0 ? 0 : at - 1);
  }
  return port;
}

TraceTest MakeTest(const TraceRules& rules, uint32_t number, const std::string& match) {
  const TraceRule& rule = rules.rules[number];
  TraceTest test{number, match, 0, ""};
  const std::string port = TakePort(&test.match);
  if (rule.needs_bit()) {
    test.tos = static_cast<uint8_t>(1u << (rules.debug_bit + kTraceDscpShift));
  }
  if (port.empty() && rule.sample_bits == 0) {
    test.actions = std::string(kIsTest) + "resubmit(,0)";
    return test;
  }
  test.actions = kIsTest;
  if (rule.needs_bit()) test.actions += "move:NXM_OF_IP_TOS[]->NXM_NX_REG13[8..15],";
  test.actions += "resubmit(" + port + "," + std::to_string(kTraceRuleTable) + ")";
  return test;
}

}  // namespace

Result<std::vector<TraceTest>> TraceTests(const TraceRules& rules) {
  std::vector<TraceTest> tests;
  for (size_t i = 0; i < rules.rules.size(); ++i) {
    const auto matches = FlowMatches(Visible(rules.rules[i]));
    if (!matches.ok()) {
      return Status::Error(PlaceAndName(rules.rules[i]) + ": " + matches.message());
    }
    for (const std::string& match : *matches) {
      tests.push_back(MakeTest(rules, static_cast<uint32_t>(i), match));
    }
  }
  return tests;
}

}  // namespace trumpet
