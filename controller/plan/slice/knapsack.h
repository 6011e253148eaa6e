// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Knapsack: the most valuable set of queries for one slot.

#ifndef TRUMPET_CONTROLLER_PLAN_SLICE_KNAPSACK_H
#define TRUMPET_CONTROLLER_PLAN_SLICE_KNAPSACK_H

#include <cstdint>
#include <vector>

namespace trumpet::slice {

struct KnapsackItem {
  int64_t cost = 0;  // at least 0
  double value = 0;  // items of value 0 or less are left out
  int copies = 1;
};

struct KnapsackChoice {
  std::vector<int> copies;  // by item
  double value = 0;
  double most = 0;      // no choice is worth more
  bool is_best = true;  // false: the costs were rounded up, for the table would be too large
};

// A table of this many cells, a byte each, takes some 20 ms.
constexpr int64_t kMaxKnapsackCells = 20'000'000;
constexpr int64_t kMaxKnapsackWidth = 1'000'000;  // steps of cost, by their common divisor

KnapsackChoice FillKnapsack(const std::vector<KnapsackItem>& items, int64_t capacity);

}  // namespace trumpet::slice

#endif  // TRUMPET_CONTROLLER_PLAN_SLICE_KNAPSACK_H
