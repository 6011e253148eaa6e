// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/lang/event/lower.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "lib/lang/event/token_stream.h"

namespace trumpet::event_lang {
namespace {

constexpr int kMillisPerSecond = 1000;
constexpr int kBitsPerByte = 8;

FilterExpr LowerFilter(const FilterNode& node) {
  FilterExpr filter;
  filter.op = node.op;
  filter.test = node.test;
  for (const FilterNode& arg : node.args) {
    FilterExpr lowered = LowerFilter(arg);
    const bool is_chain = node.op == FilterOp::kAnd || node.op == FilterOp::kOr;
    if (is_chain && lowered.op == node.op) {
      std::move(lowered.args.begin(), lowered.args.end(), std::back_inserter(filter.args));
    } else {
      filter.args.push_back(std::move(lowered));
    }
  }
  return filter;
}

Expr Integer(int64_t value) {
  Expr expr;
  expr.number = Number::Integer(value);
  return expr;
}

Expr OfVariable(Variable variable) {
  Expr expr;
  expr.op = ExprOp::kVariable;
  expr.variable = variable;
  return expr;
}

Expr Binary(ExprOp op, Expr left, Expr right) {
  Expr expr;
  expr.op = op;
  expr.args.reserve(2);
  expr.args.push_back(std::move(left));
  expr.args.push_back(std::move(right));
  return expr;
}

Expr SumOfPackets() {
  Expr expr;
  expr.op = ExprOp::kAggregate;
  expr.aggregate = AggregateKind::kSum;
  expr.args.push_back(OfVariable(Variable::kPackets));
  return expr;
}

bool IsSum(const PredicateNode& node) {
  return node.op == ExprOp::kAggregate && node.aggregate == AggregateKind::kSum;
}

bool IsVariable(const PredicateNode& node, Variable variable) {
  return node.op == ExprOp::kVariable && node.variable == variable;
}

bool AreLostAndBurst(const PredicateNode& a, const PredicateNode& b) {
  return (IsVariable(a, Variable::kIsLost) && IsVariable(b, Variable::kIsBurst)) ||
         (IsVariable(a, Variable::kIsBurst) && IsVariable(b, Variable::kIsLost));
}

class PredicateLowerer {
 public:
  explicit PredicateLowerer(uint32_t interval_ms) : interval_ms_(interval_ms) {}

  Expr Lower(const PredicateNode& node) const {
    if (node.op == ExprOp::kAnd || node.op == ExprOp::kOr) return LowerChain(node);
    if (IsComparison(node.op)) return LowerComparison(node);
    Expr expr;
    expr.op = node.op;
    expr.number = node.number;
    expr.variable = node.variable;
    expr.aggregate = node.aggregate;
    expr.measured = node.measured;
    for (const PredicateNode& arg : node.args) expr.args.push_back(Lower(arg));
    return expr;
  }

 private:
  Expr LowerChain(const PredicateNode& node) const {
    Expr chain;
    for (size_t i = 0; i < node.args.size(); ++i) {
      Expr operand;
      if (node.op == ExprOp::kAnd && i + 1 < node.args.size() &&
          AreLostAndBurst(node.args[i], node.args[i + 1])) {
        operand = OfVariable(Variable::kLostInBurst);
        chain = i == 0 ? std::move(operand) : Binary(node.op, std::move(chain), std::move(operand));
        ++i;  // two operands became one
        continue;
      }
      operand = Lower(node.args[i]);
      chain = i == 0 ? std::move(operand) : Binary(node.op, std::move(chain), std::move(operand));
    }
    return chain;
  }

  Expr LowerComparison(const PredicateNode& node) const {
    return Binary(node.op, LowerSide(node.args[0], node.args[1]),
                  LowerSide(node.args[1], node.args[0]));
  }

  // One side of a comparison, scaled as the other side asks.
  Expr LowerSide(const PredicateNode& side, const PredicateNode& other) const {
    Expr lowered = Lower(side);
    if (other.is_rate()) {
      const int scale =
          other.unit == Unit::kBitRate ? kMillisPerSecond * kBitsPerByte : kMillisPerSecond;
      return Binary(ExprOp::kDivide, Binary(ExprOp::kMultiply, std::move(lowered), Integer(scale)),
                    Integer(interval_ms_));
    }
    if (other.literal == Literal::kPercent && IsSum(side)) {
      return Binary(ExprOp::kDivide, std::move(lowered), SumOfPackets());
    }
    return lowered;
  }

  const uint32_t interval_ms_;
};

// Operators above each other.
int Height(const Expr& expr) {
  int height = 0;
  for (const Expr& arg : expr.args) height = std::max(height, Height(arg) + 1);
  return height;
}

}  // namespace

bool LowerEvent(const EventAst& event, EventSpec* spec, Diagnostic* error) {
  spec->filter = LowerFilter(event.filter);
  spec->predicate = PredicateLowerer(event.interval_ms).Lower(event.predicate);
  spec->granularity.is_five_tuple = event.granularity.is_five_tuple;
  spec->granularity.fields.clear();
  for (const GranularityItem& item : event.granularity.items) {
    spec->granularity.fields.push_back(item.field);
  }
  spec->interval_ms = event.interval_ms;
  if (Height(spec->predicate) <= kMaxDepth) return true;
  return Fail(
      error, Part::kPredicate, event.predicate.offset,
      "the predicate has more than " + std::to_string(kMaxDepth) + " operators nested or in a row");
}

bool IsFlat(const FilterExpr& filter) {
  const bool is_chain = filter.op == FilterOp::kAnd || filter.op == FilterOp::kOr;
  if (is_chain && filter.args.size() < 2) return false;
  for (const FilterExpr& arg : filter.args) {
    if ((is_chain && arg.op == filter.op) || !IsFlat(arg)) return false;
  }
  return true;
}

bool IsBinary(const Expr& expr) {
  size_t arity = 2;
  const bool is_leaf =
      expr.op == ExprOp::kNumber || expr.op == ExprOp::kVariable || expr.op == ExprOp::kMeasured;
  if (is_leaf) arity = 0;
  const bool is_unary =
      expr.op == ExprOp::kAggregate || expr.op == ExprOp::kNegate || expr.op == ExprOp::kNot;
  if (is_unary) arity = 1;
  if (expr.args.size() != arity || Height(expr) > kMaxDepth) return false;
  return std::all_of(expr.args.begin(), expr.args.end(), IsBinary);
}

}  // namespace trumpet::event_lang
