// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// TopologyChange: what differs between two topologies, for those who planned on the first.
//
// Threads: values; no state.  Observers are called on the loop of the controller.

#ifndef TRUMPET_CONTROLLER_PLAN_TOPOLOGY_CHANGE_H
#define TRUMPET_CONTROLLER_PLAN_TOPOLOGY_CHANGE_H

#include <set>
#include <string>
#include <utility>

#include "controller/plan/topology.h"

namespace trumpet {

struct TopologyChange {
  // The lesser name first: links go both ways.
  using LinkEnds = std::pair<std::string, std::string>;

  bool is_empty() const { return switches.empty() && links.empty(); }
  // Whether a path over these switches has changed, in its switches or in a link between two that
  // follow each other.
  template <typename Path>
  bool Touches(const Path& path) const {
    const std::string* last = nullptr;
    for (const std::string& name : path) {
      if (switches.count(name) != 0) return true;
      if (last != nullptr && links.count(EndsOf(*last, name)) != 0) return true;
      last = &name;
    }
    return false;
  }
  static LinkEnds EndsOf(const std::string& a, const std::string& b) {
    return a < b ? LinkEnds(a, b) : LinkEnds(b, a);
  }

  std::set<std::string> switches;  // that came, went, or have another datapath id
  std::set<LinkEnds> links;        // that came, went, or have another weight
};

// Parallel links count as one of the lightest weight, as planners take them.
TopologyChange CompareTopologies(const Topology& before, const Topology& after);

class TopologyObserver {
 public:
  virtual ~TopologyObserver() = default;
  // `topology` is already the new one, and `change` is not empty.  A path can also become better by
  // a link it does not use: whoever wants the best one resolves again.
  virtual void OnTopologyChange(const Topology& topology, const TopologyChange& change) = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_PLAN_TOPOLOGY_CHANGE_H
