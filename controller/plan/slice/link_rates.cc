// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/plan/slice/link_rates.h"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <utility>

namespace trumpet::slice {
namespace {

// By router, the next one on its way to `target`; -1: none.  Links go both ways.
std::vector<int> WaysTo(const Network& network, int target) {
  const auto count = static_cast<size_t>(network.router_count());
  std::vector<int> next(count, -1);
  std::vector<uint64_t> distance(count, UINT64_MAX);
  using Entry = std::pair<uint64_t, int>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  distance[static_cast<size_t>(target)] = 0;
  open.emplace(0, target);
  while (!open.empty()) {
    const auto [far, router] = open.top();
    open.pop();
    if (far != distance[static_cast<size_t>(router)]) continue;
    for (const NetworkLink& link : network.LinksOf(router)) {
      const auto to = static_cast<size_t>(link.to);
      if (far + link.weight >= distance[to]) continue;
      distance[to] = far + link.weight;
      next[to] = router;
      open.emplace(distance[to], link.to);
    }
  }
  return next;
}

}  // namespace

std::vector<LinkRate> ExpectedLinkRates(const Network& network, const SlicePlan& plan,
                                        int analyzer) {
  using Rates = std::map<std::pair<int, int>, int64_t>;
  const std::vector<int> next = WaysTo(network, analyzer);
  Rates most;
  const Slot* last = nullptr;
  for (const Slot& slot : plan.schedule.slots) {
    if (last != nullptr && *last == slot) continue;
    last = &slot;
    Rates rates;
    for (int number : slot) {
      const PlannedQuery& query = plan.mirrored[static_cast<size_t>(number)];
      for (int router : query.locations) {
        const int64_t rate = query.cost_bps / static_cast<int64_t>(query.locations.size());
        for (int at = router; at != analyzer && next[static_cast<size_t>(at)] >= 0;) {
          const int to = next[static_cast<size_t>(at)];
          rates[{at, to}] += rate;
          at = to;
        }
      }
    }
    for (const auto& [link, rate] : rates) most[link] = std::max(most[link], rate);
  }
  std::vector<LinkRate> list;
  for (const auto& [link, rate] : most) list.push_back({link.first, link.second, rate});
  return list;
}

}  // namespace trumpet::slice
