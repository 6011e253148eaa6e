// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// TriggerProgram: the compiled set of events that packet threads run.
//
// Made off the packet threads, immutable, shared by all of them.  Each thread starts to use
// it with its first packet or idle call at or after `effective_from()`, so that all threads change
// over at one stated instant.

#ifndef TRUMPET_LIB_TPM_TRIGGER_PROGRAM_H
#define TRUMPET_LIB_TPM_TRIGGER_PROGRAM_H

#include <cstdint>
#include <memory>
#include <vector>

#include "lib/base/status.h"
#include "lib/base/units.h"
#include "lib/tpm/key_layout.h"
#include "lib/tpm/observation.h"
#include "lib/tpm/stat_operand.h"
#include "lib/tpm/trigger_index.h"
#include "lib/verdict/host_verdicts.h"
#include "lib/verdict/trigger_plan.h"

namespace trumpet {

// What may be installed.  Steps name operands by 16 bits; an event's cells must fit in a flow's
// block and, with room to spare, in the smallest ring.
constexpr size_t kMaxOperands = 65535;
constexpr uint16_t kMaxEventWords = 8192;

class TriggerProgram {
 public:
  // Whether Make() can compile these events.
  static Status Check(const HostVerdicts::Plans& plans);

  // `generation` must rise with every program of a process; `from` is its instant (INT64_MIN: at
  // once).  `plans` must have passed Check().  `observation` is for those that follow `observe`;
  // null: all packets count.
  static std::shared_ptr<const TriggerProgram> Make(
      const HostVerdicts::Plans& plans, uint64_t generation, Nanos from,
      std::shared_ptr<const Observation> observation = nullptr);

  uint64_t generation() const { return generation_; }
  Nanos effective_from() const { return effective_from_; }
  Nanos epoch_ns() const { return epoch_ns_; }  // greatest common divisor of the intervals
  const HostVerdicts::Plans& plans() const { return plans_; }
  const KeyLayout& layout() const { return layout_; }
  const TriggerIndex& index() const { return index_; }
  // Distinct operands of all plans, compiled; OperandOf(t, i) is operand i of plan t among them.
  const std::vector<StatOperand>& operands() const { return operands_; }
  uint16_t OperandOf(uint32_t trigger, uint16_t operand) const {
    return operand_ids_[trigger][operand];
  }

  // What the place of a batch's port adds to the keys of its packets' entries; 0 unless some event
  // counts by place.
  uint8_t PlaceFlagsOf(bool has_in_port, uint32_t in_port) const {
    const bool is_uplink =
        observation_ != nullptr && has_in_port && observation_->IsUplink(in_port);
    return is_uplink ? kFromUplinkFlag : 0;
  }
  // The same for one packet of it: what is not IP has no addresses in its key.
  uint8_t PlaceFlagsOf(const ParsedPacket& packet, uint8_t flags) const {
    if (observation_ == nullptr || packet.innermost.ip_family != 0) return flags;
    const uint8_t counted = observation_->CountedAt(packet, flags != 0);
    return static_cast<uint8_t>(flags | counted << kCountedAtShift);
  }
  // Of `count` triggers that the packet of an entry matches, keeps those that are to count it here,
  // and returns how many they are.
  size_t KeepCounted(const ParsedPacket& packet, const FlowKey& entry_key, uint32_t* triggers,
                     size_t count) const;

  bool tracks_tcp() const { return tracks_tcp_; }  // any TCP variable is used
  bool uses_rtt() const { return !rtt_events_.empty(); }
  // Whether an event that reads round-trip times is not one of `before`; true for other events of
  // which there are more than a packet thread can compare.
  bool MayAddRttEvents(const TriggerProgram& before) const;
  bool tracks_bursts() const { return tracks_bursts_; }            // is_burst is used
  bool reports_flow_state() const { return reports_flow_state_; }  // bare ack, seq or dup is used

 private:
  TriggerProgram() = default;
  void NoteNeeds(const TriggerPlan& plan);
  void CountByPlace(std::shared_ptr<const Observation> observation);

  uint64_t generation_ = 0;
  Nanos effective_from_ = INT64_MIN;
  Nanos epoch_ns_ = 10 * kNanosPerMilli;
  HostVerdicts::Plans plans_;
  KeyLayout layout_;
  TriggerIndex index_;
  std::vector<StatOperand> operands_;
  std::vector<std::vector<uint16_t>> operand_ids_;
  std::shared_ptr<const Observation> observation_;  // shared with other programs; may be null
  std::vector<uint8_t> counted_at_;                 // per trigger: what it asks; 0: nothing
  std::vector<uint32_t> rtt_events_;                // ids, rising
  uint64_t rtt_digest_ = 0;                         // of these
  bool tracks_tcp_ = false;
  bool tracks_bursts_ = false;
  bool reports_flow_state_ = false;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_TRIGGER_PROGRAM_H
