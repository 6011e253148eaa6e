// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/verdict/verdict_predicate.h"

namespace trumpet {
namespace {

Number FlowVariable(Variable variable, const FlowInstants& flow) {
  const bool is_start = variable >= Variable::kAckLastEpoch;
  const std::optional<FlowState>& state = is_start ? flow.at_start : flow.at_end;
  if (!state) return Number();
  switch (variable) {
    case Variable::kAck:
    case Variable::kAckLastEpoch:
      return state->has_ack ? Number::Integer(state->ack) : Number();
    case Variable::kSeq:
    case Variable::kSeqLastEpoch:
      return state->has_seq ? Number::Integer(state->seq) : Number();
    case Variable::kDup:
    case Variable::kDupLastEpoch:
      return Number::Integer(state->dup);
    default:  // no other variable stands outside aggregates
      return Number();
  }
}

bool HasFlowVariable(const Expr& expr) {
  if (expr.op == ExprOp::kAggregate) return false;
  if (expr.op == ExprOp::kVariable) return true;
  for (const Expr& arg : expr.args) {
    if (HasFlowVariable(arg)) return true;
  }
  return false;
}

// Is a variable used that stands at `first` or after it?
bool UsesFrom(const Expr& predicate, Variable first) {
  bool uses = false;
  VisitNodes(predicate, [&uses, first](const Expr& node) {
    uses |= node.op == ExprOp::kVariable && node.variable >= first;
  });
  return uses;
}

}  // namespace

VerdictPredicate::VerdictPredicate(const TriggerPlan& plan)
    : plan_(plan), split_(SplitThreshold(plan)), empty_words_(plan.word_count) {
  ResetCells(plan.cells, empty_words_.data());
  VisitNodes(plan.spec.predicate, [this](const Expr& node) {
    if (node.op == ExprOp::kAggregate) {
      aggregates_.emplace_back(&node, FindAggregateCells(plan_, node));
    }
  });
  can_fire_empty_ = CanBe(plan.spec.predicate, true);
  uses_connections_ = UsesFrom(plan.spec.predicate, Variable::kIsBurst);
  uses_tcp_ = UsesFrom(plan.spec.predicate, Variable::kIsLost);
}

Number VerdictPredicate::Leaf(const Expr& leaf, const uint64_t* words,
                              const FlowInstants& flow) const {
  if (leaf.op == ExprOp::kVariable) return FlowVariable(leaf.variable, flow);
  for (const auto& [expr, cells] : aggregates_) {
    if (expr == &leaf) return AggregateValue(cells, words);
  }
  return Number();
}

Verdict VerdictPredicate::Test(const uint64_t* words, const FlowInstants& flow) const {
  return VerdictOf(plan_.spec.predicate, [&](const Expr& expr) { return Leaf(expr, words, flow); });
}

// Could `expr` be true (false, if !truth) on empty cells for some state of the flow?  Errs towards
// yes.
bool VerdictPredicate::CanBe(const Expr& expr, bool truth) const {
  switch (expr.op) {
    case ExprOp::kNot:
      return CanBe(expr.args[0], !truth);
    case ExprOp::kAnd:
    case ExprOp::kOr: {
      const bool a = CanBe(expr.args[0], truth);
      const bool b = CanBe(expr.args[1], truth);
      return (expr.op == ExprOp::kAnd) == truth ? a && b : a || b;
    }
    default:
      break;
  }
  if (HasFlowVariable(expr)) return true;
  const FlowInstants nothing;
  const Number number =
      Evaluate(expr, [&](const Expr& leaf) { return Leaf(leaf, empty_words_.data(), nothing); });
  return number.is_defined() && number.IsTrue() == truth;
}

}  // namespace trumpet
