// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/triggers.h"

#include <algorithm>
#include <string>
#include <utility>

namespace trumpet::bench {
namespace {

FilterExpr RangeTest(Field field, ValueKind kind, Uint128 low, Uint128 high) {
  FilterExpr filter;
  filter.op = FilterOp::kTest;
  filter.test.ref = {field, Level::kInnermost};
  filter.test.ranges.push_back({kind, low, high});
  return filter;
}

// low <= address <= high, given by their last 32 bits.
FilterExpr AddressTest(Field field, uint32_t low, uint32_t high, Encapsulation encapsulation) {
  if (encapsulation != Encapsulation::kIpv6) return RangeTest(field, ValueKind::kIpv4, low, high);
  const Uint128 base = static_cast<Uint128>(kIpv6Prefix) << 96;
  return RangeTest(field, ValueKind::kIpv6, base | low, base | high);
}

FilterExpr FilterOf(const TriggersSpec& spec, const PlainTrigger& trigger) {
  FilterExpr filter;
  filter.op = FilterOp::kAnd;
  const uint32_t last = trigger.dst + spec.group_size() - 1;
  filter.args.push_back(AddressTest(Field::kDstIp, trigger.dst, last, spec.encapsulation));
  const uint32_t last_ports = trigger.ports | ~trigger.port_mask;
  filter.args.push_back(
      RangeTest(Field::kSrcPort, ValueKind::kNumber, trigger.ports >> 16, last_ports >> 16));
  filter.args.push_back(
      RangeTest(Field::kDstPort, ValueKind::kNumber, trigger.ports & 0xffff, last_ports & 0xffff));
  if (trigger.src_mask != 0) {
    filter.args.push_back(AddressTest(Field::kSrcIp, trigger.src, trigger.src | ~trigger.src_mask,
                                      spec.encapsulation));
  }
  return filter;
}

Expr SumReaches(Variable variable, int64_t threshold) {
  Expr operand;
  operand.op = ExprOp::kVariable;
  operand.variable = variable;
  Expr sum;
  sum.op = ExprOp::kAggregate;
  sum.args.push_back(operand);
  Expr number;
  number.number = Number::Integer(threshold);
  Expr predicate;
  predicate.op = ExprOp::kGreaterEqual;
  predicate.args = {sum, number};
  return predicate;
}

Granularity GranularityOf(Buckets buckets) {
  Granularity granularity;
  granularity.is_five_tuple = buckets == Buckets::kFiveTuple;
  if (buckets == Buckets::kDst24) {
    granularity.fields = {{{Field::kDstIp, Level::kInnermost}, 24}};
  }
  return granularity;
}

EventSpec MakeEvent(uint32_t id, FilterExpr filter, Variable variable, int64_t threshold) {
  EventSpec event;
  event.id = id;
  event.name = "event-" + std::to_string(id);
  event.filter = std::move(filter);
  event.predicate = SumReaches(variable, threshold);
  event.interval_ms = 10;
  return event;
}

}  // namespace

PlainTrigger TriggerNumber(const TriggersSpec& spec, uint32_t number) {
  PlainTrigger trigger{};
  trigger.type = static_cast<TriggerType>(number % 3);
  trigger.group = number / spec.per_packet;
  trigger.dst = kDstBase + trigger.group * spec.group_size();
  const uint32_t pattern = number % spec.patterns;
  trigger.port_mask = 0xffffffffu << (pattern % 32);
  trigger.ports = (static_cast<uint32_t>(kSrcPort) << 16 | kDstPort) & trigger.port_mask;
  const uint32_t src_bits = pattern / 32;
  trigger.src_mask = src_bits == 0 ? 0 : 0xffffffffu << (32 - src_bits);
  trigger.src = kSrcBase & trigger.src_mask;
  return trigger;
}

std::vector<EventSpec> MakeEvents(const TriggersSpec& spec, uint32_t first_id) {
  static constexpr Variable kVariables[] = {Variable::kPackets, Variable::kVolume,
                                            Variable::kIsLost};
  std::vector<EventSpec> events;
  for (uint32_t q = 0; q < spec.triggers; q++) {
    const PlainTrigger trigger = TriggerNumber(spec, q);
    events.push_back(MakeEvent(first_id + q, FilterOf(spec, trigger),
                               kVariables[static_cast<int>(trigger.type)], spec.threshold));
    events.back().granularity = GranularityOf(spec.buckets);
  }
  return events;
}

EventSpec MakePerFlowEvent(uint32_t id, int64_t threshold) {
  EventSpec event = MakeEvent(id, FilterExpr(), Variable::kPackets, threshold);
  event.granularity.is_five_tuple = true;
  event.max_buckets = 1u << 20;
  return event;
}

EventSpec MakeSubnetEvent(uint32_t id, Encapsulation encapsulation) {
  return MakeEvent(id, AddressTest(Field::kDstIp, kDstBase, kDstBase + 255, encapsulation),
                   Variable::kPackets, INT64_C(80000000));
}

}  // namespace trumpet::bench
