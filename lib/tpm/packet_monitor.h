// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// PacketMonitor: the facade of the monitor of one packet thread.
//
//   OnBatch()  phase 1: parse, find the flow, update what its triggers need   (paper, Algorithm 1)
//   OnIdle()   phase 2: a bounded step of the sweep of the last epoch         (paper, Algorithms 2,
//   3) Publish()  a new set of events, prepared elsewhere, taken over at its instant Drain() what
//   the sweep delivered, for the agent thread
//
// Threads: OnBatch, OnIdle, Finish: the packet thread.  Publish, Drain, clean_until, counters: one
// other thread (the agent), at the same time.  Nothing here blocks, and nothing on the packet
// thread allocates.

#ifndef TRUMPET_LIB_TPM_PACKET_MONITOR_H
#define TRUMPET_LIB_TPM_PACKET_MONITOR_H

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "lib/base/status.h"
#include "lib/base/units.h"
#include "lib/packet/parse.h"
#include "lib/tpm/admission_control.h"
#include "lib/tpm/connection_table.h"
#include "lib/tpm/monitor_counters.h"
#include "lib/tpm/step_watch.h"
#include "lib/verdict/host_verdicts.h"
#include "lib/verdict/trigger_plan.h"

namespace trumpet {

class PeerExchange;    // shared by the packet threads of a host, see peer_exchange.h
class TriggerProgram;  // a compiled set of events, see trigger_program.h

struct MonitorOptions {
  uint32_t max_flows = 1u << 17;      // flow table entries
  uint32_t stat_megabytes = 32;       // memory for the flows' cells
  uint32_t set_kilobytes = 64 << 10;  // for the sets of triggers that flows match
  uint32_t ring_bytes = 8u << 20;     // towards the agent; a power of two
  bool touches_memory = false;        // at the start, so that no packet ever meets a page fault
  bool takes_reserved_pages = false;  // huge pages that the machine has set aside
  Nanos sweep_budget_ns = 5 * kNanosPerMicro;
  // What the statistics of one packet may take, as estimated (set_choice.h).
  Nanos packet_budget_ns = 5 * kNanosPerMicro;
  uint32_t watchdog_factor = kWildFactor;  // a step of more budgets is wild; 0: none is
  // The packet thread polls, so long whiles between its calls are pauses, or work of the switch.
  bool never_sleeps = false;
  bool sweeps_unbounded = false;  // offline: a step runs until the ring is full, and is not timed
  const StepClock* step_clock = nullptr;  // outlives the monitor; null: StepClock::System()
  std::atomic<bool>* gate = nullptr;      // closed by the watchdog over the steps; may be null
  ConnectionOptions connections;          // its hash_seed is also the flow table's
  ParseOptions parse;
  bool takes_quads = true;  // four packets at a time, where the processor has AVX2
  AdmissionOptions admission;
  // Must outlive the monitor; null: there is no other packet thread.
  PeerExchange* peers = nullptr;
};

// What a monitor took at the start; it never takes more.  (Programs are the agent's.)
struct MonitorMemory {
  uint64_t bytes = 0;
  uint64_t reserved_bytes = 0;     // of them in huge pages that were set aside
  uint64_t transparent_bytes = 0;  // in other huge pages, as of the start
  uint64_t flows = 0;              // how many of each there is room for
  uint64_t connections = 0;
  uint64_t history_blocks = 0;
  uint64_t stat_bytes = 0;
  uint64_t ring_bytes = 0;
  uint64_t sets = 0;       // in one program
  uint64_t set_bytes = 0;  // for their lists, in one program
};

// Receives what Drain() finds, in the order in which the packet thread delivered it.
class DeliverySink {
 public:
  virtual ~DeliverySink() = default;
  virtual void OnPartial(const PartialView& partial) = 0;
  virtual void OnFlowState(const FlowStateUpdate& update) = 0;
  // The epoch [start, end) is fully delivered; `reasons` (IncompleteReason bits) tells what is
  // missing of it.
  virtual void OnEpochEnd(Nanos start, Nanos end, uint32_t reasons) = 0;
};

class PacketMonitor {
 public:
  static Result<std::unique_ptr<PacketMonitor>> Create(const MonitorOptions& options);
  // What Create() takes.
  static size_t BytesFor(const MonitorOptions& options);
  ~PacketMonitor();
  PacketMonitor(const PacketMonitor&) = delete;
  PacketMonitor& operator=(const PacketMonitor&) = delete;

  // --- packet thread -------------------------------------------------------
  // Takes in `count` frames that arrived at `now` through `in_port`, or without a port if
  // has_in_port is false.  `zone` keeps tenants with equal addresses apart.
  void OnBatch(const Frame* frames, int count, bool has_in_port, uint32_t in_port, uint16_t zone,
               Nanos now);

  // Runs a step of the sweep if one is due.  Returns true while there is more to do at `now`.
  bool OnIdle(Nanos now);

  // OnIdle() by another thread while the packet thread does not touch the monitor: takes its time,
  // until all is delivered or the ring is full.
  bool StandIn(Nanos now);

  // Ends the current epoch, after the sweep under way; call OnIdle() until it returns false to
  // deliver both.  For thread exit and the end of an offline run.
  void CloseEpoch(Nanos now);

  // Packets before `until` were kept from the monitor: TCP state from before it is void, so that a
  // gap does not look like loss.
  void NoteGap(Nanos until);

  // The instant at which OnIdle() next has something to do; INT64_MAX: nothing pending.
  Nanos next_work_ns() const;

  // --- agent thread --------------------------------------------------------
  // Hands over a new program; the packet thread takes it over when it reaches the program's instant
  // and then stops using the older one, which is freed by a later call of Publish() or
  // CollectRetired(); if the ring still has something of it, that is kept for Drain().  A program
  // not yet taken over is replaced.  Fails when the ring is too small for an event; the old program
  // stays.
  Status Publish(std::shared_ptr<const TriggerProgram> program);
  void CollectRetired();

  // How long before its instant a program should be handed over, so that most flows that send now
  // can be matched ahead (docs/adr/0007): half a microsecond each, and no more than 50 ms.
  Nanos preparing_time() const;

  // The generation of the program that the packet thread runs.
  uint64_t running_generation() const;

  // Hands everything delivered so far to `sink`.  Returns the number of records.
  size_t Drain(DeliverySink* sink);

  // All packets that arrived before this instant have been delivered to the ring; INT64_MAX when
  // the thread holds nothing undelivered (it may begin to at any moment).
  Nanos clean_until() const;

  // How long the steps of the packet thread took: its work outside that of packets.
  StepCounts steps() const;

  // Set once the watchdog has closed MonitorOptions::gate; it stays closed until opened by others.
  std::optional<StepOverruns> overruns() const;
  // Lets the watchdog begin anew; only while the packet thread does not touch the monitor.
  void ForgetOverruns();

  const MonitorMemory& memory() const;
  size_t ring_used_bytes() const;

  // How many messages other packet threads sent to this one so far, and of how many everything that
  // follows is in the ring or held back by clean_until().  Any thread.
  uint64_t messages_sent_here() const;
  uint64_t messages_settled() const;

  // A copy, exact at the moment when the packet thread is between batches.
  MonitorCounters counters() const;

 private:
  struct Impl;
  explicit PacketMonitor(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_PACKET_MONITOR_H
