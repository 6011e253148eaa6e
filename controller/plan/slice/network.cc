// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/plan/slice/network.h"

#include <algorithm>
#include <utility>

#include "lib/lang/event/diagnostic.h"

namespace trumpet::slice {

int Network::AddRouter(std::string_view name) {
  const auto [at, is_new] = numbers_.emplace(std::string(name), router_count());
  if (is_new) {
    names_.emplace_back(name);
    links_.emplace_back();
  }
  return at->second;
}

NetworkLink* Network::FindLink(int from, int to) {
  std::vector<NetworkLink>& links = links_[static_cast<size_t>(from)];
  const auto found = std::find_if(links.begin(), links.end(),
                                  [to](const NetworkLink& link) { return link.to == to; });
  return found == links.end() ? nullptr : &*found;
}

void Network::AddLink(int from, int to, uint32_t weight) {
  if (from == to) return;
  // The end with fewer links tells whether it is known: a hub would look at all of its own each
  // time.
  if (LinksOf(from).size() > LinksOf(to).size()) std::swap(from, to);
  NetworkLink* const known = FindLink(from, to);
  if (known == nullptr) {
    links_[static_cast<size_t>(from)].push_back({to, weight});
    links_[static_cast<size_t>(to)].push_back({from, weight});
    ++link_count_;
  } else if (weight < known->weight) {
    known->weight = FindLink(to, from)->weight = weight;
  }
}

std::vector<std::string> Network::NamesOf(const std::vector<int>& routers) const {
  std::vector<std::string> names;
  names.reserve(routers.size());
  for (int router : routers) names.push_back(NameOf(router));
  return names;
}

std::optional<int> Network::Find(std::string_view name) const {
  const auto at = numbers_.find(std::string(name));
  if (at == numbers_.end()) return std::nullopt;
  return at->second;
}

bool Network::AreLinked(int a, int b) const {
  if (LinksOf(a).size() > LinksOf(b).size()) std::swap(a, b);  // the shorter list
  const std::vector<NetworkLink>& links = LinksOf(a);
  return std::any_of(links.begin(), links.end(),
                     [b](const NetworkLink& link) { return link.to == b; });
}

std::string QuoteName(std::string_view name) { return event_lang::Quote(name); }

Status CheckSimplePath(const Network& network, const std::vector<int>& path) {
  if (path.empty()) return Status::Error("the path has no router");
  std::vector<bool> is_visited(static_cast<size_t>(network.router_count()));
  for (size_t i = 0; i < path.size(); ++i) {
    if (is_visited[static_cast<size_t>(path[i])]) {
      return Status::Error("the path visits " + QuoteName(network.NameOf(path[i])) + " twice");
    }
    is_visited[static_cast<size_t>(path[i])] = true;
    if (i > 0 && !network.AreLinked(path[i - 1], path[i])) {
      return Status::Error("there is no link from " + QuoteName(network.NameOf(path[i - 1])) +
                           " to " + QuoteName(network.NameOf(path[i])));
    }
  }
  return Status::Ok();
}

}  // namespace trumpet::slice
