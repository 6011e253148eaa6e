// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Of RandomMessages: events, as triggers have them.

#include "lib/wire/random_message_test.h"

#include <algorithm>

#include "lib/model/filter.h"
#include "lib/wire/limits.h"

namespace trumpet {
namespace {

bool IsAddress(Field field) { return field == Field::kSrcIp || field == Field::kDstIp; }
bool IsMac(Field field) { return field == Field::kSrcMac || field == Field::kDstMac; }

bool ConflictsWithRtt(Field field) {
  return field == Field::kTtl || field == Field::kEcn || field == Field::kDscp ||
         field == Field::kTcpFlags;
}

}  // namespace

FieldRef RandomMessages::Ref(bool may_conflict_with_rtt) {
  FieldRef ref;
  do {
    ref.field = static_cast<Field>(Below(kFieldCount));
  } while (!may_conflict_with_rtt && ConflictsWithRtt(ref.field));
  ref.level = static_cast<Level>(Below(3));
  return ref;
}

FieldTest RandomMessages::Test() {
  FieldTest test;
  test.ref = Ref(!allows_rtt_);
  if (Below(8) == 0) {
    test.is_any = true;
    return test;
  }
  if (test.ref.field == Field::kTcpFlags && Coin()) {
    test.is_masked = true;
    test.mask = static_cast<uint16_t>(Below(4096));
    test.expected = static_cast<uint16_t>(Below(4096)) & test.mask;
    return test;
  }
  test.ranges.resize(1 + Below(3));
  for (ValueRange& range : test.ranges) {
    range.kind = ValueKind::kNumber;
    if (IsMac(test.ref.field)) range.kind = ValueKind::kMac;
    if (IsAddress(test.ref.field)) range.kind = Coin() ? ValueKind::kIpv4 : ValueKind::kIpv6;
    const int width = FieldWidth(test.ref.field, range.kind);
    const Uint128 largest = width == 128 ? ~Uint128{0} : (Uint128{1} << width) - 1;
    range.low = (Uint128{Number()} << 64 | Number()) & largest;
    range.high = Coin() ? range.low : range.low | (Number() & largest);
  }
  return test;
}

FilterExpr RandomMessages::Filter(int height, FilterOp parent) {
  FilterExpr filter;
  if (height <= 1 || Below(3) == 0) {
    filter.op = Below(6) == 0 ? FilterOp::kTrue : FilterOp::kTest;
    if (filter.op == FilterOp::kTest) filter.test = Test();
    return filter;
  }
  const FilterOp other = parent == FilterOp::kAnd ? FilterOp::kOr : FilterOp::kAnd;
  filter.op = Coin() ? other : FilterOp::kNot;
  const size_t count = filter.op == FilterOp::kNot ? 1 : 2 + Below(2);
  for (size_t i = 0; i < count; ++i) filter.args.push_back(Filter(height - 1, filter.op));
  return filter;
}

Expr RandomMessages::Leaf(bool in_aggregate, bool is_five_tuple) {
  Expr expr;
  if (in_aggregate && Below(4) != 0) {
    expr.op = ExprOp::kVariable;
    do {
      expr.variable = static_cast<Variable>(Below(static_cast<int>(Variable::kAckLastEpoch)));
    } while (expr.variable == Variable::kRtt && !allows_rtt_);
  } else if (!in_aggregate && is_five_tuple && Coin()) {
    expr.op = ExprOp::kVariable;
    const int first = static_cast<int>(Variable::kAck);
    expr.variable = static_cast<Variable>(first + Below(kVariableCount - first));
  } else {
    expr.number = AnyNumber();
  }
  return expr;
}

Expr RandomMessages::Predicate(int height, bool in_aggregate, bool is_five_tuple) {
  if (height <= 1) return Leaf(in_aggregate, is_five_tuple);
  Expr expr;
  size_t count = 2;
  do {
    expr.op = static_cast<ExprOp>(2 + Below(static_cast<int>(ExprOp::kOr) - 1));
  } while (in_aggregate && expr.op == ExprOp::kAggregate);
  if (expr.op == ExprOp::kAggregate) {
    expr.aggregate = static_cast<AggregateKind>(Below(6));
    in_aggregate = true;
  }
  if (expr.op == ExprOp::kAggregate || expr.op == ExprOp::kNegate || expr.op == ExprOp::kNot) {
    count = 1;
  }
  for (size_t i = 0; i < count; ++i) {
    const int below = static_cast<int>(Below(static_cast<uint64_t>(height)));
    expr.args.push_back(Predicate(below, in_aggregate, is_five_tuple));
  }
  return expr;
}

Granularity RandomMessages::AnyGranularity() {
  Granularity granularity;
  granularity.is_five_tuple = Coin();
  if (granularity.is_five_tuple) return granularity;
  const size_t wanted = Below(8);
  while (granularity.fields.size() < wanted) {
    GranularityField field;
    field.ref = Ref(!allows_rtt_);
    const auto is_same = [&](const GranularityField& other) { return other.ref == field.ref; };
    if (std::any_of(granularity.fields.begin(), granularity.fields.end(), is_same)) continue;
    const int width = IsAddress(field.ref.field) ? 128
                      : IsMac(field.ref.field)   ? 48
                                                 : FieldWidth(field.ref.field, ValueKind::kNumber);
    if (Coin()) field.prefix_length = static_cast<uint8_t>(Below(width + 1));
    granularity.fields.push_back(field);
  }
  return granularity;
}

EventSpec RandomMessages::Event() {
  EventSpec event;
  allows_rtt_ = Coin();
  event.id = Id();
  event.name = Name();
  event.severity = Text(kMaxTextBytes);
  event.filter = Filter(static_cast<int>(1 + Below(5)), FilterOp::kTrue);
  event.granularity = AnyGranularity();
  const int height = static_cast<int>(1 + Below(7));
  event.predicate = Predicate(height, false, event.granularity.is_five_tuple);
  event.interval_ms = static_cast<uint32_t>(1 + Below(kMaxIntervalMs));
  event.for_count = Id();
  event.scope = static_cast<Scope>(Below(2));
  event.observe = static_cast<Observe>(Below(3));
  event.max_buckets = static_cast<uint32_t>(Below(kMaxEventBuckets + 1));
  return event;
}

}  // namespace trumpet
