// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/plan/slice/multiway_cut.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <utility>

namespace trumpet::slice {
namespace {

using Routers = std::vector<int>;

void Append(const Routers& more, Routers* routers) {
  routers->insert(routers->end(), more.begin(), more.end());
}

Routers RoutersOf(const CutGraph& graph, const std::vector<int>& nodes) {
  Routers routers;
  for (int node : nodes) routers.push_back(graph.router[static_cast<size_t>(node)]);
  return routers;
}

// A cut, perhaps not a smallest one: isolates every terminal but the one where that is dearest.
Routers IsolateAll(const CutGraph& graph, const std::vector<IsolatingCut>& cuts) {
  const auto dearest = std::max_element(
      cuts.begin(), cuts.end(),
      [](const IsolatingCut& a, const IsolatingCut& b) { return a.cut.size() < b.cut.size(); });
  Routers routers;
  for (auto cut = cuts.begin(); cut != cuts.end(); ++cut) {
    if (cut != dearest) Append(RoutersOf(graph, cut->cut), &routers);
  }
  std::sort(routers.begin(), routers.end());
  routers.erase(std::unique(routers.begin(), routers.end()), routers.end());
  return routers;
}

// A cut that takes no search: every node next to a terminal, but for the terminal with the most.
Routers SurroundAll(const CutGraph& graph) {
  std::map<int, Routers> near;  // by terminal
  for (int node = 0; node < graph.size(); ++node) {
    const auto at = static_cast<size_t>(node);
    if (graph.terminal[at] != kNoTerminal) near[graph.terminal[at]].push_back(graph.router[at]);
  }
  const auto most = std::max_element(near.begin(), near.end(), [](const auto& a, const auto& b) {
    return a.second.size() < b.second.size();
  });
  Routers routers;
  for (auto one = near.begin(); one != near.end(); ++one) {
    if (one != most) Append(one->second, &routers);
  }
  return routers;
}

// The nodes of a shortest path between two different terminals among the nodes left; none if there
// is no such path.
std::vector<int> ShortestJoin(const CutGraph& graph, const std::vector<bool>& is_left) {
  const auto at = [](int node) { return static_cast<size_t>(node); };
  std::vector<int> from(graph.router.size(), -1);
  std::vector<int> origin(graph.router.size(), kNoTerminal);
  std::vector<int> queue;
  for (int node = 0; node < graph.size(); ++node) {
    if (!is_left[at(node)] || graph.terminal[at(node)] == kNoTerminal) continue;
    origin[at(node)] = graph.terminal[at(node)];
    queue.push_back(node);
  }
  for (size_t i = 0; i < queue.size(); ++i) {
    const int node = queue[i];
    for (int next : graph.near[at(node)]) {
      if (!is_left[at(next)]) continue;
      if (origin[at(next)] == kNoTerminal) {
        origin[at(next)] = origin[at(node)];
        from[at(next)] = node;
        queue.push_back(next);
      } else if (origin[at(next)] != origin[at(node)]) {
        std::vector<int> path;
        for (int step = node; step != -1; step = from[at(step)]) path.push_back(step);
        for (int step = next; step != -1; step = from[at(step)]) path.push_back(step);
        return path;
      }
    }
  }
  return {};
}

// A lower bound: every one of these disjoint paths needs a node of the cut.
size_t CountDisjointJoins(const CutGraph& graph) {
  std::vector<bool> is_left(graph.router.size(), true);
  size_t count = 0;
  for (;;) {
    const std::vector<int> path = ShortestJoin(graph, is_left);
    if (path.empty()) return count;
    for (int node : path) is_left[static_cast<size_t>(node)] = false;
    ++count;
  }
}

class Search {
 public:
  explicit Search(Deadline deadline) : deadline_(deadline) {}

  // A smallest cut of at most `limit` nodes, if there is one.
  std::optional<Routers> Solve(const CutGraph& graph, size_t limit);
  std::optional<Routers> SolveParts(const Contraction& contraction, size_t limit);

  uint64_t branchings() const { return branchings_; }
  bool is_cut_short() const { return branchings_ > kMaxBranchings || is_late_; }

 private:
  // Reading the clock is nothing beside the flow that each call is followed by.
  bool IsLate() {
    is_late_ = is_late_ || std::chrono::steady_clock::now() >= deadline_;
    return is_late_;
  }
  std::optional<Routers> Branch(const CutGraph& graph, const std::vector<IsolatingCut>& cuts,
                                size_t limit);

  const Deadline deadline_;
  bool is_late_ = false;
  uint64_t branchings_ = 0;
};

std::optional<Routers> Search::SolveParts(const Contraction& contraction, size_t limit) {
  Routers routers = contraction.chosen();
  if (routers.size() > limit) return std::nullopt;
  for (const CutGraph& part : contraction.Parts()) {
    const auto cut = Solve(part, limit - routers.size());
    if (!cut) return std::nullopt;
    Append(*cut, &routers);
  }
  return routers;
}

std::optional<Routers> Search::Solve(const CutGraph& graph, size_t limit) {
  const std::vector<int> terminals = TerminalsOf(graph);
  std::vector<IsolatingCut> cuts;
  for (int terminal : terminals) {
    if (terminals.size() > 2 && IsLate()) {
      Routers simple = SurroundAll(graph);
      return simple.size() <= limit ? std::optional(std::move(simple)) : std::nullopt;
    }
    cuts.push_back(FindIsolatingCut(graph, terminal));
    if (cuts.back().cut.size() > limit) return std::nullopt;
    if (terminals.size() == 2) return RoutersOf(graph, cuts.back().cut);
    if (cuts.back().inside.empty()) continue;
    Contraction contraction(graph);
    for (int node : cuts.back().inside) contraction.Join(node, terminal);
    return SolveParts(contraction, limit);
  }
  return Branch(graph, cuts, limit);
}

std::optional<Routers> Search::Branch(const CutGraph& graph, const std::vector<IsolatingCut>& cuts,
                                      size_t limit) {
  std::optional<Routers> best;
  Routers simple = IsolateAll(graph, cuts);
  if (simple.size() <= limit) {
    limit = simple.size();
    best = std::move(simple);
  }
  size_t least = CountDisjointJoins(graph);
  for (const IsolatingCut& cut : cuts) least = std::max(least, cut.cut.size());
  if (least > limit) return std::nullopt;
  if (best && least == best->size()) return best;
  if (++branchings_ > kMaxBranchings) return best;
  // The busiest of the nodes next to a terminal tells the most, either way.
  int node = -1;
  for (int i = 0; i < graph.size(); ++i) {
    const auto at = static_cast<size_t>(i);
    if (graph.terminal[at] == kNoTerminal) continue;
    if (node == -1 || graph.near[at].size() > graph.near[static_cast<size_t>(node)].size()) {
      node = i;
    }
  }
  for (const bool is_chosen : {true, false}) {
    if (best && (best->size() == least || IsLate())) break;
    Contraction contraction(graph);
    if (is_chosen) contraction.Choose(node);
    if (!is_chosen) contraction.Join(node, graph.terminal[static_cast<size_t>(node)]);
    auto cut = SolveParts(contraction, best ? best->size() - 1 : limit);
    if (cut) best = std::move(cut);
  }
  return best;
}

}  // namespace

MultiwayCut FindMultiwayCut(const Contraction& contraction, Deadline deadline) {
  Search search(deadline);
  auto routers = search.SolveParts(contraction, contraction.graph().router.size());
  MultiwayCut result;
  result.routers = std::move(*routers);  // all nodes are a cut
  result.is_minimal = !search.is_cut_short();
  result.branchings = search.branchings();
  return result;
}

}  // namespace trumpet::slice
