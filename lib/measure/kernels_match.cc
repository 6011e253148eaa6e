// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "lib/measure/cell.h"
#include "lib/measure/compiled_program.h"
#include "lib/measure/expression.h"
#include "lib/measure/kernels.h"
#include "lib/measure/program_state.h"
#include "lib/measure/range_mask.h"
#include "lib/measure/slot_sources.h"
#include "lib/measure/small_filter.h"

namespace trumpet {
namespace {

template <typename IsKept>
void KeepChosen(BurstContext* context, const IsKept& is_kept) {
  uint32_t kept = 0;
  ForChosen(*context, [&](uint32_t number) { kept |= uint32_t{is_kept(number)} << number; });
  context->chosen = kept;
}

}  // namespace

const Operator* MatchExpression(const Operator* op, RunContext* context) {
  const bool is_true = EvaluateShort(&context->program->steps[op->expression], context) != 0;
  return is_true ? op + 1 : op + op->skip;
}

namespace {

const Operator* MatchField(const Operator* op, RunContext* context) {
  const uint64_t value = context->packet->value[op->field] & op->mask;
  return GoOn(op->range.Has(value) ? op + 1 : op + op->skip, context);
}

using KeepNumbers = uint32_t(BurstNumbers, uint32_t, uint64_t, const NumberRange&);

template <KeepNumbers Keep>
void MatchFieldOfAll(const Operator& op, BurstContext* context) {
  const uint64_t mask = op.mask;
  const NumberRange range = op.range;
  if ((context->same_fields >> op.field & 1) != 0) {
    if (!range.Has(context->packets[0].values->value[op.field] & mask)) context->chosen = 0;
    return;
  }
  const FieldColumns::Column& column = context->columns->Of(op.field);
  context->chosen = Keep(column, context->chosen, mask, range);
}

template <typename Cell>
const Operator* MatchCell(const Operator* op, RunContext* context) {
  const uint8_t* cell = CellsOf(*op, context->regions) + context->slots[op->slot];
  return GoOn(op->range.Has(LoadCell<Cell>(cell)) ? op + 1 : op + op->skip, context);
}

template <typename Cell, typename Source>
void MatchCellOfAll(const Operator& op, BurstContext* context) {
  const NumberRange range = op.range;
  const uint8_t* region = CellsOf(op, context->regions);
  const Source slots(op, *context);
  KeepChosen(context, [=](size_t number) {
    return range.Has(LoadCell<Cell>(region + slots.Of(number)[0]));
  });
}

template <typename Cell>
KernelPair CellPair() {
  return {MatchCell<Cell>, MatchCellOfAll<Cell, StoredSlots>, SlotUse::kMatchCell};
}

template <bool kMixes>
BurstKernel HashedMatch(uint8_t log2) {
  switch (log2) {
    case 0:
      return MatchCellOfAll<uint8_t, MapSlots<kMixes>>;
    case 1:
      return MatchCellOfAll<uint16_t, MapSlots<kMixes>>;
    case 2:
      return MatchCellOfAll<uint32_t, MapSlots<kMixes>>;
    default:
      return MatchCellOfAll<uint64_t, MapSlots<kMixes>>;
  }
}

const Operator* MatchScalar(const Operator* op, RunContext* context) {
  const uint64_t value = LoadCell(context->regions[op->region] + op->slot, op->log2);
  return GoOn(op->range.Has(value) ? op + 1 : op + op->skip, context);
}

const Operator* MatchRandom(const Operator* op, RunContext* context) {
  const uint64_t value = context->state->Draw(op->constant, op->mask);
  return GoOn(op->range.Has(value) ? op + 1 : op + op->skip, context);
}

void MatchRandomOfAll(const Operator& op, BurstContext* context) {
  const NumberRange range = op.range;
  uint32_t kept = 0;
  context->state->DrawForChosen(
      *context, op.constant, op.mask,
      [&](uint32_t packet, uint64_t number) { kept |= uint32_t{range.Has(number)} << packet; });
  context->chosen = kept;
}

// 1 or 0.  `kRows` 0: as many as the operator says.
template <uint32_t kRows, typename Slots>
uint32_t HasAllBits(const uint8_t* region, const Slots& slots, uint32_t rows) {
  uint64_t all = 1;
  if constexpr (kRows != 0) {
#pragma GCC unroll 4
    for (uint32_t row = 0; row < kRows; ++row) all &= LoadCell<uint8_t>(region + slots[row]);
  } else {
    for (uint32_t row = 0; row < rows; ++row) all &= LoadCell<uint8_t>(region + slots[row]);
  }
  return static_cast<uint32_t>(all);
}

template <bool kNegated, uint32_t kRows>
const Operator* MatchFilter(const Operator* op, RunContext* context) {
  const uint32_t has_all =
      HasAllBits<kRows>(CellsOf(*op, context->regions), context->slots + op->slot, op->rows);
  return GoOn((has_all != 0) != kNegated ? op + 1 : op + op->skip, context);
}

// Without a branch that depends on the packet: which flows are known is hard to foresee.
template <bool kNegated, uint32_t kRows, typename Source>
void MatchFilterOfAll(const Operator& op, BurstContext* context) {
  const uint8_t* region = CellsOf(op, context->regions);
  const Source slots(op, *context);
  const uint32_t rows = op.rows;
  KeepChosen(context, [=](size_t number) {
    return (HasAllBits<kRows>(region, slots.Of(number), rows) != 0) != kNegated;
  });
}

// The same of a small one, only for processors that HasQuads().
template <bool kNegated, bool kMixes>
[[gnu::target("avx2")]] void MatchSmallFilterOfAll(const Operator& op, BurstContext* context) {
  const uint32_t in = PacketsInFilter<kMixes>(*context->plan, CellsOf(op, context->regions),
                                              context->hashes, context->count);
  context->chosen &= kNegated ? ~in : in;
}

template <bool kNegated, uint32_t kRows>
KernelPair FilterPair() {
  return {MatchFilter<kNegated, kRows>, MatchFilterOfAll<kNegated, kRows, StoredSlots>,
          kNegated ? SlotUse::kNotFilter : SlotUse::kFilter};
}

template <bool kNegated>
BurstKernel HashedFilter(const SlotPlan& plan) {
  if (!plan.is_sliced || plan.rows != kSlicedRows) return nullptr;
  if (HasQuads() && IsSmallFilter(plan)) {
    return plan.number != 0 ? MatchSmallFilterOfAll<kNegated, true>
                            : MatchSmallFilterOfAll<kNegated, false>;
  }
  return plan.number != 0 ? MatchFilterOfAll<kNegated, kSlicedRows, SlicedSlots<true>>
                          : MatchFilterOfAll<kNegated, kSlicedRows, SlicedSlots<false>>;
}

}  // namespace

KernelPair MatchFieldKernel() {
  return {MatchField,
          HasQuads() ? MatchFieldOfAll<KeepQuadsInRange> : MatchFieldOfAll<KeepInRange>};
}

KernelPair MatchCellKernel(uint8_t log2) {
  switch (log2) {
    case 0:
      return CellPair<uint8_t>();
    case 1:
      return CellPair<uint16_t>();
    case 2:
      return CellPair<uint32_t>();
    default:
      return CellPair<uint64_t>();
  }
}

Kernel MatchScalarKernel() { return MatchScalar; }

KernelPair MatchRandomKernel() { return {MatchRandom, MatchRandomOfAll}; }

KernelPair MatchFilterKernel(bool is_negated, uint16_t rows) {
  if (rows == 4) return is_negated ? FilterPair<true, 4>() : FilterPair<false, 4>();
  return is_negated ? FilterPair<true, 0>() : FilterPair<false, 0>();
}

BurstKernel HashedGuardOf(const Operator& op, const SlotPlan& plan) {
  switch (op.slot_use) {
    case SlotUse::kFilter:
      return HashedFilter<false>(plan);
    case SlotUse::kNotFilter:
      return HashedFilter<true>(plan);
    default:
      return plan.number != 0 ? HashedMatch<true>(op.log2) : HashedMatch<false>(op.log2);
  }
}

namespace {

inline const Operator* MatchRatio(const Operator* op, RunContext* context, uint64_t least) {
  const uint64_t total = LoadCell<uint32_t>(context->regions[op->field] + op->target);
  const bool is_above = total != 0 && least * op->mask > total * op->constant;
  return GoOn(is_above ? op + 1 : op + op->skip, context);
}

}  // namespace

const Operator* MatchLeastRatio(const Operator* op, RunContext* context) {
  const uint8_t* region = CellsOf(*op, context->regions);
  const uint32_t* slots = context->slots + op->slot;
  uint64_t least = UINT64_MAX;
  for (uint32_t row = 0; row < op->rows; ++row) {
    least = std::min(least, LoadCell<uint32_t>(region + slots[row]));
  }
  return MatchRatio(op, context, least);
}

namespace {

template <typename Slots>
inline uint32_t AddToFourCells(uint8_t* region, const Slots& slots, uint32_t addend) {
  uint32_t least = UINT32_MAX;
#pragma GCC unroll 4
  for (uint32_t row = 0; row < 4; ++row) {
    uint8_t* cell = region + slots[row];
    const auto sum = static_cast<uint32_t>(LoadCell<uint32_t>(cell) + addend);
    StoreCell<uint32_t>(cell, sum);
    least = std::min(least, sum);
  }
  return least;
}

template <typename Source>
uint32_t AddUntilLeastRatio(const Operator& op, const BurstContext& context) {
  const uint64_t over = op.mask;
  const uint64_t share = op.constant;
  const uint64_t* const addends = context.columns->Of(static_cast<MeasureFieldId>(op.expression));
  uint8_t* region = CellsOf(op, context.regions);
  const Source slots(op, context);
  const uint8_t* totals = context.regions[op.field] + op.target;
  const uint32_t total_bytes = op.field == kViewRegion ? context.view_bytes : 0;
  for (uint32_t left = context.chosen; left != 0; left &= left - 1) {
    const auto number = static_cast<uint32_t>(__builtin_ctz(left));
    const auto value = static_cast<uint32_t>(addends[number]);
    const uint64_t least = AddToFourCells(region, slots.Of(number), value);
    const uint64_t total = LoadCell<uint32_t>(totals + size_t{number} * total_bytes);
    if (total != 0 && least * over > total * share) return number;
  }
  return kMaxMeasureBurst;
}

}  // namespace

const Operator* AddAndMatchLeastRatio(const Operator* op, RunContext* context) {
  const auto addend = static_cast<uint32_t>(context->packet->value[op->expression]);
  return MatchRatio(
      op, context,
      AddToFourCells(CellsOf(*op, context->regions), context->slots + op->slot, addend));
}

StopKernel StopKernelOf(Kernel guard, const SlotPlan* hashed) {
  if (guard != AddAndMatchLeastRatio) return nullptr;
  if (hashed == nullptr) return AddUntilLeastRatio<StoredSlots>;
  if (!hashed->is_sliced || hashed->rows != kSlicedRows) return nullptr;
  return hashed->number != 0 ? AddUntilLeastRatio<SlicedSlots<true>>
                             : AddUntilLeastRatio<SlicedSlots<false>>;
}

}  // namespace trumpet
