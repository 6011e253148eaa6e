// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/operator_choice.h"

#include "lib/measure/cell.h"
#include "lib/measure/kernels.h"
#include "lib/measure/packet_values.h"
#include "lib/measure/program_check.h"
#include "lib/measure/program_compiler.h"

namespace trumpet {
namespace {

bool IsConstant(const MeasureExpr& expr) { return expr.kind == MeasureExprKind::kConstant; }

bool IsComparison(const MeasureExpr& expr) {
  return expr.kind == MeasureExprKind::kBinary && expr.op >= MeasureOp::kEqual &&
         expr.op <= MeasureOp::kGreaterEqual;
}

bool IsFilterTest(const MeasureProgram& program, const MeasureExpr& expr) {
  return expr.kind == MeasureExprKind::kAggregate && expr.aggregate == MeasureAggregate::kTest &&
         program.variables[expr.variable].kind == MeasureKind::kBloomMembership;
}

Operator ForVariable(const CompiledProgram& compiled, MeasureIndex variable) {
  const VariablePlace& place = compiled.variables[variable];
  Operator op;
  op.target = variable;
  op.region = place.region;
  op.log2 = place.log2;
  op.mask = place.mask;
  op.is_shared = place.region == kSharedRegion;
  op.is_viewed = variable == compiled.viewed;
  const bool has_key = HasKey(compiled.source.variables[variable].kind);
  op.slot = has_key ? place.first_slot : place.offset;
  op.base = place.slot_base;
  op.rows = has_key ? static_cast<uint16_t>(place.slot_count) : 1;
  return op;
}

Operator MatchFilter(const CompiledProgram& compiled, MeasureIndex variable, bool is_negated) {
  Operator op = ForVariable(compiled, variable);
  op.Use(MatchFilterKernel(is_negated, op.rows));
  return op;
}

// The numbers that hold `compare` with `constant`.
NumberRange RangeOf(MeasureOp compare, uint64_t constant) {
  const bool is_strict = compare == MeasureOp::kLess || compare == MeasureOp::kGreaterEqual;
  NumberRange range;
  switch (compare) {
    case MeasureOp::kEqual:
    case MeasureOp::kNotEqual:
      range = {constant, 0, compare == MeasureOp::kNotEqual};
      break;
    default:  // up to `constant`, or below it; or the others
      range.is_outside = compare == MeasureOp::kGreater || compare == MeasureOp::kGreaterEqual;
      range.span = constant - (is_strict ? 1 : 0);
      if (is_strict && constant == 0) range.is_outside = !range.is_outside;  // none is below 0
      break;
  }
  return range;
}

// `left` compared with a constant; false if there is no kernel for it.
bool ChooseComparison(const StepScope& scope, const MeasureExpr& expr, Operator* op) {
  const CompiledProgram& compiled = *scope.compiled;
  const MeasureProgram& program = compiled.source;
  const MeasureExpr& left = program.exprs[expr.a];
  if (left.kind == MeasureExprKind::kCell && left.variable != scope.stamped &&
      !program.variables[left.variable].evicts) {
    *op = ForVariable(compiled, left.variable);
    if (HasKey(program.variables[left.variable].kind)) {
      op->Use(MatchCellKernel(op->log2));
    } else {
      const VariablePlace place = compiled.PlaceToRead(left.variable);
      op->region = place.region;
      op->slot = place.offset;
      op->kernel = MatchScalarKernel();
    }
  } else if (left.kind == MeasureExprKind::kField) {
    op->target = kNoIndex;
    op->field = left.field;
    op->mask = UINT64_MAX;
    op->Use(MatchFieldKernel());
  } else if (left.kind == MeasureExprKind::kBinary && left.op == MeasureOp::kBitAnd &&
             program.exprs[left.a].kind == MeasureExprKind::kField &&
             IsConstant(program.exprs[left.b])) {
    op->target = kNoIndex;
    op->field = program.exprs[left.a].field;
    op->mask = program.exprs[left.b].value;
    op->Use(MatchFieldKernel());
  } else if (left.kind == MeasureExprKind::kRandom && IsConstant(program.exprs[left.a]) &&
             IsConstant(program.exprs[left.b])) {
    op->constant = program.exprs[left.a].value;
    op->mask = program.exprs[left.b].value;
    op->Use(MatchRandomKernel());
  } else {
    return false;
  }
  op->range = RangeOf(expr.op, program.exprs[expr.b].value);
  return true;
}

// min() of cells of 32 bits over a counter of 32 bits, above a ratio that leaves products of 64
// bits.
bool ChooseLeastRatio(const StepScope& scope, const MeasureExpr& expr, Operator* op) {
  const CompiledProgram& compiled = *scope.compiled;
  const MeasureProgram& program = compiled.source;
  const MeasureExpr& least = program.exprs[expr.a];
  const MeasureExpr& total = program.exprs[expr.b];
  if (expr.op != MeasureOp::kGreater || least.kind != MeasureExprKind::kAggregate ||
      least.aggregate != MeasureAggregate::kMin || total.kind != MeasureExprKind::kCell ||
      total.variable == scope.stamped || HasKey(program.variables[total.variable].kind) ||
      expr.value > UINT32_MAX || expr.denominator > UINT32_MAX) {
    return false;
  }
  const VariablePlace counter = compiled.PlaceToRead(total.variable);
  if (compiled.variables[least.variable].log2 != 2 || counter.log2 != 2) return false;
  *op = ForVariable(compiled, least.variable);
  op->kernel = MatchLeastRatio;
  op->field = counter.region;
  op->target = counter.offset;
  op->mask = expr.denominator;
  op->constant = expr.value;
  return true;
}

// Whether the expression is the written cell plus a field or a constant.
bool IsSimpleSum(const MeasureProgram& program, const MeasureExpr& expr) {
  return expr.kind == MeasureExprKind::kBinary && expr.op == MeasureOp::kPlus &&
         program.exprs[expr.a].kind == MeasureExprKind::kWrittenCell &&
         (program.exprs[expr.b].kind == MeasureExprKind::kField ||
          IsConstant(program.exprs[expr.b]));
}

OperandKind OperandOf(const MeasureExpr& expr) {
  if (IsConstant(expr)) return OperandKind::kConstant;
  return expr.kind == MeasureExprKind::kField ? OperandKind::kField : OperandKind::kExpression;
}

uint32_t CompileIn(const StepScope& scope, MeasureIndex expr) {
  return CompileExpression(expr, scope.compiled, scope.stamped);
}

OperandKind SetOperand(MeasureIndex index, const StepScope& scope, Operator* op) {
  const MeasureExpr& expr = scope.compiled->source.exprs[index];
  const OperandKind operand = OperandOf(expr);
  if (operand == OperandKind::kConstant) op->constant = expr.value;
  if (operand == OperandKind::kField) op->field = expr.field;
  if (operand == OperandKind::kExpression) op->expression = CompileIn(scope, index);
  return operand;
}

// += `addend`.
void ChooseAdd(MeasureIndex addend, bool is_scalar, bool adds, const StepScope& scope,
               Operator* op) {
  const OperandKind operand = SetOperand(addend, scope, op);
  op->Use(AddKernel(operand, *op, is_scalar, adds, scope.is_logged));
}

void ChooseSet(MeasureIndex value, bool is_scalar, const StepScope& scope, Operator* op) {
  const MeasureProgram& program = scope.compiled->source;
  const MeasureExpr& expr = program.exprs[value];
  if (IsSimpleSum(program, expr)) return ChooseAdd(expr.b, is_scalar, false, scope, op);
  if (IsConstant(expr)) {
    op->constant = expr.value & op->mask;
    op->Use(FillKernel(*op, is_scalar, scope.is_logged));
    return;
  }
  op->expression = CompileIn(scope, value);
  op->Use(SetKernel(*op, &scope.compiled->steps[op->expression], is_scalar, scope.is_logged));
}

}  // namespace

bool AddsToCells(const MeasureProgram& program, const MeasureNode& node) {
  if (node.kind != MeasureNodeKind::kUpdate) return false;
  return node.update == MeasureUpdate::kAdd ||
         (node.update == MeasureUpdate::kSet && IsSimpleSum(program, program.exprs[node.expr]));
}

Operator ChooseMatch(MeasureIndex index, const StepScope& scope) {
  const CompiledProgram& compiled = *scope.compiled;
  const MeasureProgram& program = compiled.source;
  const MeasureExpr& expr = program.exprs[index];
  Operator op;
  if (IsFilterTest(program, expr)) return MatchFilter(compiled, expr.variable, false);
  if (expr.kind == MeasureExprKind::kUnary && expr.op == MeasureOp::kNot &&
      IsFilterTest(program, program.exprs[expr.a])) {
    return MatchFilter(compiled, program.exprs[expr.a].variable, true);
  }
  if (IsComparison(expr) && IsConstant(program.exprs[expr.b]) &&
      ChooseComparison(scope, expr, &op)) {
    return op;
  }
  if (expr.kind == MeasureExprKind::kRatio && ChooseLeastRatio(scope, expr, &op)) return op;
  op.kernel = MatchExpression;
  op.expression = CompileIn(scope, index);
  return op;
}

bool IsThereOnceWritten(MeasureFieldId field) {
  if (field >= kMeasureFieldCount) return false;
  const MeasureSource source = kMeasureFields[field].source;
  return source == MeasureSource::kMetadata || source == MeasureSource::kCarrier;
}

Operator ChooseTag(const MeasureNode& node, const StepScope& scope) {
  const MeasureProgram& program = scope.compiled->source;
  const MeasureExpr& expr = program.exprs[node.expr];
  Operator op;
  op.is_tag = true;
  op.field = node.field;
  op.mask = BitMask(FieldBits(program, node.field));
  op.makes_present = IsThereOnceWritten(node.field);
  const OperandKind operand = OperandOf(expr);
  op.constant = expr.value;
  op.target = expr.field;
  if (operand == OperandKind::kExpression) op.expression = CompileIn(scope, node.expr);
  op.Use(TagKernel(operand, scope.is_logged));
  return op;
}

Operator ChooseStamp(const MeasureNode& node, const StepScope& scope) {
  Operator op = ForVariable(*scope.compiled, node.target);
  const bool is_scalar = !HasKey(scope.compiled->source.variables[node.target].kind);
  op.Use(StampKernel(is_scalar, scope.is_logged));
  return op;
}

Operator ChooseUpdate(const MeasureNode& node, const StepScope& scope) {
  const CompiledProgram& compiled = *scope.compiled;
  const MeasureKind kind = compiled.source.variables[node.target].kind;
  const bool is_scalar = !HasKey(kind);
  const bool is_logged = scope.is_logged;
  Operator op = ForVariable(compiled, node.target);
  switch (node.update) {
    case MeasureUpdate::kAdd:
      ChooseAdd(node.expr, is_scalar, true, scope, &op);
      break;
    case MeasureUpdate::kReset:
    case MeasureUpdate::kInsert:
      op.constant = node.update == MeasureUpdate::kInsert;
      op.Use(FillKernel(op, is_scalar, is_logged));
      break;
    case MeasureUpdate::kUpdate:
      op.Use(kind == MeasureKind::kPcsa ? BitmapKernel(op.log2, is_logged)
                                        : RegisterKernel(op.log2, is_logged));
      break;
    case MeasureUpdate::kInit:
      if (kind == MeasureKind::kBloomMembership) {
        op.slot = compiled.variables[node.target].offset;
        op.base = 0;
        op.rows = static_cast<uint16_t>(compiled.variables[node.target].cell_count);
        const OperandKind operand = SetOperand(node.expr, scope, &op);
        op.kernel = InitFilterKernel(operand, is_logged);
        break;
      }
      [[fallthrough]];
    case MeasureUpdate::kSet:
      ChooseSet(node.expr, is_scalar, scope, &op);
      break;
  }
  return op;
}

}  // namespace trumpet
