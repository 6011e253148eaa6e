// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/plan/slice/greedy_fill.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace trumpet::slice {
namespace {

// Slots of one kind that get the same.
struct Group {
  FillPattern pattern;
  int64_t room = 0;
  std::vector<bool> has;  // by query, with what the kind holds
};

enum class Order : uint8_t { kFullestFirst, kEmptiestFirst };

class GreedyFill {
 public:
  GreedyFill(const FillProblem& problem, const std::vector<FillPattern>& start);

  // Every query so often, as far as it can be.
  void Raise(int times, Order order);
  // Whatever fits, the best for its cost first.
  void FillUp();
  // Slot by slot, what is there least often first, and of that the best for its cost.
  void FillInTurn();
  FillResult Result() const;

 private:
  void AddGroup(const FillPattern& pattern);
  void Add(int query, Group* group) const;
  bool Fits(int query, const Group& group) const {
    return problem_.costs[static_cast<size_t>(query)] <= group.room &&
           !group.has[static_cast<size_t>(query)];
  }
  // Of the same worth the rarer first.
  std::vector<int> BestFirst() const;
  void AddTimes(int query, int times, Order order);

  const FillProblem& problem_;
  std::vector<Group> groups_;
  std::vector<int> counts_;  // by query
};

GreedyFill::GreedyFill(const FillProblem& problem, const std::vector<FillPattern>& start)
    : problem_(problem), counts_(problem.costs.size(), 0) {
  std::vector<int> left;
  for (const SlotKind& kind : problem.kinds) left.push_back(kind.count);
  for (const FillPattern& pattern : start) {
    left[pattern.kind] -= pattern.count;
    AddGroup(pattern);
  }
  for (size_t kind = 0; kind < left.size(); ++kind) AddGroup({kind, {}, left[kind]});
}

void GreedyFill::AddGroup(const FillPattern& pattern) {
  if (pattern.count <= 0) return;
  const SlotKind& kind = problem_.kinds[pattern.kind];
  Group group{{pattern.kind, {}, pattern.count}, kind.room, {}};
  group.has.assign(problem_.costs.size(), false);
  for (int query : kind.holds) group.has[static_cast<size_t>(query)] = true;
  for (int query : pattern.queries) {
    Add(query, &group);
    counts_[static_cast<size_t>(query)] += pattern.count;
  }
  groups_.push_back(std::move(group));
}

void GreedyFill::Add(int query, Group* group) const {
  group->has[static_cast<size_t>(query)] = true;
  group->room -= problem_.costs[static_cast<size_t>(query)];
  group->pattern.queries.push_back(query);
}

void GreedyFill::AddTimes(int query, int times, Order order) {
  std::vector<size_t> fitting;
  for (size_t i = 0; i < groups_.size(); ++i) {
    if (Fits(query, groups_[i])) fitting.push_back(i);
  }
  std::stable_sort(fitting.begin(), fitting.end(), [&](size_t a, size_t b) {
    return order == Order::kFullestFirst ? groups_[a].room < groups_[b].room
                                         : groups_[a].room > groups_[b].room;
  });
  for (size_t i = 0; i < fitting.size() && times > 0; ++i) {
    const size_t index = fitting[i];
    const int taken = std::min(times, groups_[index].pattern.count);
    if (taken < groups_[index].pattern.count) {
      groups_.push_back(groups_[index]);  // the slots that do not get it
      groups_.back().pattern.count -= taken;
      groups_[index].pattern.count = taken;
    }
    Add(query, &groups_[index]);
    counts_[static_cast<size_t>(query)] += taken;
    times -= taken;
  }
}

void GreedyFill::Raise(int times, Order order) {
  std::vector<int> queries(counts_.size());
  std::iota(queries.begin(), queries.end(), 0);
  std::stable_sort(queries.begin(), queries.end(), [this](int a, int b) {
    return problem_.costs[static_cast<size_t>(a)] > problem_.costs[static_cast<size_t>(b)];
  });
  for (int query : queries) AddTimes(query, times - counts_[static_cast<size_t>(query)], order);
}

std::vector<int> GreedyFill::BestFirst() const {
  std::vector<int> queries(counts_.size());
  std::iota(queries.begin(), queries.end(), 0);
  const auto worth = [this](int query) {
    const auto at = static_cast<size_t>(query);
    return WorthOf(problem_.weights[at], problem_.costs[at]);
  };
  std::stable_sort(queries.begin(), queries.end(), [&](int a, int b) {
    const double worth_a = worth(a);
    const double worth_b = worth(b);
    if (worth_a != worth_b) return worth_a > worth_b;
    return counts_[static_cast<size_t>(a)] < counts_[static_cast<size_t>(b)];
  });
  return queries;
}

void GreedyFill::FillUp() {
  if (counts_.empty()) return;
  const std::vector<int> queries = BestFirst();
  const int64_t cheapest = *std::min_element(problem_.costs.begin(), problem_.costs.end());
  for (Group& group : groups_) {
    for (size_t i = 0; i < queries.size() && group.room >= cheapest; ++i) {
      if (Fits(queries[i], group)) Add(queries[i], &group);
    }
  }
}

void GreedyFill::FillInTurn() {
  if (counts_.empty()) return;
  const int64_t cheapest = *std::min_element(problem_.costs.begin(), problem_.costs.end());
  const std::vector<int> best_first = BestFirst();
  std::map<std::pair<size_t, Slot>, Group> filled;  // by kind and queries
  for (const Group& group : groups_) {
    for (int i = 0; i < group.pattern.count; ++i) {
      Group slot = group;
      slot.pattern.count = 1;
      std::vector<int> queries = best_first;
      std::stable_sort(queries.begin(), queries.end(), [this](int a, int b) {
        return counts_[static_cast<size_t>(a)] < counts_[static_cast<size_t>(b)];
      });
      for (size_t at = 0; at < queries.size() && slot.room >= cheapest; ++at) {
        if (!Fits(queries[at], slot)) continue;
        Add(queries[at], &slot);
        ++counts_[static_cast<size_t>(queries[at])];
      }
      std::sort(slot.pattern.queries.begin(), slot.pattern.queries.end());
      const auto [alike, is_new] =
          filled.try_emplace({slot.pattern.kind, slot.pattern.queries}, slot);
      if (!is_new) ++alike->second.pattern.count;
    }
  }
  groups_.clear();
  for (auto& [key, group] : filled) groups_.push_back(std::move(group));
}

FillResult GreedyFill::Result() const {
  std::vector<FillPattern> patterns;
  for (const Group& group : groups_) {
    if (!group.pattern.queries.empty()) patterns.push_back(group.pattern);
  }
  return JudgeFill(problem_, std::move(patterns));
}

// How often every query can be repeated beyond what is required, if room is all that counts.
int MostRepeated(const FillProblem& problem) {
  double room = 0;
  double slots = 0;
  for (const SlotKind& kind : problem.kinds) {
    room += static_cast<double>(kind.room) * kind.count;
    slots += kind.count;
  }
  const double cost = std::accumulate(problem.costs.begin(), problem.costs.end(), 0.0);
  const double times = cost > 0 ? std::min(room / cost, slots) : slots;
  return std::max(static_cast<int>(times) - problem.required, 0);
}

}  // namespace

FillResult TopUp(const FillProblem& problem, const std::vector<FillPattern>& start, int repeated) {
  FillResult best = JudgeFill(problem, start);
  const GreedyFill unfilled(problem, start);
  for (const Order order : {Order::kFullestFirst, Order::kEmptiestFirst}) {
    GreedyFill fill = unfilled;
    fill.Raise(problem.required + repeated, order);
    fill.FillUp();
    FillResult found = fill.Result();
    if (IsBetterFill(found, best)) best = std::move(found);
  }
  return best;
}

FillResult FillInTurn(const FillProblem& problem, const std::vector<FillPattern>& start) {
  GreedyFill fill(problem, start);
  fill.FillInTurn();
  return fill.Result();
}

FillResult FillGreedily(const FillProblem& problem, const std::vector<FillPattern>& start,
                        Deadline deadline) {
  FillResult best = TopUp(problem, start, 0);
  int best_repeated = 0;
  const auto offer = [&](const std::vector<FillPattern>& from, int repeated) {
    FillResult found = TopUp(problem, from, repeated);
    if (!IsBetterFill(found, best)) return;
    best = std::move(found);
    best_repeated = repeated;
  };
  if (!start.empty() && SecondsUntil(deadline) > 0) offer({}, 0);
  const int most = MostRepeated(problem);
  int step = 1;
  while (step <= most / 2) step *= 2;
  // The optimum is concave in the number of repetitions.
  for (; step > 0; step /= 2) {
    const int middle = best_repeated;
    for (const int repeated : {middle - step, middle + step}) {
      if (repeated < 0 || repeated > most || SecondsUntil(deadline) <= 0) continue;
      offer({}, repeated);
      if (!start.empty()) offer(start, repeated);
    }
  }
  FillResult in_turn = FillInTurn(problem, start);
  if (IsBetterFill(in_turn, best)) best = std::move(in_turn);
  return best;
}

}  // namespace trumpet::slice
