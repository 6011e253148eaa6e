// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/trigger_set.h"

#include <algorithm>
#include <cstring>

#include "lib/tpm/cell_update.h"

namespace trumpet {
namespace {

uint64_t HashOfTriggers(const uint32_t* triggers, uint32_t count) {
  uint64_t hash = count;
  for (uint32_t i = 0; i < count; i++) {
    hash = (hash ^ triggers[i]) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 29;
  }
  return hash;
}

bool IsBefore(const StatStep& a, const StatStep& b) {
  return a.operand != b.operand ? a.operand < b.operand : a.kind < b.kind;
}

}  // namespace

bool TriggerSetTable::Init(uint32_t max_sets, size_t arena_bytes) {
  size_t slot_count = 16;
  while (slot_count < 2 * static_cast<size_t>(max_sets)) slot_count *= 2;
  return sets_.Allocate(max_sets) && slots_.Allocate(slot_count) &&
         arena_.Allocate(arena_bytes / sizeof(uint64_t));
}

uint32_t TriggerSetTable::Intern(const TriggerProgram& program, const uint32_t* triggers,
                                 uint32_t count) {
  const uint64_t hash = HashOfTriggers(triggers, count);
  size_t at = hash & (slots_.count() - 1);
  for (; slots_[at] != 0; at = (at + 1) & (slots_.count() - 1)) {
    const TriggerSet& set = sets_[slots_[at] - 1];
    if (set.hash == hash && set.trigger_count == count &&
        std::equal(triggers, triggers + count, set.triggers)) {
      return slots_[at] - 1;
    }
  }
  if (count_ == sets_.count()) return kNoSet;
  TriggerSet& set = sets_[count_];
  set.hash = hash;
  const size_t arena_before = arena_used_;
  if (!Build(program, triggers, count, &set)) {
    arena_used_ = arena_before;
    return kNoSet;
  }
  slots_[at] = ++count_;
  return count_ - 1;
}

template <typename T>
T* TriggerSetTable::TakeArray(size_t count) {
  const size_t words = (count * sizeof(T) + 7) / 8;
  if (arena_.count() - arena_used_ < words) return nullptr;
  T* array = reinterpret_cast<T*>(arena_.data() + arena_used_);
  arena_used_ += words;
  return array;
}

bool TriggerSetTable::Build(const TriggerProgram& program, const uint32_t* triggers, uint32_t count,
                            TriggerSet* set) {
  size_t cell_count = 0;
  for (uint32_t i = 0; i < count; i++) cell_count += program.plans()[triggers[i]]->cells.size();

  auto* copy = TakeArray<uint32_t>(count);
  auto* offsets = TakeArray<uint16_t>(cell_count);
  auto* steps = TakeArray<StatStep>(cell_count);
  if (copy == nullptr || offsets == nullptr || steps == nullptr) return false;
  std::copy(triggers, triggers + count, copy);

  StatStep* end = steps;
  for (uint32_t i = 0; i < count; i++) {
    for (const CellSpec& cell : program.plans()[triggers[i]]->cells) {
      *end++ = {program.OperandOf(triggers[i], cell.operand), 0, cell.kind};
    }
  }
  std::sort(steps, end, IsBefore);
  end = std::unique(steps, end, [](const StatStep& a, const StatStep& b) {
    return a.operand == b.operand && a.kind == b.kind;
  });

  uint32_t words = 0;
  for (StatStep* step = steps; step != end; step++) {
    step->offset = static_cast<uint16_t>(words);
    words += static_cast<uint32_t>(CellWords(step->kind));
    if (words > kMaxSetWords) return false;
  }
  uint16_t* offset = offsets;
  for (uint32_t i = 0; i < count; i++) {
    for (const CellSpec& cell : program.plans()[triggers[i]]->cells) {
      const StatStep wanted{program.OperandOf(triggers[i], cell.operand), 0, cell.kind};
      *offset++ = std::lower_bound(steps, end, wanted, IsBefore)->offset;
    }
  }
  set->trigger_count = count;
  set->word_count = words;
  set->step_count = static_cast<uint32_t>(end - steps);
  set->triggers = copy;
  set->steps = steps;
  set->offsets = offsets;
  return true;
}

void UpdateCells(const TriggerProgram& program, const TriggerSet& set, const VariableValues& values,
                 bool is_sample, uint64_t* bank) {
  const StatStep* step = set.steps;
  const StatStep* const end = set.steps + set.step_count;
  while (step != end) {
    const uint16_t operand_id = step->operand;
    const StatOperand& operand = program.operands()[operand_id];
    if (operand.is_real()) {
      double value = 0;
      const bool counts =
          (!is_sample || operand.mentions_rtt()) && operand.EvaluateReal(values, &value);
      for (; step != end && step->operand == operand_id; step++) {
        if (counts) AddReal(step->kind, value, bank + step->offset);
      }
    } else {
      int64_t value = 0;
      const bool counts =
          (!is_sample || operand.mentions_rtt()) && operand.EvaluateInteger(values, &value);
      for (; step != end && step->operand == operand_id; step++) {
        if (counts) AddInteger(step->kind, value, bank + step->offset);
      }
    }
  }
}

void ResetBank(const TriggerSet& set, uint64_t* bank) {
  for (uint32_t i = 0; i < set.step_count; i++) {
    ResetCell(set.steps[i].kind, bank + set.steps[i].offset);
  }
}

}  // namespace trumpet
