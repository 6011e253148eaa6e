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

bool IsInEveryPacket(Variable variable) {
  switch (variable) {
    case Variable::kPackets:
    case Variable::kBytes:
    case Variable::kVolume:
    case Variable::kEcn:
    case Variable::kIsBurst:
    case Variable::kIsLost:
    case Variable::kLostInBurst:
      return true;
    default:
      return false;
  }
}

bool IsDirect(const TriggerProgram& program, const StatStep& step) {
  const StatOperand& operand = program.operands()[step.operand];
  return operand.is_bare() && IsInEveryPacket(operand.expr().variable) &&
         (step.kind == CellKind::kCount || step.kind == CellKind::kSum ||
          step.kind == CellKind::kSumSquares);
}

// The order of a set's steps: the direct ones first, then by operand.
struct StepOrder {
  const TriggerProgram& program;

  bool operator()(const StatStep& a, const StatStep& b) const {
    const bool a_is_direct = IsDirect(program, a);
    if (a_is_direct != IsDirect(program, b)) return a_is_direct;
    return a.operand != b.operand ? a.operand < b.operand : a.kind < b.kind;
  }
};

// Where `cell` is kept: all counts of operands that every packet has are the count of packets.
StatStep StepOf(const TriggerProgram& program, uint32_t trigger, const CellSpec& cell) {
  StatStep step{program.OperandOf(trigger, cell.operand), 0, cell.kind};
  if (cell.kind == CellKind::kCount && IsDirect(program, step)) {
    step.operand = program.OperandOf(trigger, 0);  // `packets`
  }
  return step;
}

// ecn and the flags of PacketFacts as the contract reads them; see ValuesOfPacket().
int64_t DirectValue(Variable variable, const ParsedPacket& packet, const PacketFacts& facts) {
  switch (variable) {
    case Variable::kBytes:
      return packet.bytes;
    case Variable::kVolume:
      return packet.volume;
    case Variable::kEcn:
      return packet.innermost.ip_family != 0 && packet.innermost.ecn == 3 ? 1 : 0;
    case Variable::kIsBurst:
      return facts.is_burst ? 1 : 0;
    case Variable::kIsLost:
      return facts.is_lost ? 1 : 0;
    case Variable::kLostInBurst:
      return facts.lost_in_burst ? 1 : 0;
    default:
      return 1;
  }
}

void CountDirectly(const TriggerSet& set, const ParsedPacket& packet, const PacketFacts& facts,
                   uint64_t* bank) {
  for (uint32_t i = 0; i < set.direct_count; i++) {
    const DirectStep& step = set.direct[i];
    uint64_t* cell = bank + step.offset;
    if (step.kind == CellKind::kCount) {
      cell[0]++;
      continue;
    }
    const int64_t value = DirectValue(step.variable, packet, facts);
    if (value == 0) continue;
    AddInteger(step.kind, value, cell);
  }
}

// The steps from `step` on, operand by operand.
void RunSteps(const TriggerProgram& program, const TriggerSet& set, const StatStep* step,
              const VariableValues& values, bool is_sample, uint64_t* bank) {
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
      return IsTooWide(set) ? kNoSet : slots_[at] - 1;
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
  return IsTooWide(set) ? kNoSet : count_ - 1;
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
  const size_t arena_after_copy = arena_used_;
  auto* offsets = TakeArray<uint16_t>(cell_count);
  auto* steps = TakeArray<StatStep>(cell_count);
  const size_t arena_before_direct = arena_used_;
  auto* direct = TakeArray<DirectStep>(cell_count);
  if (copy == nullptr || offsets == nullptr || steps == nullptr || direct == nullptr) return false;
  std::copy(triggers, triggers + count, copy);
  set->trigger_count = count;
  set->triggers = copy;

  StatStep* end = steps;
  for (uint32_t i = 0; i < count; i++) {
    for (const CellSpec& cell : program.plans()[triggers[i]]->cells) {
      *end++ = StepOf(program, triggers[i], cell);
    }
  }
  const StepOrder is_before{program};
  std::sort(steps, end, is_before);
  end = std::unique(steps, end, [](const StatStep& a, const StatStep& b) {
    return a.operand == b.operand && a.kind == b.kind;
  });

  set->direct_count = 0;
  set->word_count = 0;
  for (StatStep* step = steps; step != end && !IsTooWide(*set); step++) {
    step->offset = static_cast<uint16_t>(set->word_count);
    set->word_count += static_cast<uint32_t>(CellWords(step->kind));
    if (!IsDirect(program, *step)) continue;
    const Variable variable = program.operands()[step->operand].expr().variable;
    direct[set->direct_count++] = {variable, step->kind, step->offset};
  }
  if (IsTooWide(*set)) {
    arena_used_ = arena_after_copy;
    return true;
  }
  arena_used_ = arena_before_direct;
  TakeArray<DirectStep>(set->direct_count);  // gives the rest back
  uint16_t* offset = offsets;
  for (uint32_t i = 0; i < count; i++) {
    for (const CellSpec& cell : program.plans()[triggers[i]]->cells) {
      const StatStep wanted = StepOf(program, triggers[i], cell);
      *offset++ = std::lower_bound(steps, end, wanted, is_before)->offset;
    }
  }
  set->step_count = static_cast<uint32_t>(end - steps);
  set->steps = steps;
  set->direct = direct;
  set->offsets = offsets;
  return true;
}

void CountPacketInCells(const TriggerProgram& program, const TriggerSet& set,
                        const ParsedPacket& packet, const PacketFacts& facts, uint64_t* bank) {
  CountDirectly(set, packet, facts, bank);
  if (set.direct_count == set.step_count) return;
  RunSteps(program, set, set.steps + set.direct_count, ValuesOfPacket(packet, facts), false, bank);
}

void CountSampleInCells(const TriggerProgram& program, const TriggerSet& set,
                        const RttSample& sample, uint64_t* bank) {
  RunSteps(program, set, set.steps + set.direct_count, ValuesOfSample(sample), true, bank);
}

void ResetBank(const TriggerSet& set, uint64_t* bank) {
  for (uint32_t i = 0; i < set.step_count; i++) {
    ResetCell(set.steps[i].kind, bank + set.steps[i].offset);
  }
}

}  // namespace trumpet
