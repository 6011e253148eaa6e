// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/analyzer/estimates.h"

#include <algorithm>
#include <cmath>

namespace trumpet {
namespace {

// One end of MOVER's interval of a / b, given the ends of a and b that belong to it.
double QuotientEnd(double a, double b, double a_end, double b_end, double side) {
  const double product = a * b;
  const double denominator = b_end * (2 * b - b_end);
  if (denominator <= 0) return side < 0 ? 0 : 1;  // b may be next to nothing
  const double inner = product * product - a_end * b_end * (2 * a - a_end) * (2 * b - b_end);
  return (product + side * std::sqrt(std::max(0.0, inner))) / denominator;
}

}  // namespace

double NormalReach(double confidence) {
  double low = 0;
  double high = 40;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (std::erf(middle / std::sqrt(2.0)) < confidence ? low : high) = middle;
  }
  return low;
}

Estimate Proportion(uint64_t hits, uint64_t trials, double reach) {
  if (trials == 0) return Estimate();
  const auto n = static_cast<double>(trials);
  const double value = static_cast<double>(hits) / n;
  const double square = reach * reach;
  const double center = (value + square / (2 * n)) / (1 + square / n);
  const double half =
      reach / (1 + square / n) * std::sqrt(value * (1 - value) / n + square / (4 * n * n));
  return {true, value, std::max(0.0, std::min(value, center - half)),
          std::min(1.0, std::max(value, center + half))};
}

Estimate Complement(const Estimate& x) { return {x.is_known, 1 - x.value, 1 - x.high, 1 - x.low}; }

Estimate Power(const Estimate& x, unsigned n) {
  return {x.is_known, std::pow(x.value, n), std::pow(x.low, n), std::pow(x.high, n)};
}

Estimate Quotient(const Estimate& a, const Estimate& b) {
  if (!a.is_known) return Estimate();
  if (!b.is_known) return {true, a.value, a.low, 1};
  if (b.value <= 0) return Estimate();
  const auto clamp = [](double x) { return std::min(1.0, std::max(0.0, x)); };
  const double value = clamp(a.value / b.value);
  const double low = clamp(QuotientEnd(a.value, b.value, a.low, b.high, -1));
  const double high = clamp(QuotientEnd(a.value, b.value, a.high, b.low, 1));
  return {true, value, std::min(low, value), std::max(high, value)};
}

}  // namespace trumpet
