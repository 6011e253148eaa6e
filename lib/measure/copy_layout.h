// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// CopyLayout: what a plain copy (BurstCopy::is_plain) is collected as, worked out once for all
// packets that have the same fields.
//
// Threads: values.

#ifndef TRUMPET_LIB_MEASURE_COPY_LAYOUT_H
#define TRUMPET_LIB_MEASURE_COPY_LAYOUT_H

#include "lib/measure/collected_ring.h"
#include "lib/measure/compiled_program.h"

namespace trumpet {

class CopyLayout {
 public:
  explicit CopyLayout(const BurstCopy& copy) : copy_(&copy) { Become(0); }

  void Become(uint64_t present);

  uint64_t present() const { return present_; }
  uint32_t endpoint() const { return copy_->endpoint; }
  const FieldMoves& moves() const { return moves_; }
  // Straight from the packet, with the tags in place of what it has.
  void Fill(const PacketValues& packet, uint8_t* values) const {
    moves_.Copy(packet, values);
    for (uint32_t i = 0; i < tag_count_; ++i) {
      const Tag& tag = tags_[i];
      tag.place.Store((packet.value[tag.from] & tag.mask) | tag.constant, values);
    }
  }

 private:
  // The last one of a field.
  struct Tag {
    uint64_t mask;  // of what is taken from the field `from`
    uint64_t constant;
    MeasureFieldId from;
    RecordPlace place;
  };

  const BurstCopy* copy_;
  uint64_t present_ = 0;
  FieldMoves moves_;
  uint32_t tag_count_ = 0;
  Tag tags_[kMaxPacketFields];
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_COPY_LAYOUT_H
