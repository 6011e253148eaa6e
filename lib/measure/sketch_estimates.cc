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

double HyperLogLogError(size_t registers) {
  return 1.04 / std::sqrt(static_cast<double>(registers));
}

double PcsaError(size_t bitmaps) { return 0.78 / std::sqrt(static_cast<double>(bitmaps)); }

}  // namespace trumpet
