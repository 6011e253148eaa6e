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

// Of the one cell of a map, or of a scalar, all 64 bits.
bool IsOfWords(const Operator& op) { return op.log2 == 3 && op.mask == UINT64_MAX; }

// Whether `set` sets a cell of the slot of `first` to the time of the packet less the cell of
// `first`.
bool SetsTimeSince(const CompiledProgram& compiled, const Operator& set, const Operator& first) {
  if (set.slot_use != SlotUse::kSetPair || set.region != first.region || set.slot != first.slot) {
    return false;
  }
  const ExpressionStep* const pair = &compiled.steps[set.expression];
  return IsOfWords(set) && pair->op == MeasureOp::kMinus && pair[1].kind == StepKind::kNow &&
         pair[1].value == UINT64_MAX && pair[2].kind == StepKind::kCell &&
         pair[2].region == first.region && pair[2].slot == first.slot && pair[2].base == first.base;
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

Operator StampOrSinceOf(const CompiledProgram& compiled, const Operator* first) {
  const Operator& guard = first[0];
  const Operator& stamp = first[1];
  const Operator& scalar = first[3];
  const bool is_first = guard.kernel == MatchCellKernel(3).one && guard.range.low == 0 &&
                        guard.range.span == 0 && !guard.range.is_outside && guard.skip == 3 &&
                        stamp.kernel == StampKernel(false, false).one && IsOfWords(stamp) &&
                        HaveSameCells(guard, stamp) && first[2].kernel == Jump &&
                        first[2].skip == 3;
  const bool is_later = scalar.kernel == StampKernel(true, false).one && IsOfWords(scalar) &&
                        SetsTimeSince(compiled, first[4], guard);
  if (!is_first || !is_later || guard.is_shared || scalar.is_shared || scalar.is_viewed) return {};
  Operator both = stamp;
  both.Use(StampOrSinceKernel());
  both.expression = first[4].base;
  both.field = scalar.region;
  both.target = scalar.slot;
  return both;
}

}  // namespace trumpet
