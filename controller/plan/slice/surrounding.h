// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Surroundings: where to watch for packets that leave a CONFINE region.
//
// Level 0, edge (Theorem 2): every link out of the region.
// Level 1, node: every router outside that is next to the region.
// Level 2, optimal (Theorem 3): a smallest set of routers outside the region that every simple path
// crosses which starts in the region, goes through a router outside and ends at an egress; valid
// where forwarding neither loops nor drops.  Egress routers may be chosen.
//
// With no egress in the region all of it counts as one end of a minimum vertex cut.  With one, a
// packet that left at one router may come back at another, so all routers of the region have to be
// kept apart from each other and from the egresses: a multiway cut.

#ifndef TRUMPET_CONTROLLER_PLAN_SLICE_SURROUNDING_H
#define TRUMPET_CONTROLLER_PLAN_SLICE_SURROUNDING_H

#include <cstdint>
#include <utility>
#include <vector>

#include "controller/plan/slice/network.h"
#include "controller/plan/slice/packing.h"

namespace trumpet::slice {

// Links from a router of the region to one outside, in the order of the region.
std::vector<std::pair<int, int>> EdgeSurrounding(const Network& network,
                                                 const std::vector<int>& region);
// Rising.
std::vector<int> NodeSurrounding(const Network& network, const std::vector<int>& region);

enum class SurroundingProof : uint8_t {
  kNothingToCut,  // no packet that left can be delivered
  kFlow,          // as many disjoint paths as routers (Menger)
  kBranching,     // branch and bound looked everywhere
  kNone,          // branchings or time ran out: valid, perhaps not smallest
};

struct OptimalSurrounding {
  std::vector<int> routers;  // rising
  SurroundingProof proof = SurroundingProof::kNothingToCut;
  uint64_t branchings = 0;
  bool has_egress_inside = false;
};

const char* NameOf(SurroundingProof proof);

// Is there a router in it, and a way between any two inside of it?
Status CheckRegion(const Network& network, const std::vector<int>& region);

// `region` has passed CheckRegion() and has no doubles; neither has `egresses`.  At the deadline
// the best that was found counts.
OptimalSurrounding FindOptimalSurrounding(const Network& network, const std::vector<int>& region,
                                          const std::vector<int>& egresses, Deadline deadline);

}  // namespace trumpet::slice

#endif  // TRUMPET_CONTROLLER_PLAN_SLICE_SURROUNDING_H
