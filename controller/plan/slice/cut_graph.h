// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// CutGraph: the routers outside a region that a surrounding may choose from, and which terminal
// each of them is next to.  A cut is a set of these routers without which no path joins two
// different terminals.
//
// Terminals are routers of the region, or all egress routers together; they cannot be chosen.

#ifndef TRUMPET_CONTROLLER_PLAN_SLICE_CUT_GRAPH_H
#define TRUMPET_CONTROLLER_PLAN_SLICE_CUT_GRAPH_H

#include <cstddef>
#include <vector>

namespace trumpet::slice {

constexpr int kNoTerminal = -1;

struct CutGraph {
  std::vector<std::vector<int>> near;  // by node; symmetric, no doubles
  std::vector<int> terminal;           // by node; at most one each
  std::vector<int> router;             // by node: its number outside

  int size() const { return static_cast<int>(router.size()); }
};

// A graph with some nodes taken out of it, in place: they are chosen, or have joined a terminal.
//
// A node that comes to be next to two terminals lies on a path of its own and is chosen at once.
class Contraction {
 public:
  explicit Contraction(CutGraph graph);

  // The node goes to `chosen`.
  void Choose(int node);
  // The node is never chosen: it becomes part of this terminal, which is next to it or is joined
  // by what else the caller contracts.
  void Join(int node, int terminal);
  // Makes `node` next to `terminal`.
  void Touch(int node, int terminal);

  const CutGraph& graph() const { return graph_; }
  bool IsLeft(int node) const { return is_left_[static_cast<size_t>(node)]; }
  const std::vector<int>& chosen() const { return chosen_; }  // routers, not nodes

  // The connected parts of what is left that touch at least two terminals.
  std::vector<CutGraph> Parts() const;

 private:
  CutGraph graph_;
  std::vector<bool> is_left_;
  std::vector<int> chosen_;
};

// The terminals next to any node of the graph, rising.
std::vector<int> TerminalsOf(const CutGraph& graph);

// A smallest set of nodes that separates `terminal` from all others.
struct IsolatingCut {
  std::vector<int> cut;     // nodes
  std::vector<int> inside;  // nodes on the side of `terminal`
};

// Of all smallest cuts the one that leaves the most nodes inside; by maximum flow (Menger), so
// its size is proven.
IsolatingCut FindIsolatingCut(const CutGraph& graph, int terminal);

}  // namespace trumpet::slice

#endif  // TRUMPET_CONTROLLER_PLAN_SLICE_CUT_GRAPH_H
