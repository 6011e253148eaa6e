// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/plan/slice/fill_bound.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

namespace trumpet::slice {
namespace {

// A bound for one way to share kFairness out: `values` are the weights with these shares.
class ShareBound {
 public:
  explicit ShareBound(const FillProblem& problem)
      : problem_(problem), costs_(problem.costs.begin(), problem.costs.end()) {
    places_.assign(problem.costs.size(), 0);
    for (const SlotKind& kind : problem.kinds) {
      room_ += static_cast<double>(kind.room) * kind.count;
      const std::vector<bool> is_usable = Usable(kind);
      for (size_t query = 0; query < places_.size(); ++query) {
        if (is_usable[query]) places_[query] += kind.count;
      }
    }
    scarcest_ =
        static_cast<size_t>(std::min_element(places_.begin(), places_.end()) - places_.begin());
  }

  double Lowest() const;

 private:
  // By query.
  std::vector<bool> Usable(const SlotKind& kind) const;
  // With `price` for room, a query's share is what it lacks to be worth its room; what then is left
  // of kFairness goes where the fewest places are.
  std::vector<double> SharesAt(double price) const;
  // Over the room of all slots together.
  double RoughBound(double price) const;
  double BoundOf(const std::vector<double>& shares) const;
  struct Item {
    size_t query = 0;
    double value = 0;
    double cost = 0;
  };
  // What is worth most for its cost first.
  std::vector<Item> BestFirst(const std::vector<double>& shares) const;
  double MostOf(const SlotKind& kind, const std::vector<Item>& items) const;

  const FillProblem& problem_;
  const std::vector<double> costs_;
  double room_ = 0;
  std::vector<double> places_;  // by query: slots where it can be added
  size_t scarcest_ = 0;
};

std::vector<bool> ShareBound::Usable(const SlotKind& kind) const {
  std::vector<bool> is_usable(problem_.costs.size());
  for (size_t query = 0; query < problem_.costs.size(); ++query) {
    is_usable[query] = problem_.costs[query] <= kind.room;
  }
  for (int query : kind.holds) is_usable[static_cast<size_t>(query)] = false;
  return is_usable;
}

std::vector<double> ShareBound::SharesAt(double price) const {
  std::vector<double> shares;
  shares.reserve(problem_.costs.size());
  double sum = 0;
  for (size_t query = 0; query < problem_.costs.size(); ++query) {
    const double worth = price * costs_[query];
    shares.push_back(std::max(worth - problem_.weights[query], 0.0));
    sum += shares.back();
  }
  shares[scarcest_] += std::max(kFairness - sum, 0.0);
  return shares;
}

double ShareBound::RoughBound(double price) const {
  double bound = price * room_;
  double sum = 0;  // of what queries lack
  for (size_t query = 0; query < costs_.size(); ++query) {
    const double gain = problem_.weights[query] - price * costs_[query];
    sum += std::max(-gain, 0.0);
    bound += places_[query] * std::max(gain, 0.0);
  }
  const double rest = std::max(kFairness - sum, 0.0);
  bound += places_[scarcest_] * rest;
  return bound - problem_.required * (sum + rest);
}

std::vector<ShareBound::Item> ShareBound::BestFirst(const std::vector<double>& shares) const {
  std::vector<std::pair<double, Item>> sorted;  // by worth
  for (size_t query = 0; query < shares.size(); ++query) {
    const double value = problem_.weights[query] + shares[query];
    sorted.push_back({WorthOf(value, problem_.costs[query]), {query, value, costs_[query]}});
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Item> items;
  for (const auto& [worth, item] : sorted) items.push_back(item);
  return items;
}

double ShareBound::MostOf(const SlotKind& kind, const std::vector<Item>& items) const {
  const std::vector<bool> is_usable = Usable(kind);
  bool is_whole = true;  // the values of all that is usable
  auto room = static_cast<double>(kind.room);
  double most = 0;
  bool is_full = false;
  for (const Item& item : items) {
    if (!is_usable[item.query]) continue;
    is_whole = is_whole && item.value == std::floor(item.value);
    if (is_full && !is_whole) break;
    if (is_full) continue;
    is_full = item.cost > room;
    most += is_full ? item.value * room / item.cost : item.value;
    room -= item.cost;
  }
  return is_whole ? std::floor(most * (1 + 1e-12)) : most;
}

double ShareBound::BoundOf(const std::vector<double>& shares) const {
  const std::vector<Item> items = BestFirst(shares);
  double bound = 0;
  for (const SlotKind& kind : problem_.kinds) {
    if (kind.count > 0) bound += MostOf(kind, items) * kind.count;
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
