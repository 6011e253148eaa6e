// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/plan/slice/packing.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <set>
#include <utility>

#include "controller/plan/slice/pattern_packing.h"

namespace trumpet::slice {
namespace {

// Dearest first; equal ones by number.  Sorts plain numbers, in which both stand: costs have 40
// bits (kMaxCost), and numbers of queries fit into the other 24.
std::vector<int> DearestFirst(const std::vector<int64_t>& costs) {
  constexpr uint64_t kNumberBits = 24;
  constexpr uint64_t kHighest = (uint64_t{1} << 40) - 1;
  assert(costs.size() < uint64_t{1} << kNumberBits);
  std::vector<uint64_t> keys;
  keys.reserve(costs.size());
  for (size_t query = 0; query < costs.size(); ++query) {
    keys.push_back((kHighest - static_cast<uint64_t>(costs[query])) << kNumberBits | query);
  }
  std::sort(keys.begin(), keys.end());
  std::vector<int> order;
  order.reserve(costs.size());
  for (uint64_t key : keys) {
    order.push_back(static_cast<int>(key & ((uint64_t{1} << kNumberBits) - 1)));
  }
  return order;
}

// The room of every slot, as a tree of maxima: the first slot with enough of it is found from the
// root in as many steps as the tree is high.
class RoomTree {
 public:
  RoomTree(size_t slots, int64_t budget) {
    while (leaves_ < slots) leaves_ *= 2;
    room_.assign(2 * leaves_, budget);
  }

  size_t TakeFirst(int64_t cost) {
    size_t node = 1;
    while (node < leaves_) node = 2 * node + (room_[2 * node] >= cost ? 0 : 1);
    const size_t slot = node - leaves_;
    room_[node] -= cost;
    for (node /= 2; node > 0; node /= 2) {
      const int64_t room = std::max(room_[2 * node], room_[2 * node + 1]);
      if (room_[node] == room) break;
      room_[node] = room;
    }
    return slot;
  }

 private:
  size_t leaves_ = 1;
  std::vector<int64_t> room_;  // root at 1, slots from leaves_ on
};

}  // namespace

std::vector<Slot> PackFirstFit(const std::vector<int64_t>& costs, int64_t budget) {
  const std::vector<int> order = DearestFirst(costs);
  RoomTree rooms(costs.size(), budget);
  std::vector<size_t> slot_of;  // in the order of `order`
  std::vector<size_t> sizes(costs.size(), 0);
  slot_of.reserve(costs.size());
  for (int query : order) {
    slot_of.push_back(rooms.TakeFirst(costs[static_cast<size_t>(query)]));
    ++sizes[slot_of.back()];
  }
  const auto used = std::find(sizes.begin(), sizes.end(), 0);
  std::vector<Slot> slots(static_cast<size_t>(used - sizes.begin()));
  for (size_t slot = 0; slot < slots.size(); ++slot) slots[slot].reserve(sizes[slot]);
  for (size_t i = 0; i < order.size(); ++i) slots[slot_of[i]].push_back(order[i]);
  return slots;
}

std::vector<Slot> PackBestFit(const std::vector<int64_t>& costs, int64_t budget) {
  std::vector<Slot> slots;
  std::set<std::pair<int64_t, size_t>> rooms;  // and their slots
  for (int query : DearestFirst(costs)) {
    const int64_t cost = costs[static_cast<size_t>(query)];
    auto fullest = rooms.lower_bound({cost, 0});
    std::pair<int64_t, size_t> taken{budget, slots.size()};
    if (fullest == rooms.end()) {
      slots.emplace_back();
    } else {
      taken = *fullest;
      rooms.erase(fullest);
    }
    slots[taken.second].push_back(query);
    rooms.emplace(taken.first - cost, taken.second);
  }
  return slots;
}

int LeastSlots(const std::vector<int64_t>& costs, int64_t budget) {
  std::vector<int64_t> sorted = costs;
  std::sort(sorted.begin(), sorted.end());
  std::vector<int64_t> sums(sorted.size() + 1, 0);
  std::partial_sum(sorted.begin(), sorted.end(), sums.begin() + 1);
  const auto first_above = [&sorted](int64_t cost) {
    return static_cast<size_t>(std::upper_bound(sorted.begin(), sorted.end(), cost) -
                               sorted.begin());
  };
  const size_t half = first_above(budget / 2);  // from here on one to a slot
  const auto dear = static_cast<int64_t>(sorted.size() - half);
  int64_t least = dear;
  for (size_t i = 0; i < half; ++i) {
    // Of the smaller queries those from `i` on; what is dearer than the rest leaves no room to any.
    const size_t full = std::max(half, first_above(budget - sorted[i]));
    const int64_t small = sums[half] - sums[i];
    const auto partly = static_cast<int64_t>(full - half);
    const int64_t room = partly * budget - (sums[full] - sums[half]);
    const int64_t over = std::max<int64_t>(small - room, 0);
    least = std::max(least, dear + (over + budget - 1) / budget);
  }
  return static_cast<int>(least);
}

const char* NameOf(PackingProof proof) {
  switch (proof) {
    case PackingProof::kCounting:
      return "counting";
    case PackingProof::kPatterns:
      return "patterns";
    case PackingProof::kNone:
      break;
  }
  return "none";
}

std::string PackingProblem(const Packing& packing, int slots) {
  const auto found = static_cast<int>(packing.slots.size());
  if (packing.least > slots) {
    return "need " + std::string(packing.least < found ? "at least " : "") +
           std::to_string(packing.least) + " slots";
  }
  return "were packed into " + std::to_string(found) + " slots" +
         (packing.is_cut_short ? " in the time that there was" : "") +
         ", which is not proven to be the least; " + std::to_string(packing.least) + " might do";
}

Packing Pack(const std::vector<int64_t>& costs, int64_t budget, Deadline deadline) {
  Packing packing;
  packing.slots = PackFirstFit(costs, budget);
  packing.least = LeastSlots(costs, budget);
  const auto count = [&packing] { return static_cast<int>(packing.slots.size()); };
  if (count() > packing.least) {
    std::vector<Slot> best_fit = PackBestFit(costs, budget);
    if (best_fit.size() < packing.slots.size()) packing.slots = std::move(best_fit);
  }
  if (count() == packing.least) {
    packing.proof = PackingProof::kCounting;
    return packing;
  }
  PackByPatterns(costs, budget, deadline, &packing);
  if (count() == packing.least) packing.proof = PackingProof::kPatterns;
  packing.is_cut_short = count() > packing.least && SecondsUntil(deadline) <= 0;
  return packing;
}

}  // namespace trumpet::slice
