// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// TriggerIndex: which triggers a packet matches.  Asked once per flow table entry.
//
// Filters become match terms over the 5-tuple, kept by mask in a pruned tuple space: one for IPv4,
// whose keys are short, and one for all else.  A trigger found by a term that does not say
// everything is tested against its whole filter.
//
// Threads: immutable once made.  Never allocates when asked.  Cost: see bench-monitor --run
// matcher.

#ifndef TRUMPET_LIB_TPM_TRIGGER_INDEX_H
#define TRUMPET_LIB_TPM_TRIGGER_INDEX_H

#include <cstdint>
#include <vector>

#include "lib/model/filter.h"
#include "lib/packet/flow_key.h"
#include "lib/packet/parsed_packet.h"
#include "lib/tpm/tuple_space.h"

namespace trumpet {

class TriggerIndex {
 public:
  // filters[i] is the filter of trigger i.  The pointers must outlive the index.
  static TriggerIndex For(const std::vector<const FilterExpr*>& filters);

  // Writes the matching triggers in rising order, each once, to `matches`, which has room for
  // trigger_count(); `marks` is scratch of mark_word_count() zero words and is zero again
  // afterwards.  `flow` is the packet's, with or without kHasPortsFlag.  Returns their number.
  size_t Match(const ParsedPacket& packet, const FlowKey& flow, uint64_t* marks,
               uint32_t* matches) const;

  // What Match() reads of most packets.
  void AddMemory(CacheWarmer* warmer) const;

  size_t trigger_count() const { return filters_.size(); }
  // A bit per trigger, and a bit per word of these.
  size_t mark_word_count() const { return trigger_words() + (trigger_words() + 63) / 64; }
  // Distinct masks among the terms that an IPv4 packet can satisfy.
  size_t mask_count() const { return ipv4_.tuple_count(); }

 private:
  size_t trigger_words() const { return (filters_.size() + 63) / 64; }
  size_t Collect(uint64_t* marks, uint32_t* matches) const;

  std::vector<const FilterExpr*> filters_;
  TupleSpace<2> ipv4_;
  TupleSpace<5> others_;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_TRIGGER_INDEX_H
