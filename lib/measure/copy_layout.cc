// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/copy_layout.h"

namespace trumpet {

void CopyLayout::Become(uint64_t present) {
  present_ = present;
  uint64_t left = present;
  for (const PlainTag& tag : copy_->tags) {
    if (tag.makes_present) left |= uint64_t{1} << tag.field;
  }
  moves_.Become(left);
  tag_count_ = 0;
  for (auto tag = copy_->tags.rbegin(); tag != copy_->tags.rend(); ++tag) {
    const uint64_t bit = uint64_t{1} << tag->field;
    if ((left & bit) == 0) continue;
    left &= ~bit;
    tags_[tag_count_++] = {tag->is_of_field ? tag->mask : 0,
                           tag->is_of_field ? 0 : tag->constant & tag->mask,
                           tag->is_of_field ? tag->from : tag->field, moves_.PlaceOf(tag->field)};
  }
}

}  // namespace trumpet
