// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "lib/measure/kernel_parts.h"
#include "lib/measure/slot_sources.h"

namespace trumpet {
namespace {

template <typename Cell>
void AddToCell(uint8_t* cell, uint64_t value) {
  StoreCell<Cell>(cell, LoadCell<Cell>(cell) + value);
}

template <typename Cell, uint32_t kRows, typename Slots>
void AddToRows(uint8_t* region, const Slots& slots, uint32_t rows, uint64_t value) {
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
  uint8_t* region = CellsOf(*op, context->regions);
  if constexpr (kScalar) {
    AddToCell<Cell>(region + op->slot, value);
  } else {
    AddToRows<Cell, kRows>(region, context->slots + op->slot, op->rows, value);
  }
  return GoOn(op + 1, context);
}

// The same of each packet of a burst.
template <OperandKind kOperand>
class Operands {
 public:
  Operands(const Operator& op, const BurstContext& context) : constant_(op.constant) {
    if constexpr (kOperand == OperandKind::kField) column_ = context.columns->Of(op.field);
  }
  uint64_t operator[](size_t packet) const {
    return kOperand == OperandKind::kConstant ? constant_ : column_[packet];
  }

 private:
  uint64_t constant_;
  const uint64_t* column_ = nullptr;
};

template <typename Cell, OperandKind kOperand, uint32_t kRows, typename Source>
void AddPlainToAll(const Operator& op, BurstContext* context) {
  const uint32_t rows = op.rows;
  const Operands<kOperand> operands(op, *context);
  const Source slots(op, *context);
  uint8_t* region = CellsOf(op, context->regions);
  ForChosen(*context, [=](size_t number) {
    AddToRows<Cell, kRows>(region, slots.Of(number), rows, operands[number]);
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

// What each packet finds that adds to a sum which begins so; what it comes to.
template <typename Numbers>
uint64_t FillViews(const BurstContext& context, const Numbers& addends, uint64_t sum,
                   uint64_t* views) {
  const uint32_t count = context.count;
  const uint32_t chosen = context.chosen;
  if (chosen == context.all) {
    for (uint32_t i = 0; i < count; ++i) views[i] = sum += addends[i];
    return sum;
  }
  for (uint32_t i = 0; i < count; ++i) {
    sum += (chosen >> i & 1) != 0 ? addends[i] : 0;
    views[i] = sum;
  }
  return sum;
}

// A scalar of full width, once for all packets: one locked addition instead of 32.
template <typename Cell, OperandKind kOperand, bool kShared>
void AddScalarForAll(const Operator& op, BurstContext* context) {
  const Operands<kOperand> operands(op, *context);
  uint8_t* const cell = context->regions[op.region] + op.slot;
  uint64_t* const views = context->views;
  uint64_t sum = 0;
  if (!op.is_viewed) {
    ForChosen(*context, [&](size_t number) { sum += operands[number]; });
    AddSum<Cell, kShared>(cell, sum);
    return;
  }
  context->view_bytes = sizeof *views;
  if constexpr (kShared) {
    sum = FillViews(*context, operands, 0, views);
    const uint64_t before = AddSum<Cell, kShared>(cell, sum);
    for (uint32_t i = 0; i < context->count; ++i) views[i] += before;
  } else {
    StoreCell<Cell>(cell, FillViews(*context, operands, LoadCell<Cell>(cell), views));
  }
}

// Numbers that lie side by side, or one for all packets.
struct AddendColumn {
  AddendColumn(const Operator& op, const BurstContext& context)
      : first(op.slot_use == SlotUse::kAddField ? &context.columns->Of(op.field)[0] : &op.constant),
        step(op.slot_use == SlotUse::kAddField ? 1 : 0) {}
  uint64_t operator[](size_t packet) const { return first[packet * step]; }

  const uint64_t* first;
  size_t step;
};

// The operator and the one behind it.
template <typename Cell, typename Source>
struct AddTwoToAll {
  static void Run(const Operator& op, BurstContext* context) {
    const Operator& second = (&op)[1];
    const AddendColumn first_addends(op, *context);
    const AddendColumn second_addends(second, *context);
    const Source slots(op, *context);
    uint8_t* const cells = CellsOf(op, context->regions);
    const ptrdiff_t distance = ptrdiff_t{second.base} - ptrdiff_t{op.base};
    ForChosen(*context, [=](size_t number) {
      uint8_t* const cell = cells + slots.Of(number)[0];
      AddToCell<Cell>(cell, first_addends[number]);
      AddToCell<Cell>(cell + distance, second_addends[number]);
    });
  }
};

template <typename Cell, OperandKind kOperand>
const Operator* AddAndMatch(const Operator* op, RunContext* context) {
  uint8_t* cell = CellsOf(*op, context->regions) + context->slots[op->slot];
  const auto sum = static_cast<Cell>(LoadCell<Cell>(cell) + OperandOf<kOperand>(*op, context));
  StoreCell<Cell>(cell, sum);
  return GoOn(op->range.Has(sum) ? op + 1 : op + op->skip, context);
}

template <typename Cell, OperandKind kOperand, typename Source>
void AddAndMatchOfAll(const Operator& op, BurstContext* context) {
  const Operands<kOperand> operands(op, *context);
  const NumberRange range = op.range;
  const Source slots(op, *context);
  uint8_t* region = CellsOf(op, context->regions);
  uint32_t kept = 0;
  ForChosen(*context, [&, slots, range](size_t number) {
    uint8_t* cell = region + slots.Of(number)[0];
    const auto sum = static_cast<Cell>(LoadCell<Cell>(cell) + operands[number]);
    StoreCell<Cell>(cell, sum);
    kept |= uint32_t{range.Has(sum)} << number;
  });
  context->chosen = kept;
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

// A source whose cells are of a size that the compiler knows.
template <typename Source, typename Cell>
struct Sized {
  using Slots = Source;
};
template <bool kMixes, bool kIsBitmap, typename Cell>
struct Sized<BucketSource<kMixes, kIsBitmap>, Cell> {
  using Slots = BucketSource<kMixes, kIsBitmap, sizeof(Cell)>;
};

// Updates of a pcsa or hyperloglog.
template <typename Cell, typename Source, typename Update>
void UpdateAll(const Operator& op, BurstContext* context, const Update& update) {
  const uint64_t mask = op.mask;
  const typename Sized<Source, Cell>::Slots slots(op, *context);
  uint8_t* region = CellsOf(op, context->regions);
  ForChosen(*context, [=](size_t number) {
    const auto own = slots.Of(number);
    update(region + own[0], own[1], mask);
  });
}

template <typename Cell, typename Source>
struct BitmapOfAll {
  static void Run(const Operator& op, BurstContext* context) {
    UpdateAll<Cell, Source>(op, context, [](uint8_t* cell, uint32_t bit, uint64_t mask) {
      const uint64_t before = LoadCell<Cell>(cell);
      const uint64_t after = (before | uint64_t{1} << bit) & mask;
      if (after != before) StoreCell<Cell>(cell, after);  // seldom
    });
  }
};

template <typename Cell, typename Source>
struct RegisterOfAll {
  static void Run(const Operator& op, BurstContext* context) {
    UpdateAll<Cell, Source>(op, context, [](uint8_t* cell, uint32_t rank, uint64_t mask) {
      if (rank > LoadCell<Cell>(cell)) StoreCell<Cell>(cell, rank & mask);  // seldom
    });
  }
};

template <template <typename, typename> class OfAll, typename Source>
BurstKernel ByCell(uint8_t log2) {
  switch (log2) {
    case 0:
      return OfAll<uint8_t, Source>::Run;
    case 1:
      return OfAll<uint16_t, Source>::Run;
    case 2:
      return OfAll<uint32_t, Source>::Run;
    default:
      return OfAll<uint64_t, Source>::Run;
  }
}

template <OperandKind kOperand, uint32_t kRows>
struct AddTo {
  template <typename Cell, typename Source>
  struct All {
    static constexpr BurstKernel Run = AddPlainToAll<Cell, kOperand, kRows, Source>;
  };
};

template <OperandKind kOperand>
struct AddToAndMatch {
  template <typename Cell, typename Source>
  struct All {
    static constexpr BurstKernel Run = AddAndMatchOfAll<Cell, kOperand, Source>;
  };
};

template <OperandKind kOperand, SlotUse kUse>
KernelPair AddAndMatchPair(uint8_t log2) {
  const BurstKernel all = ByCell<AddToAndMatch<kOperand>::template All, StoredSlots>(log2);
  switch (log2) {
    case 0:
      return {AddAndMatch<uint8_t, kOperand>, all, kUse};
    case 1:
      return {AddAndMatch<uint16_t, kOperand>, all, kUse};
    case 2:
      return {AddAndMatch<uint32_t, kOperand>, all, kUse};
    default:
      return {AddAndMatch<uint64_t, kOperand>, all, kUse};
  }
}

template <OperandKind kOperand, bool kMixes>
BurstKernel HashedAddAndMatch(const Operator& op) {
  return ByCell<AddToAndMatch<kOperand>::template All, MapSlots<kMixes>>(op.log2);
}

// Of maps and of four sliced rows, the usual ones.
template <OperandKind kOperand, bool kMixes>
BurstKernel HashedAdd(const Operator& op, const SlotPlan& plan) {
  if (plan.form == SlotForm::kMap) {
    return ByCell<AddTo<kOperand, 1>::template All, MapSlots<kMixes>>(op.log2);
  }
  if (!HasRows(plan.form) || !plan.is_sliced || op.rows != kSlicedRows) return nullptr;
  return ByCell<AddTo<kOperand, kSlicedRows>::template All, SlicedSlots<kMixes>>(op.log2);
}

template <bool kMixes>
BurstKernel HashedKernel(const Operator& op, const SlotPlan& plan) {
  switch (op.slot_use) {
    case SlotUse::kAddConstant:
      return HashedAdd<OperandKind::kConstant, kMixes>(op, plan);
    case SlotUse::kAddField:
      return HashedAdd<OperandKind::kField, kMixes>(op, plan);
    case SlotUse::kBitmap:
      return ByCell<BitmapOfAll, BucketSource<kMixes, true>>(op.log2);
    case SlotUse::kRegister:
      return ByCell<RegisterOfAll, BucketSource<kMixes, false>>(op.log2);
    case SlotUse::kAddConstantAndMatch:
      return HashedAddAndMatch<OperandKind::kConstant, kMixes>(op);
    case SlotUse::kAddFieldAndMatch:
      return HashedAddAndMatch<OperandKind::kField, kMixes>(op);
    case SlotUse::kStampOrSince:
      return HashedStampOrSince(plan);
    case SlotUse::kStore:
    case SlotUse::kSetPair:
      return nullptr;
    default:
      return HashedGuardOf(op, plan);
  }
}

template <typename Cell, OperandKind kOperand, uint32_t kRows>
KernelPair PlainAdd() {
  return {AddPlain<Cell, kOperand, kRows, false>, AddPlainToAll<Cell, kOperand, kRows, StoredSlots>,
          kOperand == OperandKind::kField ? SlotUse::kAddField : SlotUse::kAddConstant};
}

template <typename Cell, OperandKind kOperand>
KernelPair PlainAdd(bool is_scalar, uint16_t rows) {
  if (is_scalar) {
    return {AddPlain<Cell, kOperand, 1, true>, AddScalarForAll<Cell, kOperand, false>,
            SlotUse::kAddScalar};
  }
  if (rows == 1) return PlainAdd<Cell, kOperand, 1>();
  if (rows == 4) return PlainAdd<Cell, kOperand, 4>();
  return PlainAdd<Cell, kOperand, 0>();
}

template <typename Cell, OperandKind kOperand>
KernelPair SharedScalarAdd() {
  return {AddSharedScalar<Cell, kOperand>, AddScalarForAll<Cell, kOperand, true>,
          SlotUse::kAddScalar};
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

KernelPair AddAndMatchKernel(const Operator& add) {
  if (add.rows != 1) return nullptr;
  switch (add.slot_use) {
    case SlotUse::kAddConstant:
      return AddAndMatchPair<OperandKind::kConstant, SlotUse::kAddConstantAndMatch>(add.log2);
    case SlotUse::kAddField:
      return AddAndMatchPair<OperandKind::kField, SlotUse::kAddFieldAndMatch>(add.log2);
    default:
      return nullptr;
  }
}

bool AddsFieldToFourCells(Kernel kernel) {
  return kernel == AddPlain<uint32_t, OperandKind::kField, 4, false>;
}

bool AddToSameCells(const Operator& first, const Operator& second) {
  const auto adds = [](const Operator& op) {
    return (op.slot_use == SlotUse::kAddConstant || op.slot_use == SlotUse::kAddField) &&
           op.rows == 1;
  };
  return adds(first) && adds(second) && first.slot == second.slot &&
         first.region == second.region && first.log2 == second.log2;
}

BurstKernel AddTwoKernel(const Operator& first, const SlotPlan* hashed) {
  if (hashed == nullptr) return ByCell<AddTwoToAll, StoredSlots>(first.log2);
  if (hashed->form != SlotForm::kMap) return nullptr;
  return hashed->number != 0 ? ByCell<AddTwoToAll, MapSlots<true>>(first.log2)
                             : ByCell<AddTwoToAll, MapSlots<false>>(first.log2);
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

KernelPair BitmapKernel(uint8_t log2, bool is_logged) {
  if (is_logged) return Bitmap<true>;
  return {Bitmap<false>, ByCell<BitmapOfAll, StoredSlots>(log2), SlotUse::kBitmap};
}

KernelPair RegisterKernel(uint8_t log2, bool is_logged) {
  if (is_logged) return Register<true>;
  return {Register<false>, ByCell<RegisterOfAll, StoredSlots>(log2), SlotUse::kRegister};
}

BurstKernel HashedKernelOf(const Operator& op, const SlotPlan& plan) {
  return plan.number != 0 ? HashedKernel<true>(op, plan) : HashedKernel<false>(op, plan);
}

}  // namespace trumpet
