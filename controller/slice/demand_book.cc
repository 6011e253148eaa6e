// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/slice/demand_book.h"

#include <algorithm>

namespace trumpet {

void DemandBook::Measured(const Prefix& prefix, int64_t rate_bps, Nanos now) {
  const std::string key = PrintPrefix(prefix);
  if (peaks_.size() >= kMaxPrefixes && peaks_.count(key) == 0) MakeRoom(now);
  Peaks& peaks = peaks_[key];
  while (!peaks.empty() && peaks.back().rate_bps <= rate_bps) peaks.pop_back();
  peaks.push_back({now, rate_bps});
}

std::optional<Demand> DemandBook::Estimate(const Prefix& prefix, Nanos now) {
  const auto found = peaks_.find(PrintPrefix(prefix));
  if (found != peaks_.end()) {
    Peaks& peaks = found->second;
    while (!peaks.empty() && peaks.front().at + memory_ <= now) peaks.pop_front();
    if (!peaks.empty()) return Demand{peaks.front().rate_bps, "slices"};
    peaks_.erase(found);
  }
  for (DemandSource* source : sources_) {
    const auto rate = source->RateOf(prefix, now);
    if (rate) return Demand{*rate, source->name()};
  }
  return std::nullopt;
}

// Those that are too old, or else the one that was measured longest ago.
void DemandBook::MakeRoom(Nanos now) {
  auto oldest = peaks_.begin();
  for (auto entry = peaks_.begin(); entry != peaks_.end();) {
    const Nanos last = entry->second.back().at;
    if (last + memory_ <= now) {
      if (oldest == entry) ++oldest;
      entry = peaks_.erase(entry);
      if (oldest == peaks_.end()) oldest = peaks_.begin();
      continue;
    }
    if (last < oldest->second.back().at) oldest = entry;
    ++entry;
  }
  if (peaks_.size() >= kMaxPrefixes) peaks_.erase(oldest);
}

}  // namespace trumpet
