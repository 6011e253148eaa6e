// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/kernel_parts.h"
#include "lib/measure/program_state.h"
#include "lib/measure/slot_sources.h"

namespace trumpet {
namespace {

template <OperandKind kOperand, bool kLogged>
const Operator* Tag(const Operator* op, RunContext* context) {
  PacketValues* packet = context->packet;
  const uint64_t bit = uint64_t{1} << op->field;
  // What the packet does not have stays so; metadata and carriers are there once they are written.
  const bool stays = (packet->present & bit) == 0 && !op->makes_present;
  if (kOperand != OperandKind::kExpression && stays) return GoOn(op + 1, context);
  uint64_t value = op->constant;
  if constexpr (kOperand == OperandKind::kField) value = packet->value[op->target];
  if constexpr (kOperand == OperandKind::kExpression) {
    value = EvaluateShort(&context->program->steps[op->expression], context);  // may draw
    if (stays) return GoOn(op + 1, context);
  }
  value &= op->mask;
  if constexpr (kLogged) {
    WriteLogEntry* entry = Note(context, WriteKind::kTag, op->mask, value);
    entry->field = op->field;
    entry->was_present = (packet->present & bit) != 0;
    entry->was_tagged = (packet->tagged & bit) != 0;
    entry->before = packet->value[op->field];
  }
  packet->value[op->field] = value;
  packet->present |= bit;
  packet->tagged |= bit;
  return GoOn(op + 1, context);
}

// Unlogged.
void TagPlain(const Operator& op, uint64_t value, PacketValues* packet) {
  const uint64_t bit = uint64_t{1} << op.field;
  if ((packet->present & bit) == 0 && !op.makes_present) return;
  packet->value[op.field] = value & op.mask;
  packet->present |= bit;
  packet->tagged |= bit;
}

// Of constants and fields.
template <OperandKind kOperand>
void TagAll(const Operator& op, BurstContext* context) {
  ForChosen(*context, [&](uint32_t number) {
    PacketValues* const packet = context->packets[number].values;
    TagPlain(op, kOperand == OperandKind::kConstant ? op.constant : packet->value[op.target],
             packet);
  });
}

template <bool kScalar, bool kLogged>
const Operator* Set(const Operator* op, RunContext* context) {
  const ExpressionStep* expression = &context->program->steps[op->expression];
  for (uint32_t row = 0; row < op->rows; ++row) {
    uint8_t* cell = CellAt<kScalar>(*op, *context, row);
    context->written_value = LoadCell(cell, op->log2);
    Assign<kLogged>(context, cell, op->log2, op->mask, EvaluateShort(expression, context));
  }
  return GoOn(op + 1, context);
}

template <bool kScalar>
const Operator* Fill(const Operator* op, RunContext* context) {
  for (uint32_t row = 0; row < op->rows; ++row) {
    uint8_t* cell = CellAt<kScalar>(*op, *context, row);
    Assign<true>(context, cell, op->log2, op->mask, op->constant);
  }
  return GoOn(op + 1, context);
}

// One cell = the sum or difference of a pair, unlogged.
template <typename Cell, MeasureOp kOp>
const Operator* SetPair(const Operator* op, RunContext* context) {
  const ExpressionStep* pair = &context->program->steps[op->expression];
  uint8_t* cell = CellAt<false>(*op, *context, 0);
  context->written_value = LoadCell<Cell>(cell);
  const uint64_t first = ValueOf(pair[1], *context);
  const uint64_t second = ValueOf(pair[2], *context);
  StoreCell<Cell>(cell, MeasureCompute(kOp, first, second) & op->mask);
  return GoOn(op + 1, context);
}

// What each packet of a burst has for a step of the kinds that kPair has: a number in memory, at
// even distances or at a slot.
class BurstOperand {
 public:
  // `op` writes the cells that kWrittenCell is.
  static BurstOperand Of(const ExpressionStep& step, const Operator& op,
                         const BurstContext& context) {
    switch (step.kind) {
      case StepKind::kConstant:
        return {&step.value, 0};
      case StepKind::kField:
        return {context.columns->Of(step.field), sizeof(uint64_t)};
      case StepKind::kNow:
        return {&context.packets->now, context.has_same_time ? 0 : sizeof *context.packets, 3,
                step.value};
      case StepKind::kScalar:
        if (step.region == kViewRegion && context.view_bytes != 0) {
          return {context.views, context.view_bytes, step.log2};
        }
        return {context.regions[step.region] + step.slot, 0, step.log2};
      case StepKind::kWrittenCell:
        return {CellsOf(op, context.regions), context.slots + op.slot, context.stride, op.log2};
      default:
        return {context.regions[step.region] + step.base, context.slots + step.slot, context.stride,
                step.log2};
    }
  }

  uint64_t operator[](size_t packet) const { return LoadCell(At(packet), log2_) & mask_; }

  // Numbers of 64 bits, all of them.
  bool HasWords() const { return log2_ == 3 && mask_ == UINT64_MAX; }
  uint64_t WordOf(size_t packet) const { return LoadCell<uint64_t>(At(packet)); }

 private:
  BurstOperand(const void* first, size_t bytes, uint8_t log2 = 3, uint64_t mask = UINT64_MAX)
      : first_(static_cast<const uint8_t*>(first)), stride_(bytes), log2_(log2), mask_(mask) {}
  BurstOperand(const uint8_t* cells, const uint32_t* slots, size_t stride, uint8_t log2)
      : first_(cells), slots_(slots), stride_(stride), log2_(log2) {}

  const uint8_t* At(size_t packet) const {
    const size_t distance = packet * stride_;
    return first_ + (slots_ != nullptr ? slots_[distance] : distance);
  }

  const uint8_t* first_;
  const uint32_t* slots_ = nullptr;
  size_t stride_;  // of bytes, or of slots
  uint8_t log2_;
  uint64_t mask_ = UINT64_MAX;
};

template <typename Cell, MeasureOp kOp>
void SetPairOfAll(const Operator& op, BurstContext* context) {
  const ExpressionStep* pair = &context->state->program().steps[op.expression];
  const auto first = BurstOperand::Of(pair[1], op, *context);
  const auto second = BurstOperand::Of(pair[2], op, *context);
  uint8_t* const region = CellsOf(op, context->regions);
  const StoredSlots slots(op, *context);
  const uint64_t mask = op.mask;
  const auto store = [=](size_t number, uint64_t a, uint64_t b) {
    StoreCell<Cell>(region + slots.Of(number)[0], MeasureCompute(kOp, a, b) & mask);
  };
  if (first.HasWords() && second.HasWords()) {
    ForChosen(*context,
              [=](size_t number) { store(number, first.WordOf(number), second.WordOf(number)); });
  } else {
    ForChosen(*context, [=](size_t number) { store(number, first[number], second[number]); });
  }
}

template <typename Cell, MeasureOp kOp>
KernelPair SetPairs() {
  return {SetPair<Cell, kOp>, SetPairOfAll<Cell, kOp>, SlotUse::kSetPair};
}

template <MeasureOp kOp>
KernelPair SetPairOf(uint8_t log2) {
  switch (log2) {
    case 0:
      return SetPairs<uint8_t, kOp>();
    case 1:
      return SetPairs<uint16_t, kOp>();
    case 2:
      return SetPairs<uint32_t, kOp>();
    default:
      return SetPairs<uint64_t, kOp>();
  }
}

// Of cells of one width, unlogged; the constant fits them.  `kRows` 0: as the operator says.
template <typename Cell, uint32_t kRows, bool kScalar>
const Operator* FillPlain(const Operator* op, RunContext* context) {
  const uint64_t value = op->constant;
  uint8_t* const cells = CellsOf(*op, context->regions);
  const uint32_t rows = kRows != 0 ? kRows : op->rows;
#pragma GCC unroll 4
  for (uint32_t row = 0; row < rows; ++row) {
    StoreCell<Cell>(cells + (kScalar ? op->slot : context->slots[op->slot + row]), value);
  }
  return GoOn(op + 1, context);
}

template <typename Cell, uint32_t kRows, bool kScalar>
void FillAll(const Operator& op, BurstContext* context) {
  const uint64_t value = op.constant;
  uint8_t* const cells = CellsOf(op, context->regions);
  if constexpr (kScalar) return StoreCell<Cell>(cells + op.slot, value);
  const uint32_t rows = kRows != 0 ? kRows : op.rows;
  const StoredSlots slots(op, *context);
  ForChosen(*context, [=](size_t number) {
    const uint32_t* const own = slots.Of(number);
#pragma GCC unroll 4
    for (uint32_t row = 0; row < rows; ++row) StoreCell<Cell>(cells + own[row], value);
  });
}

template <typename Cell, uint32_t kRows, bool kScalar>
KernelPair FillPair() {
  return {FillPlain<Cell, kRows, kScalar>, FillAll<Cell, kRows, kScalar>,
          kScalar ? SlotUse::kNone : SlotUse::kStore};
}

template <typename Cell>
KernelPair FillPlainOf(bool is_scalar, uint16_t rows) {
  if (is_scalar) return FillPair<Cell, 1, true>();
  if (rows == 1) return FillPair<Cell, 1, false>();
  return rows == 4 ? FillPair<Cell, 4, false>() : FillPair<Cell, 0, false>();
}

KernelPair FillPlainOf(uint8_t log2, bool is_scalar, uint16_t rows) {
  switch (log2) {
    case 0:
      return FillPlainOf<uint8_t>(is_scalar, rows);
    case 1:
      return FillPlainOf<uint16_t>(is_scalar, rows);
    case 2:
      return FillPlainOf<uint32_t>(is_scalar, rows);
    default:
      return FillPlainOf<uint64_t>(is_scalar, rows);
  }
}

template <bool kScalar, bool kLogged>
const Operator* Stamp(const Operator* op, RunContext* context) {
  uint8_t* cell = CellAt<kScalar>(*op, *context, 0);
  Assign<kLogged>(context, cell, op->log2, op->mask, context->now);
  return GoOn(op + 1, context);
}

void StampAll(const Operator& op, BurstContext* context) {
  uint8_t* const cells = CellsOf(op, context->regions);
  const StoredSlots slots(op, *context);
  ForChosen(*context, [&](size_t number) {
    StoreCell(cells + slots.Of(number)[0], op.log2, context->NowOf(number) & op.mask);
  });
}

// What the last one leaves.
void StampScalar(const Operator& op, BurstContext* context) {
  const auto last = static_cast<size_t>(31 - __builtin_clz(context->chosen));
  StoreCell(CellsOf(op, context->regions) + op.slot, op.log2, context->NowOf(last) & op.mask);
}

// Whether the packet finds the time of an earlier one.
inline bool StampOrSinceOf(const Operator& op, uint8_t* cell, uint64_t now) {
  const uint64_t first = LoadCell<uint64_t>(cell);
  if (first == 0) {
    StoreCell<uint64_t>(cell, now);
    return false;
  }
  StoreCell<uint64_t>(cell - op.base + op.expression, now - first);
  return true;
}

const Operator* StampOrSince(const Operator* op, RunContext* context) {
  uint8_t* const cell = CellAt<false>(*op, *context, 0);
  if (StampOrSinceOf(*op, cell, context->now)) {
    StoreCell<uint64_t>(context->regions[op->field] + op->target, context->now);
  }
  return GoOn(op + 1, context);
}

template <typename Source>
void StampOrSinceOfAll(const Operator& op, BurstContext* context) {
  const Source slots(op, *context);
  uint8_t* const cells = CellsOf(op, context->regions);
  uint8_t* const scalar = context->regions[op.field] + op.target;
  uint64_t latest = LoadCell<uint64_t>(scalar);
  ForChosen(*context, [&](size_t number) {
    const uint64_t now = context->NowOf(number);
    if (StampOrSinceOf(op, cells + slots.Of(number)[0], now)) latest = now;
  });
  StoreCell<uint64_t>(scalar, latest);
}

// Cells of filters are bytes of 0 or 1, and begin at a multiple of 8.
uint64_t CellsOfBits(uint64_t bits) {
  const uint64_t apart = (bits & 0xff) * 0x0101010101010101u & 0x8040201008040201u;
  return (apart + 0x7f7f7f7f7f7f7f7fu) >> 7 & 0x0101010101010101u;
}

void StoreFilter(uint8_t* cells, uint32_t left, uint64_t bits) {
  for (; left >= 8; left -= 8, cells += 8, bits >>= 8) {
    StoreCell<uint64_t>(cells, CellsOfBits(bits));
  }
  for (; left > 0; --left, ++cells, bits >>= 1) StoreCell<uint8_t>(cells, bits & 1);
}

template <OperandKind kOperand, bool kLogged>
const Operator* InitFilter(const Operator* op, RunContext* context) {
  uint64_t bits = OperandOf<kOperand>(*op, context);
  uint8_t* cells = context->regions[op->region] + op->slot;
  if constexpr (kLogged) {
    for (uint32_t left = op->rows; left > 0; --left, ++cells, bits >>= 1) {
      Assign<true>(context, cells, 0, 1, bits);
    }
  } else {
    StoreFilter(cells, op->rows, bits);
  }
  return GoOn(op + 1, context);
}

// The filter without the key, once the packet is tagged with the one with it.
uint64_t CarryFilterOf(const Operator& op, const uint32_t* slots, PacketValues* packet) {
  const uint32_t before = op.base - op.expression;  // cells that slots do not count
  uint64_t own = 0;
  for (uint32_t row = 0; row < op.rows; ++row) own |= uint64_t{1} << (slots[row] + before);
  const uint64_t all =
      (packet->value[op.target] & BitMask(static_cast<uint32_t>(op.constant))) | own;
  TagPlain(op, all, packet);
  return all & ~own;
}

const Operator* CarryFilter(const Operator* op, RunContext* context) {
  const uint64_t left = CarryFilterOf(*op, context->slots + op->slot, context->packet);
  StoreFilter(context->regions[op->region] + op->expression, static_cast<uint32_t>(op->constant),
              left);
  return GoOn(op + 1, context);
}

// What the last packet leaves is what stays.
void CarryFilterOfAll(const Operator& op, BurstContext* context) {
  const StoredSlots slots(op, *context);
  uint64_t left = 0;
  ForChosen(*context, [&](size_t number) {
    left = CarryFilterOf(op, slots.Of(number), context->packets[number].values);
  });
  StoreFilter(context->regions[op.region] + op.expression, static_cast<uint32_t>(op.constant),
              left);
}

template <bool kLogged>
const Operator* Claim(const Operator* op, RunContext* context) {
  uint8_t* region = CellsOf(*op, context->regions);
  const uint32_t* slots = context->slots + op->slot;
  const uint64_t owner = uint64_t{slots[3]} << 32 | slots[2];
  uint8_t* place = region + slots[1];
  uint8_t* cell = region + slots[0];
  const uint64_t before = LoadCell<uint64_t>(place);
  if constexpr (kLogged) {  // also for who owns it already: another branch may take it
    NoteCell(context, WriteKind::kClaim, cell, op->log2, op->mask, owner);
    context->log[context->log_count - 1].owner = place;
    context->log[context->log_count - 1].owner_before = before;
  }
  if (before == owner) return GoOn(op + 1, context);
  if (before != 0) context->state->CountEviction();
  StoreCell<uint64_t>(place, owner);
  StoreCell(cell, op->log2, 0);
  return GoOn(op + 1, context);
}

template <OperandKind kOperand>
KernelPair TagOf(bool is_logged) {
  if (is_logged) return Tag<kOperand, true>;
  return {Tag<kOperand, false>, kOperand == OperandKind::kExpression ? nullptr : TagAll<kOperand>};
}

template <OperandKind kOperand>
Kernel InitFilterOf(bool is_logged) {
  return is_logged ? InitFilter<kOperand, true> : InitFilter<kOperand, false>;
}

}  // namespace

KernelPair TagKernel(OperandKind operand, bool is_logged) {
  switch (operand) {
    case OperandKind::kConstant:
      return TagOf<OperandKind::kConstant>(is_logged);
    case OperandKind::kField:
      return TagOf<OperandKind::kField>(is_logged);
    default:
      return TagOf<OperandKind::kExpression>(is_logged);
  }
}

KernelPair CarryFilterKernel() { return {CarryFilter, CarryFilterOfAll, SlotUse::kStore}; }

KernelPair SetKernel(const Operator& op, const ExpressionStep* first, bool is_scalar,
                     bool is_logged) {
  const bool is_pair = first->kind == StepKind::kPair && first[3].kind == StepKind::kDone;
  if (is_pair && !is_scalar && !is_logged && op.rows == 1) {
    if (first->op == MeasureOp::kPlus) return SetPairOf<MeasureOp::kPlus>(op.log2);
    if (first->op == MeasureOp::kMinus) return SetPairOf<MeasureOp::kMinus>(op.log2);
  }
  if (is_scalar) return is_logged ? Set<true, true> : Set<true, false>;
  return is_logged ? Set<false, true> : Set<false, false>;
}

KernelPair FillKernel(const Operator& op, bool is_scalar, bool is_logged) {
  if (is_logged) return is_scalar ? Fill<true> : Fill<false>;
  return FillPlainOf(op.log2, is_scalar, op.rows);
}

KernelPair StampKernel(bool is_scalar, bool is_logged) {
  if (is_logged) return is_scalar ? Stamp<true, true> : Stamp<false, true>;
  if (is_scalar) return {Stamp<true, false>, StampScalar};
  return {Stamp<false, false>, StampAll, SlotUse::kStore};
}

KernelPair StampOrSinceKernel() {
  return {StampOrSince, StampOrSinceOfAll<StoredSlots>, SlotUse::kStampOrSince};
}

BurstKernel HashedStampOrSince(const SlotPlan& plan) {
  return plan.number != 0 ? StampOrSinceOfAll<MapSlots<true>> : StampOrSinceOfAll<MapSlots<false>>;
}

Kernel InitFilterKernel(OperandKind operand, bool is_logged) {
  switch (operand) {
    case OperandKind::kConstant:
      return InitFilterOf<OperandKind::kConstant>(is_logged);
    case OperandKind::kField:
      return InitFilterOf<OperandKind::kField>(is_logged);
    default:
      return InitFilterOf<OperandKind::kExpression>(is_logged);
  }
}

Kernel ClaimKernel(bool is_logged) { return is_logged ? Claim<true> : Claim<false>; }

}  // namespace trumpet
