// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/trigger_set.h"

#include <algorithm>
#include <cstring>

#include "lib/tpm/cell_update.h"

namespace trumpet {
namespace {

constexpr size_t kPageBytes = 4096;
constexpr size_t kUsualSetBytes = 384;  // a set of eight triggers, of which a third is in the arena

size_t SlotCountFor(uint32_t max_sets) {
  size_t count = 16;
  while (count < 2 * static_cast<size_t>(max_sets)) count *= 2;
  return count;
}

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

constexpr int kNotPlain = -1;
constexpr uint32_t kPlainValueCount = 7;
static_assert(kPlainValueCount == kMaxPlainCells);

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

// kNotPlain, or the index of the value that the cell adds up.
int PlainValueOf(const TriggerProgram& program, const StatStep& step) {
  const StatOperand& operand = program.operands()[step.operand];
  if (!operand.is_bare()) return kNotPlain;
  const int value = PlainIndex(operand.expr().variable);
  if (value == kNotPlain || step.kind == CellKind::kSum) return value;
  return step.kind == CellKind::kCount ? 0 : kNotPlain;
}

// Where `cell` is kept: all counts of operands that every packet has are the count of packets.
StatStep StepOf(const TriggerProgram& program, uint32_t trigger, const CellSpec& cell) {
  StatStep step{program.OperandOf(trigger, cell.operand), 0, cell.kind};
  if (cell.kind == CellKind::kCount && PlainValueOf(program, step) != kNotPlain) {
    step.operand = program.OperandOf(trigger, 0);  // `packets`
  }
  return step;
}

// Operand by operand.
void RunSteps(const TriggerProgram& program, const InternedSet& set, const VariableValues& values,
              bool is_sample, uint64_t* bank) {
  const StatStep* step = set.steps;
  const StatStep* const end = set.steps + set.step_count;
  while (step != end) {
    const uint16_t operand_id = step->operand;
    const StatOperand& operand = program.operands()[operand_id];
    if (operand.is_real()) {
      const Number value =
          is_sample && !operand.mentions_rtt() ? Number() : operand.EvaluateReal(values);
      for (; step != end && step->operand == operand_id; step++) {
        if (value.is_defined()) AddReal(step->kind, value, bank + step->offset);
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

// Who counts for the flows of the set, and what a packet without facts adds to, if one byte can say
// that.
uint8_t DirectCells(const SetProgram& set_program, bool is_whole, size_t extension_bytes) {
  if (set_program.has_other_cells) return 0;
  uint8_t cells = is_whole ? kCountsInSet : 0;
  if (extension_bytes != 0 || (!is_whole && set_program.word_count > kDirectBankWords)) {
    return cells;
  }
  cells |= kDirect;
  for (int i = 0; i < set_program.plain_count; i++) {
    const uint32_t value = set_program.plain_values >> (4 * i) & 7;
    if (value < 4) cells |= static_cast<uint8_t>(1u << value);
  }
  return cells;
}

// `is_whole`: no trigger of the set has a granularity.
void FinishProgram(const TriggerProgram& program, bool is_whole, SetProgram* set_program) {
  const uint8_t cells = DirectCells(*set_program, is_whole, program.layout().extension_bytes());
  set_program->direct_cells = cells;
  if ((cells & kCountsInSet) != 0) {
    set_program->bank_words = 0;
  } else {
    set_program->bank_words = cells != 0 ? kDirectBankWords : set_program->word_count;
  }
}

// Gives every cell its place in the bank: the plain ones first, in the order of PlainValues;
// returns the words of a bank.
uint32_t PlaceCells(const TriggerProgram& program, StatStep* steps, StatStep* end,
                    SetProgram* set_program) {
  uint32_t words = 0;
  for (int value = 0; value < int{kPlainValueCount}; value++) {
    for (StatStep* step = steps; step != end; step++) {
      if (PlainValueOf(program, *step) != value) continue;
      set_program->plain_values |= static_cast<uint32_t>(value) << (4 * words);
      step->offset = static_cast<uint16_t>(words++ | kPlainPlace);
    }
  }
  set_program->plain_count = static_cast<uint8_t>(words);
  for (StatStep* step = steps; step != end && words <= kMaxSetWords; step++) {
    if (PlainValueOf(program, *step) != kNotPlain) continue;
    step->offset = static_cast<uint16_t>(words);
    words += static_cast<uint32_t>(CellWords(step->kind));
  }
  set_program->has_other_cells = words != set_program->plain_count;
  return words;
}

}  // namespace

bool TriggerSetTable::Init(uint32_t max_sets, size_t arena_bytes, PageSource* source) {
  return sets_.Allocate(max_sets, source) && programs_.Allocate(max_sets, source) &&
         banks_.Allocate(2 * size_t{max_sets}, source) && sums_.Allocate(max_sets, source) &&
         slots_.Allocate(SlotCountFor(max_sets), source) &&
         arena_.Allocate(arena_bytes / sizeof(uint64_t), source);
}

bool TriggerSetTable::InitWithin(size_t bytes, PageSource* source) {
  const auto max_sets = static_cast<uint32_t>(std::max<size_t>(16, bytes / kUsualSetBytes));
  const size_t fixed = PageBuffer<InternedSet>::BytesFor(max_sets) +
                       PageBuffer<SetProgram>::BytesFor(max_sets) +
                       PageBuffer<SetBank>::BytesFor(2 * size_t{max_sets}) +
                       PageBuffer<FlowSums>::BytesFor(max_sets) +
                       PageBuffer<uint32_t>::BytesFor(SlotCountFor(max_sets));
  const size_t arena_bytes =
      bytes > fixed + kPageBytes ? (bytes - fixed) / kPageBytes * kPageBytes : kPageBytes;
  return Init(max_sets, arena_bytes, source);
}

void TriggerSetTable::Clear() {
  std::fill(slots_.data(), slots_.data() + slots_.count(), 0);
  count_ = 0;
  arena_used_ = 0;
  flows_have_cells_ = false;
  touched_[0] = touched_[1] = kNoSet;
  summaries_.clear();
  plain_indexes_.clear();
}

void TriggerSetTable::Learn(const TriggerProgram& program) {
  summaries_.clear();
  plain_indexes_.clear();
  for (uint32_t trigger = 0; trigger < program.plans().size(); trigger++) {
    const TriggerPlan& plan = *program.plans()[trigger];
    CellSummary summary{static_cast<uint32_t>(plain_indexes_.size()),
                        static_cast<uint16_t>(plan.cells.size()), 0,
                        plan.spec.granularity.is_none()};
    for (const CellSpec& cell : plan.cells) {
      const int value = PlainValueOf(program, StepOf(program, trigger, cell));
      plain_indexes_.push_back(value == kNotPlain ? 0 : static_cast<uint8_t>(value));
      summary.plain_values |= value == kNotPlain ? kHasOthers : static_cast<uint8_t>(1u << value);
    }
    summaries_.push_back(summary);
  }
}

uint32_t TriggerSetTable::Intern(const TriggerProgram& program, const uint32_t* triggers,
                                 uint32_t count) {
  const uint64_t hash = HashOfTriggers(triggers, count);
  size_t at = hash & (slots_.count() - 1);
  for (; slots_[at] != 0; at = (at + 1) & (slots_.count() - 1)) {
    const InternedSet& set = sets_[slots_[at] - 1];
    if (set.hash == hash && set.trigger_count == count &&
        std::equal(triggers, triggers + count, set.triggers)) {
      return IsTooWide(set) ? kNoSet : slots_[at] - 1;
    }
  }
  if (count_ == sets_.count()) return kNoSet;
  sets_[count_].hash = hash;
  const size_t arena_before = arena_used_;
  const bool is_built = HasOnlyPlainCells(triggers, count)
                            ? BuildPlain(program, triggers, count, count_)
                            : Build(program, triggers, count, count_);
  if (!is_built) {
    arena_used_ = arena_before;
    return kNoSet;
  }
  slots_[at] = ++count_;
  return IsTooWide(sets_[count_ - 1]) ? kNoSet : count_ - 1;
}

template <typename T>
T* TriggerSetTable::TakeArray(size_t count) {
  const size_t words = (count * sizeof(T) + 7) / 8;
  if (arena_.count() - arena_used_ < words) return nullptr;
  T* array = reinterpret_cast<T*>(arena_.data() + arena_used_);
  arena_used_ += words;
  return array;
}

void TriggerSetTable::GiveBackArray(const void* end) {
  const auto used = static_cast<const uint8_t*>(end) - reinterpret_cast<uint8_t*>(arena_.data());
  arena_used_ = (static_cast<size_t>(used) + 7) / 8;
}

bool TriggerSetTable::Build(const TriggerProgram& program, const uint32_t* triggers, uint32_t count,
                            uint32_t number) {
  size_t cell_count = 0;
  for (uint32_t i = 0; i < count; i++) cell_count += program.plans()[triggers[i]]->cells.size();

  auto* copy = TakeArray<uint32_t>(count);
  const size_t arena_after_copy = arena_used_;
  auto* places = TakeArray<uint16_t>(cell_count);
  auto* steps = TakeArray<StatStep>(cell_count);
  if (copy == nullptr || places == nullptr || steps == nullptr) return false;
  std::copy(triggers, triggers + count, copy);

  StatStep* end = steps;
  uint32_t whole_count = 0;
  for (uint32_t i = 0; i < count; i++) {
    const TriggerPlan& plan = *program.plans()[triggers[i]];
    if (plan.spec.granularity.is_none()) whole_count++;
    for (const CellSpec& cell : plan.cells) *end++ = StepOf(program, triggers[i], cell);
  }
  std::sort(steps, end, IsBefore);
  end = std::unique(steps, end, [](const StatStep& a, const StatStep& b) {
    return a.operand == b.operand && a.kind == b.kind;
  });

  SetProgram set_program{};
  const uint32_t words = PlaceCells(program, steps, end, &set_program);
  InternedSet& set = sets_[number];
  set.trigger_count = count;
  set.word_count = words;
  set.triggers = copy;
  if (IsTooWide(set)) {
    arena_used_ = arena_after_copy;
    return true;
  }
  set_program.word_count = static_cast<uint16_t>(words);
  FinishProgram(program, whole_count == count, &set_program);
  uint16_t* place = places;
  for (uint32_t i = 0; i < count; i++) {
    for (const CellSpec& cell : program.plans()[triggers[i]]->cells) {
      const StatStep wanted = StepOf(program, triggers[i], cell);
      *place++ = std::lower_bound(steps, end, wanted, IsBefore)->offset;
    }
  }
  end = std::remove_if(steps, end,
                       [](const StatStep& step) { return (step.offset & kPlainPlace) != 0; });
  GiveBackArray(end);  // the steps of plain cells, and repeated ones
  const bool counts_in_set = (set_program.direct_cells & kCountsInSet) != 0;
  auto* sum_words = TakeArray<uint64_t>(counts_in_set ? 0 : words);
  if (sum_words == nullptr) return false;

  set.whole_count = whole_count;
  set.plain_count = set_program.plain_count;
  set.step_count = static_cast<uint32_t>(end - steps);
  set.steps = steps;
  set.places = places;
  Add(number, set_program, sum_words, program.layout().extension_bytes());
  return true;
}

void TriggerSetTable::Add(uint32_t set, const SetProgram& set_program, uint64_t* sum_words,
                          size_t extension_bytes) {
  programs_[set] = set_program;
  sums_[set] = {sum_words, false};
  for (uint32_t parity = 0; parity < 2; parity++) BankOf(set, parity).epoch = 0;
  flows_have_cells_ |= set_program.bank_words != 0 || extension_bytes != 0;
}

bool TriggerSetTable::HasOnlyPlainCells(const uint32_t* triggers, uint32_t count) const {
  if (summaries_.empty()) return false;
  uint8_t values = 0;
  for (uint32_t i = 0; i < count; i++) values |= summaries_[triggers[i]].plain_values;
  return (values & kHasOthers) == 0;
}

// As Build() does, but nothing has to be sorted: the places follow from which values there are.
bool TriggerSetTable::BuildPlain(const TriggerProgram& program, const uint32_t* triggers,
                                 uint32_t count, uint32_t number) {
  size_t cell_count = 0;
  uint32_t values = 0;
  uint32_t whole_count = 0;
  for (uint32_t i = 0; i < count; i++) {
    const CellSummary& summary = summaries_[triggers[i]];
    cell_count += summary.count;
    values |= summary.plain_values;
    whole_count += summary.is_whole;
  }
  SetProgram set_program{};
  uint16_t place_of[kPlainValueCount] = {};
  for (uint32_t value = 0; value < kPlainValueCount; value++) {
    if ((values >> value & 1) == 0) continue;
    set_program.plain_values |= value << (4 * set_program.plain_count);
    place_of[value] = static_cast<uint16_t>(set_program.plain_count++ | kPlainPlace);
  }
  set_program.word_count = set_program.plain_count;
  FinishProgram(program, whole_count == count, &set_program);
  const bool counts_in_set = (set_program.direct_cells & kCountsInSet) != 0;

  auto* copy = TakeArray<uint32_t>(count);
  auto* places = TakeArray<uint16_t>(cell_count);
  auto* sum_words = TakeArray<uint64_t>(counts_in_set ? 0 : set_program.word_count);
  if (copy == nullptr || places == nullptr || sum_words == nullptr) return false;
  std::copy(triggers, triggers + count, copy);
  uint16_t* place = places;
  for (uint32_t i = 0; i < count; i++) {
    const CellSummary& summary = summaries_[triggers[i]];
    const uint8_t* value = &plain_indexes_[summary.first];
    for (uint32_t cell = 0; cell < summary.count; cell++) *place++ = place_of[value[cell]];
  }
  InternedSet& set = sets_[number];
  set.trigger_count = count;
  set.whole_count = whole_count;
  set.word_count = set_program.word_count;
  set.plain_count = set_program.plain_count;
  set.step_count = 0;
  set.triggers = copy;
  set.steps = nullptr;
  set.places = places;
  Add(number, set_program, sum_words, program.layout().extension_bytes());
  return true;
}

void CountInOtherCells(const TriggerProgram& program, const InternedSet& set,
                       const ParsedPacket& packet, const PacketFacts& facts, uint64_t* bank) {
  RunSteps(program, set, ValuesOfPacket(packet, facts), false, bank);
}

void CountSampleInCells(const TriggerProgram& program, const InternedSet& set,
                        const RttSample& sample, uint64_t* bank) {
  RunSteps(program, set, ValuesOfSample(sample), true, bank);
}

void ResetBank(const InternedSet& set, uint64_t* bank) {
  for (uint32_t i = 0; i < set.plain_count; i++) bank[i] = 0;
  for (uint32_t i = 0; i < set.step_count; i++) {
    ResetCell(set.steps[i].kind, bank + set.steps[i].offset);
  }
}

void CopyCell(CellKind kind, const uint64_t* bank, uint16_t place, uint64_t* words) {
  if ((place & kPlainPlace) == 0) {
    std::copy(bank + place, bank + place + CellWords(kind), words);
    return;
  }
  words[0] = bank[place & ~kPlainPlace];
  if (CellWords(kind) == 2) words[1] = 0;
}

}  // namespace trumpet
