// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/plan/reshuffle/reshuffle_flows.h"

namespace trumpet {
namespace {

constexpr char kSlot[] = "NXM_NX_REG11[0..7]";
constexpr char kMember[] = "NXM_NX_REG12[0..7]";

std::string TableText(uint8_t table) { return "table=" + std::to_string(table) + ","; }

std::string ResubmitTo(uint8_t table) { return "resubmit(," + std::to_string(table) + ")"; }

std::string MemberNumber(size_t member) { return std::to_string(member + 1); }

}  // namespace

std::string ReshuffleGroupText() {
  std::string text = "group_id=" + std::to_string(kReshuffleGroup) + ",type=select";
  for (size_t slot = 0; slot < kReshuffleSlots; ++slot) {
    text += ",bucket=weight:1,actions=load:" + std::to_string(slot) + "->" + kSlot + "," +
            ResubmitTo(kReshuffleSlotTable);
  }
  return text;
}

std::vector<ReshuffleFlow> ReshuffleBaseFlows(const ReshuffleBridge& bridge,
                                              const std::vector<std::string>& members) {
  std::vector<ReshuffleFlow> flows;
  flows.push_back({"table=0,priority=" + std::to_string(kReshufflePriority) +
                       ",in_port=" + std::to_string(bridge.port) +
                       ",actions=group:" + std::to_string(kReshuffleGroup),
                   kNoMember});
  for (size_t i = 0; i < members.size(); ++i) {
    flows.push_back({TableText(kReshuffleMemberTable) + "reg12=" + MemberNumber(i) +
                         ",actions=set_field:" + bridge.address +
                         "->tun_src,set_field:" + members[i] + "->tun_dst,in_port",
                     static_cast<int>(i)});
  }
  flows.push_back({TableText(kReshuffleSlotTable) + "priority=0,actions=drop", kNoMember});
  return flows;
}

std::vector<ReshuffleFlow> ReshuffleSlotFlows(const SlotTable& table) {
  std::vector<ReshuffleFlow> flows;
  for (size_t slot = 0; slot < table.size(); ++slot) {
    if (table[slot] == kNoMember) continue;
    flows.push_back({TableText(kReshuffleSlotTable) + "reg11=" + std::to_string(slot) +
                         "/0xff,actions=load:" + MemberNumber(static_cast<size_t>(table[slot])) +
                         "->" + kMember + "," + ResubmitTo(kReshuffleMemberTable),
                     table[slot]});
  }
  return flows;
}

}  // namespace trumpet
