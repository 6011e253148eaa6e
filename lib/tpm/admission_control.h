// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// AdmissionControl: how much a new flow must send before it is worth matching.  (docs/adr/0008)
//
// The paper chooses the smallest threshold t (in packets) with which new flows fit into the cycles
// that are left:
//
//     match (A / t + G) + 1.5 sweep G <= allowed
//
// A: packets of attackers, G: genuine new flows, both per unit of time; match, sweep: what adding
// and sweeping a flow takes.  Here all of these are measured, once per round.  In normal times,
// when all new flows fit in, the threshold is 0: every flow counts from its first packet.
//
// Threads: none.  The answer depends on nothing but the rounds so far.

#ifndef TRUMPET_LIB_TPM_ADMISSION_CONTROL_H
#define TRUMPET_LIB_TPM_ADMISSION_CONTROL_H

#include <cstdint>

namespace trumpet {

uint64_t ReadTsc();

struct AdmissionOptions {
  bool is_enabled = false;              // if not, every flow counts from its first packet
  uint64_t (*read_cycles)() = ReadTsc;  // the clock of all that is measured
};

// What was measured on a packet thread since the round before.  Cycles are of one clock.
struct AdmissionRound {
  uint64_t cycles = 0;         // that passed
  uint64_t free_cycles = 0;    // of these, spent waiting for packets
  uint64_t offered = 0;        // packets whose flow had no entry
  uint64_t offered_units = 0;  // of AdmissionFilter, in these packets
  uint64_t admitted = 0;       // flows added
  uint64_t swept = 0;          // of these, with cells of their own
  uint64_t refused = 0;        // flows for which there was no room
  double add_cycles = 0;       // mean of adding a flow; 0: not measured in this round
  double sweep_cycles = 0;     // mean of sweeping a flow or a set; 0: likewise
};

class AdmissionControl {
 public:
  // A threshold, in units of AdmissionFilter; 0: open.
  static constexpr uint32_t kMinThreshold = 2;
  static constexpr uint32_t kMaxThreshold = 256;  // 16 KiB

  // Takes in a round and returns the threshold for the next one.
  uint32_t Decide(const AdmissionRound& round);

  uint32_t threshold() const { return threshold_; }
  double add_cycles() const { return add_cycles_; }  // as measured so far

  // As many flows as may be added in `cycles` more; when they are, the round had better end.
  uint64_t MaxAdmissions(double cycles) const;

  // Flows that may be added in `cycles` more whatever they sent.  Without them a flow that sends
  // little, but for ever, would offer itself with every packet, and look like a flood by itself.
  uint64_t FreeAdmissions(double cycles) const;

 private:
  // As shares of the cycles that passed.
  struct Load {
    double allowed = 0;
    double now = 0;      // of the flows added
    double if_open = 0;  // had all packets offered been flows of their own
  };
  Load LoadOf(const AdmissionRound& round) const;
  void Measure(const AdmissionRound& round);
  uint32_t Model(const AdmissionRound& round, double allowed) const;
  double flow_cycles() const { return add_cycles_ + sweep_cycles_; }

  uint32_t threshold_ = 0;
  uint32_t calm_rounds_ = 0;   // in a row, with little offered
  uint32_t slack_rounds_ = 0;  // in a row, with little admitted
  double add_cycles_ = 1000;   // until measured
  double sweep_cycles_ = 0;    // that an added flow causes
  double normal_rate_ = 0;     // new flows per cycle while open
  double allowed_ = 0.05;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_ADMISSION_CONTROL_H
