// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/plan/slice/cut_graph.h"

#include <algorithm>
#include <utility>

namespace trumpet::slice {

Contraction::Contraction(CutGraph graph)
    : graph_(std::move(graph)), is_left_(static_cast<size_t>(graph_.size()), true) {}

void Contraction::Choose(int node) {
  if (!IsLeft(node)) return;
  is_left_[static_cast<size_t>(node)] = false;
  chosen_.push_back(graph_.router[static_cast<size_t>(node)]);
}

void Contraction::Join(int node, int terminal) {
  if (!IsLeft(node)) return;
  is_left_[static_cast<size_t>(node)] = false;
  for (int other : graph_.near[static_cast<size_t>(node)]) Touch(other, terminal);
}

void Contraction::Touch(int node, int terminal) {
  if (!IsLeft(node)) return;
  int& own = graph_.terminal[static_cast<size_t>(node)];
  if (own == kNoTerminal) own = terminal;
  if (own != terminal) Choose(node);
}

std::vector<CutGraph> Contraction::Parts() const {
  std::vector<CutGraph> parts;
  std::vector<int> number(static_cast<size_t>(graph_.size()), -1);  // in its part
  for (int first = 0; first < graph_.size(); ++first) {
    if (!IsLeft(first) || number[static_cast<size_t>(first)] != -1) continue;
    std::vector<int> nodes{first};
    number[static_cast<size_t>(first)] = 0;
    for (size_t i = 0; i < nodes.size(); ++i) {
      for (int next : graph_.near[static_cast<size_t>(nodes[i])]) {
        if (!IsLeft(next) || number[static_cast<size_t>(next)] != -1) continue;
        number[static_cast<size_t>(next)] = static_cast<int>(nodes.size());
        nodes.push_back(next);
      }
    }
    CutGraph part;
    for (int node : nodes) {
      part.router.push_back(graph_.router[static_cast<size_t>(node)]);
      part.terminal.push_back(graph_.terminal[static_cast<size_t>(node)]);
    }
    if (TerminalsOf(part).size() < 2) continue;
    for (int node : nodes) {
      std::vector<int> near;
      for (int next : graph_.near[static_cast<size_t>(node)]) {
        if (IsLeft(next)) near.push_back(number[static_cast<size_t>(next)]);
      }
      part.near.push_back(std::move(near));
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

std::vector<int> TerminalsOf(const CutGraph& graph) {
  std::vector<int> terminals;
  for (int terminal : graph.terminal) {
    if (terminal != kNoTerminal) terminals.push_back(terminal);
  }
  std::sort(terminals.begin(), terminals.end());
  terminals.erase(std::unique(terminals.begin(), terminals.end()), terminals.end());
  return terminals;
}

namespace {

// Disjoint paths from the nodes next to the terminal to those next to others, as many as there
// are.  Every node carries at most one path: it has an in-side and an out-side with one unit
// between them.
class DisjointPaths {
 public:
  DisjointPaths(const CutGraph& graph, int terminal);

  // Adds paths while there are any.
  void Grow() {
    while (Augment()) {
    }
  }
  IsolatingCut Cut() const;

 private:
  static constexpr int kNone = -1;
  static constexpr int kEnd = -2;  // the terminal before the first node, another behind the last

  static int In(int node) { return 2 * node; }
  static int Out(int node) { return 2 * node + 1; }
  bool IsSource(int node) const { return terminal_of(node) == terminal_; }
  bool IsSink(int node) const {
    return terminal_of(node) != terminal_ && terminal_of(node) != kNoTerminal;
  }
  int terminal_of(int node) const { return graph_.terminal[static_cast<size_t>(node)]; }
  int& next(int node) { return next_[static_cast<size_t>(node)]; }
  int& before(int node) { return before_[static_cast<size_t>(node)]; }
  bool IsUsed(int node) const { return before_[static_cast<size_t>(node)] != kNone; }

  bool Augment();
  void Visit(int side, int from);
  void LeaveOut(int node);
  void LeaveIn(int node);
  void Apply(int last);

  const CutGraph& graph_;
  const int terminal_;
  std::vector<int> next_;    // of the path through a node
  std::vector<int> before_;  // likewise
  std::vector<int> from_;    // by side, how the search came there; kNone: not yet
  std::vector<int> queue_;   // sides
};

DisjointPaths::DisjointPaths(const CutGraph& graph, int terminal)
    : graph_(graph),
      terminal_(terminal),
      next_(static_cast<size_t>(graph.size()), kNone),
      before_(static_cast<size_t>(graph.size()), kNone) {}

void DisjointPaths::Visit(int side, int from) {
  if (from_[static_cast<size_t>(side)] != kNone) return;
  from_[static_cast<size_t>(side)] = from;
  queue_.push_back(side);
}

void DisjointPaths::LeaveOut(int node) {
  for (int other : graph_.near[static_cast<size_t>(node)]) {
    if (other != next(node)) Visit(In(other), Out(node));
  }
  if (IsUsed(node)) Visit(In(node), Out(node));
}

void DisjointPaths::LeaveIn(int node) {
  if (!IsUsed(node)) {
    Visit(Out(node), In(node));
  } else if (before(node) >= 0) {
    Visit(Out(before(node)), In(node));  // takes the path off the link between them
  }
}

bool DisjointPaths::Augment() {
  from_.assign(2 * next_.size(), kNone);
  queue_.clear();
  for (int node = 0; node < graph_.size(); ++node) {
    if (IsSource(node) && before(node) != kEnd) Visit(In(node), kEnd);
  }
  for (size_t i = 0; i < queue_.size(); ++i) {
    const int node = queue_[i] / 2;
    if (queue_[i] == In(node)) {
      LeaveIn(node);
    } else if (IsSink(node)) {
      Apply(node);
      return true;
    } else {
      LeaveOut(node);
    }
  }
  return false;
}

void DisjointPaths::Apply(int last) {
  std::vector<std::pair<int, int>> added{{last, kEnd}};
  std::vector<std::pair<int, int>> removed;
  for (int side = Out(last); side != kEnd; side = from_[static_cast<size_t>(side)]) {
    const int from = from_[static_cast<size_t>(side)];
    const int node = side / 2;
    if (from == kEnd) {
      added.emplace_back(kEnd, node);
    } else if (from / 2 != node) {
      const bool is_forward = side == In(node);
      if (is_forward) added.emplace_back(from / 2, node);
      if (!is_forward) removed.emplace_back(node, from / 2);
    }
  }
  for (const auto& [a, b] : removed) next(a) = before(b) = kNone;
  for (const auto& [a, b] : added) {
    if (a >= 0) next(a) = b;
    if (b >= 0) before(b) = a;
  }
}

// Walks back from the other terminals: what cannot reach them is inside, and the cut are the nodes
// of which only the out-side can.  Links hold any number of paths, so no flow closes them.
IsolatingCut DisjointPaths::Cut() const {
  std::vector<bool> reaches(2 * next_.size());
  std::vector<int> queue;
  const auto visit = [&](int side) {
    if (reaches[static_cast<size_t>(side)]) return;
    reaches[static_cast<size_t>(side)] = true;
    queue.push_back(side);
  };
  for (int node = 0; node < graph_.size(); ++node) {
    if (IsSink(node)) visit(Out(node));
  }
  for (size_t i = 0; i < queue.size(); ++i) {
    const int node = queue[i] / 2;
    if (queue[i] == Out(node)) {
      if (!IsUsed(node)) visit(In(node));
      const int next = next_[static_cast<size_t>(node)];
      if (next >= 0) visit(In(next));  // a path can be taken off the link to it
    } else {
      for (int other : graph_.near[static_cast<size_t>(node)]) visit(Out(other));
      if (IsUsed(node)) visit(Out(node));
    }
  }
  IsolatingCut result;
  for (int node = 0; node < graph_.size(); ++node) {
    const bool out = reaches[static_cast<size_t>(Out(node))];
    const bool in = reaches[static_cast<size_t>(In(node))];
    if (!out) result.inside.push_back(node);
    if (out && !in) result.cut.push_back(node);
  }
  return result;
}

}  // namespace

IsolatingCut FindIsolatingCut(const CutGraph& graph, int terminal) {
  DisjointPaths paths(graph, terminal);
  paths.Grow();
  return paths.Cut();
}

}  // namespace trumpet::slice
