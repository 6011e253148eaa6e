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
// A set whose triggers all have plain cells only and no granularity *counts for its flows*: their
// packets are added up in one bank of the set per epoch, and the flows have no cells at all
// (docs/adr/0010).  Its first packet in an epoch begins the bank and puts the set on the list of
// that epoch, which the sweep takes.  The sets of all other flows are put there by the sweep, which
// adds up the cells of their flows.
//
// What a packet of one flow may cost is limited: a set takes its triggers in their order as long as
// they fit into the words of a bank and into the work for one packet, and is *cut* if some do not.
// Where there is no room for another set either, flows have the *refused* one, which counts
// nothing. Whoever counts a packet of such flows tells that it was not counted for all triggers.
//
// Threads: one packet thread; made for one program.  Memory is taken by Init(), elsewhere.

#ifndef TRUMPET_LIB_TPM_TRIGGER_SET_H
#define TRUMPET_LIB_TPM_TRIGGER_SET_H

#include <cstdint>
#include <vector>

#include "lib/base/page_buffer.h"
#include "lib/packet/plain_frame.h"
#include "lib/tpm/set_choice.h"
#include "lib/tpm/stat_operand.h"
#include "lib/tpm/trigger_program.h"

namespace trumpet {

// What the packet path needs of a set, small enough that hundreds of sets stay in the first cache
// level: most sets have plain cells only.
struct SetProgram {
  uint32_t plain_values;  // four bits per plain cell, the first one lowest: index into PlainValues
  uint16_t word_count;    // of one bank; 0: no triggers
  uint16_t bank_words;    // from the first bank of a flow to its second; 0: it has none
  uint8_t plain_count;    // of plain cells
  uint8_t has_other_cells;
  uint8_t direct_cells;  // bits, see below
  uint8_t is_cut;        // some triggers that flows of the set match are not counted
};
static_assert(sizeof(SetProgram) == 12);

// Bits of SetProgram::direct_cells.  kDirect: CountInDirectCells() counts packets without
// PacketFacts.  The two banks of a flow's direct cells begin kDirectBankWords apart, at the
// beginning of its block.
constexpr uint8_t kDirect = 0x80;
constexpr uint8_t kCountsInSet = 0x10;  // the set counts for its flows, or has no triggers
constexpr uint8_t kDirectPackets = 1;   // always, unless there are no triggers
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

// The triggers that flows of a kind match, and what is counted for them.
struct InternedSet {
  uint64_t hash;            // of those that match
  const uint32_t* matches;  // rising
  uint32_t match_count;
  uint32_t trigger_count;  // of those that are counted: all, unless the set is cut
  uint32_t whole_count;    // of these, without granularity
  uint32_t plain_count;
  uint32_t step_count;       // of the cells that are not plain
  const uint32_t* triggers;  // those that are counted
  const StatStep* steps;     // by operand
  const uint16_t* places;    // per trigger, per cell of its plan: see CopyCell()
};

// One of the two banks of a set: what its flows sent in an epoch.
struct alignas(64) SetBank {
  uint64_t cells[kMaxPlainCells];  // if the set counts for its flows
  uint32_t epoch;                  // what is counted or summed is of this epoch
  uint32_t next_touched;           // the set put on the epoch's list before this one, or kNoSet
};
static_assert(sizeof(SetBank) == 64);

// Of a set that does not count for its flows: the sum of their banks, over the epoch being swept.
struct FlowSums {
  uint64_t* words;
  bool is_unscaled;
};

constexpr uint32_t kNoSet = UINT32_MAX;

class TriggerSetTable {
 public:
  // False when there is no memory.
  [[nodiscard]] bool Init(uint32_t max_sets, size_t arena_bytes, PageSource* source = nullptr);
  // Shares `bytes` between sets of the usual size and their arena; whatever it holds, it stays
  // within `bytes`.
  [[nodiscard]] bool InitWithin(size_t bytes, PageSource* source);
  // What the cells of a set that are not plain may take of a packet's time, estimated.
  void LimitPacketWork(Nanos limit) { choice_.LimitPacketWork(limit); }
  // Forgets all sets, to serve another program.
  void Clear();
  // Gathers what sets need of each trigger in one place, which makes new ones cheap.  Once for the
  // program that is served, before any set is made.  May allocate.
  void Learn(const TriggerProgram& program);

  // Of what is used first; see PageBuffer.
  void ReadPages() const;

  // What new sets are made from.
  void AddMemory(CacheWarmer* warmer) const { choice_.AddMemory(warmer); }

  // The number of the set of flows that match these triggers, made if new; that of the refused set
  // when there is no room.
  uint32_t Intern(const uint32_t* triggers, uint32_t count);
  uint32_t refused() const { return static_cast<uint32_t>(sets_.count()) - 1; }

  const InternedSet& At(uint32_t set) const { return sets_[set]; }
  const SetProgram& ProgramAt(uint32_t set) const { return programs_[set]; }

  // Packets of flows that their set counts for: see Banks.
  class Banks;
  Banks BanksOf(uint32_t epoch);

  // The sets touched in an epoch, the last one first.  The list of the epoch before the last one
  // makes room for that of a new epoch.
  void BeginEpoch(uint32_t epoch) { touched_[epoch & 1] = kNoSet; }
  uint32_t FirstTouched(uint32_t epoch) const { return touched_[epoch & 1]; }
  uint32_t NextTouched(uint32_t set, uint32_t epoch) const {
    return BankOf(set, epoch).next_touched;
  }
  void DropFirstTouched(uint32_t epoch) {
    touched_[epoch & 1] = NextTouched(touched_[epoch & 1], epoch);
  }

  // For the sweep: what a touched set holds, and the adding up for a set that does not count.
  const uint64_t* TotalsOf(uint32_t set, uint32_t epoch) const {
    return CountsForFlows(set) ? BankOf(set, epoch).cells : sums_[set].words;
  }
  bool IsUnscaled(uint32_t set) const { return !CountsForFlows(set) && sums_[set].is_unscaled; }
  FlowSums& SumsAt(uint32_t set) { return sums_[set]; }
  bool IsTouched(uint32_t set, uint32_t epoch) const { return BankOf(set, epoch).epoch == epoch; }
  void Touch(uint32_t set, uint32_t epoch);
  void PrefetchTouched(uint32_t set, uint32_t epoch) const {
    if (set == kNoSet) return;
    __builtin_prefetch(&BankOf(set, epoch));
    if (!CountsForFlows(set)) __builtin_prefetch(sums_[set].words);
  }

  // False: no flow has a block in the flow table.
  bool flows_have_cells() const { return flows_have_cells_; }
  bool CountsForFlows(uint32_t set) const {
    return (programs_[set].direct_cells & kCountsInSet) != 0;
  }
  uint32_t count() const { return count_; }
  uint32_t max_count() const { return refused(); }  // without that one
  size_t arena_used_bytes() const { return arena_used_ * sizeof(uint64_t); }
  size_t arena_bytes() const { return arena_.size_bytes(); }

  // Besides its lists, which lie in the arena.
  static constexpr size_t kBytesPerSet = sizeof(InternedSet) + sizeof(SetProgram) +
                                         2 * sizeof(SetBank) + sizeof(FlowSums) +
                                         4 * sizeof(uint32_t);

 private:
  SetBank& BankOf(uint32_t set, uint32_t epoch) {
    return banks_[(epoch & 1) * sets_.count() + set];
  }
  const SetBank& BankOf(uint32_t set, uint32_t epoch) const {
    return banks_[(epoch & 1) * sets_.count() + set];
  }
  void Add(uint32_t set, const SetProgram& set_program, uint64_t* sum_words);

  template <typename T>
  T* TakeArray(size_t count);
  void AddRefused();
  bool Build(const uint32_t* matches, uint32_t count, uint32_t number);

  PageBuffer<InternedSet> sets_;
  PageBuffer<SetProgram> programs_;
  PageBuffer<SetBank> banks_;  // of all sets for even epochs, then for odd ones
  PageBuffer<FlowSums> sums_;
  PageBuffer<uint32_t> slots_;  // open addressing: set number plus 1
  PageBuffer<uint64_t> arena_;
  size_t arena_used_ = 0;  // in words
  uint32_t count_ = 0;
  bool flows_have_cells_ = false;
  uint32_t touched_[2] = {kNoSet, kNoSet};  // by parity of the epoch
  size_t extension_bytes_ = 0;              // of the program that is served
  SetChoice choice_;
};

// The banks of one epoch as a value, for loops over a batch: see FlowTable::Lines.
class TriggerSetTable::Banks {
 public:
  // The cells of a set that counts for its flows, whether begun or not.
  uint64_t* At(uint32_t set) const { return banks_[set].cells; }
  // The highest bit is 1 if this would be its first packet in the epoch.
  uint64_t IsUntouched(uint32_t set) const { return 0 - uint64_t{banks_[set].epoch ^ epoch_}; }

  // The same, begun if this is its first packet in the epoch.
  uint64_t* CellsOf(uint32_t set) const {
    SetBank& bank = banks_[set];
    if (bank.epoch != epoch_) {
      for (uint64_t& cell : bank.cells) cell = 0;
      Touch(set, &bank);
    }
    return bank.cells;
  }

 private:
  friend class TriggerSetTable;
  Banks(SetBank* banks, uint32_t* touched, uint32_t epoch)
      : banks_(banks), touched_(touched), epoch_(epoch) {}
  void Touch(uint32_t set, SetBank* bank) const {
    bank->epoch = epoch_;
    bank->next_touched = *touched_;
    *touched_ = set;
  }
  SetBank* banks_;  // of that parity
  uint32_t* touched_;
  uint32_t epoch_;
};

inline TriggerSetTable::Banks TriggerSetTable::BanksOf(uint32_t epoch) {
  return {&BankOf(0, epoch), &touched_[epoch & 1], epoch};
}
inline void TriggerSetTable::Touch(uint32_t set, uint32_t epoch) {
  BanksOf(epoch).Touch(set, &BankOf(set, epoch));
}

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
void CountInOtherCells(const TriggerProgram& program, const InternedSet& set,
                       const ParsedPacket& packet, const PacketFacts& facts, uint64_t* bank);

// Updates a bank with one RTT sample, which only operands that mention rtt see.
void CountSampleInCells(const TriggerProgram& program, const InternedSet& set,
                        const RttSample& sample, uint64_t* bank);

// Makes a bank hold nothing.
void ResetBank(const InternedSet& set, uint64_t* bank);

// Copies the cell at `place` of a bank, in the form of trigger_plan.h.
void CopyCell(CellKind kind, const uint64_t* bank, uint16_t place, uint64_t* words);

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_TRIGGER_SET_H
