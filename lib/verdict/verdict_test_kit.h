// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// For tests of plans and verdicts: expressions written as calls, and partials made by hand.

#ifndef TRUMPET_LIB_VERDICT_VERDICT_TEST_KIT_H
#define TRUMPET_LIB_VERDICT_VERDICT_TEST_KIT_H

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/units.h"
#include "lib/model/bucket_key.h"
#include "lib/verdict/host_verdicts.h"
#include "lib/verdict/real_sum.h"
#include "lib/verdict/trigger_plan.h"

namespace trumpet {
namespace kit {

inline Expr Num(Int128 value) {
  Expr expr;
  expr.number = Number::Integer(value);
  return expr;
}

inline Expr Real(double value) {
  Expr expr;
  expr.number = Number::Real(value);
  return expr;
}

inline Expr Var(Variable variable) {
  Expr expr;
  expr.op = ExprOp::kVariable;
  expr.variable = variable;
  return expr;
}

inline Expr Agg(AggregateKind kind, const Expr& operand) {
  Expr expr;
  expr.op = ExprOp::kAggregate;
  expr.aggregate = kind;
  expr.args = {operand};
  return expr;
}

inline Expr Sum(Variable variable) { return Agg(AggregateKind::kSum, Var(variable)); }

inline Expr Op(const Expr& a, ExprOp op, const Expr& b) {
  Expr expr;
  expr.op = op;
  expr.args = {a, b};
  return expr;
}

inline Expr Not(const Expr& a) {
  Expr expr;
  expr.op = ExprOp::kNot;
  expr.args = {a};
  return expr;
}

inline Granularity ByPort() {
  Granularity granularity;
  granularity.fields = {{{Field::kDstPort, Level::kInnermost}, kFullPrefix}};
  return granularity;
}

inline Granularity ByFlow() {
  Granularity granularity;
  granularity.is_five_tuple = true;
  return granularity;
}

inline std::string PortKey(uint32_t port) {
  BucketKey key;
  key.Append({ValueKind::kNumber, port});
  return std::string(key.view());
}

inline FlowKey Flow(uint8_t number) {
  FlowKey flow;
  flow.ip_family = 4;
  flow.src_ip = {10, 0, 0, number};
  flow.dst_ip = {10, 0, 1, 1};
  flow.protocol = kProtocolTcp;
  flow.dst_port = 80;
  return flow;
}

inline std::string FlowBucket(uint8_t number) {
  return std::string(FiveTupleBucketKey(Flow(number)).view());
}

inline EventSpec Event(uint32_t id, const Expr& predicate, const Granularity& granularity,
                       uint32_t interval_ms = 10) {
  EventSpec spec;
  spec.id = id;
  spec.name = "e" + std::to_string(id);
  spec.predicate = predicate;
  spec.granularity = granularity;
  spec.interval_ms = interval_ms;
  return spec;
}

inline std::shared_ptr<const TriggerPlan> Plan(const EventSpec& spec) {
  return std::make_shared<const TriggerPlan>(MakeTriggerPlan(spec));
}

// The variables that one packet defines.
using Values = std::map<Variable, int64_t>;

inline Number ValueOf(const Expr& operand, const Values& values) {
  return Evaluate(operand, [&values](const Expr& leaf) {
    const auto found = values.find(leaf.variable);
    return found == values.end() ? Number() : Number::Integer(found->second);
  });
}

// The cells of a bucket with one packet.
inline std::vector<uint64_t> CellsOf(const TriggerPlan& plan, const Values& values) {
  std::vector<uint64_t> words(plan.word_count);
  ResetCells(plan.cells, words.data());
  for (const CellSpec& cell : plan.cells) {
    const Number number = ValueOf(plan.operands[cell.operand], values);
    if (!number.is_defined()) continue;
    uint64_t* to = &words[cell.offset];
    const Int128 whole = number.is_integer() ? number.integer() : 0;
    const Uint128 square = static_cast<Uint128>(whole) * static_cast<Uint128>(whole);
    CellSum sum;
    switch (cell.kind) {
      case CellKind::kCount:
        to[0] = 1;
        break;
      case CellKind::kSum:
        to[0] = static_cast<uint64_t>(whole);
        to[1] = static_cast<uint64_t>(static_cast<Uint128>(whole) >> 64);
        break;
      case CellKind::kSumSquares:
        to[0] = static_cast<uint64_t>(square);
        to[1] = static_cast<uint64_t>(square >> 64);
        break;
      case CellKind::kMin:
      case CellKind::kMax:
        to[0] = static_cast<uint64_t>(whole);
        break;
      case CellKind::kRealSum:
        AddValue(number, &sum);
        StoreCellSum(sum, to);
        break;
      case CellKind::kRealSumSquares:
        AddSquare(number, &sum);
        StoreCellSum(sum, to);
        break;
      case CellKind::kRealMin:
      case CellKind::kRealMax: {
        const double real = number.AsDouble();
        std::memcpy(to, &real, sizeof real);
        break;
      }
    }
  }
  return words;
}

// The cells of a bucket with several packets.
inline std::vector<uint64_t> CellsOf(const TriggerPlan& plan, const std::vector<Values>& packets) {
  std::vector<uint64_t> words(plan.word_count);
  ResetCells(plan.cells, words.data());
  for (const Values& values : packets) {
    MergeCells(plan.cells, CellsOf(plan, values).data(), words.data());
  }
  return words;
}

constexpr Nanos Ms(int64_t ms) { return ms * kNanosPerMilli; }

// What a bucket counted in the epoch [start, end).  `key` and `words` must outlive it.
inline PartialView PartialOf(uint32_t event_id, Nanos start, Nanos end, std::string_view key,
                             const std::vector<uint64_t>& words) {
  PartialView partial;
  partial.event_id = event_id;
  partial.epoch_start = start;
  partial.epoch_end = end;
  partial.bucket_key = key;
  partial.words = words.data();
  return partial;
}

// The next packet of a flow in a random story: its state grows or rests, and after `timeout` or now
// and then it starts anew.  `below(n)` draws a number below n.
template <typename Below>
void GrowFlow(Nanos at, Nanos timeout, Below&& below, FlowState* state) {
  if (at - state->last_packet_ns > timeout || below(100) < 4) {
    const Nanos last = state->incarnation;
    *state = FlowState{};
    state->incarnation = last + 1;
  }
  state->last_packet_ns = state->sender_ns = state->receiver_ns = at;
  state->ack += below(4);
  state->seq += below(4);
  state->dup = below(3);
  state->has_ack |= below(100) < 60;
  state->has_seq |= below(100) < 60;
}

}  // namespace kit
}  // namespace trumpet

#endif  // TRUMPET_LIB_VERDICT_VERDICT_TEST_KIT_H
