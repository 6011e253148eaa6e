// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Matching: which copies, made by several routers, are of one packet, and did it follow its path?
//
// Copies belong together if their identities are equal, they arrive within `window`, and their TTLs
// drop from router to router by exactly the hops between them.  A packet has at most one copy from
// each router; where several packets are identical in every byte that counts, copies are given to
// them in the order of arrival, which keeps their number right.  Copies whose TTLs do not fit are
// of a packet that left the path, or came back to it: they count as its detour.
//
// Threads: pure function.

#ifndef TRUMPET_CONTROLLER_ANALYZER_COPY_MATCHING_H
#define TRUMPET_CONTROLLER_ANALYZER_COPY_MATCHING_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/base/units.h"

namespace trumpet {

constexpr size_t kMaxMatchedLocations = 64;

// A copy of a slice along a path.
struct SeenCopy {
  Uint128 identity = 0;
  uint64_t flow = 0;      // hash of the 5-tuple
  Nanos time = 0;         // arrival
  uint16_t location = 0;  // position among those that copy, from the ingress on
  uint8_t ttl = 0;
};

struct MatchedPacket {
  Uint128 identity = 0;
  uint64_t flow = 0;
  Nanos time = 0;       // of its first copy on the path
  uint64_t seen = 0;    // bit i: by location i, on the path
  uint64_t detour = 0;  // bit i: by location i, with another TTL

  bool IsSeenAt(size_t location) const { return (seen >> location & 1) != 0; }
  bool IsStrayAt(size_t location) const { return (detour >> location & 1) != 0; }
};

struct MatchedPackets {
  size_t location_count = 0;
  std::vector<MatchedPacket> packets;  // by time
  std::vector<Nanos> times;  // location_count for each packet; of copies that are not there: 0

  Nanos TimeAt(size_t packet, size_t location) const {
    return times[packet * location_count + location];
  }
};

// `hops` of each location: routers of the path before it, rising; at most kMaxMatchedLocations.
MatchedPackets MatchCopies(std::vector<SeenCopy> copies, const std::vector<uint16_t>& hops,
                           Nanos window);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_ANALYZER_COPY_MATCHING_H
