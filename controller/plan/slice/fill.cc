// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/plan/slice/fill.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "controller/plan/slice/knapsack.h"
#include "controller/plan/slice/linear_program.h"

namespace trumpet::slice {
namespace {

constexpr double kTolerance = 1e-6;

// How often each query is added by these patterns.
std::vector<int> CountAdded(const FillProblem& problem, const std::vector<FillPattern>& patterns) {
  std::vector<int> counts(problem.costs.size(), 0);
  for (const FillPattern& pattern : patterns) {
    for (int query : pattern.queries) counts[static_cast<size_t>(query)] += pattern.count;
  }
  return counts;
}

// Sets `repeated` and `objective` of what `patterns` are.
void Judge(const FillProblem& problem, FillResult* result) {
  const std::vector<int> counts = CountAdded(problem, result->patterns);
  int least = counts.empty() ? problem.required : std::numeric_limits<int>::max();
  result->objective = 0;
  for (size_t query = 0; query < counts.size(); ++query) {
    least = std::min(least, counts[query]);
    result->objective += problem.weights[query] * counts[query];
  }
  result->repeated = least - problem.required;
  result->objective += kFairness * static_cast<double>(result->repeated);
}

// The linear program: columns 0 is the number of repetitions, the others are patterns.  It
// minimizes, so the objective has its sign turned.
class FillProgram {
 public:
  FillProgram(const FillProblem& problem, const std::vector<FillPattern>& start, Deadline deadline);

  FillResult Run(FillResult best);

 private:
  void AddPattern(size_t kind, const Slot& queries);
  void AddGreedyPatterns(size_t kind, double price, std::vector<KnapsackItem> items);
  // Adds what improves the optimum of `solution`; by how much that may rise in all.
  double AddPatterns(const LpSolution& solution);
  // The optimum over all patterns with the number of repetitions within these; `bound` is an upper
  // bound of it, also when time ran out.
  std::optional<LpSolution> Generate(double least_repeated, double most_repeated, double* bound);
  void Round(const LpSolution& relaxed, double bound, FillResult* best);
  void Offer(const std::vector<double>& counts, FillResult* best) const;
  double Whole(double bound) const {
    return has_whole_weights_ ? std::floor(bound + kTolerance) : bound;
  }

  const FillProblem& problem_;
  const Deadline deadline_;
  bool has_whole_weights_ = true;
  LinearProgram program_;
  std::vector<FillPattern> patterns_;                 // by column - 1
  std::set<std::pair<size_t, Slot>> known_patterns_;  // so that none comes twice
};

FillProgram::FillProgram(const FillProblem& problem, const std::vector<FillPattern>& start,
                         Deadline deadline)
    : problem_(problem), deadline_(deadline) {
  for (const SlotKind& kind : problem.kinds) {
    program_.AddRow(-LinearProgram::kInfinity, kind.count);
  }
  std::vector<LpEntry> repeats;
  for (size_t query = 0; query < problem.costs.size(); ++query) {
    const int row = program_.AddRow(problem.required, LinearProgram::kInfinity);
    repeats.push_back({row, -1});
    const double weight = problem.weights[query];
    has_whole_weights_ = has_whole_weights_ && weight == std::floor(weight);
  }
  program_.AddColumn(-kFairness, 0, LinearProgram::kInfinity, repeats);
  for (FillPattern pattern : start) {
    std::sort(pattern.queries.begin(), pattern.queries.end());
    AddPattern(pattern.kind, pattern.queries);
  }
}

void FillProgram::AddPattern(size_t kind, const Slot& queries) {
  if (!known_patterns_.emplace(kind, queries).second) return;
  std::vector<LpEntry> entries{{static_cast<int>(kind), 1}};
  double weight = 0;
  for (int query : queries) {
    entries.push_back({static_cast<int>(problem_.kinds.size()) + query, 1});
    weight += problem_.weights[static_cast<size_t>(query)];
  }
  program_.AddColumn(-weight, 0, LinearProgram::kInfinity, entries);
  patterns_.push_back({kind, queries, 0});
}

// Patterns of what `items` are left, the best for its cost first; the dearest pattern alone would
// need a solution of the program for each of them.
void FillProgram::AddGreedyPatterns(size_t kind, double price, std::vector<KnapsackItem> items) {
  std::vector<int> order;
  for (size_t query = 0; query < items.size(); ++query) {
    if (items[query].value > 0) order.push_back(static_cast<int>(query));
  }
  const auto density = [&items](int query) {
    const KnapsackItem& item = items[static_cast<size_t>(query)];
    return item.value / static_cast<double>(std::max<int64_t>(item.cost, 1));
  };
  std::sort(order.begin(), order.end(),
            [&density](int a, int b) { return density(a) > density(b); });
  while (!order.empty()) {
    int64_t room = problem_.kinds[kind].room;
    double value = 0;
    Slot queries;
    std::vector<int> rest;
    for (int query : order) {
      const KnapsackItem& item = items[static_cast<size_t>(query)];
      if (item.cost > room) {
        rest.push_back(query);
        continue;
      }
      room -= item.cost;
      value += item.value;
      queries.push_back(query);
    }
    if (queries.empty()) return;
    std::sort(queries.begin(), queries.end());
    if (value + price > kTolerance) AddPattern(kind, queries);
    order = std::move(rest);
  }
}

double FillProgram::AddPatterns(const LpSolution& solution) {
  double rise = 0;
  for (size_t kind = 0; kind < problem_.kinds.size(); ++kind) {
    const SlotKind& slots = problem_.kinds[kind];
    const double price = solution.prices[kind];
    std::vector<KnapsackItem> items;
    for (size_t query = 0; query < problem_.costs.size(); ++query) {
      const double need = std::max(solution.prices[problem_.kinds.size() + query], 0.0);
      items.push_back({problem_.costs[query], problem_.weights[query] + need});
    }
    for (int query : slots.holds) items[static_cast<size_t>(query)].value = 0;
    const KnapsackChoice choice = FillKnapsack(items, slots.room);
    if (!choice.is_best) rise = LinearProgram::kInfinity;
    if (choice.value + price <= kTolerance / 10) continue;
    rise += (choice.value + price) * slots.count;
    Slot queries;
    for (size_t query = 0; query < items.size(); ++query) {
      if (choice.copies[query] == 0) continue;
      queries.push_back(static_cast<int>(query));
      items[query].value = 0;
    }
    AddPattern(kind, queries);
    AddGreedyPatterns(kind, price, std::move(items));
  }
  return rise;
}

std::optional<LpSolution> FillProgram::Generate(double least_repeated, double most_repeated,
                                                double* bound) {
  program_.SetBounds(0, least_repeated, most_repeated);
  *bound = LinearProgram::kInfinity;
  std::optional<LpSolution> best;
  for (;;) {
    auto solution = program_.SolveRelaxed(SecondsUntil(deadline_));
    if (!solution) return best;
    const int columns = program_.column_count();
    const double rise = AddPatterns(*solution);
    *bound = std::min(*bound, -solution->objective + rise);
    best = std::move(solution);
    const bool is_exact = program_.column_count() == columns;
    if (is_exact || SecondsUntil(deadline_) <= 0) return best;
  }
}

// A pattern that this many slots of a kind use, as long as the kind has as many.
void FillProgram::Offer(const std::vector<double>& counts, FillResult* best) const {
  FillResult found;
  std::vector<int> left;
  for (const SlotKind& kind : problem_.kinds) left.push_back(kind.count);
  for (size_t i = 0; i < patterns_.size() && i + 1 < counts.size(); ++i) {
    FillPattern pattern = patterns_[i];
    pattern.count = std::min(static_cast<int>(counts[i + 1] + kTolerance), left[pattern.kind]);
    if (pattern.count == 0) continue;
    left[pattern.kind] -= pattern.count;
    found.patterns.push_back(std::move(pattern));
  }
  Judge(problem_, &found);
  if (found.repeated < 0 || found.objective <= best->objective) return;
  found.bound = best->bound;
  *best = std::move(found);
}

void FillProgram::Round(const LpSolution& relaxed, double bound, FillResult* best) {
  Offer(relaxed.values, best);
  if (best->objective >= Whole(bound) || SecondsUntil(deadline_) <= 0) return;
  const auto whole = program_.SolveInteger(SecondsUntil(deadline_));
  if (whole) Offer(whole->values, best);
}

FillResult FillProgram::Run(FillResult best) {
  double bound = 0;
  const auto relaxed = Generate(0, LinearProgram::kInfinity, &bound);
  best.bound = Whole(bound);
  if (!relaxed) return best;
  // The optimum is concave in the number of repetitions, so the best whole number of them is next
  // to the best number.
  const double down = std::floor(relaxed->values[0] + kTolerance);
  struct Choice {
    double repeated, bound;
    LpSolution relaxed;
  };
  std::vector<Choice> choices;
  double highest = 0;
  for (const double repeated : {down, down + 1}) {
    const auto solution = Generate(repeated, repeated, &bound);
    if (!solution) {
      if (SecondsUntil(deadline_) <= 0) return best;
      continue;  // not so often
    }
    choices.push_back({repeated, Whole(bound), *solution});
    highest = std::max(highest, choices.back().bound);
  }
  best.bound = std::min(best.bound, std::max(highest, best.objective));
  std::sort(choices.begin(), choices.end(),
            [](const Choice& a, const Choice& b) { return a.bound > b.bound; });
  for (const Choice& choice : choices) {
    if (best.objective >= choice.bound) continue;
    program_.SetBounds(0, choice.repeated, choice.repeated);
    Round(choice.relaxed, choice.bound, &best);
  }
  return best;
}

}  // namespace

FillResult Fill(const FillProblem& problem, const std::vector<FillPattern>& start,
                Deadline deadline) {
  FillResult result;
  result.patterns = start;
  Judge(problem, &result);
  result.bound = LinearProgram::kInfinity;
  if (!problem.costs.empty() && SecondsUntil(deadline) > 0) {
    result = FillProgram(problem, start, deadline).Run(std::move(result));
  }
  result.is_proven = result.objective >= result.bound - kTolerance;
  return result;
}

}  // namespace trumpet::slice
