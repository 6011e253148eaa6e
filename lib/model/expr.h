// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Expr: predicates and aggregate operands as checked trees, and the numbers they
// compute with.
//
// The front end lowers sugar: percentages and rates are plain arithmetic here, adjacent
// `is_lost & is_burst` is the variable kLostInBurst (see docs/adr/0002).

#ifndef TRUMPET_LIB_MODEL_EXPR_H
#define TRUMPET_LIB_MODEL_EXPR_H

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "lib/base/units.h"

namespace trumpet {

enum class Variable : uint8_t {
  kPackets,
  kBytes,
  kVolume,
  kEcn,
  kTtl,
  kIsBurst,
  kIsLost,
  kLostInBurst,  // `is_lost & is_burst`, adjacent
  kRwnd,
  kRtt,
  kAck,
  kSeq,
  kDup,
  kAckLastEpoch,  // the three below stand only outside aggregates
  kSeqLastEpoch,
  kDupLastEpoch,
};
constexpr int kVariableCount = 16;

enum class AggregateKind : uint8_t { kSum, kCount, kMin, kMax, kAvg, kStddev };

enum class ExprOp : uint8_t {
  kNumber,
  kVariable,
  kAggregate,  // one argument: the operand
  kNegate,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kModulo,
  kGreater,
  kGreaterEqual,
  kLess,
  kLessEqual,
  kEqual,
  kNotEqual,
  kNot,
  kAnd,  // two arguments, like every binary operator
  kOr,
  kMeasured,  // a leaf: what a measurement program holds, read by the controller
};

// A value of an expression: undefined, an exact integer, or a double.
class Number {
 public:
  Number() = default;  // undefined
  static Number Integer(Int128 value);
  static Number Real(double value);
  static Number Bool(bool value) { return Integer(value ? 1 : 0); }

  bool is_defined() const { return kind_ != Kind::kUndefined; }
  bool is_integer() const { return kind_ == Kind::kInteger; }
  Int128 integer() const { return integer_; }  // only if is_integer()
  double AsDouble() const;                     // only if is_defined()
  bool IsTrue() const;                         // defined and not zero

  // Shortest text that reads back the same; integral doubles below 2^53 as integers.
  std::string ToString() const;

  bool operator==(const Number& other) const;

 private:
  enum class Kind : uint8_t { kUndefined, kInteger, kReal };
  Kind kind_ = Kind::kUndefined;
  Int128 integer_ = 0;
  double real_ = 0;
};

// Applies an operator (kNegate, kNot: `b` is ignored).  Arithmetic and comparison of undefined give
// undefined, logic follows SQL's three values.  Integer overflow beyond 128 bits continues as
// double.
Number Apply(ExprOp op, const Number& a, const Number& b);

// `measure("hh").flows`: a state variable of a measurement program of the network;
// `measure("hh").size("10.0.0.1,80")`: what it holds of that key.
struct MeasuredState {
  std::string measurement;
  std::string state;
  std::string key = {};  // values of the key's fields, as texts; empty: all of the variable

  bool operator==(const MeasuredState& other) const {
    return std::tie(measurement, state, key) == std::tie(other.measurement, other.state, other.key);
  }
  bool operator<(const MeasuredState& other) const {
    return std::tie(measurement, state, key) < std::tie(other.measurement, other.state, other.key);
  }
};

struct Expr {
  ExprOp op = ExprOp::kNumber;
  Number number;                                  // kNumber
  Variable variable = Variable::kPackets;         // kVariable
  AggregateKind aggregate = AggregateKind::kSum;  // kAggregate
  MeasuredState measured;                         // kMeasured
  std::vector<Expr> args;

  bool operator==(const Expr& other) const {
    return op == other.op && number == other.number && variable == other.variable &&
           aggregate == other.aggregate && measured == other.measured && args == other.args;
  }
};

constexpr bool IsComparison(ExprOp op) { return op >= ExprOp::kGreater && op <= ExprOp::kNotEqual; }

// Evaluates `expr`, asking `leaf(const Expr&)` -> Number for kVariable, kAggregate and
// kMeasured nodes.
template <typename Leaf>
Number Evaluate(const Expr& expr, const Leaf& leaf) {
  switch (expr.op) {
    case ExprOp::kNumber:
      return expr.number;
    case ExprOp::kVariable:
    case ExprOp::kAggregate:
    case ExprOp::kMeasured:
      return leaf(expr);
    case ExprOp::kNegate:
    case ExprOp::kNot:
      return Apply(expr.op, Evaluate(expr.args[0], leaf), Number());
    default:
      return Apply(expr.op, Evaluate(expr.args[0], leaf), Evaluate(expr.args[1], leaf));
  }
}

// Calls `visit(const Expr&)` for the node and all below it, parents first.
template <typename Visitor>
void VisitNodes(const Expr& expr, const Visitor& visit) {
  visit(expr);
  for (const Expr& arg : expr.args) VisitNodes(arg, visit);
}

// Does the expression mention the variable (at any depth)?
bool Mentions(const Expr& expr, Variable variable);

// What the expression reads of measurement programs, each once, sorted; then it reads no packets.
std::vector<MeasuredState> MeasuredStatesOf(const Expr& expr);

// measure("hh").flows, measure("hh").size("10.0.0.1,80")
std::string MeasuredStateText(const MeasuredState& state);

// "volume", "is_lost", "ack_lastepoch"; kLostInBurst is "is_lost & is_burst".
const char* VariableName(Variable variable);
const char* AggregateName(AggregateKind kind);

}  // namespace trumpet

#endif  // TRUMPET_LIB_MODEL_EXPR_H
