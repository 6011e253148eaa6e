// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/next_flows.h"

#include <x86intrin.h>

#include <algorithm>

#include "lib/tpm/flow_entries.h"

namespace trumpet {

bool NextFlows::Prepare(Generation* next, const Frame* frames, int count, const Arrival& arrival) {
  bool has_matched = false;
  const uint64_t begin = __rdtsc();
  for (int i = std::min(count, kMaxLooks); i > 0; i--) {
    random_ = random_ * 6364136223846793005u + 1442695040888963407u;
    const auto chosen = (random_ >> 32) * static_cast<uint64_t>(count) >> 32;
    if (!PrepareOne(next, frames[chosen], arrival)) continue;
    has_matched = true;
    if (__rdtsc() - begin > kMaxCycles) break;
  }
  return has_matched;
}

// True if the flow was matched.  The very first one gets no entry yet: code and tables that nobody
// has been to for long would take a batch twice as long as later flows may.
bool NextFlows::PrepareOne(Generation* next, const Frame& frame, const Arrival& arrival) {
  packet_.has_in_port = arrival.has_in_port;
  packet_.in_port = arrival.in_port;
  ParsePacket(frame, parse_, &packet_);
  if (!IsKnown(arrival)) return false;
  const TriggerProgram& program = *next->program;
  const uint64_t hash = MakeKey(program, arrival);
  const FlowIndex flow =
      flows_->Find(entry_key_, extension_, program.layout().extension_bytes(), hash, next->number);
  if (flow != kNoFlow) return false;
  if (next->was_tried) return Add(next, hash);
  next->was_tried = true;
  MatchTriggers(packet_, entry_key_, next);
  return true;
}

uint64_t NextFlows::MakeKey(const TriggerProgram& program, const Arrival& arrival) {
  const uint8_t flags = program.PlaceFlagsOf(arrival.has_in_port, arrival.in_port);
  entry_key_ = EntryKeyOf(packet_, arrival.zone, program.PlaceFlagsOf(packet_, flags));
  return HashOfEntry(key_hash_, entry_key_, packet_, program.layout(), extension_);
}

// Flows that the running program has no entry for may be there for one packet only, or be held
// back.  A program without triggers has none at all.
bool NextFlows::IsKnown(const Arrival& arrival) {
  if (epoch_->running == nullptr || epoch_->running->program->plans().empty()) return true;
  const TriggerProgram& program = *epoch_->running->program;
  const uint64_t hash = MakeKey(program, arrival);
  return flows_->Find(entry_key_, extension_, program.layout().extension_bytes(), hash,
                      epoch_->running->number) != kNoFlow;
}

bool NextFlows::Add(Generation* next, uint64_t hash) {
  const uint32_t set = MatchSet(packet_, entry_key_, next);
  const FlowIndex flow =
      AddEntry(packet_, entry_key_, extension_, hash, set, *next, epoch_->oldest_pending, flows_);
  if (flow == kNoFlow) return false;
  // As if its last packet had been just now: the table may give it up when it stays idle.
  flows_->At(flow).last_epoch = epoch_->number;
  counters_->flows_prepared++;
  return true;
}

}  // namespace trumpet
