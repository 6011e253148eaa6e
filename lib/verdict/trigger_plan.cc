// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/verdict/trigger_plan.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "lib/verdict/real_sum.h"
#include "lib/verdict/uint256.h"

namespace trumpet {
namespace {

constexpr int kReal = -1;           // "width" of an expression that needs doubles
constexpr int kMaxWidth = 62;       // so that a sum of two still fits in 64 bits with its sign
constexpr int kSequenceWidth = 56;  // 64-bit continuations: 33 million jumps of 2 GiB to get there
constexpr uint16_t kPacketsOperand = 0;
constexpr int kRttWidth = 56;  // nanoseconds: two years

// Bits of the largest magnitude a variable takes.
int VariableWidth(Variable variable) {
  switch (variable) {
    case Variable::kPackets:
    case Variable::kEcn:
    case Variable::kIsBurst:
    case Variable::kIsLost:
    case Variable::kLostInBurst:
      return 1;
    case Variable::kTtl:
      return 8;
    case Variable::kVolume:  // from the 16-bit lengths of IP headers
      return 16;
    case Variable::kRwnd:  // 16 bits shifted by at most 14
      return 30;
    case Variable::kBytes:
      return 32;
    case Variable::kRtt:
      return kRttWidth;
    default:
      return kSequenceWidth;
  }
}

int NumberWidth(const Number& number) {
  if (!number.is_integer()) return kReal;
  const Int128 value = number.integer();
  Uint128 rest = value < 0 ? -static_cast<Uint128>(value) : static_cast<Uint128>(value);
  int width = 0;
  for (; rest != 0; rest >>= 1) ++width;
  return width;
}

// Bits of the largest magnitude of any step of `expr`'s computation, or kReal.  A comparison of
// reals gives 0 or 1 but is computed in doubles, so it is real too.
int Width(const Expr& expr) {
  if (expr.op == ExprOp::kNumber) return NumberWidth(expr.number);
  if (expr.op == ExprOp::kVariable) return VariableWidth(expr.variable);
  if (expr.op == ExprOp::kAggregate || expr.op == ExprOp::kDivide) return kReal;
  const int a = Width(expr.args[0]);
  const int b = expr.args.size() > 1 ? Width(expr.args[1]) : 0;
  if (a == kReal || b == kReal || a > kMaxWidth || b > kMaxWidth) return kReal;
  switch (expr.op) {
    case ExprOp::kNegate:
      return a;
    case ExprOp::kAdd:
    case ExprOp::kSubtract:
      return std::max(a, b) + 1;
    case ExprOp::kMultiply:
      return a + b;
    case ExprOp::kModulo:
      return std::min(a, b);
    default:  // comparisons and logic
      return 1;
  }
}

// No step of its computation has a fraction.
bool IsWhole(const Expr& expr) {
  if (expr.op == ExprOp::kNumber) return expr.number.is_integer();
  if (expr.op == ExprOp::kDivide) return false;
  return std::all_of(expr.args.begin(), expr.args.end(), IsWhole);
}

double ToDouble(uint64_t word) {
  double value;
  std::memcpy(&value, &word, sizeof value);
  return value;
}

uint64_t ToWord(double value) {
  uint64_t word;
  std::memcpy(&word, &value, sizeof word);
  return word;
}

Int128 LoadInt128(const uint64_t* words) {
  return static_cast<Int128>((static_cast<Uint128>(words[1]) << 64) | words[0]);
}

class PlanMaker {
 public:
  explicit PlanMaker(TriggerPlan* plan) : plan_(plan) {}

  uint16_t Operand(const Expr& expr) {
    const auto found = std::find(plan_->operands.begin(), plan_->operands.end(), expr);
    const auto index = static_cast<uint16_t>(found - plan_->operands.begin());
    if (found == plan_->operands.end()) {
      plan_->operands.push_back(expr);
      plan_->is_real.push_back(!IsExactInteger(expr));
    }
    return index;
  }

  void Cell(CellKind kind, uint16_t operand) {
    for (const CellSpec& cell : plan_->cells) {
      if (cell.kind == kind && cell.operand == operand) return;
    }
    plan_->cells.push_back({kind, operand, plan_->word_count});
    plan_->word_count = static_cast<uint16_t>(plan_->word_count + CellWords(kind));
  }

  void Aggregate(const Expr& aggregate) {
    const uint16_t operand = Operand(aggregate.args[0]);
    const bool is_real = plan_->is_real[operand];
    Cell(CellKind::kCount, operand);
    const bool is_extreme =
        aggregate.aggregate == AggregateKind::kMin || aggregate.aggregate == AggregateKind::kMax;
    if (operand == kPacketsOperand && !is_extreme) return;  // the count tells all
    switch (aggregate.aggregate) {
      case AggregateKind::kCount:
        break;
      case AggregateKind::kMin:
        Cell(is_real ? CellKind::kRealMin : CellKind::kMin, operand);
        break;
      case AggregateKind::kMax:
        Cell(is_real ? CellKind::kRealMax : CellKind::kMax, operand);
        break;
      case AggregateKind::kStddev:
        Cell(is_real ? CellKind::kRealSumSquares : CellKind::kSumSquares, operand);
        [[fallthrough]];
      case AggregateKind::kSum:
      case AggregateKind::kAvg:
        Cell(is_real ? CellKind::kRealSum : CellKind::kSum, operand);
        break;
    }
  }

 private:
  TriggerPlan* plan_;
};

// sum, avg and stddev of the variable that is always 1.
Number PacketsAggregate(AggregateKind kind, uint64_t count) {
  if (kind == AggregateKind::kSum) return Number::Integer(count);
  return Number::Real(kind == AggregateKind::kAvg ? 1 : 0);
}

bool IsFlowState(Variable variable) { return variable >= Variable::kAck; }
bool IsLastEpoch(Variable variable) { return variable >= Variable::kAckLastEpoch; }

// Splits a predicate into its aggregates and the variables outside of them.
void VisitPredicate(const Expr& expr, PlanMaker* maker, TriggerPlan* plan) {
  if (expr.op == ExprOp::kAggregate) {
    maker->Aggregate(expr);
    return;
  }
  if (expr.op == ExprOp::kVariable && IsFlowState(expr.variable)) {
    plan->uses_flow_state = true;
    plan->uses_last_epoch |= IsLastEpoch(expr.variable);
  }
  for (const Expr& arg : expr.args) VisitPredicate(arg, maker, plan);
}

Number IntegerStddev(uint64_t count, Int128 sum, Int128 sum_squares) {
  const Uint128 magnitude = sum < 0 ? -static_cast<Uint128>(sum) : static_cast<Uint128>(sum);
  const Uint256 radicand = SubtractOrZero(MultiplyWide(count, static_cast<Uint128>(sum_squares)),
                                          MultiplyWide(magnitude, magnitude));
  return Number::Real(std::sqrt(ToDouble(radicand)) / static_cast<double>(count));
}

Number RealTotal(const CellSum& sum, bool is_whole) {
  if (is_whole) {
    if (const std::optional<Int128> whole = sum.Whole()) return Number::Integer(*whole);
  }
  return Number::Real(sum.Rounded());
}

// n*S2 - S*S nearly cancels; all of it is kept until the one rounding.
Number RealStddev(uint64_t count, const CellSum& sum, const CellSum& sum_squares) {
  const auto n = static_cast<double>(count);
  RealSum<2 * kRealSumWords> radicand;
  for (const double part : sum_squares.parts) radicand.AddProduct(n, part);
  for (const double a : sum.parts) {
    for (const double b : sum.parts) radicand.AddProduct(-a, b);
  }
  return Number::Real(std::sqrt(std::max(0.0, radicand.Rounded())) / n);
}

}  // namespace

bool IsExactInteger(const Expr& operand) {
  const int width = Width(operand);
  return width != kReal && width <= kMaxWidth;
}

TriggerPlan MakeTriggerPlan(const EventSpec& spec) {
  TriggerPlan plan;
  plan.spec = spec;
  PlanMaker maker(&plan);
  Expr packets;
  packets.op = ExprOp::kVariable;
  packets.variable = Variable::kPackets;
  maker.Cell(CellKind::kCount, maker.Operand(packets));
  VisitPredicate(spec.predicate, &maker, &plan);
  plan.uses_rwnd = Mentions(spec.predicate, Variable::kRwnd);
  plan.uses_rtt = Mentions(spec.predicate, Variable::kRtt);
  return plan;
}

void ResetCell(CellKind kind, uint64_t* words) {
  switch (kind) {
    case CellKind::kMin:
      words[0] = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
      return;
    case CellKind::kMax:
      words[0] = static_cast<uint64_t>(std::numeric_limits<int64_t>::min());
      return;
    case CellKind::kRealMin:
      words[0] = ToWord(std::numeric_limits<double>::infinity());
      return;
    case CellKind::kRealMax:
      words[0] = ToWord(-std::numeric_limits<double>::infinity());
      return;
    default:  // zero is all bits zero in counts, integers and doubles
      for (int i = 0; i < CellWords(kind); ++i) words[i] = 0;
  }
}

void ResetCells(const std::vector<CellSpec>& cells, uint64_t* words) {
  for (const CellSpec& cell : cells) ResetCell(cell.kind, words + cell.offset);
}

void MergeCell(CellKind kind, const uint64_t* from, uint64_t* into) {
  switch (kind) {
    case CellKind::kCount:
      into[0] += from[0];
      return;
    case CellKind::kSum:
    case CellKind::kSumSquares:
      into[0] += from[0];
      into[1] += from[1] + (into[0] < from[0] ? 1 : 0);
      return;
    case CellKind::kMin:
      if (static_cast<int64_t>(from[0]) < static_cast<int64_t>(into[0])) into[0] = from[0];
      return;
    case CellKind::kMax:
      if (static_cast<int64_t>(from[0]) > static_cast<int64_t>(into[0])) into[0] = from[0];
      return;
    case CellKind::kRealSum:
    case CellKind::kRealSumSquares: {
      CellSum sum = LoadCellSum(into);
      sum.Add(LoadCellSum(from));
      StoreCellSum(sum, into);
      return;
    }
    case CellKind::kRealMin:
      if (ToDouble(from[0]) < ToDouble(into[0])) into[0] = from[0];
      return;
    case CellKind::kRealMax:
      if (ToDouble(from[0]) > ToDouble(into[0])) into[0] = from[0];
      return;
  }
}

void MergeCells(const std::vector<CellSpec>& cells, const uint64_t* from, uint64_t* into) {
  for (const CellSpec& cell : cells) MergeCell(cell.kind, from + cell.offset, into + cell.offset);
}

void AddValue(const Number& value, CellSum* sum) {
  if (value.is_integer()) {
    sum->AddWhole(value.integer());
  } else {
    sum->Add(value.AsDouble());
  }
}

void AddSquare(const Number& value, CellSum* sum) {
  if (value.is_integer()) {
    sum->AddWholeSquare(value.integer());
  } else {
    sum->AddProduct(value.AsDouble(), value.AsDouble());
  }
}

AggregateCells FindAggregateCells(const TriggerPlan& plan, const Expr& aggregate) {
  AggregateCells found;
  found.kind = aggregate.aggregate;
  const auto operand = std::find(plan.operands.begin(), plan.operands.end(), aggregate.args[0]);
  const auto index = static_cast<size_t>(operand - plan.operands.begin());
  if (operand == plan.operands.end()) return found;
  found.is_real = plan.is_real[index];
  found.is_whole = IsWhole(plan.operands[index]);
  found.is_packets = index == kPacketsOperand;
  for (const CellSpec& cell : plan.cells) {
    if (cell.operand != index) continue;
    switch (cell.kind) {
      case CellKind::kCount:
        found.count = cell.offset;
        break;
      case CellKind::kSum:
      case CellKind::kRealSum:
        found.sum = cell.offset;
        break;
      case CellKind::kSumSquares:
      case CellKind::kRealSumSquares:
        found.sum_squares = cell.offset;
        break;
      case CellKind::kMin:
      case CellKind::kRealMin:
        if (found.kind == AggregateKind::kMin) found.extreme = cell.offset;
        break;
      case CellKind::kMax:
      case CellKind::kRealMax:
        if (found.kind == AggregateKind::kMax) found.extreme = cell.offset;
        break;
    }
  }
  return found;
}

Number AggregateValue(const AggregateCells& cells, const uint64_t* words) {
  const uint64_t count = words[cells.count];
  if (cells.kind == AggregateKind::kCount) return Number::Integer(count);
  if (count == 0) return cells.kind == AggregateKind::kSum ? Number::Integer(0) : Number();
  if (cells.kind == AggregateKind::kMin || cells.kind == AggregateKind::kMax) {
    const uint64_t word = words[cells.extreme];
    return cells.is_real ? Number::Real(ToDouble(word))
                         : Number::Integer(static_cast<int64_t>(word));
  }
  if (cells.is_packets) return PacketsAggregate(cells.kind, count);
  const uint64_t* sum = words + cells.sum;
  const uint64_t* sum_squares = words + cells.sum_squares;
  if (cells.kind == AggregateKind::kStddev) {
    return cells.is_real ? RealStddev(count, LoadCellSum(sum), LoadCellSum(sum_squares))
                         : IntegerStddev(count, LoadInt128(sum), LoadInt128(sum_squares));
  }
  const Number total = cells.is_real ? RealTotal(LoadCellSum(sum), cells.is_whole)
                                     : Number::Integer(LoadInt128(sum));
  if (cells.kind == AggregateKind::kSum) return total;
  return Apply(ExprOp::kDivide, total, Number::Integer(count));
}

Number AggregateValue(const TriggerPlan& plan, const Expr& aggregate, const uint64_t* words) {
  return AggregateValue(FindAggregateCells(plan, aggregate), words);
}

}  // namespace trumpet
