// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/plan/slice/paths.h"

#include <limits>
#include <queue>
#include <string>
#include <utility>

namespace trumpet::slice {
namespace {

constexpr uint64_t kUnreachable = std::numeric_limits<uint64_t>::max();

std::vector<uint64_t> FindDistances(const Network& network, int to) {
  using Entry = std::pair<uint64_t, int>;
  std::vector<uint64_t> distances(static_cast<size_t>(network.router_count()), kUnreachable);
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  distances[static_cast<size_t>(to)] = 0;
  queue.emplace(0, to);
  while (!queue.empty()) {
    const auto [distance, router] = queue.top();
    queue.pop();
    if (distance > distances[static_cast<size_t>(router)]) continue;
    for (const NetworkLink& link : network.LinksOf(router)) {
      uint64_t& known = distances[static_cast<size_t>(link.to)];
      if (distance + link.weight >= known) continue;
      known = distance + link.weight;
      queue.emplace(known, link.to);
    }
  }
  return distances;
}

Status TooMany() {
  return Status::Error("it has too many equal-cost paths; at most " + std::to_string(kMaxPaths) +
                       " with " + std::to_string(kMaxPathRouters) + " routers are planned");
}

// All ways from one to the other along which the distance to the other shrinks as the links weigh.
Result<std::vector<Path>> PathsAlong(const Network& network, const std::vector<uint64_t>& distances,
                                     int from, int to, size_t max_paths) {
  const auto left = [&](int router) { return distances[static_cast<size_t>(router)]; };
  std::vector<Path> paths;
  if (left(from) == kUnreachable) return paths;
  // Depth first along links that bring us nearer; every way of this kind arrives.
  Path path{from};
  std::vector<size_t> tried{0};
  size_t routers = 0;
  while (!path.empty()) {
    const int router = path.back();
    const std::vector<NetworkLink>& links = network.LinksOf(router);
    if (router == to) {
      routers += path.size();
      if (paths.size() == max_paths || routers > kMaxPathRouters) return TooMany();
      paths.push_back(path);
    } else {
      while (tried.back() < links.size() &&
             (left(links[tried.back()].to) == kUnreachable ||
              left(links[tried.back()].to) + links[tried.back()].weight != left(router))) {
        ++tried.back();
      }
      if (tried.back() < links.size()) {
        path.push_back(links[tried.back()++].to);
        tried.push_back(0);
        continue;
      }
    }
    path.pop_back();
    tried.pop_back();
  }
  return paths;
}

// Ends of one hop of the region, and whether they have to be neighbours.
struct Leg {
  std::vector<int> from;
  std::vector<int> to;
  bool is_arrow = false;
  bool is_from_any = false;  // ends without a way are left out
  bool is_to_any = false;
};

std::vector<Leg> LegsOf(const std::vector<RegionStep>& region, const PathEnds& ends) {
  std::vector<Leg> legs;
  Leg leg;
  leg.from = ends.ingresses;
  leg.is_from_any = true;
  bool has_router = false;
  for (const RegionStep& step : region) {
    if (!step.router) {
      leg.is_arrow = true;
      continue;
    }
    leg.to = {*step.router};
    if (has_router || leg.is_arrow) legs.push_back(std::move(leg));
    leg = Leg();
    leg.from = {*step.router};
    has_router = true;
  }
  if (leg.is_arrow) {
    leg.to = ends.egresses;
    leg.is_to_any = true;
    legs.push_back(std::move(leg));
  }
  return legs;
}

Status ResolveArrow(const Network& network, const Leg& leg, Distances* known,
                    std::vector<Path>* paths) {
  // To find the distances to an end takes the time; they serve all starts.
  std::vector<std::vector<Path>> by_start(leg.from.size());
  size_t count = 0;
  size_t routers = 0;
  for (int to : leg.to) {
    const std::vector<uint64_t>& distances = known->To(to);
    for (size_t start = 0; start < leg.from.size(); ++start) {
      const int from = leg.from[start];
      if (from == to && leg.is_from_any && leg.is_to_any) continue;
      auto found = PathsAlong(network, distances, from, to, kMaxPaths - count);
      if (!found) return found.status();
      if (found->empty() && !leg.is_from_any && !leg.is_to_any) {
        return Status::Error("there is no path from " + QuoteName(network.NameOf(from)) + " to " +
                             QuoteName(network.NameOf(to)));
      }
      count += found->size();
      for (Path& path : *found) {
        routers += path.size();
        by_start[start].push_back(std::move(path));
      }
      if (routers > kMaxPathRouters) return TooMany();
    }
  }
  for (std::vector<Path>& found : by_start) {
    for (Path& path : found) paths->push_back(std::move(path));
  }
  return Status::Ok();
}

Status Resolve(const Network& network, const Leg& leg, Distances* distances,
               std::vector<Path>* paths) {
  if (!leg.is_arrow) {
    paths->push_back({leg.from.front(), leg.to.front()});
    return CheckSimplePath(network, paths->front());
  }
  const Status status = ResolveArrow(network, leg, distances, paths);
  if (!status.ok()) return status;
  if (!paths->empty()) return Status::Ok();
  if (leg.from.empty() || (leg.is_to_any && leg.to.empty())) {
    return Status::Error(std::string("no ") + (leg.from.empty() ? "ingress" : "egress") +
                         " router is known, so an arrow " +
                         (leg.from.empty() ? "at the start" : "at the end") + " has no meaning");
  }
  return Status::Error("no path joins the ingress and egress routers it asks for");
}

// Every path of `paths` followed by every one of `more` that starts where it ends.
Status Extend(const std::vector<Path>& more, std::vector<Path>* paths) {
  std::vector<Path> longer;
  size_t routers = 0;
  for (const Path& head : *paths) {
    for (const Path& tail : more) {
      if (tail.front() != head.back()) continue;
      routers += head.size() + tail.size() - 1;
      if (longer.size() == kMaxPaths || routers > kMaxPathRouters) return TooMany();
      longer.push_back(head);
      longer.back().insert(longer.back().end(), tail.begin() + 1, tail.end());
    }
  }
  *paths = std::move(longer);
  return Status::Ok();
}

}  // namespace

const std::vector<uint64_t>& Distances::To(int router) {
  const auto known = kept_.find(router);
  if (known != kept_.end()) return known->second;
  ++search_count_;
  last_ = FindDistances(network_, router);
  if ((kept_.size() + 1) * last_.size() > kMaxKept) return last_;
  return kept_.emplace(router, std::move(last_)).first->second;
}

Result<std::vector<Path>> ShortestPaths(const Network& network, int from, int to,
                                        size_t max_paths) {
  return PathsAlong(network, FindDistances(network, to), from, to, max_paths);
}

Result<std::vector<Path>> ResolveRegion(const Network& network,
                                        const std::vector<RegionStep>& region,
                                        const PathEnds& ends) {
  Distances distances(network);
  return ResolveRegion(network, region, ends, &distances);
}

Result<std::vector<Path>> ResolveRegion(const Network& network,
                                        const std::vector<RegionStep>& region, const PathEnds& ends,
                                        Distances* distances) {
  const std::vector<Leg> legs = LegsOf(region, ends);
  if (legs.empty()) {
    if (region.empty()) return Status::Error("the region is empty");
    return std::vector<Path>{{*region.front().router}};
  }
  std::vector<Path> paths;
  for (size_t i = 0; i < legs.size(); ++i) {
    std::vector<Path> found;
    Status status = Resolve(network, legs[i], distances, &found);
    if (status.ok() && i > 0) status = Extend(found, &paths);
    if (!status.ok()) return status;
    if (i == 0) paths = std::move(found);
  }
  return paths;
}

}  // namespace trumpet::slice
