// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The slots of a reshuffler: copies of a flow hash to one of 256 slots, and each slot is one
// analyzer's (ADR 0051).
//
// Each slot has an order of all analyzers, drawn from their names and weights alone, and is of the
// first in it that is alive.  So when an analyzer goes its slots move and no others do, and when it
// comes back it has exactly those that it had; who has been away before makes no difference, nor
// does who asks, or in which order the analyzers are named.
//
// The orders are such that everybody has its share by weight: of all slots, exactly but for
// rounding, and of the slots of each that is away likewise.
//
// Threads: pure functions.

#ifndef TRUMPET_CONTROLLER_PLAN_RESHUFFLE_SLOT_TABLE_H
#define TRUMPET_CONTROLLER_PLAN_RESHUFFLE_SLOT_TABLE_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace trumpet {

constexpr size_t kReshuffleSlots = 256;
constexpr size_t kMaxReshuffleMembers = 64;
constexpr uint32_t kMaxReshuffleWeight = 1000;

struct ReshuffleMember {
  std::string name;     // unlike the others'
  uint32_t weight = 1;  // 0: it has no slots, and takes nobody's place
};

// By slot, the position of its member; kNoMember if nobody with a weight is alive.
using SlotTable = std::vector<int>;
constexpr int kNoMember = -1;

// `is_alive` is as long as `members`.
SlotTable PlanSlots(const std::vector<ReshuffleMember>& members, const std::vector<bool>& is_alive);

// For the slow twin in tests: the lower, the rather is a slot a member's.
double SlotScore(const ReshuffleMember& member, size_t slot);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_PLAN_RESHUFFLE_SLOT_TABLE_H
