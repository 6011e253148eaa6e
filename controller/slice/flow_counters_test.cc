// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// With an ovs-vswitchd, whose counters are brought up to date before each look, and a clock that
// stands still between looks, so that rates are exact.

#include "controller/slice/flow_counters.h"

#include <gtest/gtest.h>

#include <fstream>

#include "controller/openflow/switch_kit_test.h"

namespace trumpet {
namespace {

constexpr uint32_t kOverhead = 50;
constexpr int64_t kFrameBytes = 106;  // as ovs-vswitchd fills them up
constexpr Nanos kMemory = 300 * kNanosPerSecond;

class SteppedClock final : public WireClock {
 public:
  Nanos UnixNow() const override { return now; }
  Nanos MonotonicNow() const override { return now; }
  Nanos now = 1000 * kNanosPerSecond;
};

// Of copies of `packets` in one period.
int64_t RateOf(int64_t packets) {
  return packets * (kFrameBytes + kOverhead) * 8 * kNanosPerSecond / FlowCounters::kPeriod;
}

class FlowCountersTest : public testing::Test {
 protected:
  void SetUp() override {
    ovs_.AddBridge("br0", 1, "OpenFlow13,OpenFlow15");
    ovs_.Vsctl({"set-controller", "br0", test_.remote()});
    which_ = test_.Wait(1);
  }
  void AddFlow(const std::string& text) { ovs_.Ofctl({"add-flow", "br0", text}); }
  void Send(int count, const std::string& to = "10.1.0.2") { ovs_.Receive("br0", count, to); }
  void Look() {
    ovs_.Appctl({"revalidator/wait"});
    clock_.now += FlowCounters::kPeriod;
    counters_.Round();
    ASSERT_TRUE(test_.RunUntil([&] { return counters_.unanswered() == 0; }));
  }
  std::optional<int64_t> Told(const std::string& prefix) {
    return counters_.RateOf(*ParsePrefix(prefix), clock_.now);
  }

  TestSwitch ovs_;
  TestNet test_;
  OpenflowSwitch* which_ = nullptr;
  SteppedClock clock_;
  FlowCounters counters_{clock_, &test_.net(), kMemory, kOverhead};
};

TEST_F(FlowCountersTest, TellTheMostThatCameBetweenTwoLooks) {
  AddFlow("priority=9,ip,nw_dst=10.1.0.0/16,actions=output:2");
  Send(7);
  EXPECT_EQ(Told("10.1.0.0/16"), std::nullopt);
  Look();
  EXPECT_EQ(Told("10.1.0.0/16"), std::nullopt) << "what came before the first look says no rate";
  Send(20);
  Look();
  EXPECT_EQ(Told("10.1.0.0/16"), RateOf(20));
  Send(50);
  Look();
  EXPECT_EQ(Told("10.1.0.0/16"), RateOf(50));
  Send(3);
  Look();
  EXPECT_EQ(Told("10.1.0.0/16"), RateOf(50));
  EXPECT_EQ(counters_.watched_count(), 1u);
}

TEST_F(FlowCountersTest, AddWhatNarrowerFlowsOfTheTableTake) {
  AddFlow("priority=9,ip,nw_dst=10.1.0.0/16,actions=output:2");
  AddFlow("priority=10,udp,nw_dst=10.1.7.0/24,actions=output:2");
  AddFlow("priority=8,ip,nw_dst=10.0.0.0/8,actions=output:2");
  (void)Told("10.1.0.0/16");
  Look();
  Send(10);
  Send(5, "10.1.7.1");
  Send(100, "10.2.0.1");
  AddFlow("priority=11,ip,nw_dst=10.1.8.1,actions=drop");  // new since the last look
  Send(2, "10.1.8.1");
  Look();
  EXPECT_EQ(Told("10.1.0.0/16"), RateOf(17));
}

TEST_F(FlowCountersTest, CountAPacketOnceThatGoesThroughTwoTablesOrASliceOfOurs) {
  AddFlow("table=0,priority=9,ip,nw_dst=10.1.0.0/16,actions=resubmit(,3)");
  AddFlow("table=3,ip,nw_dst=10.1.0.0/16,actions=output:2");
  const Status status =
      test_.Commit(which_, {{},
                            {FlowRule("table=0,priority=65000,reg15=0/1,ip,nw_dst=10.1.0.0/16,"
                                      "actions=clone(load:1->NXM_NX_REG15[0],resubmit(,0))")}});
  ASSERT_TRUE(status.ok()) << status.message();
  (void)Told("10.1.0.0/16");
  Look();
  Send(10);
  Look();
  EXPECT_EQ(Told("10.1.0.0/16"), RateOf(10));
}

TEST_F(FlowCountersTest, CannotTellWithoutAFlowOfThePrefixOrAPacketOfIt) {
  AddFlow("priority=9,ip,nw_dst=10.1.0.0/16,actions=output:2");
  AddFlow("priority=9,udp,nw_dst=10.2.0.0/16,actions=output:2");
  AddFlow("priority=9,ip,nw_dst=10.3.0.0/16,actions=output:2");
  AddFlow("priority=9,ipv6,ipv6_dst=fd00::/16,actions=output:2");
  const std::vector<std::string> prefixes = {"10.1.0.0/17", "10.0.0.0/8", "10.2.0.0/16",
                                             "10.3.0.0/16", "fd00::/16"};
  for (const std::string& prefix : prefixes) (void)Told(prefix);
  Look();
  Send(10);
  Send(10, "10.2.0.1");
  Look();
  for (const std::string& prefix : prefixes) EXPECT_EQ(Told(prefix), std::nullopt) << prefix;
}

TEST_F(FlowCountersTest, ForgetWhatNobodyAsksFor) {
  AddFlow("priority=9,ip,nw_dst=10.1.0.0/16,actions=output:2");
  (void)Told("10.1.0.0/16");
  Look();
  Send(10);
  Look();
  EXPECT_EQ(Told("10.1.0.0/16"), RateOf(10));
  clock_.now += kMemory;
  Look();
  EXPECT_EQ(counters_.watched_count(), 0u);
  EXPECT_EQ(Told("10.1.0.0/16"), std::nullopt);
}

TEST_F(FlowCountersTest, CannotTellOfMoreFlowsThanItReads) {
  std::string flows = "priority=9,ip,nw_dst=10.1.0.0/16,actions=output:2\n";
  for (size_t i = 0; i < FlowCounters::kMaxFlows; ++i) {
    flows += "priority=10,ip,nw_dst=10.1." + std::to_string(i / 256) + "." +
             std::to_string(i % 256) + ",actions=output:2\n";
  }
  AddFlow("priority=9,ip,nw_dst=10.1.0.0/16,actions=output:2");
  (void)Told("10.1.0.0/16");
  Look();
  std::ofstream(ovs_.File("flows")) << flows;
  ovs_.Ofctl({"add-flows", "br0", ovs_.File("flows")});
  Send(10);
  Look();
  Send(10);
  Look();
  EXPECT_EQ(Told("10.1.0.0/16"), std::nullopt);
}

}  // namespace
}  // namespace trumpet
