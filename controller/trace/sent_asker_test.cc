// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// With an ovs-vswitchd whose flows of the table of trace rules count packets.

#include "controller/trace/sent_asker.h"

#include <gtest/gtest.h>

#include "controller/openflow/switch_kit_test.h"

namespace trumpet {
namespace {

class SentAskerTest : public testing::Test {
 protected:
  void SetUp() override {
    ovs_.AddBridge("br0", 1, "OpenFlow13,OpenFlow15");
    ovs_.Vsctl({"set-controller", "br0", test_.remote()});
    test_.Wait(1);
    ovs_.Ofctl({"add-flow", "br0", "table=0,priority=1,actions=resubmit(,251),output:2"});
    ovs_.Ofctl(
        {"add-flow", "br0", "table=251,priority=9,cookie=0x1,ip,nw_dst=10.9.0.1,actions=output:2"});
    AddRule("ip,nw_dst=10.1.0.1");
    AddRule("ip,nw_dst=10.1.0.2");
    SentAsker::Parts parts;
    parts.base = test_.base();
    parts.clock = &clock_;
    parts.net = &test_.net();
    parts.places = [] {
      TracePlace place{"br0", 1, TraceSwitch()};
      place.at.number = 7;
      return std::vector<TracePlace>{place, {"away", 99, TraceSwitch()}};
    };
    parts.is_wanted = [this] { return is_wanted_; };
    parts.tell = [this](const TraceSent& sent) { told_.push_back(sent); };
    asker_ = std::make_unique<SentAsker>(parts);
  }

  void AddRule(const std::string& match) {
    const std::string cookie = std::to_string(TraceRuleClaim().cookie);
    ovs_.Ofctl({"add-flow", "br0",
                "table=251,priority=8,cookie=" + cookie + "," + match + ",actions=output:2"});
  }
  void DeleteRule(const std::string& match) {
    ovs_.Ofctl({"del-flows", "br0", "table=251," + match});
  }
  void Send(int count, const std::string& to) {
    ovs_.Receive("br0", count, to);
    ovs_.Appctl({"revalidator/wait"});
  }
  // By an answer to a question that was asked after now.
  uint64_t Told() {
    const size_t before = told_.size();
    EXPECT_TRUE(test_.RunUntil([&] { return told_.size() >= before + 2; }));
    return told_.back().sent;
  }

  TestSwitch ovs_;
  TestNet test_;
  SystemWireClock clock_;
  bool is_wanted_ = true;
  std::vector<TraceSent> told_;
  std::unique_ptr<SentAsker> asker_;
};

TEST_F(SentAskerTest, TellsWhatTraceRulesHaveCopiedSinceItLookedFirst) {
  Send(5, "10.1.0.1");
  EXPECT_EQ(Told(), 0u);
  EXPECT_EQ(told_.back().switch_number, 7);
  EXPECT_GE(told_.back().asked_ago, 0);
  EXPECT_LT(told_.back().asked_ago, 10 * kNanosPerSecond);
  Send(3, "10.1.0.1");
  Send(4, "10.1.0.2");
  Send(50, "10.1.0.3");  // no rule takes it
  Send(50, "10.9.0.1");  // and this is not ours
  EXPECT_EQ(Told(), 7u);
  AddRule("ip,nw_dst=10.1.0.3");
  Send(2, "10.1.0.3");
  EXPECT_EQ(Told(), 9u);
}

TEST_F(SentAskerTest, BeginsAnewWhereARuleIsGone) {
  EXPECT_EQ(Told(), 0u);
  Send(6, "10.1.0.1");
  EXPECT_EQ(Told(), 6u);
  DeleteRule("ip,nw_dst=10.1.0.2");
  EXPECT_EQ(Told(), 0u);
  Send(1, "10.1.0.1");
  EXPECT_EQ(Told(), 1u);
}

TEST_F(SentAskerTest, AsksNobodyWhereNobodyWantsToKnow) {
  EXPECT_EQ(Told(), 0u);
  is_wanted_ = false;
  const Nanos begin = clock_.MonotonicNow();
  const size_t before = told_.size();
  EXPECT_TRUE(
      test_.RunUntil([&] { return clock_.MonotonicNow() - begin > 3 * SentAsker::kPeriod; }));
  EXPECT_LE(told_.size(), before + 1);
}

}  // namespace
}  // namespace trumpet
