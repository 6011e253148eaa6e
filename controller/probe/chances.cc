// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/probe/chances.h"

#include <algorithm>
#include <cmath>

namespace trumpet {
namespace {

constexpr double kImpossible = -1e300;

// Logarithm of "k of n"; of 1000 packets the number itself would not fit.
double LogChoices(uint64_t n, uint64_t k) {
  if (k > n) return kImpossible;
  const auto log_factorial = [](uint64_t x) { return std::lgamma(static_cast<double>(x) + 1); };
  return log_factorial(n) - log_factorial(k) - log_factorial(n - k);
}

double Bounded(double chance) { return std::min(1.0, std::max(0.0, chance)); }

}  // namespace

double ChanceOfSoMany(uint64_t hits, uint64_t trials, double rate) {
  if (hits == 0) return 1;
  if (hits > trials || rate <= 0) return 0;
  if (rate >= 1) return 1;
  double sum = 0;
  for (uint64_t k = hits; k <= trials; ++k) {
    sum += std::exp(LogChoices(trials, k) + static_cast<double>(k) * std::log(rate) +
                    static_cast<double>(trials - k) * std::log1p(-rate));
  }
  return Bounded(sum);
}

RateRange RateOf(uint64_t hits, uint64_t trials, double confidence) {
  if (trials == 0) return RateRange();
  const double each = (1 - confidence) / 2;
  // The rate at which `hits` or more have that chance, which grows with it.
  const auto rate_at = [&](uint64_t at_least, double chance) {
    double low = 0;
    double high = 1;
    for (int i = 0; i < 60; ++i) {
      const double middle = (low + high) / 2;
      (ChanceOfSoMany(at_least, trials, middle) < chance ? low : high) = middle;
    }
    return low;
  };
  return {hits == 0 ? 0 : rate_at(hits, each), hits == trials ? 1 : rate_at(hits + 1, 1 - each)};
}

double ChanceOfSoFew(uint64_t hits, uint64_t trials, uint64_t other_hits, uint64_t other_trials) {
  const uint64_t all_hits = hits + other_hits;
  const double all = LogChoices(trials + other_trials, all_hits);
  double sum = 0;
  for (uint64_t k = 0; k <= hits; ++k) {
    if (k > trials || all_hits - k > other_trials) continue;
    sum += std::exp(LogChoices(trials, k) + LogChoices(other_trials, all_hits - k) - all);
  }
  return Bounded(sum);
}

double ChanceOfSoFewRuns(uint64_t runs, uint64_t hits, uint64_t misses) {
  if (hits == 0 || misses == 0) return 1;
  const double all = LogChoices(hits + misses, hits);
  // So many runs of each: hits, cut into `a` pieces, and misses, cut into `b`.
  const auto of = [&](uint64_t a, uint64_t b) {
    if (a == 0 || b == 0) return 0.0;
    return std::exp(LogChoices(hits - 1, a - 1) + LogChoices(misses - 1, b - 1) - all);
  };
  double sum = 0;
  for (uint64_t r = 2; r <= runs; ++r) {
    sum += r % 2 == 0 ? 2 * of(r / 2, r / 2) : of(r / 2, r / 2 + 1) + of(r / 2 + 1, r / 2);
  }
  return Bounded(sum);
}

}  // namespace trumpet
