// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// FlowCells: counts packets and RTT samples in the cells of flows (paper, section 5: scatter).
//
// A flow has two banks of cells, for epochs of even and odd number, if its set does not count for
// it (trigger_set.h).  The first packet of such a flow in an epoch empties its bank and puts the
// flow on the epoch's list for the sweep.
//
// Threads: one packet thread.  Inlined into the passes over a batch.

#ifndef TRUMPET_LIB_TPM_FLOW_CELLS_H
#define TRUMPET_LIB_TPM_FLOW_CELLS_H

#include <cstdint>

#include "lib/tpm/admission_filter.h"
#include "lib/tpm/epoch_state.h"
#include "lib/tpm/flow_table.h"
#include "lib/tpm/packet_facts.h"
#include "lib/tpm/trigger_set.h"

namespace trumpet {

class FlowCells {
 public:
  // Both must outlive it.
  FlowCells(FlowTable* flows, EpochState* epoch) : flows_(flows), epoch_(epoch) {}

  // Counts a packet of a flow of the running program.  False when no trigger wants the flow, or
  // none gets it.
  [[gnu::always_inline]] bool CountPacket(FlowIndex flow, const ParsedPacket& packet,
                                          const PacketFacts& facts) {
    Generation& generation = *epoch_->running;
    FlowEntry& entry = flows_->At(flow);
    const SetProgram& program = generation.sets.ProgramAt(entry.set);
    if (IsUntouched(entry)) Touch(flow, &generation);
    if (program.word_count == 0) return false;
    if (facts.rwnd_unscaled) entry.unscaled |= epoch_->bank() == 0 ? 1 : 2;
    uint64_t* bank = BankOf(&generation, entry);
    CountInPlainCells(program, PlainValues(packet, facts), bank);
    if (program.has_other_cells) {
      CountInOtherCells(*generation.program, generation.sets.At(entry.set), packet, facts, bank);
    }
    return true;
  }

  // Whether a packet of the flow is not counted for some trigger that it matches.
  bool IsCut(FlowIndex flow) const {
    return epoch_->running->sets.ProgramAt(flows_->At(flow).set).is_cut != 0;
  }

  // Adds what the flow sent in this epoch before it had an entry.  False when its set has cells
  // that tell one packet from another: they cannot take a sum.
  bool Credit(FlowIndex flow, const Withheld& withheld) {
    Generation& generation = *epoch_->running;
    FlowEntry& entry = flows_->At(flow);
    const SetProgram& program = generation.sets.ProgramAt(entry.set);
    if (program.has_other_cells || program.is_cut) return false;
    if (IsUntouched(entry)) Touch(flow, &generation);
    if (program.word_count == 0) return true;
    PlainValues sums(ParsedPacket{}, PacketFacts{});
    sums.words[0] = withheld.packets;
    sums.words[1] = withheld.bytes;
    sums.words[2] = withheld.volume;
    CountInPlainCells(program, sums, BankOf(&generation, entry));
    return true;
  }

  void CountSample(FlowIndex flow, Generation* generation, const RttSample& sample) {
    FlowEntry& entry = flows_->At(flow);
    if (generation->sets.CountsForFlows(entry.set)) return;  // plain cells hold no samples
    const InternedSet& set = generation->sets.At(entry.set);
    if (IsUntouched(entry)) Touch(flow, generation);
    CountSampleInCells(*generation->program, set, sample, BankOf(generation, entry));
  }

  // Before a packet is counted in the direct cells `bank` of a flow or of its set.
  void TouchDirect(FlowIndex flow, uint64_t* bank) {
    FlowEntry& entry = flows_->At(flow);
    const bool counts_in_set = (entry.direct_cells & kCountsInSet) != 0;
    if (counts_in_set) epoch_->running->sets.BanksOf(epoch_->number).CellsOf(entry.set);
    if (!IsUntouched(entry)) return;
    NoteEpoch(&entry);
    if (counts_in_set) return;
    for (uint32_t i = 0; i < kDirectBankWords; i++) bank[i] = 0;
    AddToTouched(flow);
  }

 private:
  [[gnu::always_inline]] bool IsUntouched(const FlowEntry& entry) const {
    return epoch_->number - entry.last_epoch > SlackOf(entry.direct_cells);
  }

  [[gnu::always_inline]] void NoteEpoch(FlowEntry* entry) {
    const bool is_known = entry->last_epoch != FlowTable::kUntouched;
    if (is_known && (entry->direct_cells & kCountsInSet) != 0) entry->direct_cells |= kSettled;
    entry->last_epoch = epoch_->number;
  }

  [[gnu::always_inline]] void AddToTouched(FlowIndex flow) {
    const uint32_t bank = epoch_->bank();
    epoch_->touched[bank][epoch_->touched_count[bank]++] = flow;
  }

  // For the first packet of a flow in an epoch, which has not been counted yet.
  void Touch(FlowIndex flow, Generation* generation) {
    FlowEntry& entry = flows_->At(flow);
    NoteEpoch(&entry);
    if (generation->sets.CountsForFlows(entry.set)) return;
    const SetProgram& program = generation->sets.ProgramAt(entry.set);
    const uint32_t bank = epoch_->bank();
    entry.unscaled &= bank == 0 ? 2 : 1;
    uint64_t* words = BankOf(generation, entry);
    for (uint32_t i = 0; i < program.plain_count; i++) words[i] = 0;
    if (program.has_other_cells) ResetBank(generation->sets.At(entry.set), words);
    AddToTouched(flow);
  }

  [[gnu::always_inline]] uint64_t* BankOf(Generation* generation, FlowEntry& entry) {
    TriggerSetTable& sets = generation->sets;
    if (sets.CountsForFlows(entry.set)) return sets.BanksOf(epoch_->number).CellsOf(entry.set);
    uint8_t* cells = flows_->BlockOf(entry) + generation->program->layout().extension_bytes();
    const uint32_t words = sets.ProgramAt(entry.set).bank_words;
    return reinterpret_cast<uint64_t*>(cells) + epoch_->bank() * words;
  }

  FlowTable* flows_;
  EpochState* epoch_;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_FLOW_CELLS_H
