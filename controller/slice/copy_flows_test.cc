// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// With an ovs-vswitchd.

#include "controller/slice/copy_flows.h"

#include <gtest/gtest.h>

#include "controller/openflow/switch_kit_test.h"

namespace trumpet {
namespace {

constexpr char kProtocols[] = "OpenFlow13,OpenFlow14,OpenFlow15";
constexpr char kForwarding[] = "priority=9,ip actions=output:2\n";
constexpr char kCopyFlows[] =
    "cookie=0x7472030000000721, send_flow_rem priority=65535,pkt_mark=0x72100000/0xfff00000 "
    "actions=clone(move:NXM_NX_PKT_MARK[0..19]->NXM_NX_TUN_ID[0..19],"
    "set_field:0x500000/0xfff00000->tun_id,set_field:0->pkt_mark,output:3),"
    "set_field:0->pkt_mark,resubmit(,0)\n"
    "cookie=0x7472030000000722, send_flow_rem priority=65535,pkt_mark=0x72200000/0xfff00000 "
    "actions=clone(move:NXM_NX_PKT_MARK[0..19]->NXM_NX_TUN_ID[0..19],"
    "set_field:0x500000/0xfff00000->tun_id,set_field:0->pkt_mark,output(port=3,max_len=192)),"
    "set_field:0->pkt_mark,resubmit(,0)\n";

OpenflowOptions Standing(const OpenflowCopyPort& to) {
  OpenflowOptions options;
  options.standing_rules[1] = CopyFlows(to);
  return options;
}

class CopyFlowsTest : public testing::Test {
 protected:
  void SetUp() override {
    ovs_.AddBridge("br0", 1, kProtocols);
    ovs_.Vsctl({"set-controller", "br0", "tcp:127.0.0.1:1"});
    ovs_.Ofctl({"add-flow", "br0", "priority=9,ip,actions=output:2"});
  }
  OpenflowSwitch* Come(TestNet* net) {
    ovs_.Vsctl({"set-controller", "br0", net->remote()});
    return net->Wait(1);
  }
  static Status Purge(TestNet* net, OpenflowSwitch* which) {
    return net->Run([&](OpenflowSwitch::Done done) { which->Purge(std::move(done)); });
  }

  const std::string both_ = std::string(kCopyFlows) + kForwarding;
  TestSwitch ovs_;
};

TEST_F(CopyFlowsTest, StandAtTheSwitchAndComeBackAndGo) {
  TestNet net(Standing({3, 5, false}));
  OpenflowSwitch* const which = Come(&net);
  ASSERT_NE(which, nullptr);
  EXPECT_EQ(ovs_.Flows("br0"), both_);
  EXPECT_TRUE(which->has_standing_rules());
  // Somebody deletes one, and then all.
  ovs_.Ofctl({"del-flows", "br0", "cookie=0x7472030000000721/-1"});
  ASSERT_TRUE(net.RunUntil([&] { return ovs_.Flows("br0") == both_; })) << ovs_.Flows("br0");
  ovs_.Ofctl({"del-flows", "br0"});
  ASSERT_TRUE(net.RunUntil([&] { return ovs_.Flows("br0") == kCopyFlows; })) << ovs_.Flows("br0");
  ASSERT_TRUE(Purge(&net, which).ok());
  EXPECT_EQ(ovs_.Flows("br0"), "");
  EXPECT_FALSE(which->has_standing_rules());
}

TEST_F(CopyFlowsTest, AreNotTouchedByANewLifeOfTheController) {
  for (const int version : {3, 4, 5}) {
    ovs_.Vsctl({"set", "bridge", "br0", "protocols=OpenFlow1" + std::to_string(version)});
    for (const bool is_first : {true, false}) {
      TestNet net(Standing({3, 5, false}));
      OpenflowSwitch* const which = Come(&net);
      ASSERT_NE(which, nullptr);
      EXPECT_EQ(which->channel()->version(), version + 1);
      EXPECT_EQ(which->counters().reconciled_missing, is_first ? 2u : 0u);
      EXPECT_EQ(which->counters().reconciled_stray, 0u);
      if (is_first) continue;
      ASSERT_TRUE(Purge(&net, which).ok());
    }
  }
}

TEST_F(CopyFlowsTest, FollowTheConfiguration) {
  {
    TestNet net(Standing({3, 6, true}));
    ASSERT_NE(Come(&net), nullptr);
    EXPECT_NE(ovs_.Flows("br0").find("clone(set_field:0x6->tun_id,move:NXM_NX_PKT_MARK[0..19]->"
                                     "NXOXM_ET_ERSPAN_IDX[],"),
              std::string::npos)
        << ovs_.Flows("br0");
  }
  {
    TestNet net(Standing({3, 5, false}));
    ASSERT_NE(Come(&net), nullptr);
    EXPECT_EQ(ovs_.Flows("br0"), both_);
  }
  TestNet net;
  ASSERT_NE(Come(&net), nullptr);
  EXPECT_EQ(ovs_.Flows("br0"), kForwarding);
}

}  // namespace
}  // namespace trumpet
