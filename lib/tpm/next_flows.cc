// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/next_flows.h"

#include <algorithm>
#include <cstring>

#include "lib/base/hash.h"

namespace trumpet {

void NextFlows::Prepare(Generation* next, const Frame* frames, int count, const Arrival& arrival) {
  int additions = 0;
  for (int i = std::min(count, kMaxLooks); i > 0 && additions < kMaxAdditions; i--) {
    random_ = random_ * 6364136223846793005u + 1442695040888963407u;
    const auto chosen = (random_ >> 32) * static_cast<uint64_t>(count) >> 32;
    additions += PrepareOne(next, frames[chosen], arrival);
  }
}

// True if the flow got an entry.
bool NextFlows::PrepareOne(Generation* next, const Frame& frame, const Arrival& arrival) {
  packet_.has_in_port = arrival.has_in_port;
  packet_.in_port = arrival.in_port;
  ParsePacket(frame, parse_, &packet_);
  entry_key_ = EntryKeyOf(packet_, arrival.zone);
  if (!IsKnown()) return false;
  const TriggerProgram& program = *next->program;
  const uint64_t hash = FillExtension(program);
  const FlowIndex flow =
      flows_->Find(entry_key_, extension_, program.layout().extension_bytes(), hash, next->number);
  return flow == kNoFlow && Add(next, hash);
}

// Returns the hash of the entry, which depends on the layout, as in MatchScatter.
uint64_t NextFlows::FillExtension(const TriggerProgram& program) {
  const uint64_t hash = key_hash_(entry_key_);
  const size_t bytes = program.layout().extension_bytes();
  if (bytes == 0) return hash;
  program.layout().FillExtension(packet_, extension_);
  return HashBytes(extension_, bytes, hash);
}

// Flows that the running program has no entry for may be there for one packet only, or be held
// back.  A program without triggers has none at all.
bool NextFlows::IsKnown() {
  if (epoch_->running == nullptr || epoch_->running->program->plans().empty()) return true;
  const TriggerProgram& program = *epoch_->running->program;
  const uint64_t hash = FillExtension(program);
  return flows_->Find(entry_key_, extension_, program.layout().extension_bytes(), hash,
                      epoch_->running->number) != kNoFlow;
}

bool NextFlows::Add(Generation* next, uint64_t hash) {
  const TriggerProgram& program = *next->program;
  const size_t matches =
      program.index().Match(packet_, FlowOf(entry_key_), next->marks.data(), next->matches.data());
  const uint32_t set =
      next->sets.Intern(program, next->matches.data(), static_cast<uint32_t>(matches));
  if (set == kNoSet) return false;
  const SetProgram& set_program = next->sets.ProgramAt(set);
  const size_t extension_bytes = program.layout().extension_bytes();
  const size_t block_bytes = extension_bytes + 2 * sizeof(uint64_t) * set_program.bank_words;
  const FlowIndex flow =
      flows_->Add(entry_key_, hash, next->number, block_bytes, epoch_->oldest_pending);
  if (flow == kNoFlow) return false;
  FlowEntry& entry = flows_->At(flow);
  entry.set = set;
  entry.direct_cells = set_program.direct_cells;
  // As if its last packet had been just now: the table may give it up when it stays idle.
  entry.last_epoch = epoch_->number;
  if (extension_bytes != 0) std::memcpy(flows_->BlockOf(entry), extension_, extension_bytes);
  counters_->flows_prepared++;
  return true;
}

}  // namespace trumpet
