// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/expression_check.h"

#include <algorithm>

#include "lib/measure/program_check.h"

namespace trumpet {
namespace {

bool AllowsAggregate(MeasureKind kind, MeasureAggregate aggregate) {
  using K = MeasureKind;
  if (aggregate == MeasureAggregate::kTest) {
    return kind == K::kBloomMembership || kind == K::kPcsa || kind == K::kHyperLogLog;
  }
  return aggregate <= MeasureAggregate::kMax &&
         (kind == K::kBloomCounting || kind == K::kCountMin || kind == K::kStore);
}

// What a written cell is of may be said, but need not.
bool MayNameVariable(MeasureExprKind kind) {
  using K = MeasureExprKind;
  return kind == K::kCell || kind == K::kWrittenCell || kind == K::kFilterBits ||
         kind == K::kAggregate;
}

}  // namespace

Status UnsoundProgram(const std::string& what) {
  return Status::Error("the program is not sound: " + what);
}

std::string Numbered(const char* what, size_t index) {
  return std::string(what) + " " + std::to_string(index);
}

Status TooLongProgram() {
  return Status::Error("the program has more than " + std::to_string(kMaxExpandedSteps) +
                       " operators");
}

bool IsFieldOf(const MeasureProgram& program, MeasureFieldId field) {
  return field < kMeasureFieldCount + program.header_fields.size();
}

bool IsSmallFilter(const MeasureProgram& program, MeasureIndex variable) {
  return program.variables[variable].kind == MeasureKind::kBloomMembership &&
         program.variables[variable].size <= 64;
}

Status ExpressionCheck::Check() {
  depth_.assign(program_.exprs.size(), 1);
  steps_.assign(program_.exprs.size(), 1);
  reads_written_.resize(program_.exprs.size());
  reads_state_.resize(program_.exprs.size());
  for (MeasureIndex i = 0; i < program_.exprs.size(); ++i) {
    const MeasureExpr& expr = program_.exprs[i];
    Status status = CheckExpr(expr, i);
    if (!status.ok()) return status;
    for (const MeasureIndex child : {expr.a, expr.b}) {
      if (child == kNoIndex) continue;
      depth_[i] = std::max(depth_[i], depth_[child] + 1);
      steps_[i] = std::min(steps_[i] + steps_[child] + 2, kMaxExpandedSteps + 1);
    }
    if (depth_[i] > kMaxMeasureExprDepth) {
      return UnsoundProgram(Numbered("too deep an expression:", i));
    }
    if (steps_[i] > kMaxExpandedSteps) return TooLongProgram();
    NoteReads(i);
  }
  return Status::Ok();
}

Status ExpressionCheck::CheckExpr(const MeasureExpr& expr, MeasureIndex self) const {
  const std::string name = Numbered("expression", self);
  if (expr.variable != kNoIndex && !(MayNameVariable(expr.kind) && IsVariable(expr.variable))) {
    return UnsoundProgram(name + ": its variable");
  }
  int wanted = 0;  // operands
  switch (expr.kind) {
    case MeasureExprKind::kConstant:
    case MeasureExprKind::kWrittenCell:
      break;
    case MeasureExprKind::kField:
      if (!IsFieldOf(program_, expr.field)) return UnsoundProgram(name + ": its field");
      break;
    case MeasureExprKind::kCell:
      if (!IsVariable(expr.variable)) return UnsoundProgram(name + ": its variable");
      if (HasKey(KindOf(expr)) && !IsMap(KindOf(expr)))
        return UnsoundProgram(name + " reads no one cell");
      break;
    case MeasureExprKind::kFilterBits:
      if (!IsVariable(expr.variable) || !IsSmallFilter(program_, expr.variable)) {
        return UnsoundProgram(name + " reads no filter of at most 64 cells");
      }
      break;
    case MeasureExprKind::kAggregate:
      if (!IsVariable(expr.variable) || !AllowsAggregate(KindOf(expr), expr.aggregate)) {
        return UnsoundProgram(name + ": no such aggregate");
      }
      wanted = expr.a != kNoIndex && (expr.aggregate == MeasureAggregate::kAny ||
                                      expr.aggregate == MeasureAggregate::kAll);
      break;
    case MeasureExprKind::kUnary:
      if (expr.op != MeasureOp::kMinus && expr.op != MeasureOp::kNot &&
          expr.op != MeasureOp::kComplement) {
        return UnsoundProgram(name + ": its operator");
      }
      wanted = 1;
      break;
    case MeasureExprKind::kBinary:
      if (expr.op > MeasureOp::kRemainder) return UnsoundProgram(name + ": its operator");
      wanted = 2;
      break;
    case MeasureExprKind::kRatio:
      if (expr.op < MeasureOp::kEqual || expr.op > MeasureOp::kGreaterEqual ||
          expr.denominator == 0) {
        return UnsoundProgram(name + ": its comparison");
      }
      wanted = 2;
      break;
    case MeasureExprKind::kMin:
    case MeasureExprKind::kMax:
    case MeasureExprKind::kRandom:
      wanted = 2;
      break;
    default:
      return UnsoundProgram(name + " is of no known kind");
  }
  if ((expr.a != kNoIndex) != (wanted >= 1) || (expr.b != kNoIndex) != (wanted == 2) ||
      (wanted >= 1 && expr.a >= self) || (wanted == 2 && expr.b >= self)) {
    return UnsoundProgram(name + ": its operands");
  }
  return Status::Ok();
}

// Notes of an expression, and of those below it, what its place has to allow.
void ExpressionCheck::NoteReads(MeasureIndex index) {
  const MeasureExpr& expr = program_.exprs[index];
  reads_written_[index] = expr.kind == MeasureExprKind::kWrittenCell;
  reads_state_[index] = expr.kind == MeasureExprKind::kWrittenCell ||
                        expr.kind == MeasureExprKind::kRandom || expr.variable != kNoIndex ||
                        (expr.kind == MeasureExprKind::kField && expr.field >= kMeasureFieldCount);
  for (const MeasureIndex child : {expr.a, expr.b}) {
    if (child == kNoIndex) continue;
    reads_written_[index] = reads_written_[index] || reads_written_[child];
    reads_state_[index] = reads_state_[index] || reads_state_[child];
  }
}

}  // namespace trumpet
