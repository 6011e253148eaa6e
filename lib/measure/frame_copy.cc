// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/frame_copy.h"

namespace trumpet {

void ReadFrameCopy(const FrameCopy& frame, const BurstCopy& copy, PacketValues* values) {
  ReadPacketValues({frame.data, frame.bytes, frame.wire_length}, values);
  PlaceReceived(frame.place, values);
  for (const PlainTag& tag : copy.tags) {
    if (!values->Has(tag.field) && !tag.makes_present) continue;
    const uint64_t value = tag.is_of_field ? values->value[tag.from] : tag.constant;
    values->Set(tag.field, value & tag.mask);
  }
}

}  // namespace trumpet
