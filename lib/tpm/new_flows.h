// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// NewFlows: what happens to a packet whose flow has no entry (paper, section 5: match).
//
// The flow is matched once, against all triggers, and gets an entry that names the set of those
// that want it; a flow that none wants gets one too, so that it is not matched again.
//
// When new flows take more of the thread than they may, a flow must first send as much as the
// threshold (docs/adr/0008).  Until then its packets are withheld: not counted, but counted as
// such, and the epoch is marked.  Flows that a change of program left without an entry come back
// whatever they send, unless that is dear.
//
// Threads: one packet thread.  Never allocates after Init().

#ifndef TRUMPET_LIB_TPM_NEW_FLOWS_H
#define TRUMPET_LIB_TPM_NEW_FLOWS_H

#include <cstdint>

#include "lib/tpm/admission_control.h"
#include "lib/tpm/admission_filter.h"
#include "lib/tpm/cycle_samples.h"
#include "lib/tpm/epoch_state.h"
#include "lib/tpm/flow_cells.h"
#include "lib/tpm/flow_table.h"
#include "lib/tpm/monitor_counters.h"

namespace trumpet {

class NewFlows {
 public:
  // A packet weighs at most the threshold divided by this, as a multiple of itself.  It is more
  // units than 1,500 bytes have, so that no such packet reaches the threshold alone.
  static constexpr uint32_t kUnitsPerTurn = 32;

  // All must outlive it.
  NewFlows(FlowTable* flows, EpochState* epoch, MonitorCounters* counters)
      : flows_(flows), epoch_(epoch), counters_(counters), cells_(flows, epoch) {}

  // Needed only if `options` enable the filter.  False when there is no memory.
  [[nodiscard]] bool Init(const AdmissionOptions& options, PageSource* source);

  // An entry for the flow of `packet`; kNoFlow when it has to do without, and the packet is counted
  // as such.  `extension` has the bytes that the running program's layout asks for.
  FlowIndex Add(const ParsedPacket& packet, const FlowKey& entry_key, const uint8_t* extension,
                uint64_t hash);

  // Whether flows without an entry are asked for in the filter.
  bool uses_filter() const { return threshold_ != 0; }

  // Whether Withhold() may decide for the packets of this batch, or only Add().
  bool withholds() const {
    return uses_filter() && free_admissions_ == 0 && flows_to_re_add_ == 0 &&
           generation_ == epoch_->running->number;
  }

  // What a loop over packets of flows without an entry, in the order in which they came, does with
  // most of them: it withholds them.  The same as Add() would, by the hash and the lengths alone.
  class Withholding;
  Withholding withholding();
  // Counts what it withheld.
  void Finish(const Withholding& withholding);

  // Where the threshold is high, flows without an entry have turns: only those that have theirs are
  // shown to the filter, what they send weighs as much more, and the others are withheld unseen.
  class Turn;
  Turn turn() const;
  // Counts packets that are withheld unseen.
  void WithholdUnseen(uint64_t packets, uint64_t bytes);

  // Add() of a flow that a Withholding did not withhold.
  FlowIndex AddAdmitted(const ParsedPacket& packet, const FlowKey& entry_key,
                        const uint8_t* extension, uint64_t hash, const Withheld& credit);

  // Cycles in which the thread waited for packets, all in all.
  uint64_t free_cycles() const { return free_cycles_; }

  // The filter's lines, to prefetch them.
  AdmissionFilter::Lines filter_lines() { return filter_.lines(); }

  // With every batch, before its packets: ends a round when it is time.  `swept`: all flows and
  // sets swept so far.
  void OnBatch(Nanos now, uint64_t swept) {
    was_idle_ = false;
    if (now >= turn_end_ || round_.admitted >= max_admitted_) EndTurn(now, swept);
  }

  // No packet is looked at between Pause() and Resume(), as if the time had stood still meanwhile.
  // Packets are only counted then.
  void Pause(Nanos now);
  void Resume(Nanos now);
  void CountWithheld(uint64_t packets, uint64_t bytes);

  // With every call that the thread makes for lack of packets; `has_work`: it will sweep in it.
  void OnIdle(bool has_work) {
    if (options_.is_enabled) NoteIdle(has_work);
  }

 private:
  bool Admit(const ParsedPacket& packet, uint64_t hash, Withheld* credit);
  static uint32_t WeightOf(uint32_t threshold);
  void BeginEpochOfFilter();
  FlowIndex MakeEntryTimed(const ParsedPacket& packet, const FlowKey& entry_key,
                           const uint8_t* extension, uint64_t hash, uint64_t number,
                           CycleSamples* samples);
  FlowIndex MakeEntry(const ParsedPacket& packet, const FlowKey& entry_key,
                      const uint8_t* extension, uint64_t hash);
  void EndTurn(Nanos now, uint64_t all_swept);
  void EndRound(Nanos now, uint64_t all_swept);
  void NoteIdle(bool has_work);
  bool IsKnownAnyway();

  FlowTable* flows_;
  EpochState* epoch_;
  MonitorCounters* counters_;
  FlowCells cells_;

  AdmissionOptions options_;
  AdmissionFilter filter_;
  AdmissionControl control_;
  uint32_t threshold_ = 0;  // 0: open

  // The turn under way.
  Nanos turn_end_ = INT64_MAX;
  uint64_t turns_ = 0;
  uint8_t turn_lot_ = 0;
  uint32_t weight_ = 1;  // one in so many flows has its turn; a power of two

  // The round under way.
  AdmissionRound round_;
  Nanos round_start_ = INT64_MIN;
  Nanos round_end_ = INT64_MAX;
  uint64_t max_admitted_ = UINT64_MAX;
  uint64_t free_admissions_ = 0;  // left in it; see AdmissionControl
  uint64_t start_cycles_ = 0;
  uint64_t sweep_cycles_before_ = 0;
  uint64_t swept_before_ = 0;
  CycleSamples add_samples_;
  CycleSamples re_add_samples_;
  uint64_t re_added_ = 0;

  uint32_t filter_epoch_ = 0;     // whose credits the filter holds
  uint16_t generation_ = 0;       // of the program that was running at the last Add()
  uint32_t flows_to_re_add_ = 0;  // entries of the program before, which come back as new flows
  bool was_idle_ = false;         // the last call was OnIdle(false)
  uint64_t idle_since_ = 0;
  uint64_t free_cycles_ = 0;
  uint64_t free_cycles_before_ = 0;  // this round

  // When it paused.
  Nanos pause_ = 0;
  uint64_t pause_cycles_ = 0;
  uint64_t pause_free_cycles_ = 0;
};

// Whose turn it is: by the (seeded) hash, so nobody outside knows when which flow will have its
// own.
class NewFlows::Turn {
 public:
  static uint8_t OfFlow(uint64_t hash) { return static_cast<uint8_t>(hash >> 32); }
  // It is the turn of flows for which OfFlow() is `lot()` in these bits.
  uint8_t mask() const { return mask_; }
  uint8_t lot() const { return lot_; }
  bool Has(uint64_t hash) const { return ((OfFlow(hash) ^ lot_) & mask_) == 0; }

 private:
  friend class NewFlows;
  Turn(uint8_t lot, uint32_t weight) : lot_(lot), mask_(static_cast<uint8_t>(weight - 1)) {}
  uint8_t lot_;
  uint8_t mask_;
};
inline NewFlows::Turn NewFlows::turn() const { return {turn_lot_, weight_}; }

class NewFlows::Withholding {
 public:
  // False: the flow is admitted, with `credit()`.
  [[gnu::always_inline]] bool Withhold(uint64_t hash, uint32_t bytes, uint32_t volume) {
    offered_packets_++;
    offered_units_ += weight_ * AdmissionFilter::UnitsOf(bytes);
    if (lines_.Offer(hash, bytes, volume, threshold_, &credit_, weight_)) return false;
    withheld_packets_++;
    withheld_bytes_ += bytes;
    return true;
  }

  const Withheld& credit() const { return credit_; }

 private:
  friend class NewFlows;
  Withholding(AdmissionFilter::Lines lines, uint32_t threshold, uint32_t weight)
      : lines_(lines), threshold_(threshold), weight_(weight) {}

  AdmissionFilter::Lines lines_;
  uint32_t threshold_;
  uint32_t weight_;
  uint64_t offered_packets_ = 0;
  uint64_t offered_units_ = 0;
  uint64_t withheld_packets_ = 0;
  uint64_t withheld_bytes_ = 0;
  Withheld credit_;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_NEW_FLOWS_H
