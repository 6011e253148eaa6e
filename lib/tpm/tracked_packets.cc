// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/tracked_packets.h"

#include "lib/model/report.h"

namespace trumpet {
namespace {

constexpr uint64_t kNoOwner = UINT64_MAX;

uint64_t OwnerOf(FlowIndex flow, uint32_t hash) { return uint64_t{hash} << 32 | flow; }

}  // namespace

PacketFacts TrackedPackets::Observe(FlowIndex entry_of_flow, const FlowKey& flow, uint64_t hash,
                                    const ParsedPacket& packet, Nanos now) {
  FlowEntry* entry = entry_of_flow == kNoFlow ? nullptr : &flows_->At(entry_of_flow);
  const ConnectionRef hint = entry == nullptr ? kNoConnection : entry->connection;
  // Flows without an entry are many, if there are any: they must not push out connections.
  const ConnectionRef connection = entry == nullptr ? connections_->FindKnown(flow, hash)
                                                    : connections_->Find(flow, hash, hint, now);
  if (entry != nullptr) entry->connection = connection;
  PacketFacts facts;
  RttSample sample;
  const TriggerProgram& program = *epoch_->running->program;
  const uint64_t owner = entry == nullptr ? kNoOwner : OwnerOf(entry_of_flow, entry->hash);
  if (connection == kNoConnection) {
    epoch_->reasons |= kConnectionEvicted;
  } else if (connections_->Observe(connection, packet, program.tracks_tcp(), now, owner, &facts,
                                   &sample) &&
             program.uses_rtt()) {
    CountSample(sample);
  }
  return facts;
}

// An RTT sample belongs to the flow of the acknowledged segment, which may be any flow.
void TrackedPackets::CountSample(const RttSample& sample) {
  counters_->rtt_samples++;
  const auto flow = static_cast<FlowIndex>(sample.owner);
  const bool has_owner = sample.owner != kNoOwner && flows_->IsInUse(flow) &&
                         flows_->At(flow).hash == sample.owner >> 32;
  Generation* generation = has_owner ? epoch_->GenerationOf(flows_->At(flow)) : nullptr;
  if (generation == nullptr) {
    counters_->rtt_samples_orphaned++;
    epoch_->reasons |= kFlowTableFull;
    return;
  }
  cells_->CountSample(flow, generation, sample);
}

}  // namespace trumpet
