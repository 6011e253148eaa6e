// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/match_scatter.h"

#include <algorithm>
#include <cstring>

#include "lib/model/report.h"

namespace trumpet {
namespace {

constexpr int kPrefetchFrames = 4;
constexpr PacketFacts kNoFacts;

}  // namespace

void MatchScatter::Process(const Frame* frames, int count, const Arrival& arrival, Nanos now) {
  epoch_->packets += static_cast<uint64_t>(count);
  for (int done = 0; done < count; done += kChunk) {
    ProcessChunk(frames + done, std::min(kChunk, count - done), arrival, now);
  }
}

void MatchScatter::ProcessChunk(const Frame* frames, int count, const Arrival& arrival, Nanos now) {
  for (int i = 0; i < std::min(count, kPrefetchFrames); i++) __builtin_prefetch(frames[i].data);
  for (int i = 0; i < count; i++) {
    if (i + kPrefetchFrames < count) __builtin_prefetch(frames[i + kPrefetchFrames].data);
    Prepare(frames[i], arrival, i);
  }
  for (int i = 0; i < count; i++) Guess(i);
  for (int i = 0; i < count; i++) Count(i, now);
}

// What of an IPv4 key is not zero are two words; the second tells IPv4 keys from all others.
inline uint64_t MatchScatter::HashOf(const FlowKey& entry_key) const {
  uint64_t words[5];
  std::memcpy(words, &entry_key, sizeof words);
  if ((entry_key.ip_family & ~kHasPortsFlag) == 4) {
    return pair_hash_(words[0] | words[2] << 32, words[4]);
  }
  return HashBytes(words, sizeof words, hash_seed_);
}

// First pass: fields, keys, hashes; prefetches the flow table's bucket and the connection.
inline void MatchScatter::Prepare(const Frame& frame, const Arrival& arrival, int i) {
  const TriggerProgram& program = *epoch_->running->program;
  Slot& slot = slots_[i];
  slot.packet.has_in_port = arrival.has_in_port;
  slot.packet.in_port = arrival.in_port;
  ParsePacket(frame, parse_, &slot.packet);
  if (slot.packet.innermost.present == 0) counters_->undecodable++;
  if (slot.packet.depth_exceeded) counters_->tunnels_too_deep++;

  slot.entry_key = EntryKeyOf(slot.packet, arrival.zone);
  slot.hash = HashOf(slot.entry_key);
  const size_t extension_bytes = program.layout().extension_bytes();
  if (extension_bytes != 0) {
    program.layout().FillExtension(slot.packet, ExtensionOf(i));
    slot.hash = HashBytes(ExtensionOf(i), extension_bytes, slot.hash);
  }
  flows_->Prefetch(slot.hash);

  const Headers& headers = slot.packet.innermost;
  const bool is_tcp = headers.protocol == kProtocolTcp;
  slot.is_tracked =
      headers.ip_family != 0 && ((program.tracks_tcp() && is_tcp) || program.tracks_bursts());
  if (slot.is_tracked) {
    slot.flow = FlowOf(slot.entry_key);
    slot.connection_hash = connections_->HashOf(slot.flow);
    connections_->Prefetch(slot.connection_hash);
  }
}

// Second pass: prefetches the entry and its cells.
inline void MatchScatter::Guess(int i) {
  Slot& slot = slots_[i];
  slot.guess = flows_->Guess(slot.hash);
  if (slot.guess != kNoFlow) flows_->PrefetchFlow(slot.guess);
}

// Third pass: the flow's entry, the connection, the cells.
inline void MatchScatter::Count(int i, Nanos now) {
  const Slot& slot = slots_[i];
  const FlowIndex flow = FindOrAddFlow(i);
  if (slot.is_tracked) {
    CountTracked(flow, slot, now);
  } else {
    CountPacket(flow, slot.packet, kNoFacts);
  }
}

void MatchScatter::CountTracked(FlowIndex flow, const Slot& slot, Nanos now) {
  CountPacket(flow, slot.packet,
              tracked_.Observe(flow, slot.flow, slot.connection_hash, slot.packet, now));
}

inline FlowIndex MatchScatter::FindOrAddFlow(int i) {
  const Slot& slot = slots_[i];
  const uint16_t generation = epoch_->running->number;
  const size_t extension_bytes = epoch_->running->program->layout().extension_bytes();
  if (slot.guess != kNoFlow && flows_->IsFlow(slot.guess, slot.entry_key, ExtensionOf(i),
                                              extension_bytes, slot.hash, generation)) {
    return slot.guess;
  }
  const FlowIndex flow =
      flows_->Find(slot.entry_key, ExtensionOf(i), extension_bytes, slot.hash, generation);
  return flow != kNoFlow ? flow
                         : new_flows_.Add(slot.packet, slot.entry_key, ExtensionOf(i), slot.hash);
}

inline void MatchScatter::CountPacket(FlowIndex flow, const ParsedPacket& packet,
                                      const PacketFacts& facts) {
  if (flow == kNoFlow) {
    counters_->uncounted_packets++;
    counters_->uncounted_bytes += packet.bytes;
    epoch_->reasons |= kFlowTableFull;
    return;
  }
  if (cells_.CountPacket(flow, packet, facts)) counters_->matched_packets++;
}

}  // namespace trumpet
