// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/plan/reshuffle/slot_table.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "lib/base/hash.h"

namespace trumpet {
namespace {

constexpr uint64_t kSeed = 0x736c6f7473;  // all controllers draw the same orders

struct Wish {
  double score;
  size_t slot;
  size_t member;
};

class SlotPlanner {
 public:
  SlotPlanner(const std::vector<ReshuffleMember>& members, const std::vector<bool>& is_alive)
      : members_(members), is_alive_(is_alive), table_(kReshuffleSlots, kNoMember) {}

  SlotTable Plan() {
    std::vector<size_t> slots(kReshuffleSlots);
    std::iota(slots.begin(), slots.end(), 0);
    std::vector<size_t> candidates;
    for (size_t i = 0; i < members_.size(); ++i) {
      if (members_[i].weight != 0) candidates.push_back(i);
    }
    GiveOut(slots, candidates, kSeed);
    return std::move(table_);
  }

 private:
  // The slots of a candidate that is not alive are given out once more, among the others: who they
  // are does not depend on who else is alive.
  void GiveOut(const std::vector<size_t>& slots, const std::vector<size_t>& candidates,
               uint64_t path) {
    if (slots.empty() || candidates.empty()) return;
    std::vector<size_t> room = Shares(slots.size(), candidates, path);
    std::vector<std::vector<size_t>> given(members_.size());
    std::vector<bool> is_taken(kReshuffleSlots);
    for (const Wish& wish : WishesFor(slots, candidates)) {
      if (is_taken[wish.slot] || room[wish.member] == 0) continue;
      is_taken[wish.slot] = true;
      --room[wish.member];
      given[wish.member].push_back(wish.slot);
    }
    for (const size_t member : candidates) {
      if (is_alive_[member]) {
        for (const size_t slot : given[member]) table_[slot] = static_cast<int>(member);
        continue;
      }
      std::vector<size_t> others = candidates;
      others.erase(std::find(others.begin(), others.end(), member));
      GiveOut(given[member], others, NameHash(member, path));
    }
  }

  // How many of so many slots each may have, by member; what does not divide goes to the largest
  // remainders.  `path` makes another one the first of equals each time.
  std::vector<size_t> Shares(size_t count, const std::vector<size_t>& candidates,
                             uint64_t path) const {
    uint64_t all = 0;
    for (const size_t member : candidates) all += members_[member].weight;
    std::vector<size_t> shares(members_.size());
    std::vector<std::tuple<uint64_t, uint64_t, size_t>> rests;
    size_t left = count;
    for (const size_t member : candidates) {
      const uint64_t part = count * members_[member].weight;
      shares[member] = part / all;
      left -= shares[member];
      rests.emplace_back(part % all, NameHash(member, path), member);
    }
    std::sort(rests.rbegin(), rests.rend());
    for (size_t i = 0; i < left; ++i) ++shares[std::get<2>(rests[i])];
    return shares;
  }

  std::vector<Wish> WishesFor(const std::vector<size_t>& slots,
                              const std::vector<size_t>& candidates) const {
    std::vector<Wish> wishes;
    wishes.reserve(slots.size() * candidates.size());
    for (const size_t slot : slots) {
      for (const size_t member : candidates) {
        wishes.push_back({SlotScore(members_[member], slot), slot, member});
      }
    }
    std::sort(wishes.begin(), wishes.end(), [this](const Wish& one, const Wish& other) {
      return std::tie(one.score, one.slot, members_[one.member].name) <
             std::tie(other.score, other.slot, members_[other.member].name);
    });
    return wishes;
  }

  uint64_t NameHash(size_t member, uint64_t seed) const {
    const std::string& name = members_[member].name;
    return HashBytes(name.data(), name.size(), seed);
  }

  const std::vector<ReshuffleMember>& members_;
  const std::vector<bool>& is_alive_;
  SlotTable table_;
};

}  // namespace

// Rendezvous hashing by weight: an exponential variate divided by the weight.
double SlotScore(const ReshuffleMember& member, size_t slot) {
  const uint64_t hash = HashBytes(member.name.data(), member.name.size(), HashNumber(slot, kSeed));
  const double uniform = (static_cast<double>(hash >> 11) + 0.5) / 9007199254740992.0;  // 2^53
  return -std::log(uniform) / member.weight;
}

SlotTable PlanSlots(const std::vector<ReshuffleMember>& members,
                    const std::vector<bool>& is_alive) {
  return SlotPlanner(members, is_alive).Plan();
}

}  // namespace trumpet
