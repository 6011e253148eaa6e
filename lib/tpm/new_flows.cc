// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/new_flows.h"

#include <cstring>

namespace trumpet {

FlowIndex NewFlows::Add(const ParsedPacket& packet, const FlowKey& entry_key,
                        const uint8_t* extension, uint64_t hash) {
  Generation& generation = *epoch_->running;
  const TriggerProgram& program = *generation.program;
  const size_t matches = program.index().Match(packet, FlowOf(entry_key), generation.marks.data(),
                                               generation.matches.data());
  const uint32_t set_index =
      generation.sets.Intern(program, generation.matches.data(), static_cast<uint32_t>(matches));
  if (set_index == kNoSet) return kNoFlow;
  const SetProgram& set_program = generation.sets.ProgramAt(set_index);
  const size_t extension_bytes = program.layout().extension_bytes();
  const size_t block_bytes = extension_bytes + 2 * sizeof(uint64_t) * set_program.bank_words;
  const FlowIndex flow =
      flows_->Add(entry_key, hash, generation.number, block_bytes, epoch_->oldest_pending);
  if (flow == kNoFlow) return kNoFlow;
  FlowEntry& entry = flows_->At(flow);
  entry.set = set_index;
  entry.direct_cells = set_program.direct_cells;
  if (extension_bytes != 0) std::memcpy(flows_->BlockOf(entry), extension, extension_bytes);
  counters_->flows_added++;
  return flow;
}

}  // namespace trumpet
