// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Paths: what the IGP makes of a region such as [A -> D].

#ifndef TRUMPET_CONTROLLER_PLAN_SLICE_PATHS_H
#define TRUMPET_CONTROLLER_PLAN_SLICE_PATHS_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "controller/plan/slice/network.h"

namespace trumpet::slice {

using Path = std::vector<int>;

// Of one region.  Equal-cost paths multiply from arrow to arrow.
constexpr size_t kMaxPaths = 10'000;
constexpr size_t kMaxPathRouters = 1'000'000;  // of all paths of a region together

// An arrow or a router.
struct RegionStep {
  std::optional<int> router;  // none: an arrow
};

// Where traffic enters and leaves: what an arrow at the start and one at the end stand for.
struct PathEnds {
  std::vector<int> ingresses;
  std::vector<int> egresses;
};

// Distances of all routers to one, found when somebody asks first: regions and prefixes of a
// campaign ask for the same ends.  The network must outlive it, and stay as it is.
class Distances {
 public:
  explicit Distances(const Network& network) : network_(network) {}

  // By router; valid until the next call.
  const std::vector<uint64_t>& To(int router);
  uint64_t search_count() const { return search_count_; }

 private:
  static constexpr size_t kMaxKept = 8'000'000;  // 64 MB; what is beyond is found anew

  const Network& network_;
  std::map<int, std::vector<uint64_t>> kept_;
  std::vector<uint64_t> last_;
  uint64_t search_count_ = 0;
};

// All shortest paths by weight; none when the routers are not connected.  The error: more than
// `max_paths`.
Result<std::vector<Path>> ShortestPaths(const Network& network, int from, int to,
                                        size_t max_paths = kMaxPaths);

// All paths of the region: routers next to each other are linked, an arrow stands for every
// equal-cost shortest path.  A first or last arrow stands for those from every ingress or to every
// egress that there is a way from or to; [->] for those from each ingress to every other egress.
// A path may visit a router twice when its arrows overlap; whoever needs simple paths checks.
Result<std::vector<Path>> ResolveRegion(const Network& network,
                                        const std::vector<RegionStep>& region,
                                        const PathEnds& ends);
// The same, for more than one region.
Result<std::vector<Path>> ResolveRegion(const Network& network,
                                        const std::vector<RegionStep>& region, const PathEnds& ends,
                                        Distances* distances);

}  // namespace trumpet::slice

#endif  // TRUMPET_CONTROLLER_PLAN_SLICE_PATHS_H
