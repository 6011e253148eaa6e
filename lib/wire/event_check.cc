// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What a front end of the event language promises of an event, checked again: who takes events from
// a peer relies on it as much as who takes them from the front end.

#include <cmath>
#include <cstdint>

#include "lib/model/bucket_key.h"
#include "lib/model/filter.h"
#include "lib/wire/event_codec.h"
#include "lib/wire/limits.h"
#include "lib/wire/trumpet.pb.h"
#include "lib/wire/wide_integer.h"

namespace trumpet {
namespace {

// What parts of an event tell each other.
struct Facts {
  size_t node_count = 0;
  bool uses_rtt = false;
  bool is_changed_by_ack = false;  // uses a field in which data and its ACK may differ
};

bool IsChangedByAck(const pb::FieldRef& ref) {
  return ref.field() == pb::FieldRef::FIELD_TTL || ref.field() == pb::FieldRef::FIELD_ECN ||
         ref.field() == pb::FieldRef::FIELD_DSCP || ref.field() == pb::FieldRef::FIELD_TCP_FLAGS;
}

bool KindFits(const pb::FieldRef& ref, pb::ValueRange::Kind kind) {
  switch (ref.field()) {
    case pb::FieldRef::FIELD_SRC_IP:
    case pb::FieldRef::FIELD_DST_IP:
      return kind == pb::ValueRange::KIND_IPV4 || kind == pb::ValueRange::KIND_IPV6;
    case pb::FieldRef::FIELD_SRC_MAC:
    case pb::FieldRef::FIELD_DST_MAC:
      return kind == pb::ValueRange::KIND_MAC;
    default:
      return kind == pb::ValueRange::KIND_NUMBER;
  }
}

// Bits of the widest value of a field.
int WidestValue(const pb::FieldRef& ref) {
  int widest = 0;
  for (int kind = 1; kind <= pb::ValueRange::KIND_IPV6; ++kind) {
    if (!KindFits(ref, static_cast<pb::ValueRange::Kind>(kind))) continue;
    const int width = FieldWidth(static_cast<Field>(ref.field() - 1), static_cast<ValueKind>(kind));
    if (width > widest) widest = width;
  }
  return widest;
}

bool CheckFieldRef(const pb::FieldRef& ref, const Place& place, Facts* facts, Checker* checker) {
  if (!checker->Enum(place, "field", ref.field(), kFieldCount)) return false;
  const uint64_t level = static_cast<uint32_t>(ref.level());
  if (!checker->Range(place, "level", level, 0, pb::FieldRef::LEVEL_INNER)) return false;
  if (IsChangedByAck(ref)) facts->is_changed_by_ack = true;
  return true;
}

bool CountNode(const Place& place, int height, Facts* facts, Checker* checker) {
  if (height > kMaxTreeHeight) {
    return checker->Fail(place,
                         "is too deep; " + std::to_string(kMaxTreeHeight) + " levels are allowed");
  }
  if (++facts->node_count <= kMaxTreeNodes) return true;
  return checker->Fail(place, "is one too many; an event has at most " +
                                  std::to_string(kMaxTreeNodes) + " nodes and ranges");
}

// ---- Filters ----

bool CheckRange(const pb::ValueRange& range, const pb::FieldRef& ref, const Place& place,
                Checker* checker) {
  if (!checker->Enum(place, "kind", range.kind(), pb::ValueRange::KIND_IPV6)) return false;
  if (!KindFits(ref, range.kind())) {
    return checker->Fail(place, "kind",
                         "is " + std::to_string(range.kind()) +
                             ", which is no kind of value of field " + std::to_string(ref.field()));
  }
  const int width =
      FieldWidth(static_cast<Field>(ref.field() - 1), static_cast<ValueKind>(range.kind()));
  const Uint128 largest = width == 128 ? ~Uint128{0} : (Uint128{1} << width) - 1;
  const Uint128 first = JoinHalves(range.first_high(), range.first_low());
  const Uint128 span = JoinHalves(range.span_high(), range.span_low());
  if (first <= largest && span <= largest - first) return true;
  return checker->Fail(place, "goes beyond the " + std::to_string(width) + " bits of its field");
}

bool CheckFieldTest(const pb::FieldTest& test, const Place& place, Facts* facts, Checker* checker) {
  const Place ref_place(place, "ref");
  if (!CheckFieldRef(test.ref(), ref_place, facts, checker)) return false;
  switch (test.kind_case()) {
    case pb::FieldTest::kIsAny:
      return test.is_any() || checker->Fail(place, "is_any", "is false");
    case pb::FieldTest::kMasked: {
      const Place masked(place, "masked");
      if (test.ref().field() != pb::FieldRef::FIELD_TCP_FLAGS) {
        return checker->Fail(masked, "stands with tcpFlags only");
      }
      const uint32_t mask = test.masked().mask();
      const uint64_t largest = (1u << FieldWidth(Field::kTcpFlags, ValueKind::kNumber)) - 1;
      if (!checker->Range(masked, "mask", mask, 0, largest)) return false;
      return (test.masked().expected() & ~mask) == 0 ||
             checker->Fail(masked, "expected", "has bits that the mask has not");
    }
    case pb::FieldTest::kRanges: {
      const Place ranges(place, "ranges");
      if (!checker->Present(ranges, "ranges", test.ranges().ranges_size() > 0)) return false;
      for (int i = 0; i < test.ranges().ranges_size(); ++i) {
        const Place range(ranges, "ranges", i);
        if (!CountNode(range, 0, facts, checker) ||
            !CheckRange(test.ranges().ranges(i), test.ref(), range, checker)) {
          return false;
        }
      }
      return true;
    }
    case pb::FieldTest::KIND_NOT_SET:
      break;
  }
  return checker->Fail(place, "tests nothing");
}

bool IsChain(pb::Filter::Op op) { return op == pb::Filter::OP_AND || op == pb::Filter::OP_OR; }

bool CheckFilterArity(const pb::Filter& filter, const Place& place, Checker* checker) {
  const auto count = static_cast<uint64_t>(filter.args_size());
  if (IsChain(filter.op())) return checker->Range(place, "args", count, 2, kMaxTreeNodes);
  const uint64_t wanted = filter.op() == pb::Filter::OP_NOT ? 1 : 0;
  if (count == wanted) return true;
  return checker->Fail(place, "args",
                       "has " + std::to_string(count) + " elements; op " +
                           std::to_string(filter.op()) + " takes " + std::to_string(wanted));
}

bool CheckFilter(const pb::Filter& filter, const Place& place, int height, Facts* facts,
                 Checker* checker) {
  if (!CountNode(place, height, facts, checker) ||
      !checker->Enum(place, "op", filter.op(), pb::Filter::OP_NOT) ||
      !CheckFilterArity(filter, place, checker)) {
    return false;
  }
  if (filter.op() == pb::Filter::OP_TEST &&
      !CheckFieldTest(filter.test(), Place(place, "test"), facts, checker)) {
    return false;
  }
  for (int i = 0; i < filter.args_size(); ++i) {
    const Place arg(place, "args", i);
    if (IsChain(filter.op()) && filter.args(i).op() == filter.op()) {
      return checker->Fail(arg, "op", "is that of the chain which it is part of");
    }
    if (!CheckFilter(filter.args(i), arg, height + 1, facts, checker)) return false;
  }
  return true;
}

// ---- Granularities ----

bool CheckGranularityField(const pb::Granularity& granularity, int index, const Place& place,
                           Facts* facts, Checker* checker) {
  const pb::GranularityField& field = granularity.fields(index);
  const Place ref_place(place, "ref");
  if (!CheckFieldRef(field.ref(), ref_place, facts, checker)) return false;
  for (int i = 0; i < index; ++i) {
    const pb::FieldRef& earlier = granularity.fields(i).ref();
    if (earlier.field() == field.ref().field() && earlier.level() == field.ref().level()) {
      return checker->Fail(ref_place, "is named twice");
    }
  }
  const auto widest = static_cast<uint64_t>(WidestValue(field.ref()));
  return !field.has_prefix_length() ||
         checker->Range(place, "prefix_length", field.prefix_length(), 0, widest);
}

bool CheckGranularity(const pb::Granularity& granularity, const Place& place, Facts* facts,
                      Checker* checker) {
  constexpr size_t kMostFields = kFieldCount * 3;  // levels
  const auto count = static_cast<size_t>(granularity.fields_size());
  if (granularity.is_five_tuple() && count > 0) {
    return checker->Fail(place, "fields", "are named beside is_five_tuple");
  }
  if (!checker->Count(place, "fields", count, kMostFields)) return false;
  Granularity fields;
  for (int i = 0; i < granularity.fields_size(); ++i) {
    if (!CheckGranularityField(granularity, i, Place(place, "fields", i), facts, checker)) {
      return false;
    }
    GranularityField field;
    field.ref.field = static_cast<Field>(granularity.fields(i).ref().field() - 1);
    fields.fields.push_back(field);
  }
  if (MaxBucketKeyBytes(fields) <= kMaxBucketKeyBytes) return true;
  return checker->Fail(place, "fields",
                       "take more than " + std::to_string(kMaxBucketKeyBytes) + " bytes together");
}

// ---- Predicates ----

int ArityOf(pb::Expr::Op op) {
  switch (op) {
    case pb::Expr::OP_NUMBER:
    case pb::Expr::OP_VARIABLE:
      return 0;
    case pb::Expr::OP_AGGREGATE:
    case pb::Expr::OP_NEGATE:
    case pb::Expr::OP_NOT:
      return 1;
    default:
      return 2;
  }
}

bool IsLastEpoch(pb::Expr::Variable variable) {
  return variable >= pb::Expr::VARIABLE_ACK_LAST_EPOCH;
}

bool IsFlowValue(pb::Expr::Variable variable) {
  return variable == pb::Expr::VARIABLE_ACK || variable == pb::Expr::VARIABLE_SEQ ||
         variable == pb::Expr::VARIABLE_DUP || IsLastEpoch(variable);
}

class PredicateWalk {
 public:
  PredicateWalk(bool is_five_tuple, Facts* facts, Checker* checker)
      : is_five_tuple_(is_five_tuple), facts_(*facts), checker_(*checker) {}

  bool Check(const pb::Expr& expr, const Place& place, int height, bool in_aggregate) {
    if (!CountNode(place, height, &facts_, &checker_) ||
        !checker_.Enum(place, "op", expr.op(), pb::Expr::OP_OR) || !CheckArity(expr, place) ||
        !CheckLeaf(expr, place, in_aggregate)) {
      return false;
    }
    in_aggregate = in_aggregate || expr.op() == pb::Expr::OP_AGGREGATE;
    for (int i = 0; i < expr.args_size(); ++i) {
      if (!Check(expr.args(i), Place(place, "args", i), height + 1, in_aggregate)) return false;
    }
    return true;
  }

 private:
  bool CheckArity(const pb::Expr& expr, const Place& place) {
    const int wanted = ArityOf(expr.op());
    if (expr.args_size() == wanted) return true;
    return checker_.Fail(place, "args",
                         "has " + std::to_string(expr.args_size()) + " elements; op " +
                             std::to_string(expr.op()) + " takes " + std::to_string(wanted));
  }

  bool CheckLeaf(const pb::Expr& expr, const Place& place, bool in_aggregate) {
    switch (expr.op()) {
      case pb::Expr::OP_NUMBER: {
        const Place number(place, "number");
        return CheckNumber(expr.number(), number, &checker_) &&
               checker_.Present(place, "number",
                                expr.number().kind_case() != pb::Number::KIND_NOT_SET);
      }
      case pb::Expr::OP_VARIABLE:
        return CheckVariable(expr.variable(), place, in_aggregate);
      case pb::Expr::OP_AGGREGATE:
        if (in_aggregate) return checker_.Fail(place, "is an aggregate inside another one");
        return checker_.Enum(place, "aggregate", expr.aggregate(), pb::Expr::AGGREGATE_STDDEV);
      default:
        return true;
    }
  }

  bool CheckVariable(pb::Expr::Variable variable, const Place& place, bool in_aggregate) {
    if (!checker_.Enum(place, "variable", variable, kVariableCount)) return false;
    if (variable == pb::Expr::VARIABLE_RTT) facts_.uses_rtt = true;
    if (in_aggregate) {
      return !IsLastEpoch(variable) ||
             checker_.Fail(place, "variable", "stands only outside aggregates");
    }
    if (!IsFlowValue(variable)) {
      return checker_.Fail(place, "variable", "is a value of one packet, outside an aggregate");
    }
    return is_five_tuple_ ||
           checker_.Fail(place, "variable", "outside an aggregate needs the granularity 5-tuple");
  }

  const bool is_five_tuple_;
  Facts& facts_;
  Checker& checker_;
};

bool CheckRtt(const Facts& facts, const Place& place, Checker* checker) {
  return !facts.uses_rtt || !facts.is_changed_by_ack ||
         checker->Fail(place, "uses rtt beside a field in which data and its ACK may differ");
}

bool CheckHead(const pb::Event& event, const Place& place, Checker* checker) {
  return checker->EventId(place, "id", event.id()) && checker->Name(place, "name", event.name()) &&
         checker->Text(place, "severity", event.severity(), kMaxTextBytes) &&
         checker->Range(place, "interval_ms", event.interval_ms(), 1, kMaxIntervalMs) &&
         checker->Range(place, "for_count", event.for_count(), 1, UINT32_MAX) &&
         checker->Enum(place, "scope", event.scope(), pb::Event::SCOPE_HOST) &&
         checker->Enum(place, "observe", event.observe(), pb::Event::OBSERVE_ALL) &&
         checker->Range(place, "max_buckets", event.max_buckets(), 0, kMaxEventBuckets);
}

// Of all but the predicate.
bool CheckMatching(const pb::Event& event, const Place& place, Facts* facts, Checker* checker) {
  return CheckFilter(event.filter(), Place(place, "filter"), 1, facts, checker) &&
         CheckGranularity(event.granularity(), Place(place, "granularity"), facts, checker);
}

}  // namespace

bool CheckNumber(const pb::Number& number, const Place& place, Checker* checker) {
  return !number.has_real() || std::isfinite(number.real()) ||
         checker->Fail(place, "real", "is not finite");
}

bool CheckFilter(const pb::Filter& filter, const Place& place, Checker* checker) {
  Facts facts;
  return CheckFilter(filter, place, 1, &facts, checker);
}

bool CheckEvent(const pb::Event& event, const Place& place, Checker* checker) {
  Facts facts;
  if (!CheckHead(event, place, checker) || !CheckMatching(event, place, &facts, checker)) {
    return false;
  }
  facts.node_count = 0;  // both trees may be as large
  PredicateWalk walk(event.granularity().is_five_tuple(), &facts, checker);
  return walk.Check(event.predicate(), Place(place, "predicate"), 1, false) &&
         CheckRtt(facts, place, checker);
}

bool CheckPredicate(const pb::Expr& predicate, const pb::Event& event, const Place& place,
                    Checker* checker) {
  Facts facts;
  if (!CheckMatching(event, place, &facts, checker)) return false;
  facts.node_count = 0;
  PredicateWalk walk(event.granularity().is_five_tuple(), &facts, checker);
  return walk.Check(predicate, place, 1, false) && CheckRtt(facts, place, checker);
}

}  // namespace trumpet
