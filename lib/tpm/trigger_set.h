// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// TriggerSetTable: the distinct sets of triggers that flows match, each with the cells it needs.
//
// Most flows match one of few sets, so an entry stores a set number.  A set keeps the cells of all
// its triggers without repeats (paper, section 5: statistics are shared among triggers), the steps
// that update them, and for each trigger where its cells lie.
//
// A bank starts with the plain cells: the count of packets and sums of variables that every packet
// has, one word each.  Such a variable is below 2^32, so a word holds the sum of 2^32 packets, more
// than a thread sees in an epoch.  Plain cells are empty as zeroes and merge by addition.  Then
// come the other cells, in the form of trigger_plan.h.
//
// Threads: one packet thread; made for one program.  Memory is taken by Init(), elsewhere.

#ifndef TRUMPET_LIB_TPM_TRIGGER_SET_H
#define TRUMPET_LIB_TPM_TRIGGER_SET_H

#include <cstdint>
#include <vector>

#include "lib/base/page_buffer.h"
#include "lib/packet/plain_frame.h"
#include "lib/tpm/stat_operand.h"
#include "lib/tpm/trigger_program.h"

namespace trumpet {

struct StatStep {
  uint16_t operand;  // index into TriggerProgram::operands()
  uint16_t offset;   // of the cell, in words within a bank
  CellKind kind;
};

// What the packet path needs of a set, small enough that hundreds of sets stay in the first cache
// level: most sets have plain cells only.
struct SetProgram {
  uint32_t plain_values;  // four bits per plain cell, the first one lowest: index into PlainValues
  uint16_t word_count;    // of one bank; 0: no triggers
  uint16_t bank_words;    // from the first bank to the second
  uint8_t plain_count;    // of plain cells
  uint8_t has_other_cells;
  uint8_t direct_cells;  // not 0: CountInDirectCells() counts packets without PacketFacts
};
static_assert(sizeof(SetProgram) == 12);

// Bits of SetProgram::direct_cells.  The two banks of direct cells begin kDirectBankWords apart, at
// the beginning of the flow's block.
constexpr uint8_t kDirect = 0x80;
constexpr uint8_t kDirectPackets = 1;  // always, unless there are no triggers
constexpr uint8_t kDirectBytes = 2;
constexpr uint8_t kDirectVolume = 4;
constexpr uint8_t kDirectEcn = 8;
constexpr uint32_t kDirectBankWords = 4;

// What one packet adds to the plain cells: ecn and the flags of PacketFacts as the contract reads
// them, see ValuesOfPacket().
struct PlainValues {
  PlainValues(const ParsedPacket& packet, const PacketFacts& facts)
      : words{1,
              packet.bytes,
              packet.volume,
              packet.innermost.ip_family != 0 && packet.innermost.ecn == 3,
              facts.is_burst,
              facts.is_lost,
              facts.lost_in_burst,
              0} {}
  uint64_t words[8];
};

struct TriggerSet {
  uint64_t hash;
  uint32_t trigger_count;
  uint32_t whole_count;  // triggers without granularity
  uint32_t
      word_count;  // of one bank; above kMaxSetWords: too wide, and only its triggers are there
  uint32_t plain_count;
  uint32_t step_count;       // of the cells that are not plain
  const uint32_t* triggers;  // rising
  const StatStep* steps;     // by operand
  const uint16_t* places;    // per trigger, per cell of its plan: see CopyCell()
};

// The sum of the banks of all flows of a set, over the epoch being swept.
struct SetSums {
  uint64_t* words;
  uint32_t swept_epoch;   // the sum is of this epoch
  uint32_t next_touched;  // the set whose sum was begun before this one's, or kNoSet
  bool is_unscaled;
};

constexpr uint32_t kMaxSetWords = 1u << 14;
constexpr uint16_t kPlainPlace = 1u << 15;  // flag of a place: the cell is a plain one
constexpr uint32_t kNoSet = UINT32_MAX;

class TriggerSetTable {
 public:
  // False when there is no memory.
  [[nodiscard]] bool Init(uint32_t max_sets, size_t arena_bytes, PageSource* source = nullptr);
  // Shares `bytes` between sets of the usual size and their arena; whatever it holds, it stays
  // within `bytes`.
  [[nodiscard]] bool InitWithin(size_t bytes, PageSource* source);
  // Forgets all sets, to serve another program.
  void Clear();
  // Gathers what sets of plain cells need of each trigger in one place: it makes new ones cheap.
  // May allocate.
  void Learn(const TriggerProgram& program);

  // The number of the set of these triggers, made if new; kNoSet when there is no room or the set
  // is too wide, which is remembered: every packet of such a flow asks again.
  uint32_t Intern(const TriggerProgram& program, const uint32_t* triggers, uint32_t count);

  const TriggerSet& At(uint32_t set) const { return sets_[set]; }
  const SetProgram& ProgramAt(uint32_t set) const { return programs_[set]; }
  SetSums& SumsAt(uint32_t set) { return sums_[set]; }
  void PrefetchSums(uint32_t set) const {
    if (set == kNoSet) return;
    __builtin_prefetch(&sets_[set]);
    __builtin_prefetch(sums_[set].words);
  }
  uint32_t count() const { return count_; }
  uint32_t max_count() const { return static_cast<uint32_t>(sets_.count()); }
  size_t arena_used_bytes() const { return arena_used_ * sizeof(uint64_t); }
  size_t arena_bytes() const { return arena_.size_bytes(); }

  // Besides its lists, which lie in the arena.
  static constexpr size_t kBytesPerSet =
      sizeof(TriggerSet) + sizeof(SetProgram) + sizeof(SetSums) + 4 * sizeof(uint32_t);

 private:
  static bool IsTooWide(const TriggerSet& set) { return set.word_count > kMaxSetWords; }

  template <typename T>
  T* TakeArray(size_t count);
  void GiveBackArray(const void* end);  // of the array taken last, from `end` on
  bool Build(const TriggerProgram& program, const uint32_t* triggers, uint32_t count,
             uint32_t number);
  bool BuildPlain(const TriggerProgram& program, const uint32_t* triggers, uint32_t count,
                  uint32_t number);
  bool HasOnlyPlainCells(const uint32_t* triggers, uint32_t count) const;

  // Which cells a trigger has.
  struct CellSummary {
    uint32_t first;        // of its cells in plain_indexes_
    uint16_t count;        // of cells
    uint8_t plain_values;  // bit per plain value; or kHasOthers
    bool is_whole;         // the trigger has no granularity
  };
  static constexpr uint8_t kHasOthers = 0x80;

  PageBuffer<TriggerSet> sets_;
  PageBuffer<SetProgram> programs_;
  PageBuffer<SetSums> sums_;
  PageBuffer<uint32_t> slots_;  // open addressing: set number plus 1
  PageBuffer<uint64_t> arena_;
  size_t arena_used_ = 0;  // in words
  uint32_t count_ = 0;
  std::vector<CellSummary> summaries_;  // per trigger; empty if nothing was learned
  std::vector<uint8_t> plain_indexes_;  // per cell: the plain value that it adds up
};

// Updates the plain cells of a bank with one packet.
inline void CountInPlainCells(const SetProgram& program, const PlainValues& values,
                              uint64_t* bank) {
  uint32_t plain_values = program.plain_values;
  for (uint32_t i = 0; i < program.plain_count; i++, plain_values >>= 4) {
    bank[i] += values.words[plain_values & 7];
  }
}

// The same when the cells are direct ones, for a packet without PacketFacts: it adds 0 to all plain
// cells after that of ecn.  Without triggers `bank` is scratch.
[[gnu::always_inline]] inline void CountInDirectCells(uint8_t cells, const Frame& frame,
                                                      uint64_t volume_and_ecn, uint64_t* bank) {
  *bank += cells & kDirectPackets;
  if ((cells & kDirectBytes) != 0) *++bank += frame.wire_length;
  if ((cells & kDirectVolume) != 0) *++bank += PlainFrame::Volume(volume_and_ecn);
  if ((cells & kDirectEcn) != 0) *++bank += PlainFrame::Ecn(volume_and_ecn) == 3;
}

// Updates the other cells of a bank with one packet.
void CountInOtherCells(const TriggerProgram& program, const TriggerSet& set,
                       const ParsedPacket& packet, const PacketFacts& facts, uint64_t* bank);

// Updates a bank with one RTT sample, which only operands that mention rtt see.
void CountSampleInCells(const TriggerProgram& program, const TriggerSet& set,
                        const RttSample& sample, uint64_t* bank);

// Makes a bank hold nothing.
void ResetBank(const TriggerSet& set, uint64_t* bank);

// Copies the cell at `place` of a bank, in the form of trigger_plan.h.
void CopyCell(CellKind kind, const uint64_t* bank, uint16_t place, uint64_t* words);

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_TRIGGER_SET_H
