// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/model/expr.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace trumpet {
namespace {

constexpr double kTwoTo53 = 9007199254740992.0;
constexpr double kTwoTo127 = 170141183460469231731687303715884105728.0;

Uint128 Magnitude(Int128 value) {
  return value < 0 ? -static_cast<Uint128>(value) : static_cast<Uint128>(value);
}

// The double nearest to a/b.  Long division until the quotient has more bits than a double and its
// rounding bit; what is left over only matters as "not exactly half way".
double DivideRounded(Int128 a, Int128 b) {
  const Uint128 divisor = Magnitude(b);
  Uint128 quotient = Magnitude(a) / divisor;
  Uint128 rest = Magnitude(a) % divisor;
  if (quotient == 0 && rest == 0) return 0;
  int exponent = 0;
  while ((quotient >> 60) == 0) {
    rest <<= 1;  // cannot overflow: rest < divisor <= 2^127
    quotient <<= 1;
    if (rest >= divisor) {
      rest -= divisor;
      quotient |= 1;
    }
    --exponent;
  }
  if (rest != 0) quotient |= 1;
  const double result = std::ldexp(static_cast<double>(quotient), exponent);
  return (a < 0) != (b < 0) ? -result : result;
}

template <typename T>
int Sign(T a, T b) {
  return a < b ? -1 : (a > b ? 1 : 0);
}

// -1, 0, 1 as the integer is below, equal to or above the double; no rounding.
int CompareIntegerToReal(Int128 integer, double real) {
  if (real >= kTwoTo127) return -1;
  if (real < -kTwoTo127) return 1;
  const double whole = std::trunc(real);
  const int sign = Sign(integer, static_cast<Int128>(whole));
  return sign != 0 ? sign : Sign(whole, real);
}

int Compare(const Number& a, const Number& b) {
  if (a.is_integer() && b.is_integer()) return Sign(a.integer(), b.integer());
  if (a.is_integer()) return CompareIntegerToReal(a.integer(), b.AsDouble());
  if (b.is_integer()) return -CompareIntegerToReal(b.integer(), a.AsDouble());
  return Sign(a.AsDouble(), b.AsDouble());
}

bool CompareHolds(ExprOp op, int sign) {
  switch (op) {
    case ExprOp::kGreater:
      return sign > 0;
    case ExprOp::kGreaterEqual:
      return sign >= 0;
    case ExprOp::kLess:
      return sign < 0;
    case ExprOp::kLessEqual:
      return sign <= 0;
    case ExprOp::kEqual:
      return sign == 0;
    default:
      return sign != 0;
  }
}

Number ApplyToIntegers(ExprOp op, Int128 a, Int128 b) {
  Int128 result = 0;
  const double x = static_cast<double>(a);
  const double y = static_cast<double>(b);
  switch (op) {
    case ExprOp::kAdd:
      return __builtin_add_overflow(a, b, &result) ? Number::Real(x + y) : Number::Integer(result);
    case ExprOp::kSubtract:
      return __builtin_sub_overflow(a, b, &result) ? Number::Real(x - y) : Number::Integer(result);
    case ExprOp::kMultiply:
      return __builtin_mul_overflow(a, b, &result) ? Number::Real(x * y) : Number::Integer(result);
    case ExprOp::kDivide:
      return b == 0 ? Number() : Number::Real(DivideRounded(a, b));
    default:  // kModulo; the machine traps on the smallest integer % -1
      if (b == 0) return Number();
      return Number::Integer(b == -1 ? 0 : a % b);
  }
}

Number ApplyToReals(ExprOp op, double a, double b) {
  switch (op) {
    case ExprOp::kAdd:
      return Number::Real(a + b);
    case ExprOp::kSubtract:
      return Number::Real(a - b);
    case ExprOp::kMultiply:
      return Number::Real(a * b);
    case ExprOp::kDivide:
      return b == 0 ? Number() : Number::Real(a / b);
    default:  // kModulo
      return b == 0 ? Number() : Number::Real(std::fmod(a, b));
  }
}

Number Negate(const Number& a) {
  if (!a.is_defined()) return Number();
  if (a.is_integer()) return ApplyToIntegers(ExprOp::kSubtract, 0, a.integer());
  return Number::Real(-a.AsDouble());
}

Number And(const Number& a, const Number& b) {
  const bool a_is_false = a.is_defined() && !a.IsTrue();
  const bool b_is_false = b.is_defined() && !b.IsTrue();
  if (a_is_false || b_is_false) return Number::Bool(false);
  return a.is_defined() && b.is_defined() ? Number::Bool(true) : Number();
}

Number Or(const Number& a, const Number& b) {
  if (a.IsTrue() || b.IsTrue()) return Number::Bool(true);
  return a.is_defined() && b.is_defined() ? Number::Bool(false) : Number();
}

std::string IntegerToString(Int128 value) {
  char buffer[40];
  char* end = buffer + sizeof buffer;
  char* begin = end;
  Uint128 rest = Magnitude(value);
  do {
    *--begin = static_cast<char>('0' + static_cast<int>(rest % 10));
    rest /= 10;
  } while (rest != 0);
  if (value < 0) *--begin = '-';
  return std::string(begin, end);
}

}  // namespace

Number Number::Integer(Int128 value) {
  Number number;
  number.kind_ = Kind::kInteger;
  number.integer_ = value;
  return number;
}

Number Number::Real(double value) {
  Number number;
  if (!std::isfinite(value)) return number;
  number.kind_ = Kind::kReal;
  number.real_ = value;
  return number;
}

double Number::AsDouble() const { return is_integer() ? static_cast<double>(integer_) : real_; }

bool Number::IsTrue() const {
  return is_integer() ? integer_ != 0 : kind_ == Kind::kReal && real_ != 0;
}

std::string Number::ToString() const {
  if (!is_defined()) return "null";
  if (is_integer()) return IntegerToString(integer_);
  if (std::fabs(real_) < kTwoTo53 && real_ == std::trunc(real_)) {
    return IntegerToString(static_cast<Int128>(real_));
  }
  char buffer[64];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, real_);
  return std::string(buffer, result.ptr);
}

bool Number::operator==(const Number& other) const {
  return kind_ == other.kind_ && integer_ == other.integer_ && real_ == other.real_;
}

Number Apply(ExprOp op, const Number& a, const Number& b) {
  switch (op) {
    case ExprOp::kNegate:
      return Negate(a);
    case ExprOp::kNot:
      return a.is_defined() ? Number::Bool(!a.IsTrue()) : Number();
    case ExprOp::kAnd:
      return And(a, b);
    case ExprOp::kOr:
      return Or(a, b);
    default:
      break;
  }
  if (!a.is_defined() || !b.is_defined()) return Number();
  if (IsComparison(op)) return Number::Bool(CompareHolds(op, Compare(a, b)));
  if (a.is_integer() && b.is_integer()) return ApplyToIntegers(op, a.integer(), b.integer());
  return ApplyToReals(op, a.AsDouble(), b.AsDouble());
}

bool Mentions(const Expr& expr, Variable variable) {
  if (expr.op == ExprOp::kVariable && expr.variable == variable) return true;
  for (const Expr& arg : expr.args) {
    if (Mentions(arg, variable)) return true;
  }
  return false;
}

std::vector<MeasuredState> MeasuredStatesOf(const Expr& expr) {
  std::vector<MeasuredState> states;
  VisitNodes(expr, [&states](const Expr& node) {
    if (node.op == ExprOp::kMeasured) states.push_back(node.measured);
  });
  std::sort(states.begin(), states.end());
  states.erase(std::unique(states.begin(), states.end()), states.end());
  return states;
}

std::string MeasuredStateText(const MeasuredState& state) {
  const std::string text = "measure(\"" + state.measurement + "\")." + state.state;
  return state.key.empty() ? text : text + "(\"" + state.key + "\")";
}

const char* VariableName(Variable variable) {
  static constexpr const char* kNames[kVariableCount] = {
      "packets", "bytes",         "volume",        "ecn",
      "ttl",     "is_burst",      "is_lost",       "is_lost & is_burst",
      "rwnd",    "rtt",           "ack",           "seq",
      "dup",     "ack_lastepoch", "seq_lastepoch", "dup_lastepoch"};
  return kNames[static_cast<int>(variable)];
}

const char* AggregateName(AggregateKind kind) {
  static constexpr const char* kNames[] = {"sum", "count", "min", "max", "avg", "stddev"};
  return kNames[static_cast<int>(kind)];
}

}  // namespace trumpet
