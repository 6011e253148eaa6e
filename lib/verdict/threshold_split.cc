// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/verdict/threshold_split.h"

namespace trumpet {
namespace {

// How an expression moves when the aggregate in it grows.
enum class Course { kConstant, kRising, kFalling, kUnknown };

Course Turned(Course course) {
  if (course == Course::kRising) return Course::kFalling;
  if (course == Course::kFalling) return Course::kRising;
  return course;
}

Number ConstantValue(const Expr& expr) {
  return Evaluate(expr, [](const Expr&) { return Number(); });
}

// `moving` times or divided by `constant`.
Course Scaled(Course moving, const Expr& constant) {
  const Number factor = ConstantValue(constant);
  if (!factor.is_defined() || factor.AsDouble() == 0) return Course::kUnknown;
  return factor.AsDouble() > 0 ? moving : Turned(moving);
}

Course CourseOf(const Expr& expr) {
  if (expr.op == ExprOp::kNumber) return Course::kConstant;
  if (expr.op == ExprOp::kAggregate) return Course::kRising;
  if (expr.op == ExprOp::kVariable) return Course::kUnknown;
  const Course a = CourseOf(expr.args[0]);
  const Course b = expr.args.size() > 1 ? CourseOf(expr.args[1]) : Course::kConstant;
  if (a == Course::kConstant && b == Course::kConstant) return Course::kConstant;
  if (a != Course::kConstant && b != Course::kConstant) return Course::kUnknown;
  switch (expr.op) {
    case ExprOp::kNegate:
      return Turned(a);
    case ExprOp::kAdd:
      return a == Course::kConstant ? b : a;
    case ExprOp::kSubtract:
      return a == Course::kConstant ? Turned(b) : a;
    case ExprOp::kMultiply:
      return a == Course::kConstant ? Scaled(b, expr.args[0]) : Scaled(a, expr.args[1]);
    case ExprOp::kDivide:
      return a == Course::kConstant ? Course::kUnknown : Scaled(a, expr.args[1]);
    default:
      return Course::kUnknown;
  }
}

// Does the comparison go from false to true, once and for good, as the aggregate grows?
bool IsReached(const Expr& comparison) {
  const Course left = CourseOf(comparison.args[0]);
  const Course right = CourseOf(comparison.args[1]);
  const bool is_greater =
      comparison.op == ExprOp::kGreater || comparison.op == ExprOp::kGreaterEqual;
  if (right == Course::kConstant) return left == (is_greater ? Course::kRising : Course::kFalling);
  if (left == Course::kConstant) return right == (is_greater ? Course::kFalling : Course::kRising);
  return false;
}

bool IsNonNegative(const Expr& operand) {
  switch (operand.op) {
    case ExprOp::kNumber:
      return operand.number.is_defined() && operand.number.AsDouble() >= 0;
    case ExprOp::kVariable:  // not the positions in sequence space, which are relative
      return operand.variable <= Variable::kRtt;
    case ExprOp::kAdd:
    case ExprOp::kMultiply:
      return IsNonNegative(operand.args[0]) && IsNonNegative(operand.args[1]);
    case ExprOp::kModulo:  // has the sign of the dividend
      return IsNonNegative(operand.args[0]);
    case ExprOp::kNegate:
    case ExprOp::kSubtract:
    case ExprOp::kDivide:
    case ExprOp::kAggregate:
      return false;
    default:  // comparisons and logic
      return true;
  }
}

std::string WhyNot(const Expr& predicate, const Expr* aggregate, int aggregate_count) {
  if (!IsComparison(predicate.op)) return "the predicate is more than one comparison";
  if (predicate.op == ExprOp::kEqual || predicate.op == ExprOp::kNotEqual) {
    return "the comparison is for equality";
  }
  if (aggregate_count != 1) return "the comparison is not of one aggregate with a number";
  const bool is_sum = aggregate->aggregate == AggregateKind::kSum;
  if (!is_sum && aggregate->aggregate != AggregateKind::kCount) {
    return std::string(AggregateName(aggregate->aggregate)) + " does not add up over hosts";
  }
  if (is_sum && !IsExactInteger(aggregate->args[0])) return "the values summed are not whole";
  if (is_sum && !IsNonNegative(aggregate->args[0])) return "the values summed may be negative";
  if (!IsReached(predicate)) return "it does not fire above a threshold";
  return "";
}

bool FiresAt(const Expr& predicate, Int128 value) {
  return Evaluate(predicate, [value](const Expr&) { return Number::Integer(value); }).IsTrue();
}

// The least value at which the predicate is true; it is false at 0.
Int128 LeastOf(const Expr& predicate) {
  Int128 low = 0;
  Int128 high = ThresholdSplit::kUnreachable;
  while (high - low > 1) {
    const Int128 middle = low + (high - low) / 2;
    (FiresAt(predicate, middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace

Expr ThresholdSplit::LocalPredicate(Int128 share) const {
  Expr bound;
  bound.number = Number::Integer(share);
  Expr predicate;
  predicate.op = ExprOp::kGreaterEqual;
  predicate.args = {aggregate, bound};
  return predicate;
}

ThresholdSplit SplitThreshold(const TriggerPlan& plan) {
  const Expr& predicate = plan.spec.predicate;
  const Expr* aggregate = nullptr;
  int aggregate_count = 0;
  VisitNodes(predicate, [&](const Expr& node) {
    if (node.op != ExprOp::kAggregate) return;
    aggregate = &node;
    ++aggregate_count;
  });
  ThresholdSplit split;
  split.why_not = WhyNot(predicate, aggregate, aggregate_count);
  if (!split.is_sound()) return split;
  if (FiresAt(predicate, 0)) {
    split.why_not = "it is true of buckets without packets";
    return split;
  }
  split.aggregate = *aggregate;
  split.cells = FindAggregateCells(plan, *aggregate);
  split.least = LeastOf(predicate);
  return split;
}

Int128 ShareOf(const ThresholdSplit& split, const Expr& predicate) {
  if (predicate.op != ExprOp::kGreaterEqual || predicate.args.size() != 2) return 0;
  if (!(predicate.args[0] == split.aggregate)) return 0;
  const Number& share = predicate.args[1].number;
  return predicate.args[1].op == ExprOp::kNumber && share.is_integer() ? share.integer() : 0;
}

}  // namespace trumpet
