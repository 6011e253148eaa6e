// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// SetChoice: which cells a set of triggers has, where they lie in its banks, and which of the
// triggers are counted at all.
//
// Triggers that ask for the same share one cell (paper, section 5: statistics are shared among
// triggers).  All cells of a program are numbered when it is learned, so that a set is made without
// looking anything up: in a time that grows with the cells of its triggers, and no more.
//
// A set takes its triggers in their order, each one if its cells still fit: into kMaxSetWords, and
// into what the cells that are not plain may take of a packet's time.  That is estimated from what
// is to be done, not measured, so that a set is the same everywhere.
//
// Threads: one.  Allocates in Learn() only.

#ifndef TRUMPET_LIB_TPM_SET_CHOICE_H
#define TRUMPET_LIB_TPM_SET_CHOICE_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/base/units.h"
#include "lib/tpm/trigger_program.h"

namespace trumpet {

// What a packet does to a cell that is not plain.
struct StatStep {
  uint16_t operand;  // index into TriggerProgram::operands()
  uint16_t offset;   // of the cell, in words within a bank
  CellKind kind;
};

constexpr uint32_t kMaxPlainCells = 7;
constexpr uint32_t kMaxSetWords = 1u << 14;  // of one bank
constexpr uint16_t kPlainPlace = 1u << 15;   // flag of a place: the cell is a plain one

// What a packet takes in cells of this operand and kind, in nanoseconds by experience.
Nanos PacketWorkOf(const StatOperand& operand, CellKind kind);
// The same of an event alone.
Nanos PacketWorkOf(const TriggerPlan& plan);

class SetChoice {
 public:
  void LimitPacketWork(Nanos limit) { limit_ = limit; }
  void Learn(const TriggerProgram& program);
  void Clear();
  // What Choose() reads.
  void AddMemory(CacheWarmer* warmer) const;

  // Chooses among `matches`, which must stay until CopyTo().
  void Choose(const uint32_t* matches, uint32_t count);

  // Of the last choice.  `whole`: triggers without granularity; `plain_values` as in SetProgram.
  uint32_t trigger_count() const { return trigger_count_; }
  uint32_t whole_count() const { return whole_count_; }
  uint32_t plain_values() const { return plain_values_; }
  uint32_t plain_count() const { return plain_count_; }
  uint32_t step_count() const { return cell_count_ - plain_count_; }
  uint32_t word_count() const { return word_count_; }
  size_t place_count() const { return place_count_; }

  // Of the program, besides its cells.
  static constexpr size_t BytesPerTrigger() { return sizeof(Trigger) + sizeof(uint32_t); }

  // Writes the triggers, the places of their cells one after the other, and the steps by operand.
  void CopyTo(uint32_t* triggers, uint16_t* places, StatStep* steps) const;

 private:
  struct Trigger {
    uint32_t first_cell;   // in cell_ids_
    uint16_t cell_count;   // of cells
    uint8_t plain_values;  // bit per plain value; or kHasOthers
    bool is_whole;         // the trigger has no granularity
  };
  static constexpr uint8_t kHasOthers = 0x80;

  // A cell of all triggers that ask for the same.
  struct SharedCell {
    StatStep step;
    Nanos work;
    uint16_t words;
    bool is_chosen;
    uint16_t place;  // if it is
  };

  void NumberCells(const TriggerProgram& program, const std::vector<StatStep>& others);
  void ChoosePlain(uint32_t values, const uint32_t* matches, uint32_t count);
  void ChooseFitting(const uint32_t* matches, uint32_t count);
  bool TakeIn(const Trigger& trigger);
  void PlaceCells();

  Nanos limit_ = INT64_MAX;
  std::vector<Trigger> triggers_;
  std::vector<uint32_t> cell_ids_;  // of all triggers: index into cells_
  std::vector<SharedCell> cells_;   // the plain values' first, then by operand

  std::vector<uint32_t> fitting_;       // room for the triggers that fit
  std::vector<uint32_t> chosen_cells_;  // and for their cells
  const uint32_t* chosen_ = nullptr;    // the triggers
  uint32_t trigger_count_ = 0;
  uint32_t whole_count_ = 0;
  uint32_t cell_count_ = 0;
  uint32_t plain_count_ = 0;
  uint32_t plain_values_ = 0;
  uint32_t word_count_ = 0;
  size_t place_count_ = 0;
  Nanos work_ = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_SET_CHOICE_H
