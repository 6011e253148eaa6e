// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "lib/measure/cell.h"
#include "lib/measure/compiled_program.h"
#include "lib/measure/kernels.h"
#include "lib/measure/key_slots.h"
#include "lib/measure/program_state.h"
#include "lib/measure/slot_sources.h"
#include "lib/model/measure_math.h"

namespace trumpet {
namespace {

template <typename IsKept>
void KeepChosen(BurstContext* context, const IsKept& is_kept) {
  uint32_t kept = 0;
  uint8_t* const chosen = context->chosen;
  ForChosen(*context, [&](uint32_t number) {
    chosen[kept] = static_cast<uint8_t>(number);
    kept += is_kept(number) ? 1 : 0;
  });
  context->count = kept;
  context->is_whole = false;
}

}  // namespace

const Operator* EndProgram(const Operator*, RunContext*) { return nullptr; }

const Operator* EnterTaskWithoutWindow(const Operator* op, RunContext* context) {
  const bool enters = (context->roles & op->mask) != 0 && !context->is_collected &&
                      (context->clearing & op->constant) == 0;
  return GoOn(enters ? op + 1 : op + op->skip, context);
}

const Operator* EnterTask(const Operator* op, RunContext* context) {
  const bool enters = (context->roles & op->mask) != 0 && !context->is_collected &&
                      (context->clearing & op->constant) == 0;
  if (!enters) return op + op->skip;
  context->state->AdvanceWindow(op->target, context);
  return (context->clearing >> op->target & 1) != 0 ? op + op->skip : op + 1;
}

void EnterTaskByRole(const Operator& op, BurstContext* context) {
  KeepChosen(context, [&](uint32_t number) {
    return (context->roles[context->packets[number].hops] & op.mask) != 0;
  });
}

void EnterTaskAlways(const Operator&, BurstContext*) {}

const Operator* Jump(const Operator* op, RunContext*) { return op + op->skip; }

const Operator* RaiseFlag(const Operator* op, RunContext* context) {
  context->flags |= uint64_t{1} << op->target;
  return op + 1;
}

const Operator* LowerFlag(const Operator* op, RunContext* context) {
  context->flags &= ~(uint64_t{1} << op->target);
  return op + 1;
}

const Operator* SkipUnlessFlag(const Operator* op, RunContext* context) {
  return (context->flags >> op->target & 1) != 0 ? op + 1 : op + op->skip;
}

const Operator* LoadKey(const Operator* op, RunContext* context) {
  const CompiledProgram& program = *context->program;
  PackedKey key;
  PackKey(program, op->target, *context->packet, &key);
  FillKeySlots(program, op->target, key, context->slots);
  return op + 1;
}

const Operator* DuplicatePacket(const Operator* op, RunContext* context) {
  if (context->frame != nullptr) ReadPlacedPacket(*context->frame, context->packet);
  context->state->PushCopy(op->target, *context->packet);
  return op + 1;
}

const Operator* CollectPacket(const Operator* op, RunContext* context) {
  context->state->Collect(op->target, *context);
  context->is_collected = true;
  return op + op->skip;
}

namespace {

void RedoTag(WriteLogEntry* entry, PacketValues* packet) {
  const uint64_t bit = uint64_t{1} << entry->field;
  entry->before = packet->value[entry->field];
  entry->was_present = (packet->present & bit) != 0;
  entry->was_tagged = (packet->tagged & bit) != 0;
  packet->value[entry->field] = entry->value;
  packet->present |= bit;
  packet->tagged |= bit;
}

void UndoTag(const WriteLogEntry& entry, PacketValues* packet) {
  const uint64_t bit = uint64_t{1} << entry.field;
  packet->value[entry.field] = entry.before;
  if (!entry.was_present) packet->present &= ~bit;
  if (!entry.was_tagged) packet->tagged &= ~bit;
}

// Writes what the entry says, and notes what was there.
void Redo(WriteLogEntry* entry, RunContext* context) {
  if (entry->kind == WriteKind::kTag) return RedoTag(entry, context->packet);
  entry->before = LoadCell(entry->cell, entry->log2);
  uint64_t after = entry->value;
  if (entry->kind == WriteKind::kAdd) after += entry->before;
  if (entry->kind == WriteKind::kClaim) {
    entry->owner_before = LoadCell<uint64_t>(entry->owner);
    if (entry->owner_before == entry->value) return;
    StoreCell<uint64_t>(entry->owner, entry->value);
    after = 0;
  }
  StoreCell(entry->cell, entry->log2, after & entry->mask);
}

void Undo(const WriteLogEntry& entry, RunContext* context) {
  if (entry.kind == WriteKind::kTag) return UndoTag(entry, context->packet);
  if (entry.kind == WriteKind::kClaim) StoreCell<uint64_t>(entry.owner, entry.owner_before);
  StoreCell(entry.cell, entry.log2, entry.before);
}

}  // namespace

const Operator* BeginFork(const Operator* op, RunContext* context) {
  context->state->log_marks()[2 * op->target] = context->log_count;
  return op + 1;
}

const Operator* BeginBranch(const Operator* op, RunContext* context) {
  context->state->log_marks()[2 * op->target + 1] = context->log_count;
  return op + 1;
}

const Operator* EndBranch(const Operator* op, RunContext* context) {
  const uint32_t first = context->state->log_marks()[2 * op->target + 1];
  for (uint32_t i = context->log_count; i > first; --i) Undo(context->log[i - 1], context);
  return op + 1;
}

const Operator* CommitFork(const Operator* op, RunContext* context) {
  const uint32_t first = context->state->log_marks()[2 * op->target];
  for (uint32_t i = first; i < context->log_count; ++i) Redo(&context->log[i], context);
  if (op->target == 0) context->log_count = 0;  // else the log of the fork around it
  return op + 1;
}

// -- Guards --

const Operator* MatchExpression(const Operator* op, RunContext* context) {
  const bool is_true = Evaluate(&context->program->steps[op->expression], context) != 0;
  return is_true ? op + 1 : op + op->skip;
}

namespace {

template <MeasureOp kCompare>
void MatchFieldOfAll(const Operator& op, BurstContext* context) {
  const uint64_t mask = op.mask;
  const uint64_t constant = op.constant;
  const uint16_t field = op.field;
  if ((context->same_fields >> field & 1) != 0) {
    const uint64_t value = context->packets[0].values->value[field] & mask;
    if (MeasureCompute(kCompare, value, constant) == 0) context->count = 0;
    return;
  }
  const uint64_t* const column = context->column->Of(field);
  KeepChosen(context, [=](uint32_t number) {
    return MeasureCompute(kCompare, column[number] & mask, constant) != 0;
  });
}

template <MeasureOp kCompare>
struct MatchField {
  static constexpr BurstKernel kAll = MatchFieldOfAll<kCompare>;
  static const Operator* Run(const Operator* op, RunContext* context) {
    const uint64_t value = context->packet->value[op->field] & op->mask;
    return GoOn(MeasureCompute(kCompare, value, op->constant) != 0 ? op + 1 : op + op->skip,
                context);
  }
};

template <MeasureOp kCompare>
struct MatchCell {
  static constexpr BurstKernel kAll = nullptr;
  static const Operator* Run(const Operator* op, RunContext* context) {
    const uint8_t* cell = context->regions[op->region] + context->slots[op->slot];
    const uint64_t value = LoadCell(cell, op->log2);
    return GoOn(MeasureCompute(kCompare, value, op->constant) != 0 ? op + 1 : op + op->skip,
                context);
  }
};

template <MeasureOp kCompare>
struct MatchScalar {
  static constexpr BurstKernel kAll = nullptr;
  static const Operator* Run(const Operator* op, RunContext* context) {
    const uint64_t value = LoadCell(context->regions[op->region] + op->slot, op->log2);
    return GoOn(MeasureCompute(kCompare, value, op->constant) != 0 ? op + 1 : op + op->skip,
                context);
  }
};

template <template <MeasureOp> class Match>
KernelPair ByCompare(MeasureOp compare) {
  switch (compare) {
    case MeasureOp::kEqual:
      return {Match<MeasureOp::kEqual>::Run, Match<MeasureOp::kEqual>::kAll};
    case MeasureOp::kNotEqual:
      return {Match<MeasureOp::kNotEqual>::Run, Match<MeasureOp::kNotEqual>::kAll};
    case MeasureOp::kLess:
      return {Match<MeasureOp::kLess>::Run, Match<MeasureOp::kLess>::kAll};
    case MeasureOp::kLessEqual:
      return {Match<MeasureOp::kLessEqual>::Run, Match<MeasureOp::kLessEqual>::kAll};
    case MeasureOp::kGreater:
      return {Match<MeasureOp::kGreater>::Run, Match<MeasureOp::kGreater>::kAll};
    default:
      return {Match<MeasureOp::kGreaterEqual>::Run, Match<MeasureOp::kGreaterEqual>::kAll};
  }
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
      HasAllBits<kRows>(context->regions[op->region], context->slots + op->slot, op->rows);
  return GoOn((has_all != 0) != kNegated ? op + 1 : op + op->skip, context);
}

// Without a branch that depends on the packet: which flows are known is hard to foresee.
template <bool kNegated, uint32_t kRows, typename Source>
void SplitByFilter(const Operator& op, BurstContext* pass, BurstContext* fail) {
  const uint8_t* region = pass->regions[op.region];
  const Source slots(op, *pass);
  const uint32_t rows = op.rows;
  uint8_t* const passed = pass->chosen;
  uint8_t* const failed = fail->chosen;
  uint32_t pass_count = 0;
  uint32_t fail_count = 0;
  ForChosen(*pass, [&](size_t number) {
    const uint32_t has_all = HasAllBits<kRows>(region, slots.Of(number), rows);
    passed[pass_count] = failed[fail_count] = static_cast<uint8_t>(number);
    pass_count += kNegated ? 1 - has_all : has_all;
    fail_count += kNegated ? has_all : 1 - has_all;
  });
  pass->count = pass_count;
  fail->count = fail_count;
  pass->is_whole = fail->is_whole = false;
}

}  // namespace

KernelPair MatchFieldKernel(MeasureOp compare) { return ByCompare<MatchField>(compare); }

Kernel MatchCellKernel(MeasureOp compare, bool is_scalar) {
  return (is_scalar ? ByCompare<MatchScalar>(compare) : ByCompare<MatchCell>(compare)).one;
}

Kernel MatchFilterKernel(bool is_negated, uint16_t rows) {
  if (rows == 4) return is_negated ? MatchFilter<true, 4> : MatchFilter<false, 4>;
  return is_negated ? MatchFilter<true, 0> : MatchFilter<false, 0>;
}

namespace {

inline const Operator* MatchRatio(const Operator* op, RunContext* context, uint64_t least) {
  const uint64_t total = LoadCell<uint32_t>(context->regions[op->field] + op->target);
  const bool is_above = total != 0 && least * op->mask > total * op->constant;
  return GoOn(is_above ? op + 1 : op + op->skip, context);
}

}  // namespace

const Operator* MatchLeastRatio(const Operator* op, RunContext* context) {
  const uint8_t* region = context->regions[op->region];
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
  const uint64_t* const addends = context.column->Of(static_cast<MeasureFieldId>(op.expression));
  uint8_t* region = context.regions[op.region];
  const Source slots(op, context);
  const uint8_t* totals = context.regions[op.field] + op.target;
  const uint32_t total_bytes = op.field == kViewRegion ? context.view_bytes : 0;
  const uint8_t* const end = context.chosen + context.count;  // the burst has been parted
  for (const uint8_t* at = context.chosen; at != end; ++at) {
    const size_t number = *at;
    const auto value = static_cast<uint32_t>(addends[number]);
    const uint64_t least = AddToFourCells(region, slots.Of(number), value);
    const uint64_t total = LoadCell<uint32_t>(totals + number * total_bytes);
    if (total != 0 && least * over > total * share) return static_cast<uint32_t>(number);
  }
  return kMaxMeasureBurst;
}

}  // namespace

const Operator* AddAndMatchLeastRatio(const Operator* op, RunContext* context) {
  const auto addend = static_cast<uint32_t>(context->packet->value[op->expression]);
  return MatchRatio(
      op, context, AddToFourCells(context->regions[op->region], context->slots + op->slot, addend));
}

namespace {

template <bool kNegated>
SplitKernel SplitByHashedFilter(const SlotPlan& plan) {
  if (!plan.is_sliced || plan.rows != kSlicedRows) return nullptr;
  return plan.number != 0 ? SplitByFilter<kNegated, kSlicedRows, SlicedSlots<true>>
                          : SplitByFilter<kNegated, kSlicedRows, SlicedSlots<false>>;
}

}  // namespace

SplitKernel SplitKernelOf(Kernel guard, const SlotPlan* hashed) {
  if (guard == MatchFilter<false, 4>) {
    return hashed != nullptr ? SplitByHashedFilter<false>(*hashed)
                             : SplitByFilter<false, 4, StoredSlots>;
  }
  if (guard == MatchFilter<true, 4>) {
    return hashed != nullptr ? SplitByHashedFilter<true>(*hashed)
                             : SplitByFilter<true, 4, StoredSlots>;
  }
  if (hashed != nullptr) return nullptr;
  if (guard == MatchFilter<false, 0>) return SplitByFilter<false, 0, StoredSlots>;
  if (guard == MatchFilter<true, 0>) return SplitByFilter<true, 0, StoredSlots>;
  return nullptr;
}

StopKernel StopKernelOf(Kernel guard, const SlotPlan* hashed) {
  if (guard != AddAndMatchLeastRatio) return nullptr;
  if (hashed == nullptr) return AddUntilLeastRatio<StoredSlots>;
  if (!hashed->is_sliced || hashed->rows != kSlicedRows) return nullptr;
  return hashed->number != 0 ? AddUntilLeastRatio<SlicedSlots<true>>
                             : AddUntilLeastRatio<SlicedSlots<false>>;
}

}  // namespace trumpet
