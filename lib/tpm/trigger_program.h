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
  // once).  `plans` must have passed Check().
  static std::shared_ptr<const TriggerProgram> Make(const HostVerdicts::Plans& plans,
                                                    uint64_t generation, Nanos from);

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

  bool tracks_tcp() const { return tracks_tcp_; }  // any TCP variable is used
  bool uses_rtt() const { return uses_rtt_; }
  bool tracks_bursts() const { return tracks_bursts_; }            // is_burst is used
  bool reports_flow_state() const { return reports_flow_state_; }  // bare ack, seq or dup is used

 private:
  TriggerProgram() = default;
  void NoteNeeds(const TriggerPlan& plan);

  uint64_t generation_ = 0;
  Nanos effective_from_ = INT64_MIN;
  Nanos epoch_ns_ = 10 * kNanosPerMilli;
  HostVerdicts::Plans plans_;
  KeyLayout layout_;
  TriggerIndex index_;
  std::vector<StatOperand> operands_;
  std::vector<std::vector<uint16_t>> operand_ids_;
  bool tracks_tcp_ = false;
  bool uses_rtt_ = false;
  bool tracks_bursts_ = false;
  bool reports_flow_state_ = false;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_TRIGGER_PROGRAM_H
