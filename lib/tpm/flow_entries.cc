// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/flow_entries.h"

#include <cstring>

namespace trumpet {

uint32_t MatchTriggers(const ParsedPacket& packet, const FlowKey& entry_key,
                       Generation* generation) {
  const TriggerProgram& program = *generation->program;
  const size_t matches = program.index().Match(packet, FlowOf(entry_key), generation->marks.data(),
                                               generation->matches.data());
  return static_cast<uint32_t>(
      program.KeepCounted(packet, entry_key, generation->matches.data(), matches));
}

uint32_t MatchSet(const ParsedPacket& packet, const FlowKey& entry_key, Generation* generation) {
  const uint32_t counted = MatchTriggers(packet, entry_key, generation);
  return generation->sets.Intern(generation->matches.data(), counted);
}

FlowIndex AddEntry(const ParsedPacket& packet, const FlowKey& entry_key, const uint8_t* extension,
                   uint64_t hash, uint32_t set, const Generation& generation,
                   uint32_t oldest_pending_epoch, FlowTable* flows) {
  const SetProgram& program = generation.sets.ProgramAt(set);
  const size_t extension_bytes = generation.program->layout().extension_bytes();
  const size_t block_bytes = extension_bytes + 2 * sizeof(uint64_t) * program.bank_words;
  const FlowIndex flow =
      flows->Add(entry_key, hash, generation.number, block_bytes, oldest_pending_epoch);
  if (flow == kNoFlow) return kNoFlow;
  FlowEntry& entry = flows->At(flow);
  entry.set = set;
  entry.direct_cells = program.direct_cells;
  if (packet.innermost.ip_family == 6) entry.direct_cells |= kWideKey;
  if (extension_bytes != 0) std::memcpy(flows->BlockOf(entry), extension, extension_bytes);
  return flow;
}

}  // namespace trumpet
