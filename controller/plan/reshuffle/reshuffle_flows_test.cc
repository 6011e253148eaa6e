// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/plan/reshuffle/reshuffle_flows.h"

#include <gtest/gtest.h>

namespace trumpet {
namespace {

TEST(ReshuffleFlows, SendEachAnalyzerItsCopiesOutOfThePortTheyCameFrom) {
  const auto flows = ReshuffleBaseFlows({7, "192.0.2.9"}, {"192.0.2.21", "192.0.2.22"});
  ASSERT_EQ(flows.size(), 4u);
  EXPECT_EQ(flows[0].text, "table=0,priority=65534,in_port=7,actions=group:60200");
  EXPECT_EQ(flows[1].text,
            "table=249,reg12=1,actions=set_field:192.0.2.9->tun_src,set_field:192.0.2.21->tun_dst,"
            "in_port");
  EXPECT_EQ(flows[1].member, 0);
  EXPECT_EQ(flows[2].text,
            "table=249,reg12=2,actions=set_field:192.0.2.9->tun_src,set_field:192.0.2.22->tun_dst,"
            "in_port");
  EXPECT_EQ(flows[2].member, 1);
  EXPECT_EQ(flows[3].text, "table=248,priority=0,actions=drop");
}

TEST(ReshuffleFlows, HaveABucketForEachSlotAllOfOneWeight) {
  const std::string group = ReshuffleGroupText();
  EXPECT_EQ(group.find("group_id=60200,type=select,bucket=weight:1,actions=load:0->"
                       "NXM_NX_REG11[0..7],resubmit(,248),bucket=weight:1,actions=load:1->"),
            0u);
  size_t buckets = 0;
  for (size_t at = group.find("bucket="); at != std::string::npos;
       at = group.find("bucket=", at + 1)) {
    ++buckets;
  }
  EXPECT_EQ(buckets, kReshuffleSlots);
}

TEST(ReshuffleFlows, LeaveOutSlotsOfNobody) {
  SlotTable table(kReshuffleSlots, kNoMember);
  EXPECT_TRUE(ReshuffleSlotFlows(table).empty());
  table[5] = 0;
  table[255] = 2;
  const auto flows = ReshuffleSlotFlows(table);
  ASSERT_EQ(flows.size(), 2u);
  EXPECT_EQ(flows[0].text,
            "table=248,reg11=5/0xff,actions=load:1->NXM_NX_REG12[0..7],resubmit(,249)");
  EXPECT_EQ(flows[1].text,
            "table=248,reg11=255/0xff,actions=load:3->NXM_NX_REG12[0..7],resubmit(,249)");
  EXPECT_EQ(flows[1].member, 2);
}

}  // namespace
}  // namespace trumpet
