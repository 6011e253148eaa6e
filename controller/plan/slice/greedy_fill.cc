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

// Queries by how often they are there, of those the best for its cost first.  Kept in this order
// while slots are filled: to sort anew for each of 100,000 slots takes most of a second.
class Turns {
 public:
  Turns(std::vector<int> best_first, const std::vector<int>& counts)
      : best_first_(std::move(best_first)) {
    for (size_t rank = 0; rank < best_first_.size(); ++rank) {
      const auto count = static_cast<uint64_t>(counts[static_cast<size_t>(best_first_[rank])]);
      keys_.push_back(count * kOnce + rank);
    }
    std::sort(keys_.begin(), keys_.end());
  }

  size_t count() const { return keys_.size(); }
  int at(size_t position) const { return best_first_[keys_[position] % kOnce]; }
  // Those at `positions`, which rise, are there once more.
  void Raise(const std::vector<size_t>& positions);

 private:
  static constexpr uint64_t kOnce = uint64_t{1} << 32;

  const std::vector<int> best_first_;
  std::vector<uint64_t> keys_;  // rising: how often, then the rank in `best_first_`
  std::vector<uint64_t> kept_;  // here and below: only while Raise() runs
  std::vector<uint64_t> raised_;
};

void Turns::Raise(const std::vector<size_t>& positions) {
  kept_.clear();
  raised_.clear();
  auto next = positions.begin();
  for (size_t at = 0; at < keys_.size(); ++at) {
    if (next == positions.end() || *next != at) {
      kept_.push_back(keys_[at]);
    } else {
      raised_.push_back(keys_[at] + kOnce);
      ++next;
    }
  }
  std::merge(kept_.begin(), kept_.end(), raised_.begin(), raised_.end(), keys_.begin());
}

class GreedyFill {
 public:
  GreedyFill(const FillProblem& problem, const std::vector<FillPattern>& start);

  // Every query so often, as far as it can be.  False if it is already.
  bool Raise(int times, Order order);
  // Whatever fits, the best for its cost first.
  void FillUp();
  FillResult Result() const;
  // With that, slot by slot, what is there least often first, and of that the best for its cost.
  FillResult FilledInTurn() const;

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

bool GreedyFill::Raise(int times, Order order) {
  std::vector<int> lacking;
  for (size_t query = 0; query < counts_.size(); ++query) {
    if (counts_[query] < times) lacking.push_back(static_cast<int>(query));
  }
  std::stable_sort(lacking.begin(), lacking.end(), [this](int a, int b) {
    return problem_.costs[static_cast<size_t>(a)] > problem_.costs[static_cast<size_t>(b)];
  });
  for (int query : lacking) AddTimes(query, times - counts_[static_cast<size_t>(query)], order);
  return !lacking.empty();
}

std::vector<int> GreedyFill::BestFirst() const {
  std::vector<int> queries(counts_.size());
  std::iota(queries.begin(), queries.end(), 0);
  std::vector<double> worth;
  for (size_t query = 0; query < counts_.size(); ++query) {
    worth.push_back(WorthOf(problem_.weights[query], problem_.costs[query]));
  }
  std::stable_sort(queries.begin(), queries.end(), [&](int a, int b) {
    const auto at_a = static_cast<size_t>(a);
    const auto at_b = static_cast<size_t>(b);
    return worth[at_a] != worth[at_b] ? worth[at_a] > worth[at_b] : counts_[at_a] < counts_[at_b];
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

FillResult GreedyFill::Result() const {
  std::vector<FillPattern> patterns;
  for (const Group& group : groups_) {
    if (!group.pattern.queries.empty()) patterns.push_back(group.pattern);
  }
  return JudgeFill(problem_, std::move(patterns));
}

FillResult GreedyFill::FilledInTurn() const {
  if (counts_.empty()) return Result();
  const int64_t cheapest = *std::min_element(problem_.costs.begin(), problem_.costs.end());
  Turns turns(BestFirst(), counts_);
  std::map<std::pair<size_t, Slot>, int> filled;  // slots by kind and queries
  std::vector<size_t> taken;                      // positions
  for (const Group& group : groups_) {
    for (int left = group.pattern.count; left > 0;) {
      Slot queries = group.pattern.queries;
      int64_t room = group.room;
      taken.clear();
      for (size_t at = 0; at < turns.count() && room >= cheapest; ++at) {
        const auto query = static_cast<size_t>(turns.at(at));
        if (problem_.costs[query] > room || group.has[query]) continue;
        room -= problem_.costs[query];
        queries.push_back(turns.at(at));
        taken.push_back(at);
      }
      turns.Raise(taken);
      std::sort(queries.begin(), queries.end());
      // What nothing fits into is like that for all slots of the group.
      const int slots = taken.empty() ? left : 1;
      filled[{group.pattern.kind, std::move(queries)}] += slots;
      left -= slots;
    }
  }
  std::vector<FillPattern> patterns;
  for (const auto& [key, slots] : filled) {
    if (!key.second.empty()) patterns.push_back({key.first, key.second, slots});
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

FillResult TopUp(const FillProblem& problem, const std::vector<FillPattern>& start, int repeated,
                 Deadline deadline) {
  FillResult best = JudgeFill(problem, start);
  const GreedyFill unfilled(problem, start);
  for (const Order order : {Order::kFullestFirst, Order::kEmptiestFirst}) {
    GreedyFill fill = unfilled;
    // Where nothing is raised, the order makes no difference.
    const bool is_raised = fill.Raise(problem.required + repeated, order);
    fill.FillUp();
    FillResult found = fill.Result();
    if (IsBetterFill(found, best)) best = std::move(found);
    if (!is_raised || SecondsUntil(deadline) <= 0) break;
  }
  return best;
}

FillResult FillInTurn(const FillProblem& problem, const std::vector<FillPattern>& start) {
  return GreedyFill(problem, start).FilledInTurn();
}

FillResult FillGreedily(const FillProblem& problem, const std::vector<FillPattern>& start,
                        Deadline deadline) {
  FillResult best = TopUp(problem, start, 0, deadline);
  int best_repeated = 0;
  const auto offer = [&](const std::vector<FillPattern>& from, int repeated) {
    FillResult found = TopUp(problem, from, repeated, deadline);
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
