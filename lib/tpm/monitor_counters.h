// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// MonitorCounters: what one packet thread's monitor did and what it had to leave out.

#ifndef TRUMPET_LIB_TPM_MONITOR_COUNTERS_H
#define TRUMPET_LIB_TPM_MONITOR_COUNTERS_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>

namespace trumpet {

struct MonitorCounters {
  // Those that change with every batch: see kBatchCounters.
  uint64_t packets = 0;
  uint64_t bytes = 0;  // on the wire
  uint64_t batches = 0;
  uint64_t matched_packets = 0;   // of flows with at least one trigger
  uint64_t batch_cycles = 0;      // TSC cycles in OnBatch, from one batch in eight, drawn by lot
  uint64_t withheld_packets = 0;  // of new flows below the admission threshold
  uint64_t withheld_bytes = 0;

  uint64_t undecodable = 0;  // frames without a full Ethernet header
  uint64_t tunnels_too_deep = 0;
  uint64_t flows = 0;  // entries in use now
  uint64_t flows_added = 0;
  uint64_t flows_prepared = 0;     // added for a program before its instant
  uint64_t flows_reclaimed = 0;    // idle entries given to new flows
  uint64_t uncounted_packets = 0;  // of flows that found no room
  uint64_t uncounted_bytes = 0;
  uint64_t partly_counted_packets = 0;  // not for all triggers that match: there are too many
  uint64_t partly_counted_bytes = 0;
  uint64_t credited_packets = 0;  // of those withheld, counted when their flow was admitted
  uint64_t credited_bytes = 0;
  uint64_t admission_threshold_bytes = 0;  // now; 0: every flow counts from its first packet
  uint64_t admission_rounds = 0;           // of 10 ms or less, with a threshold
  uint64_t recent_packets = 0;             // in 10 ms of the last epoch
  uint64_t epochs = 0;
  uint64_t epochs_skipped = 0;   // counted together with the one before, whose turn had not come
  uint64_t epochs_withheld = 0;  // with packets, none of which was looked at
  uint64_t sweep_steps = 0;
  uint64_t swept_flows = 0;       // with cells of their own
  uint64_t swept_sets = 0;        // of triggers without granularity
  uint64_t partials = 0;          // delivered to the agent; those of sets once it has read them
  uint64_t partials_dropped = 0;  // the ring was full at the end of the epoch
  uint64_t rtt_samples = 0;
  uint64_t rtt_samples_orphaned = 0;  // the flow of the segment had been given up
  uint64_t connections = 0;
  uint64_t connections_evicted = 0;  // while alive
  uint64_t history_evicted = 0;
  uint64_t peer_messages_sent = 0;    // packets told to another thread
  uint64_t peer_messages_taken = 0;   // and by others to this one
  uint64_t peer_messages_lost = 0;    // the other thread's mailbox was full
  uint64_t peer_backlogs = 0;         // packets were counted before older messages
  uint64_t peer_entries_evicted = 0;  // of the directory
  uint64_t directions_moved = 0;      // here from another thread
  uint64_t late_samples = 0;          // delivered after the end of their epoch
  uint64_t history_blocks = 0;        // in use now, as are the following
  uint64_t stat_bytes = 0;            // of the flows' cells that do not lie beside their entry
  uint64_t sets = 0;                  // of triggers, in the running program
  uint64_t set_bytes = 0;             // their lists
  uint64_t sweep_cycles = 0;          // TSC cycles in OnIdle steps that did work
};

// Adds up, also what is in use.
inline void AddCounters(const MonitorCounters& more, MonitorCounters* sum) {
  static_assert(sizeof(MonitorCounters) % sizeof(uint64_t) == 0);
  uint64_t words[2][sizeof(MonitorCounters) / sizeof(uint64_t)];
  std::memcpy(words[0], sum, sizeof words[0]);
  std::memcpy(words[1], &more, sizeof words[1]);
  for (size_t i = 0; i < std::size(words[0]); i++) words[0][i] += words[1][i];
  std::memcpy(sum, words[0], sizeof words[0]);
}

// The same of a monitor that is gone: it has nothing in use any more.
inline void AddEnded(MonitorCounters counters, MonitorCounters* sum) {
  counters.flows = counters.recent_packets = 0;
  counters.admission_threshold_bytes = counters.connections = 0;
  counters.history_blocks = counters.stat_bytes = counters.sets = counters.set_bytes = 0;
  AddCounters(counters, sum);
}

// So many of the first counters are all that a batch of known flows, and of those withheld,
// changes.
constexpr size_t kBatchCounters = 7;
static_assert(offsetof(MonitorCounters, undecodable) == kBatchCounters * sizeof(uint64_t));

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_MONITOR_COUNTERS_H
