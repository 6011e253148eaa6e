// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "lib/measure/cell.h"
#include "lib/measure/compiled_program.h"
#include "lib/measure/kernels.h"
#include "lib/measure/program_state.h"

namespace trumpet {
namespace {

template <bool kScalar>
uint8_t* CellAt(const Operator& op, const RunContext& context, uint32_t row) {
  return context.regions[op.region] + (kScalar ? op.slot : context.slots[op.slot + row]);
}

WriteLogEntry* Note(RunContext* context, WriteKind kind, uint64_t mask, uint64_t value) {
  WriteLogEntry* entry = &context->log[context->log_count++];  // the loader has counted them
  *entry = {};
  entry->kind = kind;
  entry->mask = mask;
  entry->value = value;
  return entry;
}

void NoteCell(RunContext* context, WriteKind kind, uint8_t* cell, uint8_t log2, uint64_t mask,
              uint64_t value) {
  WriteLogEntry* entry = Note(context, kind, mask, value);
  entry->cell = cell;
  entry->log2 = log2;
  entry->before = LoadCell(cell, log2);
}

template <bool kLogged>
void Assign(RunContext* context, uint8_t* cell, uint8_t log2, uint64_t mask, uint64_t value) {
  if constexpr (kLogged) {
    NoteCell(context, WriteKind::kAssign, cell, log2, mask, value & mask);
  }
  StoreCell(cell, log2, value & mask);
}

template <bool kLogged>
const Operator* Tag(const Operator* op, RunContext* context) {
  PacketValues* packet = context->packet;
  const uint64_t value = Evaluate(&context->program->steps[op->expression], context) & op->mask;
  const uint64_t bit = uint64_t{1} << op->field;
  // What the packet does not have stays so; metadata and carriers are there once they are written.
  if ((packet->present & bit) == 0 && op->constant == 0) return op + 1;
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
  return op + 1;
}

template <OperandKind kOperand>
uint64_t OperandOf(const Operator& op, RunContext* context) {
  if constexpr (kOperand == OperandKind::kConstant) return op.constant;
  if constexpr (kOperand == OperandKind::kField) return context->packet->value[op.field];
  return Evaluate(&context->program->steps[op.expression], context);
}

template <typename Cell>
void AddToCell(uint8_t* cell, uint64_t value) {
  StoreCell<Cell>(cell, LoadCell<Cell>(cell) + value);
}

template <typename Cell, uint32_t kRows>
void AddToRows(uint8_t* region, const uint32_t* slots, uint32_t rows, uint64_t value) {
  if constexpr (kRows != 0) {
#pragma GCC unroll 4
    for (uint32_t row = 0; row < kRows; ++row) AddToCell<Cell>(region + slots[row], value);
  } else {
    for (uint32_t row = 0; row < rows; ++row) AddToCell<Cell>(region + slots[row], value);
  }
}

// The fast way: full-width cells of one thread, not logged.  `kRows` 0: as the operator says.
template <typename Cell, OperandKind kOperand, uint32_t kRows, bool kScalar>
const Operator* AddPlain(const Operator* op, RunContext* context) {
  const uint64_t value = OperandOf<kOperand>(*op, context);
  uint8_t* region = context->regions[op->region];
  if constexpr (kScalar) {
    AddToCell<Cell>(region + op->slot, value);
  } else {
    AddToRows<Cell, kRows>(region, context->slots + op->slot, op->rows, value);
  }
  return GoOn(op + 1, context);
}

template <OperandKind kOperand>
uint64_t OperandOf(const MeasuredPacket& packet, uint64_t constant, uint16_t field) {
  return kOperand == OperandKind::kConstant ? constant : packet.values->value[field];
}

template <typename Cell, OperandKind kOperand, uint32_t kRows>
void AddPlainToAll(const Operator& op, BurstContext* context) {
  const uint64_t constant = op.constant;
  const uint16_t field = op.field;
  const uint32_t rows = op.rows;
  const uint32_t stride = context->stride;
  const MeasuredPacket* packets = context->packets;
  const uint32_t* slots = context->slots + op.slot;
  uint8_t* region = context->regions[op.region];
  ForChosen(*context, [&](size_t number) {
    AddToRows<Cell, kRows>(region, slots + number * stride, rows,
                           OperandOf<kOperand>(packets[number], constant, field));
  });
}

// What was in the cell before.
template <typename Cell, bool kShared>
uint64_t AddSum(uint8_t* cell, uint64_t sum) {
  if constexpr (kShared) {
    return __atomic_fetch_add(reinterpret_cast<Cell*>(cell), static_cast<Cell>(sum),
                              __ATOMIC_RELAXED);
  }
  const uint64_t before = LoadCell<Cell>(cell);
  StoreCell<Cell>(cell, before + sum);
  return before;
}

// A scalar of full width, once for all packets: one locked addition instead of 32.
template <typename Cell, OperandKind kOperand, bool kShared>
void AddScalarForAll(const Operator& op, BurstContext* context) {
  const uint64_t constant = op.constant;
  const uint16_t field = op.field;
  const MeasuredPacket* packets = context->packets;
  uint8_t* const cell = context->regions[op.region] + op.slot;
  uint64_t* const views = context->views;
  uint64_t sum = 0;
  if (!op.is_viewed) {
    ForChosen(*context,
              [&](size_t number) { sum += OperandOf<kOperand>(packets[number], constant, field); });
    AddSum<Cell, kShared>(cell, sum);
    return;
  }
  ForChosen(*context, [&](size_t number) {
    views[number] = sum += OperandOf<kOperand>(packets[number], constant, field);
  });
  const uint64_t before = AddSum<Cell, kShared>(cell, sum);
  ForChosen(*context, [=](size_t number) { views[number] += before; });
}

void AddShared(const Operator& op, uint8_t* cell, uint64_t value) {
  switch (op.log2) {
    case 0:
      return AddToSharedCell<uint8_t>(cell, value, op.mask);
    case 1:
      return AddToSharedCell<uint16_t>(cell, value, op.mask);
    case 2:
      return AddToSharedCell<uint32_t>(cell, value, op.mask);
    default:
      return AddToSharedCell<uint64_t>(cell, value, op.mask);
  }
}

// A scalar of full width that other threads write, too.
template <typename Cell, OperandKind kOperand>
const Operator* AddSharedScalar(const Operator* op, RunContext* context) {
  auto* cell = reinterpret_cast<Cell*>(context->regions[op->region] + op->slot);
  __atomic_fetch_add(cell, static_cast<Cell>(OperandOf<kOperand>(*op, context)), __ATOMIC_RELAXED);
  return GoOn(op + 1, context);
}

template <OperandKind kOperand, bool kScalar, bool kAdds, bool kLogged>
const Operator* AddAny(const Operator* op, RunContext* context) {
  for (uint32_t row = 0; row < op->rows; ++row) {
    uint8_t* cell = CellAt<kScalar>(*op, *context, row);
    context->written_value = LoadCell(cell, op->log2);
    const uint64_t value = OperandOf<kOperand>(*op, context);
    if (op->is_shared && !kLogged) {
      AddShared(*op, cell, value);
      continue;
    }
    const uint64_t sum = (context->written_value + value) & op->mask;
    if constexpr (kLogged) {
      NoteCell(context, kAdds ? WriteKind::kAdd : WriteKind::kAssign, cell, op->log2, op->mask,
               kAdds ? value : sum);
    }
    StoreCell(cell, op->log2, sum);
  }
  return op + 1;
}

template <bool kScalar, bool kLogged>
const Operator* Set(const Operator* op, RunContext* context) {
  const ExpressionStep* expression = &context->program->steps[op->expression];
  for (uint32_t row = 0; row < op->rows; ++row) {
    uint8_t* cell = CellAt<kScalar>(*op, *context, row);
    context->written_value = LoadCell(cell, op->log2);
    Assign<kLogged>(context, cell, op->log2, op->mask, Evaluate(expression, context));
  }
  return op + 1;
}

template <bool kScalar, bool kLogged>
const Operator* Fill(const Operator* op, RunContext* context) {
  for (uint32_t row = 0; row < op->rows; ++row) {
    uint8_t* cell = CellAt<kScalar>(*op, *context, row);
    Assign<kLogged>(context, cell, op->log2, op->mask, op->constant);
  }
  return GoOn(op + 1, context);
}

template <bool kScalar, bool kLogged>
const Operator* Stamp(const Operator* op, RunContext* context) {
  uint8_t* cell = CellAt<kScalar>(*op, *context, 0);
  Assign<kLogged>(context, cell, op->log2, op->mask, context->now);
  return GoOn(op + 1, context);
}

template <bool kLogged>
const Operator* InitFilter(const Operator* op, RunContext* context) {
  const uint64_t bits = Evaluate(&context->program->steps[op->expression], context);
  uint8_t* cells = context->regions[op->region] + op->slot;
  for (uint32_t i = 0; i < op->rows; ++i) Assign<kLogged>(context, cells + i, 0, 1, bits >> i);
  return op + 1;
}

template <bool kLogged>
const Operator* Claim(const Operator* op, RunContext* context) {
  uint8_t* region = context->regions[op->region];
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

template <bool kLogged>
const Operator* Bitmap(const Operator* op, RunContext* context) {
  uint8_t* cell = CellAt<false>(*op, *context, 0);
  const uint64_t bit = uint64_t{1} << context->slots[op->slot + 1];
  Assign<kLogged>(context, cell, op->log2, op->mask, LoadCell(cell, op->log2) | bit);
  return GoOn(op + 1, context);
}

template <bool kLogged>
const Operator* Register(const Operator* op, RunContext* context) {
  uint8_t* cell = CellAt<false>(*op, *context, 0);
  const uint64_t rank = context->slots[op->slot + 1];
  const uint64_t before = LoadCell(cell, op->log2);
  if (kLogged || rank > before) {
    Assign<kLogged>(context, cell, op->log2, op->mask, std::max(rank, before));
  }
  return GoOn(op + 1, context);
}

// Updates of a pcsa or hyperloglog: `new_cell` answers the cell that comes after `before`.
template <typename Cell, typename NewCell>
void UpdateAll(const Operator& op, BurstContext* context, const NewCell& new_cell) {
  const uint32_t stride = context->stride;
  const uint64_t mask = op.mask;
  const uint32_t* slots = context->slots + op.slot;
  uint8_t* region = context->regions[op.region];
  ForChosen(*context, [=](size_t number) {
    const uint32_t* own = slots + number * stride;
    uint8_t* cell = region + own[0];
    const uint64_t before = LoadCell<Cell>(cell);
    const uint64_t after = new_cell(before, own[1], mask);
    if (after != before) StoreCell<Cell>(cell, after);  // seldom
  });
}

template <typename Cell>
struct BitmapOfAll {
  static void Run(const Operator& op, BurstContext* context) {
    UpdateAll<Cell>(op, context, [](uint64_t before, uint32_t bit, uint64_t mask) {
      return (before | uint64_t{1} << bit) & mask;
    });
  }
};

template <typename Cell>
struct RegisterOfAll {
  static void Run(const Operator& op, BurstContext* context) {
    UpdateAll<Cell>(op, context, [](uint64_t before, uint32_t rank, uint64_t mask) {
      return rank > before ? rank & mask : before;
    });
  }
};

template <template <typename> class OfAll>
BurstKernel ByCell(uint8_t log2) {
  switch (log2) {
    case 0:
      return OfAll<uint8_t>::Run;
    case 1:
      return OfAll<uint16_t>::Run;
    case 2:
      return OfAll<uint32_t>::Run;
    default:
      return OfAll<uint64_t>::Run;
  }
}

template <typename Cell, OperandKind kOperand, uint32_t kRows>
KernelPair PlainAdd() {
  return {AddPlain<Cell, kOperand, kRows, false>, AddPlainToAll<Cell, kOperand, kRows>};
}

template <typename Cell, OperandKind kOperand>
KernelPair PlainAdd(bool is_scalar, uint16_t rows) {
  if (is_scalar) {
    return {AddPlain<Cell, kOperand, 1, true>, AddScalarForAll<Cell, kOperand, false>};
  }
  if (rows == 1) return PlainAdd<Cell, kOperand, 1>();
  if (rows == 4) return PlainAdd<Cell, kOperand, 4>();
  return PlainAdd<Cell, kOperand, 0>();
}

template <typename Cell, OperandKind kOperand>
KernelPair SharedScalarAdd() {
  return {AddSharedScalar<Cell, kOperand>, AddScalarForAll<Cell, kOperand, true>};
}

template <OperandKind kOperand>
KernelPair PlainAdd(const Operator& op, bool is_scalar) {
  switch (op.log2) {
    case 0:
      return PlainAdd<uint8_t, kOperand>(is_scalar, op.rows);
    case 1:
      return PlainAdd<uint16_t, kOperand>(is_scalar, op.rows);
    case 2:
      return PlainAdd<uint32_t, kOperand>(is_scalar, op.rows);
    default:
      return PlainAdd<uint64_t, kOperand>(is_scalar, op.rows);
  }
}

template <OperandKind kOperand, bool kScalar>
Kernel SlowAdd(bool adds, bool is_logged) {
  if (!is_logged) return AddAny<kOperand, kScalar, false, false>;
  return adds ? AddAny<kOperand, kScalar, true, true> : AddAny<kOperand, kScalar, false, true>;
}

template <OperandKind kOperand>
KernelPair AnyAdd(const Operator& op, bool is_scalar, bool adds, bool is_logged) {
  const bool fills_cell = op.mask == BitMask(8u << op.log2);
  const bool is_plain = fills_cell && !op.is_shared && !is_logged;
  if constexpr (kOperand != OperandKind::kExpression) {
    if (is_plain) return PlainAdd<kOperand>(op, is_scalar);
    if (fills_cell && is_scalar && !is_logged && op.log2 == 2) {
      return SharedScalarAdd<uint32_t, kOperand>();
    }
    if (fills_cell && is_scalar && !is_logged && op.log2 == 3) {
      return SharedScalarAdd<uint64_t, kOperand>();
    }
  }
  return is_scalar ? SlowAdd<kOperand, true>(adds, is_logged)
                   : SlowAdd<kOperand, false>(adds, is_logged);
}

}  // namespace

Kernel TagKernel(bool is_logged) { return is_logged ? Tag<true> : Tag<false>; }

bool AddsFieldToFourCells(Kernel kernel) {
  return kernel == AddPlain<uint32_t, OperandKind::kField, 4, false>;
}

KernelPair AddKernel(OperandKind operand, const Operator& op, bool is_scalar, bool adds,
                     bool is_logged) {
  switch (operand) {
    case OperandKind::kConstant:
      return AnyAdd<OperandKind::kConstant>(op, is_scalar, adds, is_logged);
    case OperandKind::kField:
      return AnyAdd<OperandKind::kField>(op, is_scalar, adds, is_logged);
    default:
      return AnyAdd<OperandKind::kExpression>(op, is_scalar, adds, is_logged);
  }
}

Kernel SetKernel(bool is_scalar, bool is_logged) {
  if (is_scalar) return is_logged ? Set<true, true> : Set<true, false>;
  return is_logged ? Set<false, true> : Set<false, false>;
}

Kernel FillKernel(bool is_scalar, bool is_logged) {
  if (is_scalar) return is_logged ? Fill<true, true> : Fill<true, false>;
  return is_logged ? Fill<false, true> : Fill<false, false>;
}

Kernel StampKernel(bool is_scalar, bool is_logged) {
  if (is_scalar) return is_logged ? Stamp<true, true> : Stamp<true, false>;
  return is_logged ? Stamp<false, true> : Stamp<false, false>;
}

Kernel InitFilterKernel(bool is_logged) { return is_logged ? InitFilter<true> : InitFilter<false>; }

Kernel ClaimKernel(bool is_logged) { return is_logged ? Claim<true> : Claim<false>; }

KernelPair BitmapKernel(uint8_t log2, bool is_logged) {
  return is_logged ? KernelPair(Bitmap<true>)
                   : KernelPair(Bitmap<false>, ByCell<BitmapOfAll>(log2));
}

KernelPair RegisterKernel(uint8_t log2, bool is_logged) {
  return is_logged ? KernelPair(Register<true>)
                   : KernelPair(Register<false>, ByCell<RegisterOfAll>(log2));
}

}  // namespace trumpet
