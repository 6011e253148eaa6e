// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/plan/slice/schedule.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>
#include <string>

namespace trumpet::slice {
namespace {

int64_t CostOf(const ScheduleProblem& problem, const Slot& slot) {
  return std::accumulate(slot.begin(), slot.end(), int64_t{0}, [&](int64_t sum, int query) {
    return sum + problem.costs[static_cast<size_t>(query)];
  });
}

// The packing, repeated, and the slots that remain.
FillProblem AroundPacking(const ScheduleProblem& problem, const std::vector<Slot>& pack,
                          int repetitions) {
  FillProblem fill{problem.costs, problem.weights, {}, 0};
  for (const Slot& slot : pack) {
    fill.kinds.push_back({problem.budget - CostOf(problem, slot), slot, repetitions});
  }
  const int rest = problem.slots - repetitions * static_cast<int>(pack.size());
  fill.kinds.push_back({problem.budget, {}, rest});
  return fill;
}

int Repetitions(const ScheduleProblem& problem, const std::vector<Slot>& pack) {
  return problem.slots / std::max(static_cast<int>(pack.size()), 1);
}

// Every slot with what it held and what it got.
std::vector<Slot> Unfold(const FillProblem& problem, const std::vector<FillPattern>& patterns) {
  std::vector<std::vector<Slot>> by_kind(problem.kinds.size());
  for (const FillPattern& pattern : patterns) {
    Slot slot = problem.kinds[pattern.kind].holds;
    slot.insert(slot.end(), pattern.queries.begin(), pattern.queries.end());
    std::vector<Slot>& slots = by_kind[pattern.kind];
    slots.insert(slots.end(), static_cast<size_t>(pattern.count), slot);
  }
  for (size_t kind = 0; kind < by_kind.size(); ++kind) {
    by_kind[kind].resize(static_cast<size_t>(problem.kinds[kind].count), problem.kinds[kind].holds);
  }
  // Kinds take turns, so that a query's slots are spread over the campaign.
  std::vector<Slot> slots;
  for (size_t turn = 0;; ++turn) {
    bool has_more = false;
    for (std::vector<Slot>& kind : by_kind) {
      if (turn >= kind.size()) continue;
      slots.push_back(std::move(kind[turn]));
      has_more = true;
    }
    if (!has_more) return slots;
  }
}

// The same slots as patterns of one kind that holds nothing, each set of queries once.
std::vector<FillPattern> WholeSlots(const FillProblem& problem,
                                    const std::vector<FillPattern>& patterns) {
  std::map<Slot, int> counts;
  const auto add = [&](size_t kind, const Slot& added, int count) {
    Slot slot = problem.kinds[kind].holds;
    slot.insert(slot.end(), added.begin(), added.end());
    std::sort(slot.begin(), slot.end());
    if (count > 0) counts[std::move(slot)] += count;
  };
  std::vector<int> left;
  for (const SlotKind& kind : problem.kinds) left.push_back(kind.count);
  for (const FillPattern& pattern : patterns) {
    add(pattern.kind, pattern.queries, pattern.count);
    left[pattern.kind] -= pattern.count;
  }
  for (size_t kind = 0; kind < left.size(); ++kind) add(kind, {}, left[kind]);
  std::vector<FillPattern> whole;
  for (const auto& [slot, count] : counts) whole.push_back({0, slot, count});
  return whole;
}

Status NoSlotTime() { return Status::Error("a slot takes 0 ms; the shortest slice takes more"); }

Result<SlotTimes> TimesOf(double slot_ms, double slots) {
  if (slots > kMaxSlots) return CheckSlotCount(slots);
  return SlotTimes{slot_ms, static_cast<int>(slots)};
}

}  // namespace

Nanos NanosOf(double ms) { return std::llround(ms * kNanosPerMilli); }

Status CheckSlotCount(double slots) {
  if (slots >= 1 && slots <= kMaxSlots) return Status::Ok();
  char count[32];
  std::snprintf(count, sizeof count, "%.15g", slots);
  return Status::Error(std::string("a campaign of ") + count + " slots; it takes 1 to " +
                       std::to_string(kMaxSlots));
}

Status CheckScheduleProblem(const ScheduleProblem& problem) {
  if (problem.budget < 1 || problem.budget > kMaxCost) {
    return Status::Error("the budget is " + std::to_string(problem.budget) + "; it takes 1 to " +
                         std::to_string(kMaxCost));
  }
  const Status status = CheckSlotCount(problem.slots);
  if (!status.ok()) return status;
  const size_t queries = problem.costs.size() + problem.confined;
  if (queries > kMaxQueries) {
    return Status::Error(std::to_string(queries) + " queries; at most " +
                         std::to_string(kMaxQueries) + " are planned");
  }
  if (queries * static_cast<size_t>(problem.slots) > kMaxAllocations) {
    return Status::Error(std::to_string(queries) + " queries in " + std::to_string(problem.slots) +
                         " slots; at most " + std::to_string(kMaxAllocations) +
                         " pairs are planned");
  }
  for (size_t query = 0; query < problem.costs.size(); ++query) {
    const int64_t cost = problem.costs[query];
    const std::string which = "query " + std::to_string(query) + " costs " + std::to_string(cost);
    if (cost < 0) return Status::Error(which + "; a cost is 0 or more");
    if (cost > problem.budget) {
      return Status::Error(which + ", more than the budget of " + std::to_string(problem.budget) +
                           " allows even alone");
    }
    if (problem.weights[query] <= 0) {
      return Status::Error("query " + std::to_string(query) + " has no weight; it is above 0");
    }
  }
  return Status::Ok();
}

Schedule FillAroundPacking(const ScheduleProblem& problem, const std::vector<Slot>& pack,
                           Deadline deadline) {
  const FillProblem fill = AroundPacking(problem, pack, Repetitions(problem, pack));
  Schedule schedule;
  schedule.fill = Fill(fill, {}, deadline);
  schedule.slots = Unfold(fill, schedule.fill.patterns);
  return schedule;
}

Schedule FillFreely(const ScheduleProblem& problem, const std::vector<Slot>& pack,
                    Deadline deadline) {
  // What the repeated packing allows is where the search starts.
  const auto half = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(SecondsUntil(deadline) / 2));
  const int repetitions = Repetitions(problem, pack);
  const FillProblem around = AroundPacking(problem, pack, repetitions);
  const FillResult start = Fill(around, {}, deadline - half);
  const FillProblem fill{
      problem.costs, problem.weights, {{problem.budget, {}, problem.slots}}, repetitions};
  Schedule schedule;
  schedule.fill = Fill(fill, WholeSlots(around, start.patterns), deadline);
  schedule.slots = Unfold(fill, schedule.fill.patterns);
  // Count as the paper does: what is added to the repeated packing.
  const double repeated =
      std::accumulate(problem.weights.begin(), problem.weights.end(), 0.0) * repetitions;
  // Sums that round leave no less than nothing.
  schedule.fill.objective = std::max(schedule.fill.objective - repeated, 0.0);
  schedule.fill.bound = std::max(schedule.fill.bound - repeated, schedule.fill.objective);
  return schedule;
}

Result<SlotTimes> CountSlots(double during_s, double longest_path_ms, double shortest_slice_ms,
                             double spacing_ms) {
  const double slot_ms = std::max(longest_path_ms, shortest_slice_ms);
  const double turn_ms = slot_ms + spacing_ms;
  if (turn_ms <= 0) return NoSlotTime();
  if (std::isinf(turn_ms)) return TimesOf(slot_ms, 0);
  return TimesOf(slot_ms, std::floor(during_s * 1000 / turn_ms));
}

Result<SlotTimes> CountWholeSlots(Nanos during, double longest_path_ms, double shortest_slice_ms,
                                  double spacing_ms) {
  const double slot_ms = std::max(longest_path_ms, shortest_slice_ms);
  const Nanos turn = NanosOf(slot_ms) + NanosOf(spacing_ms);
  if (turn <= 0) return NoSlotTime();
  return TimesOf(slot_ms, static_cast<double>(during / turn));
}

}  // namespace trumpet::slice
