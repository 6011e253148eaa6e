// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/set_choice.h"

#include <algorithm>

namespace trumpet {
namespace {

constexpr int kNotPlain = -1;

// Where PlainValues has the variable.
int PlainIndex(Variable variable) {
  switch (variable) {
    case Variable::kPackets:
      return 0;
    case Variable::kBytes:
      return 1;
    case Variable::kVolume:
      return 2;
    case Variable::kEcn:
      return 3;
    case Variable::kIsBurst:
      return 4;
    case Variable::kIsLost:
      return 5;
    case Variable::kLostInBurst:
      return 6;
    default:
      return kNotPlain;
  }
}

// kNotPlain, or the index of the value that the cell adds up: all counts of operands that every
// packet has are the count of packets.
int PlainValueOf(const StatOperand& operand, CellKind kind) {
  if (!operand.is_bare()) return kNotPlain;
  const int value = PlainIndex(operand.expr().variable);
  if (value == kNotPlain || kind == CellKind::kSum) return value;
  return kind == CellKind::kCount ? 0 : kNotPlain;
}

int PlainValueOf(const TriggerProgram& program, const StatStep& step) {
  return PlainValueOf(program.operands()[step.operand], step.kind);
}

StatStep StepOf(const TriggerProgram& program, uint32_t trigger, const CellSpec& cell) {
  return {program.OperandOf(trigger, cell.operand), 0, cell.kind};
}

bool IsBefore(const StatStep& a, const StatStep& b) {
  return a.operand != b.operand ? a.operand < b.operand : a.kind < b.kind;
}

bool IsSame(const StatStep& a, const StatStep& b) {
  return a.operand == b.operand && a.kind == b.kind;
}

// Distinct cells that are not plain, by operand.
std::vector<StatStep> OthersOf(const TriggerProgram& program) {
  std::vector<StatStep> others;
  for (uint32_t trigger = 0; trigger < program.plans().size(); trigger++) {
    for (const CellSpec& cell : program.plans()[trigger]->cells) {
      const StatStep step = StepOf(program, trigger, cell);
      if (PlainValueOf(program, step) == kNotPlain) others.push_back(step);
    }
  }
  std::sort(others.begin(), others.end(), IsBefore);
  others.erase(std::unique(others.begin(), others.end(), IsSame), others.end());
  return others;
}

}  // namespace

Nanos PacketWorkOf(const StatOperand& operand, CellKind kind) {
  constexpr Nanos kIntegerCell = 3;
  constexpr Nanos kRealCell = 30;
  const bool is_real_sum = kind == CellKind::kRealSum || kind == CellKind::kRealSumSquares;
  return operand.work() + (is_real_sum ? kRealCell : kIntegerCell);
}

Nanos PacketWorkOf(const TriggerPlan& plan) {
  Nanos work = 0;
  for (const CellSpec& cell : plan.cells) {
    const auto operand =
        StatOperand::Compile(plan.operands[cell.operand], plan.is_real[cell.operand]);
    if (PlainValueOf(operand, cell.kind) == kNotPlain) work += PacketWorkOf(operand, cell.kind);
  }
  return work;
}

void SetChoice::Clear() {
  triggers_.clear();
  cell_ids_.clear();
  cells_.clear();
}

void SetChoice::AddMemory(CacheWarmer* warmer) const {
  warmer->Add(triggers_);
  warmer->Add(cell_ids_);
  warmer->Add(cells_);
}

void SetChoice::Learn(const TriggerProgram& program) {
  Clear();
  const std::vector<StatStep> others = OthersOf(program);
  cells_.assign(kMaxPlainCells, SharedCell{{}, 0, 1, false, 0});
  for (const StatStep& step : others) {
    cells_.push_back({step, PacketWorkOf(program.operands()[step.operand], step.kind),
                      static_cast<uint16_t>(CellWords(step.kind)), false, 0});
  }
  NumberCells(program, others);
  // Written, so that the packet thread meets no page fault in them.
  fitting_.assign(triggers_.size(), 0);
  chosen_cells_.assign(cells_.size(), 0);
}

void SetChoice::NumberCells(const TriggerProgram& program, const std::vector<StatStep>& others) {
  for (uint32_t number = 0; number < program.plans().size(); number++) {
    const TriggerPlan& plan = *program.plans()[number];
    Trigger trigger{static_cast<uint32_t>(cell_ids_.size()),
                    static_cast<uint16_t>(plan.cells.size()), 0, plan.spec.granularity.is_none()};
    for (const CellSpec& cell : plan.cells) {
      const StatStep step = StepOf(program, number, cell);
      const int value = PlainValueOf(program, step);
      if (value != kNotPlain) {
        cell_ids_.push_back(static_cast<uint32_t>(value));
        trigger.plain_values |= static_cast<uint8_t>(1u << value);
      } else {
        const auto other = std::lower_bound(others.begin(), others.end(), step, IsBefore);
        cell_ids_.push_back(kMaxPlainCells + static_cast<uint32_t>(other - others.begin()));
        trigger.plain_values |= kHasOthers;
      }
    }
    triggers_.push_back(trigger);
  }
}

void SetChoice::Choose(const uint32_t* matches, uint32_t count) {
  trigger_count_ = whole_count_ = cell_count_ = plain_count_ = plain_values_ = word_count_ = 0;
  place_count_ = 0;
  work_ = 0;
  uint8_t values = 0;
  for (uint32_t i = 0; i < count; i++) values |= triggers_[matches[i]].plain_values;
  if ((values & kHasOthers) == 0) {
    ChoosePlain(values, matches, count);
  } else {
    ChooseFitting(matches, count);
  }
  for (uint32_t i = 0; i < trigger_count_; i++) {
    whole_count_ += triggers_[chosen_[i]].is_whole;
    place_count_ += triggers_[chosen_[i]].cell_count;
  }
  PlaceCells();
}

// All fit, and nothing has to be sorted: most sets are of this kind, and new ones are to be cheap.
void SetChoice::ChoosePlain(uint32_t values, const uint32_t* matches, uint32_t count) {
  for (; values != 0; values &= values - 1) {
    chosen_cells_[cell_count_++] = static_cast<uint32_t>(__builtin_ctz(values));
  }
  chosen_ = matches;
  trigger_count_ = count;
}

void SetChoice::ChooseFitting(const uint32_t* matches, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (TakeIn(triggers_[matches[i]])) fitting_[trigger_count_++] = matches[i];
  }
  chosen_ = fitting_.data();
  std::sort(chosen_cells_.data(), chosen_cells_.data() + cell_count_);
}

// False: its cells do not fit.
bool SetChoice::TakeIn(const Trigger& trigger) {
  uint32_t words = word_count_;
  Nanos work = work_;
  for (uint32_t i = 0; i < trigger.cell_count; i++) {
    const SharedCell& cell = cells_[cell_ids_[trigger.first_cell + i]];
    if (cell.is_chosen) continue;
    words += cell.words;
    work += cell.work;
  }
  if (words > kMaxSetWords || work > limit_) return false;
  for (uint32_t i = 0; i < trigger.cell_count; i++) {
    const uint32_t id = cell_ids_[trigger.first_cell + i];
    if (cells_[id].is_chosen) continue;
    cells_[id].is_chosen = true;
    chosen_cells_[cell_count_++] = id;
  }
  word_count_ = words;
  work_ = work;
  return true;
}

// The plain ones first, in the order of PlainValues.
void SetChoice::PlaceCells() {
  word_count_ = 0;
  for (uint32_t i = 0; i < cell_count_; i++) {
    const uint32_t id = chosen_cells_[i];
    SharedCell& cell = cells_[id];
    cell.is_chosen = false;
    cell.place = static_cast<uint16_t>(word_count_);
    if (id < kMaxPlainCells) {
      cell.place |= kPlainPlace;
      plain_values_ |= id << (4 * plain_count_++);
    }
    word_count_ += cell.words;
  }
}

void SetChoice::CopyTo(uint32_t* triggers, uint16_t* places, StatStep* steps) const {
  std::copy(chosen_, chosen_ + trigger_count_, triggers);
  for (uint32_t i = 0; i < trigger_count_; i++) {
    const Trigger& trigger = triggers_[chosen_[i]];
    const uint32_t* const ids = &cell_ids_[trigger.first_cell];
    for (uint32_t cell = 0; cell < trigger.cell_count; cell++) *places++ = cells_[ids[cell]].place;
  }
  for (uint32_t i = plain_count_; i < cell_count_; i++) {
    const SharedCell& cell = cells_[chosen_cells_[i]];
    *steps = cell.step;
    steps++->offset = cell.place;
  }
}

}  // namespace trumpet
