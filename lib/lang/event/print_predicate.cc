// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/base/units.h"
#include "lib/lang/event/number.h"
#include "lib/lang/event/print.h"

namespace trumpet::event_lang {
namespace {

// How tightly an expression binds; parentheses go round an operand that binds less
// tightly than its place asks.
enum Binding { kOr, kAnd, kNot, kCompare, kSum, kProduct, kMinus, kPrimary };

Binding BindingOf(const Expr& expr) {
  switch (expr.op) {
    case ExprOp::kOr:
      return kOr;
    case ExprOp::kAnd:
      return kAnd;
    case ExprOp::kNot:
      return kNot;
    case ExprOp::kAdd:
    case ExprOp::kSubtract:
      return kSum;
    case ExprOp::kMultiply:
    case ExprOp::kDivide:
    case ExprOp::kModulo:
      return kProduct;
    case ExprOp::kNegate:
      return kMinus;
    case ExprOp::kVariable:
      return expr.variable == Variable::kLostInBurst ? kAnd : kPrimary;
    case ExprOp::kNumber:
    case ExprOp::kAggregate:
    case ExprOp::kMeasured:
      return kPrimary;
    default:
      return kCompare;
  }
}

const char* Symbol(ExprOp op) {
  switch (op) {
    case ExprOp::kAdd:
      return " + ";
    case ExprOp::kSubtract:
      return " - ";
    case ExprOp::kMultiply:
      return " * ";
    case ExprOp::kDivide:
      return " / ";
    case ExprOp::kModulo:
      return " % ";
    case ExprOp::kGreater:
      return " > ";
    case ExprOp::kGreaterEqual:
      return " >= ";
    case ExprOp::kLess:
      return " < ";
    case ExprOp::kLessEqual:
      return " <= ";
    case ExprOp::kEqual:
      return " = ";
    case ExprOp::kNotEqual:
      return " != ";
    case ExprOp::kAnd:
      return " and ";
    default:
      return " or ";
  }
}

bool IsVariable(const Expr& expr, Variable variable) {
  return expr.op == ExprOp::kVariable && expr.variable == variable;
}

bool AreLostAndBurst(const Expr& a, const Expr& b) {
  return (IsVariable(a, Variable::kIsLost) && IsVariable(b, Variable::kIsBurst)) ||
         (IsVariable(a, Variable::kIsBurst) && IsVariable(b, Variable::kIsLost));
}

std::string Operand(const Expr& expr, Binding loosest) {
  const std::string text = PrintPredicate(expr);
  return BindingOf(expr) >= loosest ? text : "(" + text + ")";
}

Binding LoosestLeft(const Expr& expr) {
  const Binding own = BindingOf(expr);
  if (own == kCompare) return kSum;
  if (expr.op != ExprOp::kAnd) return own;
  // Unparenthesised, the two would be read as one variable, or as part of the chain.
  const Expr& left = expr.args[0];
  const bool would_merge = left.op == ExprOp::kAnd && AreLostAndBurst(left.args[1], expr.args[1]);
  return would_merge || IsVariable(left, Variable::kLostInBurst) ? kNot : kAnd;
}

Binding LoosestRight(const Expr& expr) {
  // `%` before a minus would be read as a percentage.
  if (expr.op == ExprOp::kModulo) return kPrimary;
  return static_cast<Binding>(BindingOf(expr) + 1);
}

}  // namespace

std::string PrintPredicate(const Expr& expr) {
  switch (expr.op) {
    case ExprOp::kNumber:
      return FormatNumber(expr.number);
    case ExprOp::kVariable:
      return VariableName(expr.variable);
    case ExprOp::kAggregate:
      return std::string(AggregateName(expr.aggregate)) + "(" + PrintPredicate(expr.args[0]) + ")";
    case ExprOp::kMeasured:
      return MeasuredStateText(expr.measured);
    case ExprOp::kNegate:
      return "-" + Operand(expr.args[0], kMinus);
    case ExprOp::kNot:
      return "not " + Operand(expr.args[0], kNot);
    default:
      return Operand(expr.args[0], LoosestLeft(expr)) + Symbol(expr.op) +
             Operand(expr.args[1], LoosestRight(expr));
  }
}

std::string PrintGranularity(const Granularity& granularity) {
  if (granularity.is_five_tuple) return "5-tuple";
  if (granularity.fields.empty()) return "none";
  std::string text;
  for (const GranularityField& field : granularity.fields) {
    if (!text.empty()) text += ",";
    text += FieldRefName(field.ref);
    if (field.prefix_length != kFullPrefix) text += "/" + std::to_string(field.prefix_length);
  }
  return text;
}

std::string PrintInterval(uint32_t interval_ms) {
  constexpr uint32_t kMillisPerSecond = 1000;
  if (interval_ms % kMillisPerSecond != 0) return std::to_string(interval_ms) + "ms";
  return std::to_string(interval_ms / kMillisPerSecond) + "s";
}

const char* ScopeName(Scope scope) { return scope == Scope::kHost ? "host" : "network"; }

const char* ObserveName(Observe observe) {
  switch (observe) {
    case Observe::kSource:
      return "source";
    case Observe::kDestination:
      return "destination";
    case Observe::kAll:
      break;
  }
  return "all";
}

}  // namespace trumpet::event_lang
