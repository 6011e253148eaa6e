// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/operator_fusion.h"

#include "lib/measure/kernels.h"

namespace trumpet {
namespace {

bool HaveSameCells(const Operator& a, const Operator& b) {
  return a.region == b.region && a.base == b.base && a.slot == b.slot && a.rows == b.rows;
}

// Sets all cells of its key to `constant`.
bool Fills(const Operator& op, uint64_t constant) {
  return op.kernel == FillKernel(op, false, false).one && op.constant == constant;
}

}  // namespace

bool AbsorbMatch(const Operator& match, Operator* last) {
  const bool is_same =
      last->region == match.region && last->base == match.base && last->slot == match.slot;
  if (!is_same) return false;
  if (match.kernel == MatchLeastRatio && AddsFieldToFourCells(last->kernel)) {
    const uint16_t addend = last->field;
    *last = match;
    last->kernel = AddAndMatchLeastRatio;
    last->expression = addend;
    return true;
  }
  const KernelPair both = AddAndMatchKernel(*last);
  if (match.slot_use != SlotUse::kMatchCell || both.one == nullptr) return false;
  last->range = match.range;
  last->Use(both);
  return true;
}

Operator CarriedFilterOf(const CompiledProgram& compiled, const Operator* first) {
  const Operator& init = first[0];
  const Operator& insert = first[1];
  const Operator& tag = first[2];
  const Operator& reset = first[3];
  const bool is_filter = init.kernel == InitFilterKernel(OperandKind::kField, false) &&
                         Fills(insert, 1) && Fills(reset, 0) && HaveSameCells(insert, reset) &&
                         init.target == insert.target &&
                         tag.kernel == TagKernel(OperandKind::kExpression, false).one;
  if (!is_filter) return {};
  const ExpressionStep* const value = &compiled.steps[tag.expression];
  const bool is_tagged_with_it = value[0].kind == StepKind::kFilterBits &&
                                 value[1].kind == StepKind::kDone &&
                                 value[0].region == init.region && value[0].slot == init.slot;
  if (!is_tagged_with_it) return {};
  Operator both = insert;
  both.Use(CarryFilterKernel());
  both.is_tag = true;
  both.field = tag.field;
  both.mask = tag.mask;
  both.makes_present = tag.makes_present;
  both.target = init.field;
  both.expression = init.slot;
  both.constant = init.rows;
  return both;
}

}  // namespace trumpet
