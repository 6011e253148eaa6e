// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/admission_filter.h"

#include <algorithm>

namespace trumpet {

bool AdmissionFilter::Init(size_t flows, PageSource* source) {
  line_mask_ = LinesFor(flows) - 1;
  return lines_.Allocate(LinesFor(flows), source);
}

void AdmissionFilter::Age(Line* line) const {
  const uint32_t rounds = std::min(round_ - line->round, 16u);
  if (rounds != 0) {
    for (uint16_t& score : line->scores) score = static_cast<uint16_t>(uint32_t{score} >> rounds);
    line->round = round_;
  }
  if (rounds != 0 || line->epoch != epoch_) {
    line->epoch = epoch_;
    line->packets = 0;
  }
}

// The place goes to the first who comes, and on from a flow that sent a single packet.
void AdmissionFilter::Note(uint32_t tag, uint32_t bytes, uint32_t volume, Line* line) {
  if (line->packets > 1 && line->tag != tag) return;
  if (line->packets == 0 || line->tag != tag) {
    line->tag = tag;
    line->packets = 0;
    line->bytes = 0;
    line->volume = 0;
  }
  line->packets++;
  line->bytes += bytes;
  line->volume += volume;
}

bool AdmissionFilter::Offer(uint64_t hash, uint32_t bytes, uint32_t volume, uint32_t threshold,
                            Withheld* credit) {
  const uint64_t spread = Spread(hash);
  Line& line = lines_[LineOf(spread)];
  const auto tag = static_cast<uint32_t>(hash);
  Age(&line);
  uint16_t& first = line.scores[spread % kRowCells];
  uint16_t& second = line.scores[kRowCells + spread / kRowCells % kRowCells];
  const uint32_t units = std::max(bytes, 1u) / kUnitBytes + (bytes % kUnitBytes != 0 ? 1 : 0);
  const uint32_t score = std::min(std::min(first, second) + std::max(units, 1u), kMaxUnits);
  // Conservative: a counter that is already higher owes that to other flows.
  first = std::max(first, static_cast<uint16_t>(score));
  second = std::max(second, static_cast<uint16_t>(score));
  if (score < threshold) {
    Note(tag, bytes, volume, &line);
    return false;
  }
  *credit = Withheld{};
  if (line.packets != 0 && line.tag == tag) {
    *credit = {line.packets, line.bytes, line.volume};
    line.packets = 0;
  }
  return true;
}

}  // namespace trumpet
