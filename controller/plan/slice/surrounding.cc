// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/plan/slice/surrounding.h"

#include <algorithm>

#include "controller/plan/slice/multiway_cut.h"

namespace trumpet::slice {
namespace {

std::vector<bool> Marks(const Network& network, const std::vector<int>& routers) {
  std::vector<bool> marks(static_cast<size_t>(network.router_count()));
  for (int router : routers) marks[static_cast<size_t>(router)] = true;
  return marks;
}

// The routers outside as a graph to cut.  Terminals are the routers of the region, by their place
// in it, or 0 for all of them, and one more for the egresses.
Contraction CutOutside(const Network& network, const std::vector<int>& region,
                       const std::vector<int>& egresses, bool has_egress_inside) {
  const std::vector<bool> is_inside = Marks(network, region);
  CutGraph graph;
  std::vector<int> node_of(is_inside.size(), -1);
  for (int router = 0; router < network.router_count(); ++router) {
    if (is_inside[static_cast<size_t>(router)]) continue;
    node_of[static_cast<size_t>(router)] = graph.size();
    graph.router.push_back(router);
  }
  graph.terminal.assign(graph.router.size(), kNoTerminal);
  for (int router : graph.router) {
    std::vector<int> near;
    for (const NetworkLink& link : network.LinksOf(router)) {
      const int node = node_of[static_cast<size_t>(link.to)];
      if (node != -1) near.push_back(node);
    }
    graph.near.push_back(std::move(near));
  }
  Contraction contraction(std::move(graph));
  for (size_t i = 0; i < region.size(); ++i) {
    for (const NetworkLink& link : network.LinksOf(region[i])) {
      const int node = node_of[static_cast<size_t>(link.to)];
      if (node != -1) contraction.Touch(node, has_egress_inside ? static_cast<int>(i) : 0);
    }
  }
  for (int egress : egresses) {
    const int node = node_of[static_cast<size_t>(egress)];
    if (node != -1) contraction.Touch(node, static_cast<int>(region.size()));
  }
  return contraction;
}

}  // namespace

const char* NameOf(SurroundingProof proof) {
  switch (proof) {
    case SurroundingProof::kNothingToCut:
      return "nothing-to-cut";
    case SurroundingProof::kFlow:
      return "flow";
    case SurroundingProof::kBranching:
      return "branch-and-bound";
    case SurroundingProof::kNone:
      break;
  }
  return "none";
}

Status CheckRegion(const Network& network, const std::vector<int>& region) {
  if (region.empty()) return Status::Error("the region has no router");
  std::vector<bool> is_left = Marks(network, region);
  std::vector<int> reached{region[0]};
  is_left[static_cast<size_t>(region[0])] = false;
  for (size_t i = 0; i < reached.size(); ++i) {
    for (const NetworkLink& link : network.LinksOf(reached[i])) {
      if (!is_left[static_cast<size_t>(link.to)]) continue;
      is_left[static_cast<size_t>(link.to)] = false;
      reached.push_back(link.to);
    }
  }
  for (int router : region) {
    if (!is_left[static_cast<size_t>(router)]) continue;
    return Status::Error("the region is not connected: no way inside of it from " +
                         QuoteName(network.NameOf(region[0])) + " to " +
                         QuoteName(network.NameOf(router)));
  }
  return Status::Ok();
}

std::vector<std::pair<int, int>> EdgeSurrounding(const Network& network,
                                                 const std::vector<int>& region) {
  const std::vector<bool> is_inside = Marks(network, region);
  std::vector<std::pair<int, int>> edges;
  for (int router : region) {
    for (const NetworkLink& link : network.LinksOf(router)) {
      if (!is_inside[static_cast<size_t>(link.to)]) edges.emplace_back(router, link.to);
    }
  }
  return edges;
}

std::vector<int> NodeSurrounding(const Network& network, const std::vector<int>& region) {
  std::vector<int> routers;
  for (const auto& [inside, outside] : EdgeSurrounding(network, region)) routers.push_back(outside);
  std::sort(routers.begin(), routers.end());
  routers.erase(std::unique(routers.begin(), routers.end()), routers.end());
  return routers;
}

OptimalSurrounding FindOptimalSurrounding(const Network& network, const std::vector<int>& region,
                                          const std::vector<int>& egresses, Deadline deadline) {
  const std::vector<bool> is_inside = Marks(network, region);
  OptimalSurrounding result;
  result.has_egress_inside = std::any_of(egresses.begin(), egresses.end(), [&](int egress) {
    return is_inside[static_cast<size_t>(egress)];
  });
  MultiwayCut cut =
      FindMultiwayCut(CutOutside(network, region, egresses, result.has_egress_inside), deadline);
  result.routers = std::move(cut.routers);
  std::sort(result.routers.begin(), result.routers.end());
  result.branchings = cut.branchings;
  if (!result.routers.empty()) result.proof = SurroundingProof::kFlow;
  if (cut.branchings > 0) result.proof = SurroundingProof::kBranching;
  if (!cut.is_minimal) result.proof = SurroundingProof::kNone;
  return result;
}

}  // namespace trumpet::slice
