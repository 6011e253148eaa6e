// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// With an ovs-vswitchd: port 1 is where packets come from, 2 is where the pipeline of others sends
// them, 3 leads to the analyzer.

#include "controller/slice/openflow_driver.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <utility>

#include "controller/openflow/switch_kit_test.h"
#include "controller/plan/trace/trace_flows.h"
#include "lib/lang/event/event_language.h"
#include "lib/lang/trace/trace_language.h"

namespace trumpet {
namespace {

constexpr uint8_t kTtlAt = 22;
constexpr uint8_t kTosAt = 15;

class OpenflowDriverTest : public testing::Test {
 protected:
  void SetUp() override {
    ovs_.AddBridge("br0", 1, "OpenFlow13,OpenFlow15");
    AddPort(3);
    ovs_.Vsctl({"set-controller", "br0", test_.remote()});
    which_ = test_.Wait(1);
    ovs_.Ofctl({"add-flow", "br0", "priority=9,ip,actions=dec_ttl,resubmit(,7)"});
    ovs_.Ofctl({"add-flow", "br0", "table=7,ip,actions=output:2"});
    theirs_ = ovs_.Flows("br0");
    driver_ = std::make_unique<OpenflowDriver>(test_.base(), &test_.net(), [](const std::string&) {
      return OpenflowCopyPort{3, 5, false};
    });
    driver_->OnEnd([this](const SliceEnd& end) { ends_.push_back(end); });
  }
  void TearDown() override { driver_.reset(); }

  void AddPort(int number) {
    const std::string port = "br0p" + std::to_string(number);
    ovs_.Vsctl({"add-port", "br0", port, "--", "set", "interface", port, "type=dummy",
                "ofport_request=" + std::to_string(number),
                "options:tx_pcap=" + ovs_.File(port + ".pcap")});
  }
  static SliceSpec Spec(uint32_t tag, const std::string& filter, Nanos duration) {
    SliceSpec spec;
    spec.tag = tag;
    spec.filter = ParseEventLine(filter + ", sum(packets)>1, 5-tuples, 10ms", "test")->filter;
    spec.duration = duration;
    return spec;
  }
  Status TurnOn(const SliceSpec& spec) {
    return test_.Run([&](SliceDriver::Done done) { driver_->TurnOn(name_, spec, done); });
  }
  // With the counters as they are by then: otherwise the switch brings them up to date twice a
  // second.
  Status TurnOff(uint32_t tag) {
    ovs_.Appctl({"revalidator/wait"});
    return test_.Run([&](SliceDriver::Done done) { driver_->TurnOff(name_, tag, done); });
  }
  void Send(int count, const std::string& to = "10.1.0.2") { ovs_.Receive("br0", count, to, 0x28); }
  // What has been sent by a port.  The bytes at `offset` of each.
  std::vector<int> Sent(int port, size_t offset) {
    std::vector<int> found;
    for (const std::string& frame : ovs_.FramesOf("br0p" + std::to_string(port))) {
      found.push_back(static_cast<uint8_t>(frame[offset]));
    }
    return found;
  }
  bool RunUntilEnded(size_t count = 1) {
    return test_.RunUntil([&] { return ends_.size() == count; });
  }

  const std::string name_ = "0000000000000001";
  TestSwitch ovs_;
  TestNet test_;
  OpenflowSwitch* which_ = nullptr;
  std::string theirs_;
  std::unique_ptr<OpenflowDriver> driver_;
  std::vector<SliceEnd> ends_;
};

TEST_F(OpenflowDriverTest, CopiesPacketsAsTheyArriveAndForwardsThemAsBefore) {
  ASSERT_TRUE(driver_->Serves(name_));
  const Status on = TurnOn(Spec(77, "dstIP=10.1.0.0/16", 30 * kNanosPerSecond));
  ASSERT_TRUE(on.ok()) << on.message();
  Send(20);
  Send(5, "10.9.0.2");
  ASSERT_TRUE(test_.RunUntil([&] { return Sent(2, kTtlAt).size() == 25; }));
  ASSERT_TRUE(test_.RunUntil([&] { return Sent(3, kTtlAt).size() == 20; }));
  EXPECT_EQ(Sent(2, kTtlAt), std::vector<int>(25, 63));
  EXPECT_EQ(Sent(3, kTtlAt), std::vector<int>(20, 64));
  EXPECT_EQ(Sent(2, kTosAt), std::vector<int>(25, 0x28));
  ASSERT_TRUE(TurnOff(77).ok());
  ASSERT_TRUE(RunUntilEnded());
  EXPECT_EQ(ends_[0].tag, 77u);
  EXPECT_EQ(ends_[0].packets, 20u);
  EXPECT_EQ(ends_[0].switch_name, name_);
  EXPECT_EQ(ovs_.Flows("br0"), theirs_);
  EXPECT_TRUE(TurnOff(77).ok());
}

TEST_F(OpenflowDriverTest, SendsAProbeToTheAnalyzerAndBack) {
  EXPECT_EQ(driver_->ProbeTargets(), std::vector<std::string>{name_});
  std::vector<uint32_t> back;
  for (const uint32_t tag : {kFirstProbeTag, kMaxSliceTag}) {
    driver_->Probe(name_, tag, [&back, tag] { back.push_back(tag); });
  }
  driver_->Probe("nobody", 7, [&back] { back.push_back(0); });
  ASSERT_TRUE(test_.RunUntil([&] { return back.size() == 2; }));
  EXPECT_EQ(back, (std::vector<uint32_t>{kFirstProbeTag, kMaxSliceTag}));
  ASSERT_TRUE(test_.RunUntil([&] { return Sent(3, 12).size() == 2; }));
  EXPECT_EQ(Sent(3, 12), std::vector<int>(2, 0x88));
  EXPECT_EQ(Sent(3, 13), std::vector<int>(2, 0xb5));
  EXPECT_TRUE(Sent(2, 12).empty());
  EXPECT_EQ(ovs_.Flows("br0"), theirs_);
}

TEST_F(OpenflowDriverTest, EndsAtTheDeadline) {
  ASSERT_TRUE(TurnOn(Spec(5, "dstIP=10.1.0.0/16", 40 * kNanosPerMilli)).ok());
  ASSERT_TRUE(RunUntilEnded());
  // The clocks of the loop and of the switch advance in steps of some milliseconds.
  EXPECT_GE(ends_[0].lasted, 30 * kNanosPerMilli);
  EXPECT_LT(ends_[0].lasted, kNanosPerSecond);
  EXPECT_EQ(ovs_.Flows("br0"), theirs_);
  EXPECT_EQ(driver_->slice_count(), 0u);
}

TEST_F(OpenflowDriverTest, TheSwitchEndsItWhenTheControllerIsGone) {
  SliceSpec spec = Spec(5, "dstIP=10.1.0.0/16", kNanosPerSecond);
  spec.packets_per_second = 10;
  ASSERT_TRUE(TurnOn(spec).ok());
  // Nobody runs the loop of the controller from here on.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (ovs_.Flows("br0") != theirs_ && std::chrono::steady_clock::now() < end) {
  }
  EXPECT_EQ(ovs_.Flows("br0"), theirs_);
  ASSERT_TRUE(RunUntilEnded());
}

TEST_F(OpenflowDriverTest, WhatHasEndedWhileTheSwitchWasAwayGoesWhenItComesBack) {
  SliceSpec spec = Spec(5, "dstIP=10.1.0.0/16", 600 * kNanosPerSecond);
  spec.packets_per_second = 10;
  ASSERT_TRUE(TurnOn(spec).ok());
  ovs_.Vsctl({"set-controller", "br0", "tcp:127.0.0.1:1"});
  ASSERT_TRUE(test_.RunUntil([&] { return !which_->is_ready(); }));
  EXPECT_FALSE(TurnOff(5).ok());
  ASSERT_TRUE(RunUntilEnded());
  EXPECT_NE(ovs_.Flows("br0"), theirs_);
  ovs_.Vsctl({"set-controller", "br0", test_.remote()});
  ASSERT_NE(test_.Wait(1), nullptr);
  EXPECT_EQ(ovs_.Flows("br0"), theirs_);
  EXPECT_EQ(ovs_.Ofctl({"dump-meters", "br0"}).find("meter="), std::string::npos);
}

// Nobody tells how its flows ended, and others keep the switch busy for longer than it waits.
TEST_F(OpenflowDriverTest, EndsWhenItsMeterIsTheLastToGo) {
  SliceSpec spec = Spec(5, "dstIP=10.1.0.0/16", 30 * kNanosPerSecond);
  spec.packets_per_second = 10;
  ASSERT_TRUE(TurnOn(spec).ok());
  for (const auto& [place, rule] : which_->rules()) {
    const size_t at = rule.text.find("send_flow_rem,");
    if (at == std::string::npos) continue;
    std::string silent = rule.text;
    silent.erase(at, sizeof "send_flow_rem," - 1);
    ovs_.Ofctl({"add-flow", "br0", "cookie=" + std::to_string(rule.cookie) + "," + silent});
  }
  driver_->TurnOff(name_, 5, [this](const Status&) { which_->Acquire([] {}); });
  const auto busy_until = std::chrono::steady_clock::now() + std::chrono::milliseconds(1500);
  ASSERT_TRUE(test_.RunUntil([&] { return std::chrono::steady_clock::now() > busy_until; }));
  EXPECT_TRUE(ends_.empty());
  which_->Release();
  ASSERT_TRUE(RunUntilEnded());
  EXPECT_EQ(driver_->slice_count(), 0u);
  EXPECT_EQ(ovs_.Ofctl({"dump-meters", "br0"}).find("meter="), std::string::npos);
}

TEST_F(OpenflowDriverTest, SeveralSlicesOfTheSamePacketEachGetTheirCopy) {
  ASSERT_TRUE(TurnOn(Spec(1, "dstIP=10.1.0.0/16", 30 * kNanosPerSecond)).ok());
  ASSERT_TRUE(TurnOn(Spec(2, "srcIP=10.0.0.1", 30 * kNanosPerSecond)).ok());
  EXPECT_FALSE(TurnOn(Spec(2, "srcIP=10.0.0.2", 30 * kNanosPerSecond)).ok());
  Send(10);
  ASSERT_TRUE(test_.RunUntil([&] { return Sent(3, kTtlAt).size() == 20; }));
  EXPECT_EQ(Sent(2, kTtlAt), std::vector<int>(10, 63));
  EXPECT_EQ(Sent(3, kTtlAt), std::vector<int>(20, 64));
  ASSERT_TRUE(TurnOff(1).ok() && TurnOff(2).ok());
  ASSERT_TRUE(RunUntilEnded(2));
  EXPECT_EQ(ends_[0].packets, 10u);
  EXPECT_EQ(ends_[1].packets, 10u);
  EXPECT_EQ(ovs_.Flows("br0"), theirs_);
}

TEST_F(OpenflowDriverTest, TheRateLimitHoldsBackCopiesAndNothingElse) {
  SliceSpec spec = Spec(9, "dstIP=10.1.0.0/16", 30 * kNanosPerSecond);
  spec.packets_per_second = 5;
  spec.snap_bytes = 34;
  const Status on = TurnOn(spec);
  ASSERT_TRUE(on.ok()) << on.message();
  Send(50);
  Send(50);
  ASSERT_TRUE(test_.RunUntil([&] { return Sent(2, kTtlAt).size() == 100; }));
  ASSERT_TRUE(TurnOff(9).ok());
  ASSERT_TRUE(RunUntilEnded());
  const size_t copies = Sent(3, kTtlAt).size();
  EXPECT_GT(copies, 0u);
  EXPECT_LT(copies, 50u);
  EXPECT_EQ(ends_[0].packets, copies);
  EXPECT_EQ(ends_[0].withheld, 100 - copies);
  EXPECT_EQ(ovs_.Flows("br0"), theirs_);
  EXPECT_EQ(ovs_.Ofctl({"dump-meters", "br0"}).find("meter="), std::string::npos);
}

TEST_F(OpenflowDriverTest, TheRateLimitOfASliceHoldsBackNoCopiesOfAnother) {
  SliceSpec whole = Spec(1, "dstIP=10.1.0.0/16", 30 * kNanosPerSecond);
  SliceSpec limited = Spec(2, "srcIP=10.0.0.1", 30 * kNanosPerSecond);
  limited.packets_per_second = 5;
  // Which of them is the first to match is for the switch to say.
  size_t rounds = 0;
  for (const auto& [first, second] : {std::pair(whole, limited), std::pair(limited, whole)}) {
    ASSERT_TRUE(TurnOn(first).ok() && TurnOn(second).ok());
    Send(100);
    ++rounds;
    ASSERT_TRUE(test_.RunUntil([&] { return Sent(2, kTtlAt).size() == 100 * rounds; }));
    EXPECT_TRUE(test_.RunUntil([&] { return Sent(3, kTtlAt).size() > 100 * rounds; }));
    ASSERT_TRUE(TurnOff(1).ok() && TurnOff(2).ok());
    ASSERT_TRUE(RunUntilEnded(2 * rounds));
  }
  EXPECT_LT(Sent(3, kTtlAt).size(), 250u);
}

TEST_F(OpenflowDriverTest, TheBudgetOfATraceRuleHoldsBackNoCopiesOfASlice) {
  AddPort(4);
  TraceSwitch at;
  at.number = 5;
  at.port = 4;
  const auto rules = ParseTraceRulesYaml("rules: [{name: dns, filter: dstPort=53, rate: 5}]", "t");
  const auto flows = CompileTraceRules(*rules, at);
  ASSERT_TRUE(flows.ok()) << flows.message();
  OpenflowChange change;
  for (const std::string& meter : flows->meters) {
    change.add.push_back({OpenflowRule::Kind::kMeter, meter, 0, false});
  }
  for (const TraceFlow& flow : flows->flows) change.add.push_back(FlowRule(flow.text));
  ASSERT_TRUE(test_.Commit(which_, std::move(change)).ok());
  ASSERT_TRUE(TurnOn(Spec(1, "dstIP=10.1.0.0/16", 30 * kNanosPerSecond)).ok());
  Send(100);
  ASSERT_TRUE(test_.RunUntil([&] { return Sent(2, kTtlAt).size() == 100; }));
  ASSERT_TRUE(test_.RunUntil([&] { return Sent(3, kTtlAt).size() == 100; }));
  EXPECT_GT(Sent(4, kTtlAt).size(), 0u);
  EXPECT_LT(Sent(4, kTtlAt).size(), 50u);
}

TEST_F(OpenflowDriverTest, EndsWhenTheCapIsReached) {
  SliceSpec spec = Spec(9, "dstIP=10.1.0.0/16", 30 * kNanosPerSecond);
  spec.max_packets = 10;
  ASSERT_TRUE(TurnOn(spec).ok());
  Send(12);
  ASSERT_TRUE(RunUntilEnded());
  EXPECT_GE(ends_[0].packets, 10u);
  EXPECT_LT(ends_[0].lasted, 29 * kNanosPerSecond);
}

TEST_F(OpenflowDriverTest, CopiesNoMorePacketsThanTheCapSaysAndTellsOfTheRest) {
  SliceSpec capped = Spec(9, "dstIP=10.1.0.0/16", 30 * kNanosPerSecond);
  capped.max_packets = 10;
  SliceSpec slow = capped;  // its bucket is no larger, though it may have a thousand a second
  slow.packets_per_second = 1000;
  size_t rounds = 0;
  for (const SliceSpec& spec : {capped, slow}) {
    const size_t before = Sent(3, kTtlAt).size();
    ASSERT_TRUE(TurnOn(spec).ok());
    Send(100);
    ++rounds;
    ASSERT_TRUE(test_.RunUntil([&] { return Sent(2, kTtlAt).size() == 100 * rounds; }));
    ASSERT_TRUE(RunUntilEnded(rounds));
    const size_t copies = Sent(3, kTtlAt).size() - before;
    EXPECT_GE(copies, 10u);
    EXPECT_LE(copies, 13u);  // one a second
    EXPECT_EQ(ends_.back().packets, copies);
    EXPECT_EQ(ends_.back().withheld, 100 - copies);
    EXPECT_EQ(ends_.back().bytes, copies * ovs_.FramesOf("br0p3")[0].size());
  }
  EXPECT_EQ(ovs_.Ofctl({"dump-meters", "br0"}).find("meter="), std::string::npos);
}

TEST_F(OpenflowDriverTest, ACapNeedsNoMeterWhereThereIsNone) {
  // One that is taken is refused as one of a switch without meters.
  ovs_.Ofctl({"add-meter", "br0", "meter=60000,pktps,band=type=drop,rate=7"});
  SliceSpec spec = Spec(9, "dstIP=10.1.0.0/16", 30 * kNanosPerSecond);
  spec.max_packets = 10;
  ASSERT_TRUE(TurnOn(spec).ok());
  Send(12);
  ASSERT_TRUE(RunUntilEnded());
  EXPECT_EQ(Sent(3, kTtlAt).size(), 12u);
  EXPECT_EQ(ends_[0].packets, 12u);
  EXPECT_EQ(ovs_.Flows("br0"), theirs_);
}

TEST_F(OpenflowDriverTest, CountsThatTheSwitchDoesNotKnowCountNothing) {
  ASSERT_TRUE(TurnOn(Spec(5, "dstIP=10.1.0.0/16", 30 * kNanosPerSecond)).ok());
  OpenflowMessage removed;
  removed.head.kind = TRUMPET_OF_FLOW_REMOVED;
  removed.head.cookie = which_->rules().begin()->second.cookie;
  removed.head.packets = removed.head.bytes = kUnknownCount;
  which_->OnMessage(removed);
  ASSERT_TRUE(RunUntilEnded());
  EXPECT_EQ(ends_[0].packets, 0u);
  EXPECT_EQ(ends_[0].bytes, 0u);
}

// As a switch may say it before it says whether it takes the first slice of this driver.
OpenflowMessage FirstSliceRemoved(uint32_t tag) {
  OpenflowMessage removed;
  removed.head.kind = TRUMPET_OF_FLOW_REMOVED;
  removed.head.cookie = SliceClaim().cookie | uint64_t{1} << kSliceTagBits | tag;
  return removed;
}

TEST_F(OpenflowDriverTest, WhatIsRefusedDoesNotEndEvenIfItsFlowsSaySo) {
  ovs_.Ofctl({"add-flow", "br0", "priority=65000,reg15=0/1,ip,nw_dst=10.1.0.0/16,actions=drop"});
  std::vector<Status> told;
  driver_->TurnOn(name_, Spec(5, "dstIP=10.1.0.0/16", 30 * kNanosPerSecond),
                  [&](const Status& status) { told.push_back(status); });
  which_->OnMessage(FirstSliceRemoved(5));
  ASSERT_TRUE(test_.RunUntil([&] { return !told.empty(); }));
  EXPECT_NE(told[0].message().find("somebody else's"), std::string::npos) << told[0].message();
  EXPECT_EQ(driver_->slice_count(), 0u);
  EXPECT_EQ(which_->counters().failed_commits, 1u);
  ASSERT_TRUE(test_.Commit(which_, {}).ok());  // after all that was asked of the switch before
  EXPECT_EQ(which_->counters().commits, 1u);
  EXPECT_TRUE(ends_.empty());
  EXPECT_EQ(told.size(), 1u);
}

TEST_F(OpenflowDriverTest, WhatIsGoneBeforeItIsOnEndsOnce) {
  std::vector<Status> told;
  driver_->TurnOn(name_, Spec(5, "dstIP=10.1.0.0/16", 30 * kNanosPerSecond),
                  [&](const Status& status) { told.push_back(status); });
  which_->OnMessage(FirstSliceRemoved(5));
  ASSERT_TRUE(RunUntilEnded());
  ASSERT_EQ(told.size(), 1u);
  EXPECT_TRUE(told[0].ok()) << told[0].message();
  EXPECT_EQ(ovs_.Flows("br0"), theirs_);
  EXPECT_EQ(driver_->slice_count(), 0u);
}

TEST_F(OpenflowDriverTest, FlowsOfTheRefusedOneWithAMeterDoNotEndTheOneWithout) {
  ovs_.Ofctl({"add-meter", "br0", "meter=60000,pktps,band=type=drop,rate=7"});
  SliceSpec spec = Spec(9, "dstIP=10.1.0.0/16", 30 * kNanosPerSecond);
  spec.max_packets = 10;
  std::vector<Status> told;
  driver_->TurnOn(name_, spec, [&](const Status& status) { told.push_back(status); });
  which_->OnMessage(FirstSliceRemoved(9));
  ASSERT_TRUE(test_.RunUntil([&] { return !told.empty(); }));
  ASSERT_TRUE(told[0].ok()) << told[0].message();
  which_->OnMessage(FirstSliceRemoved(9));
  ASSERT_TRUE(test_.Commit(which_, {}).ok());
  EXPECT_NE(ovs_.Flows("br0"), theirs_);
  EXPECT_TRUE(ends_.empty());
  Send(12);
  ASSERT_TRUE(RunUntilEnded());
  EXPECT_EQ(ends_[0].packets, 12u);
}

TEST_F(OpenflowDriverTest, SaysWhatASwitchCannotDo) {
  EXPECT_FALSE(TurnOn(Spec(1, "not (srcIP=10.0.0.1)", kNanosPerSecond)).ok());
  EXPECT_FALSE(TurnOn(Spec(0, "srcIP=10.0.0.1", kNanosPerSecond)).ok());
  EXPECT_FALSE(driver_->Serves("nobody"));
  const Status unknown = test_.Run([&](SliceDriver::Done done) {
    driver_->TurnOn("nobody", Spec(1, "srcIP=10.0.0.1", kNanosPerSecond), done);
  });
  EXPECT_FALSE(unknown.ok());
  EXPECT_EQ(driver_->slice_count(), 0u);
}

}  // namespace
}  // namespace trumpet
