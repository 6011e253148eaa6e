// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// MatchScatter: phase 1 (paper, section 5 and Algorithm 1), three passes over each chunk of a
// batch: fields and hashes; a guess of the entry by its tag; the entry and its cells.  Each pass
// prefetches for the next.
//
// Threads: one packet thread.  Never allocates.

#ifndef TRUMPET_LIB_TPM_MATCH_SCATTER_H
#define TRUMPET_LIB_TPM_MATCH_SCATTER_H

#include <cstdint>

#include "lib/base/hash.h"
#include "lib/packet/parse.h"
#include "lib/tpm/connection_table.h"
#include "lib/tpm/epoch_state.h"
#include "lib/tpm/flow_cells.h"
#include "lib/tpm/flow_table.h"
#include "lib/tpm/key_layout.h"
#include "lib/tpm/new_flows.h"
#include "lib/tpm/tracked_packets.h"

namespace trumpet {

// Where the frames of a batch came from.
struct Arrival {
  bool has_in_port = false;
  uint32_t in_port = 0;
  uint16_t zone = 0;
  Nanos now = 0;
};

class MatchScatter {
 public:
  // All must outlive it.
  MatchScatter(const ParseOptions& parse, uint64_t hash_seed, FlowTable* flows,
               ConnectionTable* connections, EpochState* epoch, MonitorCounters* counters)
      : parse_(parse),
        hash_seed_(hash_seed),
        pair_hash_(hash_seed),
        flows_(flows),
        connections_(connections),
        epoch_(epoch),
        counters_(counters),
        cells_(flows, epoch),
        new_flows_(flows, epoch, counters),
        tracked_(flows, connections, &cells_, epoch, counters) {}

  // Counts the frames in the running program, which must have triggers, at the time `now`.
  void Process(const Frame* frames, int count, const Arrival& arrival, Nanos now);

 private:
  static constexpr int kChunk = 32;

  // A packet between the passes over a chunk.
  struct Slot {
    ParsedPacket packet;
    FlowKey entry_key;
    FlowKey flow;  // only if is_tracked
    uint64_t hash = 0;
    uint64_t connection_hash = 0;
    FlowIndex guess = kNoFlow;  // by the tag alone
    bool is_tracked = false;
  };

  void ProcessChunk(const Frame* frames, int count, const Arrival& arrival, Nanos now);
  [[gnu::always_inline]] void Prepare(const Frame& frame, const Arrival& arrival, int i);
  [[gnu::always_inline]] uint64_t HashOf(const FlowKey& entry_key) const;
  [[gnu::always_inline]] void Guess(int i);
  [[gnu::always_inline]] void Count(int i, Nanos now);
  void CountTracked(FlowIndex flow, const Slot& slot, Nanos now);
  [[gnu::always_inline]] FlowIndex FindOrAddFlow(int i);
  [[gnu::always_inline]] void CountPacket(FlowIndex flow, const ParsedPacket& packet,
                                          const PacketFacts& facts);
  uint8_t* ExtensionOf(int i) { return extensions_ + static_cast<size_t>(i) * kMaxExtensionBytes; }

  const ParseOptions parse_;
  const uint64_t hash_seed_;
  const PairHash pair_hash_;
  FlowTable* flows_;
  ConnectionTable* connections_;
  EpochState* epoch_;
  MonitorCounters* counters_;
  FlowCells cells_;
  NewFlows new_flows_;
  TrackedPackets tracked_;

  Slot slots_[kChunk];
  alignas(8) uint8_t extensions_[kChunk * kMaxExtensionBytes];
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_MATCH_SCATTER_H
