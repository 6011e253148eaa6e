// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// TriggerSetTable: the distinct sets of triggers that flows match, each with the cells it needs.
//
// Most flows match one of few sets, so an entry stores a set number.  A set keeps the cells of all
// its triggers without repeats (paper, section 5: statistics are shared among triggers), the steps
// that update them, and for each trigger where its cells lie.
//
// Threads: one packet thread; made for one program.  Memory is taken by Init(), elsewhere.

#ifndef TRUMPET_LIB_TPM_TRIGGER_SET_H
#define TRUMPET_LIB_TPM_TRIGGER_SET_H

#include <cstdint>

#include "lib/base/page_buffer.h"
#include "lib/tpm/stat_operand.h"
#include "lib/tpm/trigger_program.h"

namespace trumpet {

struct StatStep {
  uint16_t operand;  // index into TriggerProgram::operands()
  uint16_t offset;   // of the cell, in words within a bank
  CellKind kind;
};

// A step whose operand is a bare variable that every packet has: no operand to evaluate, nothing
// undefined.
struct DirectStep {
  Variable variable;
  CellKind kind;  // kCount, kSum or kSumSquares
  uint16_t offset;
};

struct TriggerSet {
  uint64_t hash;
  const uint32_t* triggers;  // rising
  uint32_t trigger_count;
  uint32_t word_count;  // of one bank; above kMaxSetWords: too wide, and nothing below is there
  uint32_t step_count;
  uint32_t direct_count;
  const StatStep* steps;     // all cells, by operand; the direct ones come first
  const DirectStep* direct;  // the same as steps[0 ... direct_count)
  const uint16_t* offsets;   // per trigger, per cell of its plan: word in the bank
};

constexpr uint32_t kMaxSetWords = 1u << 14;  // of one bank
constexpr uint32_t kNoSet = UINT32_MAX;

class TriggerSetTable {
 public:
  // False when there is no memory.
  [[nodiscard]] bool Init(uint32_t max_sets, size_t arena_bytes);

  // The number of the set of these triggers, made if new; kNoSet when there is no room or the set
  // is too wide.  A set too wide is remembered: its packets ask again and again.
  uint32_t Intern(const TriggerProgram& program, const uint32_t* triggers, uint32_t count);

  const TriggerSet& At(uint32_t set) const { return sets_[set]; }
  uint32_t count() const { return count_; }

 private:
  static bool IsTooWide(const TriggerSet& set) { return set.word_count > kMaxSetWords; }
  template <typename T>
  T* TakeArray(size_t count);
  bool Build(const TriggerProgram& program, const uint32_t* triggers, uint32_t count,
             TriggerSet* set);

  PageBuffer<TriggerSet> sets_;
  PageBuffer<uint32_t> slots_;  // open addressing: set number plus 1
  PageBuffer<uint64_t> arena_;
  size_t arena_used_ = 0;  // in words
  uint32_t count_ = 0;
};

// Updates a bank of the set's cells with one packet.
void CountPacketInCells(const TriggerProgram& program, const TriggerSet& set,
                        const ParsedPacket& packet, const PacketFacts& facts, uint64_t* bank);

// The same with one RTT sample, which only operands that mention rtt see.
void CountSampleInCells(const TriggerProgram& program, const TriggerSet& set,
                        const RttSample& sample, uint64_t* bank);

// Makes a bank hold nothing.
void ResetBank(const TriggerSet& set, uint64_t* bank);

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_TRIGGER_SET_H
