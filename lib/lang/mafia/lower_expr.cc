// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/lang/mafia/lower_expr.h"

#include <algorithm>

#include "lib/lang/event/diagnostic.h"
#include "lib/lang/mafia/constants.h"
#include "lib/lang/mafia/expr_parser.h"
#include "lib/lang/mafia/names.h"
#include "lib/lang/mafia/resolve.h"
#include "lib/model/measure_math.h"

namespace trumpet::mafia {
namespace {

using event_lang::Quote;

constexpr uint64_t kMaxFilterBits = 64;  // of a filter that is read as a number

MeasureOp Mirrored(MeasureOp op) {
  switch (op) {
    case MeasureOp::kLess:
      return MeasureOp::kGreater;
    case MeasureOp::kLessEqual:
      return MeasureOp::kGreaterEqual;
    case MeasureOp::kGreater:
      return MeasureOp::kLess;
    case MeasureOp::kGreaterEqual:
      return MeasureOp::kLessEqual;
    default:
      return op;
  }
}

class ExprLowering {
 public:
  ExprLowering(const ExprScope& scope, const Symbols& symbols, Problems* problems,
               MeasureProgram* program)
      : scope_(scope), symbols_(symbols), problems_(*problems), program_(*program) {}

  MeasureIndex Lower(const Expr& expr);

 private:
  MeasureIndex Name(const Expr& expr);
  MeasureIndex Cell(const Expr& expr, MeasureIndex variable);
  MeasureIndex FilterBits(const Expr& expr, MeasureIndex variable);
  MeasureIndex Field(const Expr& expr);
  MeasureIndex Method(const Expr& expr);
  MeasureIndex Unary(const Expr& expr);
  MeasureIndex Binary(const Expr& expr);
  MeasureIndex Pair(const Expr& expr, MeasureExprKind kind);
  MeasureIndex Ratio(const Expr& expr, const Expr& ratio, MeasureNumber decimal, bool is_mirrored);
  MeasureIndex Constant(const Expr& expr, MeasureNumber number);
  // Set if it is a decimal, or the name of one.
  std::optional<MeasureNumber> DecimalOf(const Expr& expr) const;
  bool IsConstant(MeasureIndex index) const {
    return program_.exprs[index].kind == MeasureExprKind::kConstant;
  }
  MeasureIndex Push(const MeasureExpr& expr, size_t offset);
  MeasureIndex Fail(size_t offset, const char* code, const std::string& message) {
    problems_.Add(offset, code, message);
    return kNoIndex;
  }

  const ExprScope& scope_;
  const Symbols& symbols_;
  Problems& problems_;
  MeasureProgram& program_;
};

MeasureIndex ExprLowering::Push(const MeasureExpr& expr, size_t offset) {
  if (program_.exprs.size() >= kMaxMeasureExprs) {
    return Fail(offset, "E12",
                "too many expressions; a program has at most " + std::to_string(kMaxMeasureExprs));
  }
  program_.exprs.push_back(expr);
  return static_cast<MeasureIndex>(program_.exprs.size() - 1);
}

MeasureIndex ExprLowering::Constant(const Expr& expr, MeasureNumber number) {
  if (number.denominator != 1) {
    return Fail(expr.offset, "E2",
                "a decimal is only compared with a ratio, as in 'a / b > 0.05'; a whole number is "
                "needed here");
  }
  MeasureExpr constant;
  constant.value = number.numerator;
  return Push(constant, expr.offset);
}

MeasureIndex ExprLowering::Name(const Expr& expr) {
  const Symbol* symbol = symbols_.Require({expr.name, expr.offset}, scope_.role);
  if (symbol == nullptr) return kNoIndex;
  switch (symbol->kind) {
    case SymbolKind::kNumber:
      return Constant(expr, symbol->number);
    case SymbolKind::kVariable:
      return Cell(expr, symbol->index);
    case SymbolKind::kKey:
      return Fail(expr.offset, "E2",
                  Quote(expr.name) + " is a key, which has no value; read its " + "fields");
    case SymbolKind::kHeader:
      return Fail(
          expr.offset, "E2",
          Quote(expr.name) + " is a header; read one of its fields, " + expr.name + ".NAME");
    case SymbolKind::kEndpoint:
      break;
  }
  return Fail(
      expr.offset, "E2",
      Quote(expr.name) + " is an endpoint, which has no value; it " + "stands in collect()");
}

MeasureIndex ExprLowering::Cell(const Expr& expr, MeasureIndex index) {
  const MeasureVariable& variable = program_.variables[index];
  if (scope_.is_guard) {
    return Fail(expr.offset, "E2",
                Quote(expr.name) + " is state; whether a header is there is " +
                    "decided by fields of the packet");
  }
  MeasureExpr cell;
  cell.kind = MeasureExprKind::kCell;
  cell.variable = index;
  switch (variable.kind) {
    case MeasureKind::kBloomMembership:
      return FilterBits(expr, index);
    case MeasureKind::kCounter:
    case MeasureKind::kTimestamp:
    case MeasureKind::kCounterMap:
    case MeasureKind::kTimestampMap:
      break;
    default:
      if (index == scope_.written) break;
      return Fail(expr.offset, "E4",
                  Quote(expr.name) + " has several cells for a packet; read it by " +
                      AggregatesOf(variable.kind));
  }
  if (index == scope_.written) cell.kind = MeasureExprKind::kWrittenCell;
  return Push(cell, expr.offset);
}

MeasureIndex ExprLowering::FilterBits(const Expr& expr, MeasureIndex index) {
  const MeasureVariable& variable = program_.variables[index];
  if (variable.size > kMaxFilterBits) {
    return Fail(expr.offset, "E11",
                Quote(expr.name) + " has " + std::to_string(variable.size) +
                    " bits; only a filter of at most " + std::to_string(kMaxFilterBits) +
                    " is a number, others are read by test()");
  }
  MeasureExpr bits;
  bits.kind = MeasureExprKind::kFilterBits;
  bits.variable = index;
  return Push(bits, expr.offset);
}

MeasureIndex ExprLowering::Field(const Expr& expr) {
  const std::string owner = expr.name.substr(0, expr.name.find('.'));
  const Symbol* symbol = symbols_.Find(owner, scope_.role);
  if (symbol != nullptr && symbol->kind == SymbolKind::kVariable) {
    if (!symbol->is_sound) return kNoIndex;
    return Fail(expr.offset, "E1",
                Quote(expr.name) + " is no field: " + Quote(owner) + " is a variable, read by " +
                    AggregatesOf(program_.variables[symbol->index].kind));
  }
  const auto field = RequireField(program_, {expr.name, expr.offset}, &problems_);
  if (!field) return kNoIndex;
  if (scope_.is_guard && *field >= kMeasureFieldCount) {
    return Fail(expr.offset, "E2",
                Quote(expr.name) + " is a field of a declared header; whether " +
                    "a header is there is decided by the other fields");
  }
  MeasureExpr read;
  read.kind = MeasureExprKind::kField;
  read.field = *field;
  return Push(read, expr.offset);
}

MeasureIndex ExprLowering::Method(const Expr& expr) {
  const Symbol* symbol = symbols_.Require({expr.name, expr.offset}, scope_.role);
  if (symbol == nullptr) return kNoIndex;
  if (symbol->kind != SymbolKind::kVariable || scope_.is_guard) {
    return Fail(expr.offset, "E2",
                Quote(expr.name) + (scope_.is_guard ? " is state, which no guard of a header reads"
                                                    : " is no variable"));
  }
  const MeasureKind kind = program_.variables[symbol->index].kind;
  const auto aggregate = AggregateByName(expr.method.text);
  const bool is_known =
      aggregate ? HasAggregate(kind, *aggregate) : kind == MeasureKind::kBloomMembership;
  if (!is_known) {
    return Fail(expr.method.offset, "E2",
                Quote(expr.name) + " is a " + std::string(NameOf(kind)) + ", which has no " +
                    expr.method.text + "(); it is read by " + AggregatesOf(kind));
  }
  const bool takes_value =
      aggregate == MeasureAggregate::kAny || aggregate == MeasureAggregate::kAll;
  if (!expr.operands.empty() && !takes_value) {
    return Fail(expr.operands[0].offset, "E2", expr.method.text + "() takes no value");
  }
  if (!aggregate) return FilterBits(expr, symbol->index);
  MeasureExpr read;
  read.kind = MeasureExprKind::kAggregate;
  read.aggregate = *aggregate;
  read.variable = symbol->index;
  if (!expr.operands.empty()) {
    read.a = Lower(expr.operands[0]);
    if (read.a == kNoIndex) return kNoIndex;
  }
  return Push(read, expr.offset);
}

MeasureIndex ExprLowering::Unary(const Expr& expr) {
  MeasureExpr unary;
  unary.kind = MeasureExprKind::kUnary;
  unary.op = expr.op;
  unary.a = Lower(expr.operands[0]);
  if (unary.a == kNoIndex) return kNoIndex;
  if (!IsConstant(unary.a)) return Push(unary, expr.offset);
  uint64_t& value = program_.exprs[unary.a].value;
  value = MeasureCompute(expr.op, value);
  return unary.a;
}

std::optional<MeasureNumber> ExprLowering::DecimalOf(const Expr& expr) const {
  if (expr.kind == ExprKind::kDecimal) return expr.number;
  if (expr.kind != ExprKind::kName) return std::nullopt;
  const Symbol* symbol = symbols_.Find(expr.name, scope_.role);
  const bool is_decimal = symbol != nullptr && symbol->kind == SymbolKind::kNumber &&
                          symbol->is_sound && symbol->number.denominator != 1;
  if (!is_decimal) return std::nullopt;
  return symbol->number;
}

MeasureIndex ExprLowering::Ratio(const Expr& expr, const Expr& ratio, MeasureNumber decimal,
                                 bool is_mirrored) {
  if (ratio.kind != ExprKind::kBinary || ratio.op != MeasureOp::kDivide) {
    return Fail(expr.offset, "E2", "a decimal is only compared with a ratio, as in 'a / b > 0.05'");
  }
  MeasureExpr compared;
  compared.kind = MeasureExprKind::kRatio;
  compared.op = is_mirrored ? Mirrored(expr.op) : expr.op;
  compared.a = Lower(ratio.operands[0]);
  compared.b = Lower(ratio.operands[1]);
  compared.value = decimal.numerator;
  compared.denominator = decimal.denominator;
  if (compared.a == kNoIndex || compared.b == kNoIndex) return kNoIndex;
  return Push(compared, expr.offset);
}

MeasureIndex ExprLowering::Binary(const Expr& expr) {
  if (BinaryOperatorOf(expr.op).level == Level::kCompare) {
    const auto left = DecimalOf(expr.operands[0]);
    const auto right = DecimalOf(expr.operands[1]);
    if (right) return Ratio(expr, expr.operands[0], *right, false);
    if (left) return Ratio(expr, expr.operands[1], *left, true);
  }
  return Pair(expr, MeasureExprKind::kBinary);
}

MeasureIndex ExprLowering::Pair(const Expr& expr, MeasureExprKind kind) {
  MeasureExpr pair;
  pair.kind = kind;
  pair.op = expr.op;
  pair.a = Lower(expr.operands[0]);
  pair.b = Lower(expr.operands[1]);
  if (pair.a == kNoIndex || pair.b == kNoIndex) return kNoIndex;
  const bool is_known =
      kind == MeasureExprKind::kBinary && IsConstant(pair.a) && IsConstant(pair.b);
  if (!is_known) return Push(pair, expr.offset);
  // Two constants stand at the end, one behind the other.
  uint64_t& value = program_.exprs[pair.a].value;
  value = MeasureCompute(expr.op, value, program_.exprs[pair.b].value);
  program_.exprs.pop_back();
  return pair.a;
}

MeasureIndex ExprLowering::Lower(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kInteger:
    case ExprKind::kDecimal:
    case ExprKind::kDuration:
    case ExprKind::kIpv4:
      return Constant(expr, expr.number);
    case ExprKind::kName:
      return Name(expr);
    case ExprKind::kField:
      return Field(expr);
    case ExprKind::kMethod:
      return Method(expr);
    case ExprKind::kUnary:
      return Unary(expr);
    case ExprKind::kBinary:
      return Binary(expr);
    case ExprKind::kMin:
      return Pair(expr, MeasureExprKind::kMin);
    case ExprKind::kMax:
      return Pair(expr, MeasureExprKind::kMax);
    case ExprKind::kRandom:
      break;
  }
  if (!scope_.is_guard) return Pair(expr, MeasureExprKind::kRandom);
  return Fail(expr.offset, "E2", "whether a header is there is not left to random()");
}

uint32_t BitsOfConstant(uint64_t value) {
  uint32_t bits = 0;
  for (; value > 0; value >>= 1) ++bits;
  return bits;
}

bool IsTruth(MeasureOp op) { return BinaryOperatorOf(op).level <= Level::kCompare; }

// Makes a number smaller, the more the larger the right one is, or ends below it.
bool IsScaling(MeasureOp op) {
  return op == MeasureOp::kShiftRight || op == MeasureOp::kDivide || op == MeasureOp::kRemainder;
}

bool IsShift(MeasureOp op) { return op == MeasureOp::kShiftLeft || op == MeasureOp::kShiftRight; }

// Are bits of the operands found in the result?
bool KeepsBits(MeasureOp op) {
  return op == MeasureOp::kBitOr || op == MeasureOp::kBitXor || op == MeasureOp::kBitAnd ||
         op == MeasureOp::kPlus || IsShift(op);
}

// Of `a` op `b`, of which the right one is a constant; `a` is how many bits the left one has.
uint32_t BitsWithConstant(MeasureOp op, uint32_t a, uint64_t b) {
  if (op == MeasureOp::kShiftRight) return a > b ? a - static_cast<uint32_t>(b) : 0;
  if (op == MeasureOp::kShiftLeft) return a == 0 || b >= 64 ? 0 : std::min<uint32_t>(a + b, 64);
  if (op == MeasureOp::kDivide && b != 0) return a - std::min(a, BitsOfConstant(b) - 1);
  if (op == MeasureOp::kRemainder && b != 0) return std::min(a, BitsOfConstant(b - 1));
  return a;
}

}  // namespace

MeasureIndex LowerExpr(const Expr& expr, const ExprScope& scope, const Symbols& symbols,
                       Problems* problems, MeasureProgram* program) {
  return ExprLowering(scope, symbols, problems, program).Lower(expr);
}

uint32_t BitsOf(const MeasureProgram& program, MeasureIndex index) {
  const MeasureExpr& expr = program.exprs[index];
  const auto both = [&] {
    return std::make_pair(BitsOf(program, expr.a), BitsOf(program, expr.b));
  };
  switch (expr.kind) {
    case MeasureExprKind::kConstant:
      return BitsOfConstant(expr.value);
    case MeasureExprKind::kRatio:
      return 1;
    case MeasureExprKind::kUnary:
      return expr.op == MeasureOp::kNot ? 1 : BitsOf(program, expr.a);
    case MeasureExprKind::kField:
      return FieldBits(program, expr.field);
    case MeasureExprKind::kCell:
    case MeasureExprKind::kWrittenCell:
      return program.variables[expr.variable].bits;
    case MeasureExprKind::kFilterBits:
      return static_cast<uint32_t>(program.variables[expr.variable].size);
    case MeasureExprKind::kAggregate:
      return expr.aggregate <= MeasureAggregate::kAll ? 1 : program.variables[expr.variable].bits;
    case MeasureExprKind::kBinary: {
      if (IsTruth(expr.op)) return 1;
      const auto [a, b] = both();
      if (expr.op == MeasureOp::kBitAnd) return std::min(a, b);
      const MeasureExpr& right = program.exprs[expr.b];
      if (right.kind == MeasureExprKind::kConstant && IsScaling(expr.op)) {
        return BitsWithConstant(expr.op, a, right.value);
      }
      const bool is_left = expr.op == MeasureOp::kDivide || expr.op == MeasureOp::kShiftLeft ||
                           expr.op == MeasureOp::kShiftRight;
      if (is_left) return a;
      return expr.op == MeasureOp::kRemainder ? std::min(a, b) : std::max(a, b);
    }
    case MeasureExprKind::kMin: {
      const auto [a, b] = both();
      return std::min(a, b);
    }
    case MeasureExprKind::kRandom: {
      const MeasureExpr& end = program.exprs[expr.b];
      if (end.kind != MeasureExprKind::kConstant || end.value == 0) break;
      return std::max(BitsOf(program, expr.a), BitsOfConstant(end.value - 1));
    }
    case MeasureExprKind::kMax:
      break;
  }
  const auto [a, b] = both();
  return std::max(a, b);
}

uint32_t FilterBitsOf(const MeasureProgram& program, MeasureIndex index) {
  if (index == kNoIndex) return 0;
  const MeasureExpr& expr = program.exprs[index];
  if (expr.kind == MeasureExprKind::kFilterBits) return BitsOf(program, index);
  const uint32_t a = FilterBitsOf(program, expr.a);
  const uint32_t b = FilterBitsOf(program, expr.b);
  if (a == 0 && b == 0) return 0;
  // What else is made of a filter is a number, and no filter any more.
  if (expr.kind != MeasureExprKind::kBinary || !KeepsBits(expr.op)) return 0;
  if (expr.op == MeasureOp::kBitAnd) {
    return std::min(a != 0 ? a : BitsOf(program, expr.a), b != 0 ? b : BitsOf(program, expr.b));
  }
  const MeasureExpr& right = program.exprs[expr.b];
  const bool is_known = IsShift(expr.op) && right.kind == MeasureExprKind::kConstant;
  return is_known ? BitsWithConstant(expr.op, a, right.value) : std::max(a, b);
}

}  // namespace trumpet::mafia
