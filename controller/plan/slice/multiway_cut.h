// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// MultiwayCut: a smallest set of nodes that keeps all terminals of a CutGraph apart.
//
// With two terminals that is a minimum vertex cut, by maximum flow.  With more it is hard in
// general and solved by branch and bound: chosen nodes are either in the cut or join the terminal
// next to them.  Between two branchings the graph shrinks: a node next to two terminals is in every
// cut, a terminal's furthest smallest isolating cut may be taken for granted (Chen, Liu and Lu,
// 2009), and parts that fell apart are solved on their own.

#ifndef TRUMPET_CONTROLLER_PLAN_SLICE_MULTIWAY_CUT_H
#define TRUMPET_CONTROLLER_PLAN_SLICE_MULTIWAY_CUT_H

#include <cstdint>
#include <vector>

#include "controller/plan/slice/cut_graph.h"
#include "controller/plan/slice/packing.h"

namespace trumpet::slice {

// Branchings of one cut, some seconds of work on the largest maps; what was found until then, or
// until the deadline, counts.
constexpr uint64_t kMaxBranchings = 200'000;

struct MultiwayCut {
  std::vector<int> routers;  // of the cut, as CutGraph::router names them
  bool is_minimal = true;    // false: branchings or time ran out; a cut all the same
  uint64_t branchings = 0;   // 0: flows alone proved it
};

// What the contraction has chosen already is part of the cut.  Two terminals are worth a flow even
// behind the deadline.
MultiwayCut FindMultiwayCut(const Contraction& contraction, Deadline deadline);

}  // namespace trumpet::slice

#endif  // TRUMPET_CONTROLLER_PLAN_SLICE_MULTIWAY_CUT_H
