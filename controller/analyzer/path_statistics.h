// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Path statistics: what the matched packets of slices along a path say of the path: how much it
// loses, what share of the traffic takes it, and how long it takes.  Lost copies are told from lost
// packets (docs/adr/0020).
//
// Threads: pure functions.

#ifndef TRUMPET_CONTROLLER_ANALYZER_PATH_STATISTICS_H
#define TRUMPET_CONTROLLER_ANALYZER_PATH_STATISTICS_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "controller/analyzer/copy_matching.h"
#include "controller/analyzer/estimates.h"
#include "lib/base/units.h"
#include "lib/model/slice_copies.h"

namespace trumpet {

// Counts of packets.  Those of several slots add up.
struct PathCounts {
  uint64_t packets = 0;   // all that were seen
  uint64_t followed = 0;  // copies from every location, with the right TTLs
  uint64_t strayed = 0;   // seen with another TTL, or leaving the region of a CONFINE query

  uint64_t entered = 0;  // seen at the first location

  // Of packets between two others of their flow that were seen at both ends: only then was the
  // slice surely on for the flow.  If none was seen at both (not has_ends), of all.
  bool has_ends = false;
  uint64_t ingress = 0;  // seen at the first location, did not stray away
  uint64_t both = 0;     // and at the last one
  // Flows with several packets at the first location, and none at the last one, which copied
  // others.
  uint64_t silent_flows = 0;
  // Chances to see whether a copy is missing: the packet is known to have passed there, between two
  // others of its flow that have a copy.
  uint64_t copy_trials = 0;
  uint64_t copies_missing = 0;
  // Of packets seen at both ends, between two that were seen at all locations between these as
  // well; if there is none (not has_inner), of all.
  bool has_inner = false;
  uint64_t at_ends = 0;
  uint64_t on_path = 0;         // of a flow that was seen there
  uint64_t on_path_single = 0;  // the only packet of its flow

  void Add(const PathCounts& other);
};

// Whether a packet was copied by a CONFINE query as it left the region; may be empty.
using HasLeft = std::function<bool(Uint128 identity)>;

PathCounts CountPath(const MatchedPackets& matched, const HasLeft& has_left);

// A share of packets, each.
struct PathEstimates {
  Estimate copy_loss;  // of copies on their way to the analyzer
  Estimate loss;       // of packets between the first and the last location
  Estimate share;      // of packets between the two that take this path; only with more locations
};
PathEstimates EstimatePath(const PathCounts& counts, size_t location_count, double reach);

// One-way delays between the first and the last location, without synchronised clocks: differences
// of arrival, less those of the latencies that copies from the two routers usually have.  A copy
// that waited longer makes the delay of its packet too low or too high, so nothing is told of
// single packets, and the lowest and the highest delay are not.
struct DelayStatistics {
  uint64_t packets = 0;
  Nanos low = 0;  // of 5 in a hundred packets at most
  Nanos median = 0;
  Nanos high = 0;   // of 95
  Nanos error = 0;  // of each of these, from the latencies'
};
void AddDelays(const MatchedPackets& matched, std::vector<Nanos>* delays);
DelayStatistics DescribeDelays(std::vector<Nanos> delays, const CopyLatency& from,
                               const CopyLatency& to);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_ANALYZER_PATH_STATISTICS_H
