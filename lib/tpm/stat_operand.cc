// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/stat_operand.h"

#include <algorithm>

namespace trumpet {
namespace {

constexpr int kStackDepth = 32;

// Of an evaluation, per node of the expression.
constexpr Nanos kStepWork = 3;
constexpr Nanos kTreeWork = 25;

// An intermediate value of an integer program.
struct Slot {
  int64_t value;
  bool is_defined;
};

// How many slots the postfix form of `expr` needs.
int StackNeed(const Expr& expr) {
  int need = 1;
  for (size_t i = 0; i < expr.args.size(); i++) {
    need = std::max(need, StackNeed(expr.args[i]) + static_cast<int>(i));
  }
  return need;
}

Nanos NodeCount(const Expr& expr) {
  Nanos count = 1;
  for (const Expr& arg : expr.args) count += NodeCount(arg);
  return count;
}

Slot Compare(bool result) { return {result ? 1 : 0, true}; }

// SQL's three values: false wins in `and`, true wins in `or`, whatever the other side is.
Slot Logic(ExprOp op, const Slot& a, const Slot& b) {
  const bool decisive = op == ExprOp::kOr;
  const bool a_decides = a.is_defined && (a.value != 0) == decisive;
  const bool b_decides = b.is_defined && (b.value != 0) == decisive;
  if (a_decides || b_decides) return {decisive ? 1 : 0, true};
  return {decisive ? 0 : 1, a.is_defined && b.is_defined};
}

Slot Binary(ExprOp op, const Slot& a, const Slot& b) {
  if (op == ExprOp::kAnd || op == ExprOp::kOr) return Logic(op, a, b);
  if (!a.is_defined || !b.is_defined) return {0, false};
  switch (op) {
    case ExprOp::kAdd:
      return {a.value + b.value, true};
    case ExprOp::kSubtract:
      return {a.value - b.value, true};
    case ExprOp::kMultiply:
      return {a.value * b.value, true};
    case ExprOp::kModulo:
      return b.value == 0 ? Slot{0, false} : Slot{b.value == -1 ? 0 : a.value % b.value, true};
    case ExprOp::kGreater:
      return Compare(a.value > b.value);
    case ExprOp::kGreaterEqual:
      return Compare(a.value >= b.value);
    case ExprOp::kLess:
      return Compare(a.value < b.value);
    case ExprOp::kLessEqual:
      return Compare(a.value <= b.value);
    case ExprOp::kEqual:
      return Compare(a.value == b.value);
    default:
      return Compare(a.value != b.value);
  }
}

// The slow way: the expression tree itself, with exact integers and doubles.
Number EvaluateTree(const Expr& expr, const VariableValues& values) {
  return Evaluate(expr, [&values](const Expr& leaf) {
    return values.IsDefined(leaf.variable) ? Number::Integer(values.Get(leaf.variable)) : Number();
  });
}

}  // namespace

VariableValues ValuesOfPacket(const ParsedPacket& packet, const PacketFacts& facts) {
  VariableValues values;
  const Headers& headers = packet.innermost;
  const bool is_ip = headers.ip_family != 0;
  values.Set(Variable::kPackets, 1);
  values.Set(Variable::kBytes, packet.bytes);
  values.Set(Variable::kVolume, packet.volume);
  values.Set(Variable::kEcn, is_ip && headers.ecn == 3 ? 1 : 0);
  if (is_ip) values.Set(Variable::kTtl, headers.ttl);
  values.Set(Variable::kIsBurst, facts.is_burst ? 1 : 0);
  values.Set(Variable::kIsLost, facts.is_lost ? 1 : 0);
  values.Set(Variable::kLostInBurst, facts.lost_in_burst ? 1 : 0);
  if (facts.defined & kHasRwnd) values.Set(Variable::kRwnd, facts.rwnd);
  if (facts.defined & kHasAck) values.Set(Variable::kAck, facts.ack);
  if (facts.defined & kHasSeq) values.Set(Variable::kSeq, facts.seq);
  if (facts.defined & kHasDup) values.Set(Variable::kDup, facts.dup);
  return values;
}

VariableValues ValuesOfSample(const RttSample& sample) {
  VariableValues values;
  values.Set(Variable::kRtt, sample.rtt_ns);
  return values;
}

StatOperand StatOperand::Compile(const Expr& expr, bool is_real) {
  StatOperand operand;
  operand.expr_ = expr;
  operand.is_real_ = is_real;
  operand.mentions_rtt_ = Mentions(expr, Variable::kRtt);
  operand.is_bare_ = !is_real && expr.op == ExprOp::kVariable;
  if (!is_real && StackNeed(expr) <= kStackDepth) operand.Emit(expr);
  operand.work_ = NodeCount(expr) * (operand.steps_.empty() ? kTreeWork : kStepWork);
  return operand;
}

void StatOperand::Emit(const Expr& expr) {
  for (const Expr& arg : expr.args) Emit(arg);
  Step step{expr.op, expr.variable, 0};
  if (expr.op == ExprOp::kNumber) step.number = static_cast<int64_t>(expr.number.integer());
  steps_.push_back(step);
}

bool StatOperand::RunProgram(const VariableValues& values, int64_t* result) const {
  if (steps_.empty()) {  // nested deeper than the stack: rare, so the slow way
    const Number number = EvaluateTree(expr_, values);
    if (number.is_defined()) *result = static_cast<int64_t>(number.integer());
    return number.is_defined();
  }
  Slot stack[kStackDepth];
  int top = -1;
  for (const Step& step : steps_) {
    switch (step.op) {
      case ExprOp::kNumber:
        stack[++top] = {step.number, true};
        break;
      case ExprOp::kVariable:
        top++;
        stack[top].is_defined = values.IsDefined(step.variable);
        stack[top].value = stack[top].is_defined ? values.Get(step.variable) : 0;
        break;
      case ExprOp::kNegate:
        stack[top].value = -stack[top].value;
        break;
      case ExprOp::kNot:
        stack[top].value = stack[top].value == 0 ? 1 : 0;
        break;
      default:
        top--;
        stack[top] = Binary(step.op, stack[top], stack[top + 1]);
    }
  }
  *result = stack[0].value;
  return stack[0].is_defined;
}

Number StatOperand::EvaluateReal(const VariableValues& values) const {
  return EvaluateTree(expr_, values);
}

}  // namespace trumpet
