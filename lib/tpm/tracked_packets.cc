// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/tracked_packets.h"

#include "lib/model/report.h"

namespace trumpet {
namespace {

constexpr uint64_t kNoOwner = UINT64_MAX;
constexpr int kMessagesAtATime = 64;  // twice a batch

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
    return facts;
  }
  const bool has_sample =
      connections_->Observe(connection, packet, program.tracks_tcp(), now, owner, &facts, &sample);
  if (has_sample && program.uses_rtt()) CountSample(sample, epoch_->span.start);
  if (peers_.is_active() && program.tracks_tcp() && flow.protocol == kProtocolTcp) {
    peers_.OnPacket(connection, flow, hash, packet.tcp, now);
    if (facts.lacks_history) epoch_->reasons |= kSplitConnection;
  }
  return facts;
}

void TrackedPackets::Join(PeerExchange* exchange, SpscRing* ring) {
  if (exchange == nullptr) return;
  late_ = std::make_unique<LateSamples>(flows_, ring);
  peers_.Join(exchange);
}

bool TrackedPackets::TakeInPeers(Nanos until) {
  const bool is_wanted = epoch_->running != nullptr && epoch_->running->program->tracks_tcp();
  for (int i = 0; i < kMessagesAtATime; i++) {
    const PeerMessage* message = peers_.Next(until);
    if (message == nullptr) return true;
    RttSample sample;
    if (!is_wanted) {
      peers_.Decline(*message);
    } else if (peers_.TakeIn(*message, &sample) && epoch_->running->program->uses_rtt()) {
      TakeInSample(sample, message->time);
    }
    if (is_wanted) epoch_->packets++;
    counters_->peer_messages_taken++;
    peers_.Pop();
  }
  return peers_.Next(until) == nullptr;
}

// A sample belongs to the flow of the acknowledged segment, which may be any flow.  Null: it has
// been given up, and the sample is counted as orphaned.  A flow that sent nothing since a change of
// events is still one of the events before: those that are new lack the sample.
Generation* TrackedPackets::GenerationOf(const RttSample& sample, Nanos time) {
  counters_->rtt_samples++;
  const auto flow = static_cast<FlowIndex>(sample.owner);
  const bool has_owner = sample.owner != kNoOwner && flows_->IsInUse(flow) &&
                         flows_->At(flow).hash == sample.owner >> 32;
  Generation* generation = has_owner ? epoch_->GenerationOf(flows_->At(flow)) : nullptr;
  if (generation == nullptr) {
    counters_->rtt_samples_orphaned++;
    epoch_->Mark(time, sample.owner == kNoOwner ? kFlowTableFull : kConnectionEvicted);
  } else if (generation == epoch_->previous && epoch_->adds_rtt_events) {
    epoch_->Mark(time, kConnectionEvicted);
  } else if (generation->sets.ProgramAt(flows_->At(flow).set).is_cut) {
    epoch_->Mark(time, kFlowTableFull);
  }
  return generation;
}

void TrackedPackets::CountSample(const RttSample& sample, Nanos time) {
  Generation* generation = GenerationOf(sample, time);
  if (generation == nullptr) return;
  cells_->CountSample(static_cast<FlowIndex>(sample.owner), generation, sample);
}

// Of what another thread saw, perhaps before the open epoch; our own packets are never late.
void TrackedPackets::TakeInSample(const RttSample& sample, Nanos time) {
  if (time >= epoch_->span.start) {
    CountSample(sample, time);
  } else {
    DeliverLate(sample, time);
  }
}

void TrackedPackets::DeliverLate(const RttSample& sample, Nanos time) {
  const Generation* generation = GenerationOf(sample, time);
  if (generation == nullptr) return;
  counters_->late_samples++;
  if (!late_->Deliver(static_cast<FlowIndex>(sample.owner), *generation, sample, time)) {
    epoch_->Mark(time, kRingFull);
  }
}

}  // namespace trumpet
