// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// TrackedPackets: packets of flows whose connection state some trigger uses, those received here
// and those that another packet thread tells of.
//
// Threads: one packet thread.  Never allocates.

#ifndef TRUMPET_LIB_TPM_TRACKED_PACKETS_H
#define TRUMPET_LIB_TPM_TRACKED_PACKETS_H

#include <cstdint>
#include <memory>

#include "lib/model/report.h"
#include "lib/tpm/connection_table.h"
#include "lib/tpm/epoch_state.h"
#include "lib/tpm/flow_cells.h"
#include "lib/tpm/late_samples.h"
#include "lib/tpm/monitor_counters.h"
#include "lib/tpm/packet_facts.h"
#include "lib/tpm/peer_link.h"

namespace trumpet {

class TrackedPackets {
 public:
  // All must outlive it.
  TrackedPackets(FlowTable* flows, ConnectionTable* connections, FlowCells* cells,
                 EpochState* epoch, MonitorCounters* counters)
      : flows_(flows),
        connections_(connections),
        cells_(cells),
        epoch_(epoch),
        counters_(counters),
        peers_(connections, epoch, counters) {}

  // Takes part in the exchange between packet threads.  `exchange` may be null; both must outlive
  // it.
  void Join(PeerExchange* exchange, SpscRing* ring);

  // Shows a packet to its connection, and counts the RTT sample it may give.  `entry_of_flow` may
  // be kNoFlow; `hash` is ConnectionTable::HashOf(flow).  Returns what is known of the packet.
  PacketFacts Observe(FlowIndex entry_of_flow, const FlowKey& flow, uint64_t hash,
                      const ParsedPacket& packet, Nanos now);

  // Whether there is nothing to show a packet to whose flow has no entry; if so, does what
  // Observe() would do, without the packet.
  bool IsUnknown(const FlowKey& flow, uint64_t hash) {
    if (connections_->FindKnown(flow, hash) != kNoConnection) return false;
    epoch_->reasons |= kConnectionEvicted;
    return true;
  }

  // Takes in what other threads received no later than `until`, some of it: a bounded number of
  // messages at a time.  False when more is waiting.
  bool TakeInPeers(Nanos until);
  PeerLink& peers() { return peers_; }
  const PeerLink& peers() const { return peers_; }

 private:
  Generation* GenerationOf(const RttSample& sample, Nanos time);
  void CountSample(const RttSample& sample, Nanos time);
  void TakeInSample(const RttSample& sample, Nanos time);
  void DeliverLate(const RttSample& sample, Nanos time);

  FlowTable* flows_;
  ConnectionTable* connections_;
  FlowCells* cells_;
  EpochState* epoch_;
  MonitorCounters* counters_;
  PeerLink peers_;
  std::unique_ptr<LateSamples> late_;  // null: not taking part
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_TRACKED_PACKETS_H
