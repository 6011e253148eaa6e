// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Network: the routers and links that slices are planned on, as the IGP sees them.
//
// Routers are numbers from 0 in here; their names are for people.  Links go both ways with one
// weight.
//
// Threads: a value; any number may read it.

#ifndef TRUMPET_CONTROLLER_PLAN_SLICE_NETWORK_H
#define TRUMPET_CONTROLLER_PLAN_SLICE_NETWORK_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lib/base/status.h"

namespace trumpet::slice {

struct NetworkLink {
  int to = 0;
  uint32_t weight = 1;  // at least 1
};

class Network {
 public:
  // The router of this name, new or known.
  int AddRouter(std::string_view name);

  // Links of a router to itself are ignored; of parallel links the lightest counts.
  void AddLink(int from, int to, uint32_t weight);

  int router_count() const { return static_cast<int>(names_.size()); }
  size_t link_count() const { return link_count_; }
  const std::string& NameOf(int router) const { return names_[static_cast<size_t>(router)]; }
  std::vector<std::string> NamesOf(const std::vector<int>& routers) const;
  std::optional<int> Find(std::string_view name) const;

  // In the order in which they were added.
  const std::vector<NetworkLink>& LinksOf(int router) const {
    return links_[static_cast<size_t>(router)];
  }
  bool AreLinked(int a, int b) const;

 private:
  NetworkLink* FindLink(int from, int to);  // null: there is none

  std::vector<std::string> names_;
  std::unordered_map<std::string, int> numbers_;
  std::vector<std::vector<NetworkLink>> links_;
  size_t link_count_ = 0;
};

// "r1", for messages: quoted, and shortened when somebody chose a name to annoy.
std::string QuoteName(std::string_view name);

// Is `path` a walk along links that visits no router twice?  The error names the place.
Status CheckSimplePath(const Network& network, const std::vector<int>& path);

}  // namespace trumpet::slice

#endif  // TRUMPET_CONTROLLER_PLAN_SLICE_NETWORK_H
