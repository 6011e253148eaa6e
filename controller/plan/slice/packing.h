// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Packing: MIRROR queries into as few slots as the budget allows (phase 1 of the schedule).
//
// Costs and the budget are in the same unit, for instance bits per second; costs are below 2^40 and
// queries fewer than 2^24.

#ifndef TRUMPET_CONTROLLER_PLAN_SLICE_PACKING_H
#define TRUMPET_CONTROLLER_PLAN_SLICE_PACKING_H

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace trumpet::slice {

using Deadline = std::chrono::steady_clock::time_point;
constexpr Deadline kNoDeadline = Deadline::max();

// Queries by number.
using Slot = std::vector<int>;

// First fit, dearest first: at most 11/9 of the fewest slots and one more.  No query costs more
// than the budget.
std::vector<Slot> PackFirstFit(const std::vector<int64_t>& costs, int64_t budget);
// The same, each query into the fullest slot with room.
std::vector<Slot> PackBestFit(const std::vector<int64_t>& costs, int64_t budget);

// No schedule has fewer slots: counts the queries above half of the budget, and what of the smaller
// ones their slots cannot take (bound L2 of Martello and Toth).
int LeastSlots(const std::vector<int64_t>& costs, int64_t budget);

enum class PackingProof : uint8_t {
  kCounting,  // the bound L2
  kPatterns,  // the bound of all patterns of a slot, by linear programming
  kNone,      // the fewest are between `least` and what was found
};

const char* NameOf(PackingProof proof);

struct Packing {
  std::vector<Slot> slots;
  int least = 0;  // proven; equals the number of slots unless proof is kNone
  PackingProof proof = PackingProof::kNone;
  bool is_cut_short = false;  // time ran out before there was a proof
};

// Of queries that were packed into more slots than there are: whether they need as many, or were
// only not packed better in the time.
std::string PackingProblem(const Packing& packing, int slots);

inline double SecondsUntil(Deadline deadline) {
  return std::chrono::duration<double>(deadline - std::chrono::steady_clock::now()).count();
}
inline Deadline DeadlineIn(double seconds) {
  return std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::nanoseconds>(
                                                std::chrono::duration<double>(seconds));
}

// The fewest slots that could be found by the deadline; never more than first fit needs.
Packing Pack(const std::vector<int64_t>& costs, int64_t budget, Deadline deadline);

}  // namespace trumpet::slice

#endif  // TRUMPET_CONTROLLER_PLAN_SLICE_PACKING_H
