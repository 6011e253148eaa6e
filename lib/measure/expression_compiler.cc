// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/program_check.h"
#include "lib/measure/program_compiler.h"

namespace trumpet {
namespace {

class ExpressionCompiler {
 public:
  ExpressionCompiler(CompiledProgram* compiled, MeasureIndex stamped)
      : compiled_(*compiled), source_(compiled->source), stamped_(stamped) {}

  void Emit(MeasureIndex index) {
    const MeasureExpr& expr = source_.exprs[index];
    ExpressionStep step;
    step.op = expr.op;
    step.field = expr.field;
    step.value = expr.value;
    step.denominator = expr.denominator;
    switch (expr.kind) {
      case MeasureExprKind::kConstant:
        return Push(StepKind::kConstant, step);
      case MeasureExprKind::kField:
        return Push(StepKind::kField, step);
      case MeasureExprKind::kWrittenCell:
        return Push(StepKind::kWrittenCell, step);
      case MeasureExprKind::kCell:
      case MeasureExprKind::kFilterBits:
        return EmitCell(expr, step);
      case MeasureExprKind::kAggregate:
        return EmitAggregate(expr, step);
      case MeasureExprKind::kUnary:
        Emit(expr.a);
        return Push(StepKind::kUnary, step);
      case MeasureExprKind::kBinary:
        if (expr.op == MeasureOp::kAnd || expr.op == MeasureOp::kOr) return EmitShortcut(expr);
        return EmitBinary(expr, step);
      case MeasureExprKind::kRatio:
        return EmitBoth(expr, StepKind::kRatio, step);
      case MeasureExprKind::kMin:
        return EmitBoth(expr, StepKind::kSmaller, step);
      case MeasureExprKind::kMax:
        return EmitBoth(expr, StepKind::kLarger, step);
      case MeasureExprKind::kRandom:
        return EmitBoth(expr, StepKind::kRandom, step);
    }
  }

 private:
  void Push(StepKind kind, ExpressionStep step) {
    step.kind = kind;
    compiled_.steps.push_back(step);
  }

  // Whether the expression takes one step, of a kind that kPair has.
  bool IsSimple(MeasureIndex index) const {
    const MeasureExpr& expr = source_.exprs[index];
    return expr.kind == MeasureExprKind::kConstant || expr.kind == MeasureExprKind::kField ||
           expr.kind == MeasureExprKind::kWrittenCell ||
           (expr.kind == MeasureExprKind::kCell && !source_.variables[expr.variable].evicts);
  }

  void EmitBinary(const MeasureExpr& expr, const ExpressionStep& step) {
    if (!IsSimple(expr.a) || !IsSimple(expr.b)) return EmitBoth(expr, StepKind::kBinary, step);
    Push(StepKind::kPair, step);
    Emit(expr.a);
    Emit(expr.b);
  }

  void EmitBoth(const MeasureExpr& expr, StepKind kind, const ExpressionStep& step) {
    Emit(expr.a);
    Emit(expr.b);
    Push(kind, step);
  }

  void EmitShortcut(const MeasureExpr& expr) {
    Emit(expr.a);
    const size_t leave = compiled_.steps.size();
    Push(expr.op == MeasureOp::kAnd ? StepKind::kLeaveIfFalse : StepKind::kLeaveIfTrue, {});
    Emit(expr.b);
    Push(StepKind::kTruth, {});
    compiled_.steps[leave].value = compiled_.steps.size() - 1 - leave;
  }

  void EmitCell(const MeasureExpr& expr, ExpressionStep step) {
    const MeasureVariable& variable = source_.variables[expr.variable];
    const VariablePlace place = compiled_.PlaceToRead(expr.variable);
    step.region = place.region;
    step.log2 = place.log2;
    if (expr.kind == MeasureExprKind::kFilterBits) {
      step.slot = place.offset;
      step.rows = static_cast<uint16_t>(place.cell_count);
      return Push(StepKind::kFilterBits, step);
    }
    if (expr.variable == stamped_) {
      step.value = place.mask;
      return Push(StepKind::kNow, step);
    }
    if (!HasKey(variable.kind)) {
      step.slot = place.offset;
      return Push(StepKind::kScalar, step);
    }
    step.slot = place.first_slot;
    step.base = place.slot_base;
    Push(variable.evicts ? StepKind::kOwnedCell : StepKind::kCell, step);
  }

  void EmitAggregate(const MeasureExpr& expr, ExpressionStep step) {
    const VariablePlace& place = compiled_.variables[expr.variable];
    step.region = place.region;
    step.log2 = place.log2;
    step.slot = place.first_slot;
    step.base = place.slot_base;
    step.rows = static_cast<uint16_t>(place.slot_count);
    step.value = place.mask;
    if (expr.a != kNoIndex) Emit(expr.a);
    Push(KindOf(expr), step);
  }

  StepKind KindOf(const MeasureExpr& expr) const {
    switch (expr.aggregate) {
      case MeasureAggregate::kTest:
        switch (source_.variables[expr.variable].kind) {
          case MeasureKind::kPcsa:
            return StepKind::kHasBit;
          case MeasureKind::kHyperLogLog:
            return StepKind::kHasRank;
          default:
            return StepKind::kAllNonzero;
        }
      case MeasureAggregate::kAny:
        return expr.a == kNoIndex ? StepKind::kAnyNonzero : StepKind::kAnyEqual;
      case MeasureAggregate::kAll:
        return expr.a == kNoIndex ? StepKind::kAllNonzero : StepKind::kAllEqual;
      case MeasureAggregate::kSum:
        return StepKind::kSum;
      case MeasureAggregate::kAvg:
        return StepKind::kAverage;
      case MeasureAggregate::kMin:
        return StepKind::kLeast;
      default:
        return StepKind::kMost;
    }
  }

  CompiledProgram& compiled_;
  const MeasureProgram& source_;
  const MeasureIndex stamped_;
};

}  // namespace

uint32_t CompileExpression(MeasureIndex expr, CompiledProgram* compiled, MeasureIndex stamped) {
  const auto first = static_cast<uint32_t>(compiled->steps.size());
  ExpressionCompiler(compiled, stamped).Emit(expr);
  compiled->steps.emplace_back();
  return first;
}

}  // namespace trumpet
