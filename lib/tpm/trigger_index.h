// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// TriggerIndex: which triggers a packet matches.  Asked once per flow table entry.
//
// Tuple space search (paper, section 5): one hash table per distinct mask over the 5-tuple, holding
// the triggers with a term under that mask; candidates are then tested against their whole filter.
//
// Threads: immutable once made.  Cost: one probe per distinct mask, no allocation.

#ifndef TRUMPET_LIB_TPM_TRIGGER_INDEX_H
#define TRUMPET_LIB_TPM_TRIGGER_INDEX_H

#include <cstdint>
#include <memory>
#include <vector>

#include "lib/model/filter.h"
#include "lib/packet/flow_key.h"
#include "lib/packet/parsed_packet.h"

namespace trumpet {

class TriggerIndex {
 public:
  // filters[i] is the filter of trigger i.  The pointers must outlive the index.
  static TriggerIndex For(const std::vector<const FilterExpr*>& filters);

  // Writes the matching triggers in rising order, each once, to `matches`, which has room for
  // trigger_count(); `marks` is scratch of mark_word_count() zero words and is zero again
  // afterwards.  Returns their number.
  size_t Match(const ParsedPacket& packet, const FlowKey& flow, uint64_t* marks,
               uint32_t* matches) const;

  size_t trigger_count() const { return filters_.size(); }
  size_t mark_word_count() const { return (filters_.size() + 63) / 64; }
  size_t mask_count() const { return tuples_.size(); }

 private:
  // Triggers that share a masked value lie next to one another in triggers_.
  struct Slot {
    FlowKey value;
    uint32_t first = 0;
    uint32_t count = 0;  // 0: empty slot
  };
  struct Tuple {
    FlowKey mask;
    std::vector<Slot> slots;  // open addressing, a power of two, at most half full
  };

  const Slot* Find(const Tuple& tuple, const FlowKey& masked) const;

  std::vector<const FilterExpr*> filters_;
  std::vector<Tuple> tuples_;
  std::vector<uint32_t> triggers_;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_TRIGGER_INDEX_H
