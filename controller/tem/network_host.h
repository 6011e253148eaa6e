// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// NetworkHost: what the verdicts know of a host, whatever the event.
//
// Instants are those of the host's own clock; intervals of all hosts meet by their numbers, so that
// nothing is converted.  How far apart hosts' intervals can lie in truth is bounded by their skew.

#ifndef TRUMPET_CONTROLLER_TEM_NETWORK_HOST_H
#define TRUMPET_CONTROLLER_TEM_NETWORK_HOST_H

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/units.h"
#include "lib/verdict/incomplete_ranges.h"

namespace trumpet {

struct NetworkHost {
  std::string name;
  Nanos ended_until = INT64_MIN;  // all it counted before was delivered
  Nanos ended_at = 0;             // when that last rose, on our clock
  Nanos off_from = INT64_MAX;     // its monitor is switched off since, and delivers nothing
  Nanos skew_bound_ns = 0;
  IncompleteRanges incomplete;                         // for every event
  std::map<uint32_t, IncompleteRanges> incomplete_of;  // for one, by its id
  uint32_t events = 0;                                 // that it is a member of

  uint32_t ReasonsIn(uint32_t event_id, Nanos start, Nanos end) const {
    uint32_t reasons = incomplete.ReasonsIn(start, end);
    const auto own = incomplete_of.find(event_id);
    if (own != incomplete_of.end()) reasons |= own->second.ReasonsIn(start, end);
    return reasons;
  }
};

// By number; null where a host has gone for good.
using NetworkHosts = std::vector<std::unique_ptr<NetworkHost>>;

// What all events together may take, and do.
struct NetworkBudget {
  size_t max_bytes = size_t{512} << 20;  // of cells and flow states that wait for their verdict
  size_t max_buckets = 4u << 20;         // alive
  size_t max_flows = 2u << 20;           // whose state is kept
  size_t bytes = 0;
  size_t buckets = 0;
  size_t flows = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TEM_NETWORK_HOST_H
