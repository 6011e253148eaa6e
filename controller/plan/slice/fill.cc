// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/plan/slice/fill.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "controller/plan/slice/fill_bound.h"
#include "controller/plan/slice/greedy_fill.h"
#include "controller/plan/slice/knapsack.h"
#include "controller/plan/slice/linear_program.h"

namespace trumpet::slice {
namespace {

constexpr double kTolerance = 1e-6;
constexpr double kRounding = 1e-10;  // of sums over all queries and slots, for each unit

// `bound`, or the highest objective up to there that whole weights can have.
double WholeBound(const FillProblem& problem, double bound) {
  const bool is_whole = std::all_of(problem.weights.begin(), problem.weights.end(),
                                    [](double weight) { return weight == std::floor(weight); });
  return is_whole ? std::floor(bound + kTolerance + kRounding * std::abs(bound)) : bound;
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
  double Whole(double bound) const { return WholeBound(problem_, bound); }

  const FillProblem& problem_;
  const Deadline deadline_;
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
  }
  program_.AddColumn(-kFairness, 0, LinearProgram::kInfinity, repeats);
  for (FillPattern pattern : start) {
    if (SecondsUntil(deadline) <= 0) break;
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
  while (!order.empty() && SecondsUntil(deadline_) > 0) {
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
    if (slots.count == 0) continue;
    if (SecondsUntil(deadline_) <= 0) return LinearProgram::kInfinity;
    const double price = solution.prices[kind];
    std::vector<KnapsackItem> items;
    for (size_t query = 0; query < problem_.costs.size(); ++query) {
      const double need = std::max(solution.prices[problem_.kinds.size() + query], 0.0);
      items.push_back({problem_.costs[query], problem_.weights[query] + need});
    }
    for (int query : slots.holds) items[static_cast<size_t>(query)].value = 0;
    const KnapsackChoice choice = FillKnapsack(items, slots.room);
    if (choice.most + price > kTolerance / 10) rise += (choice.most + price) * slots.count;
    if (choice.value + price <= kTolerance / 10) continue;
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

// A pattern in so many slots of its kind, as long as there are as many; what is left is filled
// greedily.
void FillProgram::Offer(const std::vector<double>& counts, FillResult* best) const {
  std::vector<FillPattern> found;
  std::vector<int> left;
  for (const SlotKind& kind : problem_.kinds) left.push_back(kind.count);
  for (size_t i = 0; i < patterns_.size() && i + 1 < counts.size(); ++i) {
    FillPattern pattern = patterns_[i];
    pattern.count = std::min(static_cast<int>(counts[i + 1] + kTolerance), left[pattern.kind]);
    if (pattern.count == 0) continue;
    left[pattern.kind] -= pattern.count;
    found.push_back(std::move(pattern));
  }
  FillResult filled = TopUp(problem_, found, static_cast<int>(counts[0] + kTolerance), deadline_);
  if (!IsBetterFill(filled, *best)) return;
  filled.bound = best->bound;
  *best = std::move(filled);
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
  best.bound = std::min(best.bound, Whole(bound));
  if (!relaxed) return best;
  Offer(relaxed->values, &best);
  if (best.objective >= best.bound) return best;
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
  FillResult result = FillGreedily(problem, start, deadline);
  result.bound = WholeBound(problem, BoundFill(problem));
  const auto is_proven = [&result] { return result.objective >= result.bound - kTolerance; };
  if (!is_proven() && SecondsUntil(deadline) > 0) {
    std::vector<FillPattern> known = start;
    known.insert(known.end(), result.patterns.begin(), result.patterns.end());
    result = FillProgram(problem, known, deadline).Run(std::move(result));
  }
  result.bound = std::max(result.bound, result.objective);
  result.is_proven = is_proven();
  result.is_cut_short = !result.is_proven && SecondsUntil(deadline) <= 0;
  return result;
}

}  // namespace trumpet::slice
