// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What it takes to give a flow its entry in a program: the hash, the set of triggers that want the
// flow, the entry itself.  One place for flows that are new (new_flows.h) and for those matched
// ahead of a change of program (next_flows.h): both must make the same entries.
//
// Threads: one packet thread.  Never allocates.

#ifndef TRUMPET_LIB_TPM_FLOW_ENTRIES_H
#define TRUMPET_LIB_TPM_FLOW_ENTRIES_H

#include <cstdint>

#include "lib/base/hash.h"
#include "lib/tpm/flow_table.h"
#include "lib/tpm/generation.h"
#include "lib/tpm/key_hash.h"
#include "lib/tpm/key_layout.h"

namespace trumpet {

// The hash of the entry of `packet`, and its extension, which has room for kMaxExtensionBytes.
inline uint64_t HashOfEntry(const KeyHash& key_hash, const FlowKey& entry_key,
                            const ParsedPacket& packet, const KeyLayout& layout,
                            uint8_t* extension) {
  const uint64_t hash = key_hash(entry_key);
  if (layout.extension_bytes() == 0) return hash;
  layout.FillExtension(packet, extension);
  return HashBytes(extension, layout.extension_bytes(), hash);
}

// Matches the flow of `packet` against all triggers; how many of generation->matches count it.
uint32_t MatchTriggers(const ParsedPacket& packet, const FlowKey& entry_key,
                       Generation* generation);

// The set of those, or the refused one.
uint32_t MatchSet(const ParsedPacket& packet, const FlowKey& entry_key, Generation* generation);

// An entry of the flow in `generation`, with `set`; kNoFlow: the table is full.
FlowIndex AddEntry(const ParsedPacket& packet, const FlowKey& entry_key, const uint8_t* extension,
                   uint64_t hash, uint32_t set, const Generation& generation,
                   uint32_t oldest_pending_epoch, FlowTable* flows);

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_FLOW_ENTRIES_H
