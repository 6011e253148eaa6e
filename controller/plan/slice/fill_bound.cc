// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/plan/slice/fill_bound.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace trumpet::slice {
namespace {

// A bound for one way to share kFairness out: `values` are the weights with these shares.
class ShareBound {
 public:
  explicit ShareBound(const FillProblem& problem) : problem_(problem) {
    places_.assign(problem.costs.size(), 0);
    for (const SlotKind& kind : problem.kinds) {
      room_ += static_cast<double>(kind.room) * kind.count;
      for (size_t query : Usable(kind)) places_[query] += kind.count;
    }
    scarcest_ =
        static_cast<size_t>(std::min_element(places_.begin(), places_.end()) - places_.begin());
  }

  double Lowest() const;

 private:
  std::vector<size_t> Usable(const SlotKind& kind) const;
  // With `price` for room, a query's share is what it lacks to be worth its room; what then is left
  // of kFairness goes where the fewest places are.
  std::vector<double> SharesAt(double price) const;
  // Over the room of all slots together.
  double RoughBound(double price) const;
  double BoundOf(const std::vector<double>& shares) const;
  double MostOf(const SlotKind& kind, const std::vector<double>& shares) const;

  const FillProblem& problem_;
  double room_ = 0;
  std::vector<double> places_;  // by query: slots where it can be added
  size_t scarcest_ = 0;
};

std::vector<size_t> ShareBound::Usable(const SlotKind& kind) const {
  std::vector<size_t> usable;
  std::vector<bool> is_held(problem_.costs.size(), false);
  for (int query : kind.holds) is_held[static_cast<size_t>(query)] = true;
  for (size_t query = 0; query < problem_.costs.size(); ++query) {
    if (!is_held[query] && problem_.costs[query] <= kind.room) usable.push_back(query);
  }
  return usable;
}

std::vector<double> ShareBound::SharesAt(double price) const {
  std::vector<double> shares;
  double sum = 0;
  for (size_t query = 0; query < problem_.costs.size(); ++query) {
    const double worth = price * static_cast<double>(problem_.costs[query]);
    shares.push_back(std::max(worth - problem_.weights[query], 0.0));
    sum += shares.back();
  }
  shares[scarcest_] += std::max(kFairness - sum, 0.0);
  return shares;
}

double ShareBound::RoughBound(double price) const {
  const std::vector<double> shares = SharesAt(price);
  double bound = price * room_;
  for (size_t query = 0; query < shares.size(); ++query) {
    const double value = problem_.weights[query] + shares[query];
    const double gain = value - price * static_cast<double>(problem_.costs[query]);
    bound += places_[query] * std::max(gain, 0.0) - problem_.required * shares[query];
  }
  return bound;
}

double ShareBound::MostOf(const SlotKind& kind, const std::vector<double>& shares) const {
  struct Item {
    double worth, value, cost;
  };
  std::vector<Item> items;
  bool is_whole = true;
  for (size_t query : Usable(kind)) {
    const double value = problem_.weights[query] + shares[query];
    const int64_t cost = problem_.costs[query];
    items.push_back({WorthOf(value, cost), value, static_cast<double>(cost)});
    is_whole = is_whole && value == std::floor(value);
  }
  std::sort(items.begin(), items.end(),
            [](const Item& a, const Item& b) { return a.worth > b.worth; });
  auto room = static_cast<double>(kind.room);
  double most = 0;
  for (const Item& item : items) {
    if (item.cost > room) {
      most += item.value * room / item.cost;
      break;
    }
    most += item.value;
    room -= item.cost;
  }
  return is_whole ? std::floor(most * (1 + 1e-12)) : most;
}

double ShareBound::BoundOf(const std::vector<double>& shares) const {
  double bound = 0;
  for (const SlotKind& kind : problem_.kinds) {
    if (kind.count > 0) bound += MostOf(kind, shares) * kind.count;
  }
  return bound - problem_.required * std::accumulate(shares.begin(), shares.end(), 0.0);
}

double ShareBound::Lowest() const {
  double highest = 0;  // price at which no query is worth its room, and the dearest takes kFairness
  for (size_t query = 0; query < problem_.costs.size(); ++query) {
    if (problem_.costs[query] == 0) continue;
    const auto cost = static_cast<double>(problem_.costs[query]);
    highest = std::max(highest, (problem_.weights[query] + kFairness) / cost);
  }
  // Any price gives a bound; they are convex in it, so the lowest is found by thirds.
  double low = 0;
  double high = highest;
  for (int step = 0; step < 100; ++step) {
    const double third = (high - low) / 3;
    const bool is_left = RoughBound(low + third) <= RoughBound(high - third);
    (is_left ? high : low) = is_left ? high - third : low + third;
  }
  return std::min(BoundOf(SharesAt((low + high) / 2)), BoundOf(SharesAt(0)));
}

}  // namespace

double BoundFill(const FillProblem& problem) {
  return problem.costs.empty() ? 0 : ShareBound(problem).Lowest();
}

}  // namespace trumpet::slice
