// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/lang/event/measured_check.h"

#include <string>

namespace trumpet::event_lang {
namespace {

// The first node for which `is_one` holds, parents first; null: none.
template <typename IsOne>
const PredicateNode* FindNode(const PredicateNode& node, const IsOne& is_one) {
  if (is_one(node)) return &node;
  for (const PredicateNode& arg : node.args) {
    if (const PredicateNode* found = FindNode(arg, is_one)) return found;
  }
  return nullptr;
}

bool IsMeasured(const PredicateNode& node) { return node.op == ExprOp::kMeasured; }

bool IsOfPackets(const PredicateNode& node) {
  return node.op == ExprOp::kAggregate || node.op == ExprOp::kVariable;
}

bool FailAt(const PredicateNode& node, const std::string& message, Diagnostic* error) {
  return Fail(error, Part::kPredicate, node.offset, message);
}

bool CheckPredicate(const PredicateNode& root, const PredicateNode& measured, Diagnostic* error) {
  if (const PredicateNode* packets = FindNode(root, IsOfPackets)) {
    return FailAt(*packets,
                  Quote(packets->text) + " is counted at hosts, and " + Quote(measured.text) +
                      " is read by the controller; an event has one or the other",
                  error);
  }
  const auto is_rate = [](const PredicateNode& node) { return node.is_rate(); };
  if (const PredicateNode* rate = FindNode(root, is_rate)) {
    return FailAt(*rate,
                  "the rate " + Quote(rate->text) +
                      " is one of packets in the interval; measured values are what is held at "
                      "its end",
                  error);
  }
  return true;
}

bool CheckStates(const PredicateNode& node, const MeasuredCheck& check, uint32_t interval_ms,
                 Diagnostic* error) {
  if (IsMeasured(node)) {
    const std::string problem = check(node.measured, interval_ms);
    if (!problem.empty()) return FailAt(node, problem, error);
  }
  for (const PredicateNode& arg : node.args) {
    if (!CheckStates(arg, check, interval_ms, error)) return false;
  }
  return true;
}

}  // namespace

bool CheckMeasured(const EventAst& event, const MeasuredCheck& check, Diagnostic* error) {
  const PredicateNode* const measured = FindNode(event.predicate, IsMeasured);
  if (measured == nullptr) return true;
  if (event.filter.op != FilterOp::kTrue) {
    return Fail(error, Part::kFilter, event.filter.offset,
                "an event with measured values is about no packets: its filter is '*'");
  }
  if (!CheckPredicate(event.predicate, *measured, error)) return false;
  const GranularityNode& granularity = event.granularity;
  if (granularity.is_five_tuple || !granularity.items.empty()) {
    return Fail(error, Part::kGranularity,
                granularity.items.empty() ? 0 : granularity.items[0].offset,
                "an event with measured values is about no packets: it has no granularity");
  }
  if (event.interval_ms < kLeastMeasuredIntervalMs) {
    return Fail(error, Part::kInterval, event.interval_offset,
                "measured values are read of all hosts: the interval is at least " +
                    std::to_string(kLeastMeasuredIntervalMs) + "ms");
  }
  return check == nullptr || CheckStates(event.predicate, check, event.interval_ms, error);
}

}  // namespace trumpet::event_lang
