// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/sketch_estimates.h"

#include <algorithm>
#include <cmath>

namespace trumpet {
namespace {

double AlphaOf(size_t registers) {
  switch (registers) {
    case 16:
      return 0.673;
    case 32:
      return 0.697;
    case 64:
      return 0.709;
    default:
      return 0.7213 / (1 + 1.079 / static_cast<double>(registers));
  }
}

}  // namespace

double EstimateHyperLogLog(const std::vector<uint64_t>& registers) {
  const auto count = static_cast<double>(registers.size());
  double sum = 0;
  for (const uint64_t rank : registers) sum += std::pow(2.0, -static_cast<double>(rank));
  const double raw = AlphaOf(registers.size()) * count * count / sum;
  const auto zeros = std::count(registers.begin(), registers.end(), 0);
  if (raw > 2.5 * count || zeros == 0) return raw;
  return count * std::log(count / static_cast<double>(zeros));  // few keys: linear counting
}

double EstimatePcsa(const std::vector<uint64_t>& bitmaps) {
  const auto count = static_cast<double>(bitmaps.size());
  double sum = 0;
  for (const uint64_t bitmap : bitmaps) {
    sum += ~bitmap == 0 ? 64 : static_cast<double>(__builtin_ctzll(~bitmap));
  }
  const double mean = sum / count;
  return count / 0.77351 * (std::pow(2.0, mean) - std::pow(2.0, -1.75 * mean));
}

// Swamidass and Baldi: each of n keys leaves a cell empty with (1 - 1/size)^hashes.
double EstimateBloom(uint64_t in_use, uint64_t size, uint32_t hashes) {
  if (in_use == 0) return 0;
  const auto cells = static_cast<double>(size);
  const double empty = in_use < size ? cells - static_cast<double>(in_use) : 1;
  return cells / static_cast<double>(hashes) * std::log(cells / empty);
}

namespace {

constexpr double kDeviations = 1.959964;  // of a normal distribution, for kKeyConfidence

// Up to so many keys for each cell, as the empty cells tell it, these are to be trusted alone.
constexpr double kSureByEmpty = 2;
// Deviations are those of many cells, and were tried with as few as 4: of so many they are larger
// by this number divided by theirs.
constexpr double kFewCells = 3;

struct BoundsOptions {
  double estimate = 0;
  double deviation = 0;  // of the estimate, as a share of it
  double too_small = 1;  // what it may be of the truth beyond chance, where it is used
  double too_large = 1;
  double most_by_empty = 0;  // keys for each cell, up to which empty cells tell something as well
};

// Whang, Vander-Zanden and Taylor: of so many keys so many cells stay empty.
KeyBounds BoundsByEmpty(double cells, double keys) {
  const double load = keys / cells;
  const double error = kDeviations * std::sqrt(cells * (std::exp(load) - load - 1));
  return {keys - error, keys + error * (1 + kFewCells / cells)};
}

KeyBounds BoundsOf(const std::vector<uint64_t>& cells, const BoundsOptions& options) {
  const auto count = static_cast<double>(cells.size());
  const auto zeros = static_cast<double>(std::count(cells.begin(), cells.end(), 0));
  const double by_empty = zeros == 0 ? HUGE_VAL : count * std::log(count / zeros);
  double low = options.estimate;
  double high = options.estimate;
  if (by_empty <= options.most_by_empty * count) {
    const KeyBounds bounds = BoundsByEmpty(count, by_empty);
    low = std::min(low, bounds.low);
    high = std::max(high, bounds.high);
  }
  if (by_empty > kSureByEmpty * count) {
    // Of few cells the estimate is off by factors.
    const double factor = std::exp(kDeviations * options.deviation * (1 + kFewCells / count));
    low = std::min(low, options.estimate / options.too_large / factor);
    high = std::max(high, options.estimate / options.too_small * factor);
  }
  return {std::max(0.0, std::floor(low)), std::ceil(high)};
}

}  // namespace

KeyBounds HyperLogLogBounds(const std::vector<uint64_t>& registers) {
  return BoundsOf(registers, {EstimateHyperLogLog(registers), HyperLogLogError(registers.size()),
                              0.998, 1.006, 3.5});
}

KeyBounds PcsaBounds(const std::vector<uint64_t>& bitmaps) {
  return BoundsOf(bitmaps, {EstimatePcsa(bitmaps), PcsaError(bitmaps.size()), 0.99, 1.02, 2.5});
}

double HyperLogLogError(size_t registers) {
  return 1.04 / std::sqrt(static_cast<double>(registers));
}

double PcsaError(size_t bitmaps) { return 0.78 / std::sqrt(static_cast<double>(bitmaps)); }

}  // namespace trumpet
