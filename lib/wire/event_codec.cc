// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/wire/event_codec.h"

#include <utility>

#include "lib/model/filter.h"
#include "lib/wire/trumpet.pb.h"
#include "lib/wire/wide_integer.h"

namespace trumpet {
namespace {

// 0 of an enumeration stands for "not said", so ours begin at 1; levels at 0.
template <typename T>
constexpr int ToWire(T value) {
  return static_cast<int>(value) + 1;
}
template <typename T>
constexpr T FromWire(int value) {
  return static_cast<T>(value - 1);
}

static_assert(ToWire(Field::kSrcIp) == pb::FieldRef::FIELD_SRC_IP);
static_assert(ToWire(Field::kTunnelId) == pb::FieldRef::FIELD_TUNNEL_ID);
static_assert(static_cast<int>(Level::kInner) == pb::FieldRef::LEVEL_INNER);
static_assert(static_cast<int>(ValueKind::kIpv6) == pb::ValueRange::KIND_IPV6);
static_assert(ToWire(FilterOp::kTrue) == pb::Filter::OP_TRUE);
static_assert(ToWire(FilterOp::kNot) == pb::Filter::OP_NOT);
static_assert(ToWire(ExprOp::kNumber) == pb::Expr::OP_NUMBER);
static_assert(ToWire(ExprOp::kOr) == pb::Expr::OP_OR);
static_assert(ToWire(Variable::kPackets) == pb::Expr::VARIABLE_PACKETS);
static_assert(ToWire(Variable::kDupLastEpoch) == pb::Expr::VARIABLE_DUP_LAST_EPOCH);
static_assert(ToWire(AggregateKind::kStddev) == pb::Expr::AGGREGATE_STDDEV);
static_assert(ToWire(Scope::kHost) == pb::Event::SCOPE_HOST);
static_assert(ToWire(Observe::kAll) == pb::Event::OBSERVE_ALL);

void Write(const FieldRef& ref, pb::FieldRef* out) {
  out->set_field(static_cast<pb::FieldRef::Field>(ToWire(ref.field)));
  out->set_level(static_cast<pb::FieldRef::Level>(ref.level));
}

FieldRef Read(const pb::FieldRef& in) {
  return {FromWire<Field>(in.field()), static_cast<Level>(in.level())};
}

void Write(const ValueRange& range, pb::ValueRange* out) {
  const Uint128 span = range.high - range.low;
  out->set_kind(static_cast<pb::ValueRange::Kind>(range.kind));
  out->set_first_low(LowHalf(range.low));
  out->set_first_high(HighHalf(range.low));
  out->set_span_low(LowHalf(span));
  out->set_span_high(HighHalf(span));
}

ValueRange Read(const pb::ValueRange& in) {
  const Uint128 first = JoinHalves(in.first_high(), in.first_low());
  return {static_cast<ValueKind>(in.kind()), first,
          first + JoinHalves(in.span_high(), in.span_low())};
}

void Write(const FieldTest& test, pb::FieldTest* out) {
  Write(test.ref, out->mutable_ref());
  if (test.is_any) {
    out->set_is_any(true);
  } else if (test.is_masked) {
    out->mutable_masked()->set_mask(test.mask);
    out->mutable_masked()->set_expected(test.expected);
  } else {
    for (const ValueRange& range : test.ranges) Write(range, out->mutable_ranges()->add_ranges());
  }
}

FieldTest Read(const pb::FieldTest& in) {
  FieldTest test;
  test.ref = Read(in.ref());
  test.is_any = in.is_any();
  test.is_masked = in.has_masked();
  test.mask = static_cast<uint16_t>(in.masked().mask());
  test.expected = static_cast<uint16_t>(in.masked().expected());
  test.ranges.reserve(in.ranges().ranges_size());
  for (const pb::ValueRange& range : in.ranges().ranges()) test.ranges.push_back(Read(range));
  return test;
}

}  // namespace

void Write(const FilterExpr& filter, pb::Filter* out) {
  out->set_op(static_cast<pb::Filter::Op>(ToWire(filter.op)));
  if (filter.op == FilterOp::kTest) Write(filter.test, out->mutable_test());
  for (const FilterExpr& arg : filter.args) Write(arg, out->add_args());
}

FilterExpr Read(const pb::Filter& in) {
  FilterExpr filter;
  filter.op = FromWire<FilterOp>(in.op());
  if (filter.op == FilterOp::kTest) filter.test = Read(in.test());
  filter.args.reserve(in.args_size());
  for (const pb::Filter& arg : in.args()) filter.args.push_back(Read(arg));
  return filter;
}

namespace {

void Write(const Granularity& granularity, pb::Granularity* out) {
  out->set_is_five_tuple(granularity.is_five_tuple);
  for (const GranularityField& field : granularity.fields) {
    pb::GranularityField* out_field = out->add_fields();
    Write(field.ref, out_field->mutable_ref());
    if (field.prefix_length != kFullPrefix) out_field->set_prefix_length(field.prefix_length);
  }
}

Granularity Read(const pb::Granularity& in) {
  Granularity granularity;
  granularity.is_five_tuple = in.is_five_tuple();
  for (const pb::GranularityField& field : in.fields()) {
    const auto prefix =
        field.has_prefix_length() ? static_cast<uint8_t>(field.prefix_length()) : kFullPrefix;
    granularity.fields.push_back({Read(field.ref()), prefix});
  }
  return granularity;
}

}  // namespace

void Write(const Number& number, pb::Number* out) {
  if (!number.is_defined()) return;
  if (!number.is_integer()) {
    out->set_real(number.AsDouble());
    return;
  }
  const Int128 value = number.integer();
  if (value >= INT64_MIN && value <= INT64_MAX) {
    out->set_integer(static_cast<int64_t>(value));
    return;
  }
  out->mutable_wide()->set_high(static_cast<int64_t>(HighHalf(static_cast<Uint128>(value))));
  out->mutable_wide()->set_low(LowHalf(static_cast<Uint128>(value)));
}

Number Read(const pb::Number& in) {
  if (in.has_integer()) return Number::Integer(in.integer());
  if (in.has_real()) return Number::Real(in.real());
  if (!in.has_wide()) return Number();
  const auto high = static_cast<uint64_t>(in.wide().high());
  return Number::Integer(static_cast<Int128>(JoinHalves(high, in.wide().low())));
}

void Write(const Expr& expr, pb::Expr* out) {
  out->set_op(static_cast<pb::Expr::Op>(ToWire(expr.op)));
  if (expr.op == ExprOp::kNumber) Write(expr.number, out->mutable_number());
  if (expr.op == ExprOp::kVariable) {
    out->set_variable(static_cast<pb::Expr::Variable>(ToWire(expr.variable)));
  }
  if (expr.op == ExprOp::kAggregate) {
    out->set_aggregate(static_cast<pb::Expr::Aggregate>(ToWire(expr.aggregate)));
  }
  for (const Expr& arg : expr.args) Write(arg, out->add_args());
}

Expr Read(const pb::Expr& in) {
  Expr expr;
  expr.op = FromWire<ExprOp>(in.op());
  if (expr.op == ExprOp::kNumber) expr.number = Read(in.number());
  if (expr.op == ExprOp::kVariable) expr.variable = FromWire<Variable>(in.variable());
  if (expr.op == ExprOp::kAggregate) expr.aggregate = FromWire<AggregateKind>(in.aggregate());
  expr.args.reserve(in.args_size());
  for (const pb::Expr& arg : in.args()) expr.args.push_back(Read(arg));
  return expr;
}

void Write(const EventSpec& event, pb::Event* out) {
  out->set_id(event.id);
  out->set_name(event.name);
  out->set_severity(event.severity);
  Write(event.filter, out->mutable_filter());
  Write(event.predicate, out->mutable_predicate());
  Write(event.granularity, out->mutable_granularity());
  out->set_interval_ms(event.interval_ms);
  out->set_for_count(event.for_count);
  out->set_scope(static_cast<pb::Event::Scope>(ToWire(event.scope)));
  out->set_observe(static_cast<pb::Event::Observe>(ToWire(event.observe)));
  out->set_max_buckets(event.max_buckets);
}

EventSpec Read(const pb::Event& in) {
  EventSpec event;
  event.id = in.id();
  event.name = in.name();
  event.severity = in.severity();
  event.filter = Read(in.filter());
  event.predicate = Read(in.predicate());
  event.granularity = Read(in.granularity());
  event.interval_ms = in.interval_ms();
  event.for_count = in.for_count();
  event.scope = FromWire<Scope>(in.scope());
  event.observe = FromWire<Observe>(in.observe());
  event.max_buckets = in.max_buckets();
  return event;
}

}  // namespace trumpet
