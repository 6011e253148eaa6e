// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/plan/slice/pattern_packing.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "controller/plan/slice/knapsack.h"
#include "controller/plan/slice/linear_program.h"

namespace trumpet::slice {
namespace {

// A kind are the queries of one cost.
using KindCounts = std::vector<int>;  // by kind

// What is in a slot.  It names only kinds that are: of 100,000 kinds few fit into one slot.
struct KindCount {
  size_t kind = 0;
  int count = 0;  // above 0
};
using Pattern = std::vector<KindCount>;

constexpr double kTolerance = 1e-7;

Pattern PatternOf(const Slot& slot, const std::vector<size_t>& kind_of) {
  std::map<size_t, int> counts;
  for (int query : slot) ++counts[kind_of[static_cast<size_t>(query)]];
  Pattern pattern;
  for (const auto& [kind, count] : counts) pattern.push_back({kind, count});
  return pattern;
}

Pattern PatternOf(const KindCounts& counts) {
  Pattern pattern;
  for (size_t kind = 0; kind < counts.size(); ++kind) {
    if (counts[kind] > 0) pattern.push_back({kind, counts[kind]});
  }
  return pattern;
}

// What of `pattern` is left, and is not any more.
Pattern TakeFrom(KindCounts* left, const Pattern& pattern) {
  Pattern taken;
  for (const auto& [kind, wanted] : pattern) {
    const int count = std::min(wanted, (*left)[kind]);
    if (count == 0) continue;
    (*left)[kind] -= count;
    taken.push_back({kind, count});
  }
  return taken;
}

class PatternPacking {
 public:
  PatternPacking(const std::vector<int64_t>& costs, int64_t budget, Deadline deadline,
                 Packing* packing);

  void Run();

 private:
  bool IsLate() const { return SecondsUntil(deadline_) <= 0; }
  bool IsDone() const { return static_cast<int>(packing_->slots.size()) == packing_->least; }
  void AddPattern(Pattern pattern);
  KnapsackChoice BestPattern(const std::vector<double>& prices) const;

  // The optimum over all patterns for what `left` still demands; adds those that it needs.
  std::optional<LpSolution> Generate(const KindCounts& left);
  // No packing has fewer slots than this, whatever the prices are.
  int BoundOf(const std::vector<double>& prices) const;

  // Rounds one pattern after the other, and solves again what is left.
  void Dive();
  void RoundWhole();
  void PackRest(const std::vector<Pattern>& taken, const KindCounts& left);
  // Takes these patterns as the packing if they are fewer.
  void Offer(const std::vector<Pattern>& patterns);

  const int64_t budget_;
  const Deadline deadline_;
  Packing* const packing_;
  std::vector<int64_t> kind_cost_;
  std::vector<std::vector<int>> kind_queries_;
  std::vector<size_t> kind_of_;  // by query
  KindCounts demand_;
  std::vector<Pattern> patterns_;  // by column
  LinearProgram program_;
};

PatternPacking::PatternPacking(const std::vector<int64_t>& costs, int64_t budget, Deadline deadline,
                               Packing* packing)
    : budget_(budget), deadline_(deadline), packing_(packing) {
  std::map<int64_t, size_t> kinds;
  for (size_t query = 0; query < costs.size(); ++query) {
    const auto [at, is_new] = kinds.emplace(costs[query], kinds.size());
    if (is_new) {
      kind_cost_.push_back(costs[query]);
      kind_queries_.emplace_back();
    }
    kind_of_.push_back(at->second);
    kind_queries_[at->second].push_back(static_cast<int>(query));
  }
  for (const std::vector<int>& queries : kind_queries_) {
    demand_.push_back(static_cast<int>(queries.size()));
    program_.AddRow(static_cast<double>(queries.size()), LinearProgram::kInfinity);
  }
}

void PatternPacking::AddPattern(Pattern pattern) {
  std::vector<LpEntry> entries;
  for (const KindCount& one : pattern) {
    entries.push_back({static_cast<int>(one.kind), static_cast<double>(one.count)});
  }
  program_.AddColumn(1, 0, LinearProgram::kInfinity, entries);
  patterns_.push_back(std::move(pattern));
}

KnapsackChoice PatternPacking::BestPattern(const std::vector<double>& prices) const {
  std::vector<KnapsackItem> items;
  for (size_t kind = 0; kind < kind_cost_.size(); ++kind) {
    items.push_back({kind_cost_[kind], prices[kind], demand_[kind]});
  }
  return FillKnapsack(items, budget_);
}

std::optional<LpSolution> PatternPacking::Generate(const KindCounts& left) {
  for (size_t kind = 0; kind < left.size(); ++kind) {
    program_.SetRow(static_cast<int>(kind), left[kind], LinearProgram::kInfinity);
  }
  for (;;) {
    auto solution = program_.SolveRelaxed(SecondsUntil(deadline_));
    if (!solution || IsLate()) return std::nullopt;
    const KnapsackChoice choice = BestPattern(solution->prices);
    if (choice.value <= 1 + kTolerance) return solution;
    // As soon as the bound rounds up to what the optimum can be at most, more patterns are no use.
    if (std::ceil(solution->objective / choice.value - kTolerance) >= solution->objective) {
      return solution;
    }
    AddPattern(PatternOf(choice.copies));
  }
}

// In whole numbers: with prices p and the dearest pattern worth w, every slot covers w at most.
int PatternPacking::BoundOf(const std::vector<double>& prices) const {
  constexpr double kScale = 1e6;
  std::vector<double> whole;
  double total = 0;
  for (size_t kind = 0; kind < prices.size(); ++kind) {
    whole.push_back(std::floor(std::max(prices[kind], 0.0) * kScale));
    total += whole.back() * demand_[kind];
  }
  const KnapsackChoice choice = BestPattern(whole);
  if (!choice.is_best || choice.value <= 0) return 0;
  const auto sum = static_cast<int64_t>(total);
  const auto worth = static_cast<int64_t>(choice.value);
  return static_cast<int>((sum + worth - 1) / worth);
}

void PatternPacking::Offer(const std::vector<Pattern>& patterns) {
  if (patterns.size() >= packing_->slots.size()) return;
  std::vector<size_t> used(kind_cost_.size(), 0);
  std::vector<Slot> slots;
  for (const Pattern& pattern : patterns) {
    Slot slot;
    for (const auto& [kind, count] : pattern) {
      const std::vector<int>& queries = kind_queries_[kind];
      for (int i = 0; i < count && used[kind] < queries.size(); ++i) {
        slot.push_back(queries[used[kind]++]);
      }
    }
    if (!slot.empty()) slots.push_back(std::move(slot));
  }
  packing_->slots = std::move(slots);
}

void PatternPacking::PackRest(const std::vector<Pattern>& taken, const KindCounts& left) {
  std::vector<int64_t> costs;
  std::vector<size_t> kinds;
  for (size_t kind = 0; kind < left.size(); ++kind) {
    costs.insert(costs.end(), static_cast<size_t>(left[kind]), kind_cost_[kind]);
    kinds.insert(kinds.end(), static_cast<size_t>(left[kind]), kind);
  }
  for (const auto pack : {PackFirstFit, PackBestFit}) {
    std::vector<Pattern> patterns = taken;
    for (const Slot& slot : pack(costs, budget_)) patterns.push_back(PatternOf(slot, kinds));
    Offer(patterns);
  }
}

void PatternPacking::Dive() {
  std::vector<Pattern> taken;
  KindCounts left = demand_;
  while (!IsDone() && std::any_of(left.begin(), left.end(), [](int count) { return count > 0; })) {
    const auto solution = Generate(left);
    if (!solution) break;
    // All that is whole already, or else the nearest to it.
    const size_t before = taken.size();
    size_t nearest = 0;
    for (size_t column = 0; column < solution->values.size(); ++column) {
      const double value = solution->values[column];
      if (value > solution->values[nearest]) nearest = column;
      for (int i = 0; i < static_cast<int>(std::floor(value + kTolerance)); ++i) {
        taken.push_back(TakeFrom(&left, patterns_[column]));
      }
    }
    if (taken.size() == before) taken.push_back(TakeFrom(&left, patterns_[nearest]));
    PackRest(taken, left);
  }
}

void PatternPacking::RoundWhole() {
  for (size_t kind = 0; kind < demand_.size(); ++kind) {
    program_.SetRow(static_cast<int>(kind), demand_[kind], LinearProgram::kInfinity);
  }
  const auto solution = program_.SolveInteger(SecondsUntil(deadline_));
  if (!solution) return;
  std::vector<Pattern> taken;
  KindCounts left = demand_;
  for (size_t column = 0; column < patterns_.size(); ++column) {
    for (double i = 0; i < solution->values[column]; ++i) {
      taken.push_back(TakeFrom(&left, patterns_[column]));
    }
  }
  PackRest(taken, left);
}

void PatternPacking::Run() {
  for (const Slot& slot : packing_->slots) AddPattern(PatternOf(slot, kind_of_));
  const auto solution = Generate(demand_);
  if (!solution) return;
  packing_->least = std::max(packing_->least, BoundOf(solution->prices));
  if (!IsDone()) Dive();
  if (!IsDone() && !IsLate()) RoundWhole();
}

}  // namespace

void PackByPatterns(const std::vector<int64_t>& costs, int64_t budget, Deadline deadline,
                    Packing* packing) {
  PatternPacking(costs, budget, deadline, packing).Run();
}

}  // namespace trumpet::slice
