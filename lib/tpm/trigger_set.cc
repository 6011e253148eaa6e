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
  if (set_program.is_cut) return cells;  // each packet must be told as not counted for all
  cells |= kDirect;
  for (int i = 0; i < set_program.plain_count; i++) {
    const uint32_t value = set_program.plain_values >> (4 * i) & 7;
    if (value < 4) cells |= static_cast<uint8_t>(1u << value);
  }
  return cells;
}

// `is_whole`: no trigger of the set has a granularity.
void FinishProgram(bool is_whole, size_t extension_bytes, SetProgram* set_program) {
  const uint8_t cells = DirectCells(*set_program, is_whole, extension_bytes);
  set_program->direct_cells = cells;
  if ((cells & kCountsInSet) != 0) {
    set_program->bank_words = 0;
  } else {
    set_program->bank_words = cells != 0 ? kDirectBankWords : set_program->word_count;
  }
}

}  // namespace

bool TriggerSetTable::Init(uint32_t max_sets, size_t arena_bytes, PageSource* source) {
  const uint32_t sets = max_sets + 1;
  if (!sets_.Allocate(sets, source) || !programs_.Allocate(sets, source) ||
      !banks_.Allocate(2 * size_t{sets}, source) || !sums_.Allocate(sets, source) ||
      !slots_.Allocate(SlotCountFor(max_sets), source) ||
      !arena_.Allocate(arena_bytes / sizeof(uint64_t), source)) {
    return false;
  }
  AddRefused();
  return true;
}

bool TriggerSetTable::InitWithin(size_t bytes, PageSource* source) {
  const auto max_sets = static_cast<uint32_t>(std::max<size_t>(16, bytes / kUsualSetBytes));
  const uint32_t sets = max_sets + 1;
  const size_t fixed =
      PageBuffer<InternedSet>::BytesFor(sets) + PageBuffer<SetProgram>::BytesFor(sets) +
      PageBuffer<SetBank>::BytesFor(2 * size_t{sets}) + PageBuffer<FlowSums>::BytesFor(sets) +
      PageBuffer<uint32_t>::BytesFor(SlotCountFor(max_sets));
  const size_t arena_bytes =
      bytes > fixed + kPageBytes ? (bytes - fixed) / kPageBytes * kPageBytes : kPageBytes;
  return Init(max_sets, arena_bytes, source);
}

// Its number is beyond those of all sets, and it is in no list.
void TriggerSetTable::AddRefused() {
  sets_[refused()] = InternedSet{};
  SetProgram program{};
  program.direct_cells = kCountsInSet;
  program.is_cut = 1;
  programs_[refused()] = program;
}

void TriggerSetTable::Clear() {
  std::fill(slots_.data(), slots_.data() + slots_.count(), 0);
  count_ = 0;
  arena_used_ = 0;
  flows_have_cells_ = false;
  touched_[0] = touched_[1] = kNoSet;
  choice_.Clear();
}

// All of a table takes a third of a millisecond a thread, and the instant does not wait.
void TriggerSetTable::ReadPages() const {
  constexpr size_t kReadAhead = 256 << 10;  // where sets are put in from the front
  sets_.ReadPages(0, kReadAhead);
  programs_.ReadPages(0, kReadAhead);
  for (const size_t first : {size_t{0}, sets_.count()}) banks_.ReadPages(first, kReadAhead);
  sums_.ReadPages(0, kReadAhead);
  slots_.ReadPages(0, slots_.size_bytes());
  arena_.ReadPages(0, kReadAhead);
}

void TriggerSetTable::Learn(const TriggerProgram& program) {
  extension_bytes_ = program.layout().extension_bytes();
  choice_.Learn(program);
}

uint32_t TriggerSetTable::Intern(const uint32_t* triggers, uint32_t count) {
  const uint64_t hash = HashOfTriggers(triggers, count);
  size_t at = hash & (slots_.count() - 1);
  for (; slots_[at] != 0; at = (at + 1) & (slots_.count() - 1)) {
    const InternedSet& set = sets_[slots_[at] - 1];
    if (set.hash == hash && set.match_count == count &&
        std::equal(triggers, triggers + count, set.matches)) {
      return slots_[at] - 1;
    }
  }
  if (count_ == max_count()) return refused();
  sets_[count_].hash = hash;
  const size_t arena_before = arena_used_;
  if (!Build(triggers, count, count_)) {
    arena_used_ = arena_before;
    return refused();
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

bool TriggerSetTable::Build(const uint32_t* matches, uint32_t count, uint32_t number) {
  choice_.Choose(matches, count);
  const bool is_cut = choice_.trigger_count() != count;
  SetProgram program{};
  program.plain_values = choice_.plain_values();
  program.word_count = static_cast<uint16_t>(choice_.word_count());
  program.plain_count = static_cast<uint8_t>(choice_.plain_count());
  program.has_other_cells = choice_.step_count() != 0;
  program.is_cut = is_cut;
  FinishProgram(choice_.whole_count() == choice_.trigger_count(), extension_bytes_, &program);
  const bool counts_in_set = (program.direct_cells & kCountsInSet) != 0;

  auto* match_copy = TakeArray<uint32_t>(count);
  auto* triggers = is_cut ? TakeArray<uint32_t>(choice_.trigger_count()) : match_copy;
  auto* places = TakeArray<uint16_t>(choice_.place_count());
  auto* steps = TakeArray<StatStep>(choice_.step_count());
  auto* sum_words = TakeArray<uint64_t>(counts_in_set ? 0 : choice_.word_count());
  if (match_copy == nullptr || triggers == nullptr || places == nullptr || steps == nullptr ||
      sum_words == nullptr) {
    return false;
  }
  std::copy(matches, matches + count, match_copy);
  choice_.CopyTo(triggers, places, steps);
  InternedSet& set = sets_[number];
  set.matches = match_copy;
  set.match_count = count;
  set.triggers = triggers;
  set.trigger_count = choice_.trigger_count();
  set.whole_count = choice_.whole_count();
  set.plain_count = choice_.plain_count();
  set.step_count = choice_.step_count();
  set.steps = steps;
  set.places = places;
  Add(number, program, sum_words);
  return true;
}

void TriggerSetTable::Add(uint32_t set, const SetProgram& set_program, uint64_t* sum_words) {
  programs_[set] = set_program;
  sums_[set] = {sum_words, false};
  for (uint32_t parity = 0; parity < 2; parity++) BankOf(set, parity).epoch = 0;
  flows_have_cells_ |= set_program.bank_words != 0 || extension_bytes_ != 0;
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
