// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// A reshuffler as flows of a bridge (ADR 0051).
//
//   table 0     what comes from the tunnel port goes to the group
//   group       256 buckets of equal weight: the switch's symmetric hash of the inner packet, which
//               its datapath computes, chooses the slot; so there are at most 256 flows of the
//               datapath for each key of copies, however many connections they are of
//   table 248   slot -> analyzer; only these change when an analyzer comes or goes
//   table 249   analyzer -> the tunnel there, out of the port that copies came from, with their key
//
// Outer addresses must be the bridge's own: copies with the source of the switch would be dropped.
//
// Threads: pure functions.

#ifndef TRUMPET_CONTROLLER_PLAN_RESHUFFLE_RESHUFFLE_FLOWS_H
#define TRUMPET_CONTROLLER_PLAN_RESHUFFLE_RESHUFFLE_FLOWS_H

#include <cstdint>
#include <string>
#include <vector>

#include "controller/plan/reshuffle/slot_table.h"

namespace trumpet {

constexpr uint8_t kReshuffleSlotTable = 248;
constexpr uint8_t kReshuffleMemberTable = 249;
constexpr uint16_t kReshufflePriority = 65534;  // in table 0: above trace rules
constexpr uint32_t kReshuffleGroup = 60200;

struct ReshuffleBridge {
  uint32_t port = 0;    // of a tunnel with remote_ip=flow and key=flow
  std::string address;  // IPv4, that copies come to
};

// A flow, and the position of the analyzer that it is about; kNoMember: of none.
struct ReshuffleFlow {
  std::string text;  // as ovs-ofctl takes it
  int member = kNoMember;
};

std::string ReshuffleGroupText();
// All that stays: table 0, and table 249 with a flow for each of these IPv4 addresses.  The last
// one, in table 248, takes what no slot is for, and counts it.
std::vector<ReshuffleFlow> ReshuffleBaseFlows(const ReshuffleBridge& bridge,
                                              const std::vector<std::string>& members);
// Slots of nobody have no flow.
std::vector<ReshuffleFlow> ReshuffleSlotFlows(const SlotTable& table);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_PLAN_RESHUFFLE_RESHUFFLE_FLOWS_H
