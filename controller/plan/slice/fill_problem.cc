// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/plan/slice/fill_problem.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace trumpet::slice {

FillResult JudgeFill(const FillProblem& problem, std::vector<FillPattern> patterns) {
  std::vector<int> counts(problem.costs.size(), 0);
  for (const FillPattern& pattern : patterns) {
    for (int query : pattern.queries) counts[static_cast<size_t>(query)] += pattern.count;
  }
  FillResult result;
  result.patterns = std::move(patterns);
  int least = counts.empty() ? problem.required : std::numeric_limits<int>::max();
  for (size_t query = 0; query < counts.size(); ++query) {
    least = std::min(least, counts[query]);
    result.objective += problem.weights[query] * counts[query];
  }
  result.repeated = least - problem.required;
  result.objective += kFairness * static_cast<double>(result.repeated);
  return result;
}

bool IsBetterFill(const FillResult& a, const FillResult& b) {
  const bool is_enough = a.repeated >= 0;
  if (is_enough != (b.repeated >= 0)) return is_enough;
  return a.objective > b.objective;
}

double WorthOf(double value, int64_t cost) {
  return cost > 0 ? value / static_cast<double>(cost) : std::numeric_limits<double>::infinity();
}

}  // namespace trumpet::slice
