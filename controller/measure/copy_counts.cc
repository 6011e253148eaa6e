// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/measure/copy_counts.h"

namespace trumpet {

void CopyCounts::Take(const std::string& host, const ProgramCounts& counts, size_t endpoint_count) {
  Host& known = hosts_[host];
  if (known.since != counts.since_ns) known.before.Add(known.now);
  known.since = counts.since_ns;
  known.now = counts.copies;
  if (known.now.endpoints.size() > endpoint_count) known.now.endpoints.resize(endpoint_count);
}

std::optional<ProgramCopies> CopyCounts::Of(const std::string& host) const {
  const auto known = hosts_.find(host);
  if (known == hosts_.end()) return std::nullopt;
  return known->second.now;
}

ProgramCopies CopyCounts::Total() const {
  ProgramCopies total;
  for (const auto& [name, host] : hosts_) {
    total.Add(host.before);
    total.Add(host.now);
  }
  return total;
}

}  // namespace trumpet
