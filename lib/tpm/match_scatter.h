// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// MatchScatter: phase 1 (paper, section 5 and Algorithm 1), three passes over each chunk of a
// batch: keys and hashes; a guess of the entry by its tag; the entry and its cells.  Each pass
// prefetches for the next.
//
// Most packets go the direct way: a plain frame (plain_frame.h) that no trigger's TCP state or
// extra field concerns, whose flow is known and has direct cells (trigger_set.h).  Of such a packet
// a few words pass from pass to pass.  All others are parsed in full and take the general way,
// within the same passes, so that the packets of a flow stay in their order.
//
// Threads: one packet thread.  Never allocates.

#ifndef TRUMPET_LIB_TPM_MATCH_SCATTER_H
#define TRUMPET_LIB_TPM_MATCH_SCATTER_H

#include <cstdint>

#include "lib/packet/parse.h"
#include "lib/packet/plain_frame.h"
#include "lib/packet/plain_quad.h"
#include "lib/tpm/connection_table.h"
#include "lib/tpm/epoch_state.h"
#include "lib/tpm/flow_cells.h"
#include "lib/tpm/flow_table.h"
#include "lib/tpm/key_hash.h"
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
        plain_reader_(parse),
        key_hash_(hash_seed),
        flows_(flows),
        connections_(connections),
        epoch_(epoch),
        counters_(counters),
        cells_(flows, epoch),
        new_flows_(flows, epoch, counters),
        tracked_(flows, connections, &cells_, epoch, counters) {}

  // Counts the frames in the running program, which must have triggers, at the time `now`.  False
  // if all of them went the direct way: of the counters only bytes and matched_packets changed.
  bool Process(const Frame* frames, int count, const Arrival& arrival, Nanos now);

  // As on a processor without AVX2.
  void ReadOneByOne() { takes_quads_ = false; }

  NewFlows& new_flows() { return new_flows_; }
  TrackedPackets& tracked() { return tracked_; }
  const TrackedPackets& tracked() const { return tracked_; }

 private:
  static constexpr int kChunk = 32;

  struct Chunk {
    const Frame* frames;
    int count;
    const Arrival& arrival;
    Nanos now;
  };

  // The packets between the passes over a chunk, word by word.
  struct Slots {
    alignas(64) uint64_t hash[kChunk];
    uint64_t key_end[kChunk];  // the last eight bytes of the entry's key; kNotPlain: see general_
    uint64_t ips[kChunk];      // see IpsOf()
    uint64_t volume_and_ecn[kChunk];
    const uint8_t* addresses[kChunk];  // both in the frame, if IPv6
    uint64_t guess[kChunk];            // of the entry's index, by the tag alone
    uint64_t cells[kChunk];            // if direct: FlowEntry::direct_cells
    uint64_t* bank[kChunk];            // and where they are

    // What the first two passes say.
    void Copy(int from, int to) {
      hash[to] = hash[from];
      key_end[to] = key_end[from];
      ips[to] = ips[from];
      volume_and_ecn[to] = volume_and_ecn[from];
      addresses[to] = addresses[from];
      guess[to] = guess[from];
    }
  };
  // No key ends like this.
  static constexpr uint64_t kNotPlain = UINT64_MAX;

  // What the first pass notes of each packet in a flood.
  struct FloodFlags {
    alignas(16) uint8_t may_have[kChunk];  // see FlowTable::Presence
    alignas(16) uint8_t turn[kChunk];      // see NewFlows::Turn
  };

  // What more there is of a packet on the general way.
  struct GeneralSlot {
    ParsedPacket packet;
    FlowKey entry_key;
    FlowKey flow;  // only if is_tracked
    uint64_t connection_hash = 0;
    bool is_tracked = false;
  };

  // Bits `from` to `end`, which is at most 32.
  static uint32_t MaskOf(int from, int end) {
    return static_cast<uint32_t>((uint64_t{1} << end) - (uint64_t{1} << from));
  }

  bool ProcessChunk(const Chunk& chunk);
  template <bool kAreFew>
  class Direct;  // the first pass of usual packets,
  class Seated;  // of few flows,
  class Flood;   // and in a flood
  struct Tracked;
  bool PrepareUsual(const Chunk& chunk);
  bool PrepareInSeats(const Chunk& chunk);
  bool ProcessInSeats(const Chunk& chunk);
  bool TakesSeats();
  bool IsBeside(int i);
  bool IsFlowAt(int i, FlowIndex flow) const;
  bool IsFoundInIndex(int i);
  bool TakesItsSeat(int i);
  bool PrepareInFlood(const Chunk& chunk);
  template <typename Kind>
  bool PrepareChunk(const Chunk& chunk, Kind* kind);
  template <typename Kind>
  uint32_t PrepareQuads(const Chunk& chunk, Kind* kind, uint32_t* tcp_not_taken);
  template <typename Kind>
  uint32_t PrepareIpv4(const Chunk& chunk, uint32_t frames, Kind* kind);
  template <typename Kind>
  uint32_t PrepareIpv6(const Chunk& chunk, uint32_t frames, Kind* kind);
  void NoteTracked(const Tracked& tracked, uint32_t tcp_packets, uint32_t plain_packets);
  void GuessChunk(int count);
  template <bool kAreFew>
  void GuessEntries(int count);
  bool CountChunk(const Chunk& chunk, int from);
  bool ProcessInFlood(const Chunk& chunk);
  uint32_t GuessInFlood(uint32_t packets);
  bool CountInFlood(const Chunk& chunk, uint32_t absent);
  bool CountPresent(const Chunk& chunk, int from, uint32_t present);
  bool CountRuns(const Chunk& chunk, uint64_t present);
  void WithholdUnseen(const Chunk& chunk, uint32_t packets);
  static uint64_t BytesOf(const Chunk& chunk, uint32_t packets);
  int Withhold(const Chunk& chunk, uint32_t absent, int end, Withheld* credit);
  void PrepareConnections(uint32_t packets);
  void ParseTracked(const Chunk& chunk, uint32_t packets);
  void ObserveWithheld(const Chunk& chunk, int i);
  FlowKey KeyOf(int i) const;
  bool IsFlowOf(int i, const FlowEntry& entry, uint32_t cells) const;
  int CountDirect(const Chunk& chunk, int from);
  int FindCells(int count, int from, uint32_t* old_packets);
  void TouchDirect(int i);
  void AddDirect(const Chunk& chunk, int from, int end);

  void Parse(const Chunk& chunk, int i);
  void PrepareGeneral(const Chunk& chunk, int i);
  void CountGeneral(const Chunk& chunk, int i);
  void CountAdmitted(const Chunk& chunk, int i, const Withheld& credit);
  void CountParsed(const Chunk& chunk, int i, FlowIndex flow);
  void NoteCut(uint32_t bytes, bool is_matched);
  FlowIndex FindOrAddFlow(int i);
  uint8_t* ExtensionOf(int i) { return extensions_ + static_cast<size_t>(i) * kMaxExtensionBytes; }

  const ParseOptions parse_;
  const PlainReader plain_reader_;
  const KeyHash key_hash_;
  bool takes_quads_ = HasQuads();
  FlowTable* flows_;
  ConnectionTable* connections_;
  EpochState* epoch_;
  MonitorCounters* counters_;
  FlowCells cells_;
  NewFlows new_flows_;
  TrackedPackets tracked_;

  uint8_t place_flags_ = 0;       // of the batch: see TriggerProgram::PlaceFlagsOf()
  uint64_t chunk_bytes_ = 0;      // on the wire
  uint32_t tracked_packets_ = 0;  // of the chunk: a bit for each that its connection must see
  Slots slots_;

  // See ProcessInSeats().
  int seat_pause_ = 0;
  int seat_debt_ = 0;

  // In a flood, of the chunk.
  FloodFlags flags_{};
  uint32_t in_turn_ = 0;       // a bit for each packet whose flow has its turn: see NewFlows
  bool has_spilled_ = false;   // a bucket: a flow that seems present may be new
  bool is_all_plain_ = false;  // no packet has anything in general_ yet
  Frame present_frames_[kChunk];

  GeneralSlot general_[kChunk];
  alignas(8) uint8_t extensions_[kChunk * kMaxExtensionBytes];
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_MATCH_SCATTER_H
