// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// With an ovs-vswitchd that has two bridges and a link between them; what goes to the analyzer is
// written into a file, and a clock stands.

#include "controller/probe/bouncer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "controller/openflow/switch_kit_test.h"
#include "lib/model/slice_copies.h"
#include "lib/model/trace_rule.h"

namespace trumpet {
namespace {

constexpr char kProtocols[] = "OpenFlow13,OpenFlow14,OpenFlow15";
constexpr char kOurs[] = "cookie=0x7472070000000000/0xffffff0000000000";
constexpr size_t kTtlAt = 14 + 8;

class TickingClock final : public WireClock {
 public:
  Nanos MonotonicNow() const override { return now; }
  Nanos UnixNow() const override { return 1'700'000'000 * kNanosPerSecond + now; }

  Nanos now = 1000 * kNanosPerSecond;
};

class BouncerTest : public ::testing::Test {
 protected:
  using TakeRecords = std::function<void(const Result<BounceRecords>&)>;

  void SetUp() override {
    for (const char* name : {"br0", "br1"}) {
      ovs_.AddBridge(name, name[2] - '0' + 1, kProtocols);
      const std::string peer = name[2] == '0' ? "br1" : "br0";
      ovs_.Vsctl({"add-port", name, std::string("to-") + peer, "--", "set", "interface",
                  "to-" + peer, "type=patch", std::string("options:peer=to-") + name,
                  "ofport_request=7"});
      ovs_.Vsctl({"set-controller", name, net_.remote()});
    }
    here_ = net_.Wait(1);
    there_ = net_.Wait(2);
    ASSERT_TRUE(here_ != nullptr && there_ != nullptr);
    ASSERT_TRUE(net_.RunUntil([&] { return here_->ports().count(7) == 1; }));
    Bouncer::Parts parts;
    parts.base = net_.base();
    parts.clock = &clock_;
    parts.net = &net_.net();
    parts.has_analyzer = [this] { return has_analyzer_; };
    parts.expect = [this](const std::vector<ExpectedSlice>& slices) {
      expected_.insert(expected_.end(), slices.begin(), slices.end());
    };
    parts.ask = [this](uint32_t tag, uint32_t, TakeRecords answer) {
      asked_.push_back(tag);
      answers_.push_back(std::move(answer));
    };
    parts.find_port = [this](const std::string& name) {
      return name == "br0" ? std::optional(OpenflowCopyPort{2, 5, false}) : std::nullopt;
    };
    parts.links = [] {
      return std::vector<BounceLink>{
          {"br0", 7, "br1", 7}, {"br1", 7, "br0", 7}, {"br0", 1, "br9", 1}};
    };
    parts.name_of = [](const std::string& name) { return name == "first" ? "br0" : name; };
    parts.rate = &rate_;
    parts.seed = 7;
    parts.log = [](const char*, const std::string&) {};
    bouncer_ = std::make_unique<Bouncer>(parts);
  }
  static BounceRequest Request(uint32_t count = 3) {
    BounceRequest request;
    request.switch_name = "br0";
    request.to = "br1";
    request.count = count;
    request.rate = 100;
    return request;
  }
  const BounceView* Begin(const BounceRequest& request) {
    const ProbeStart start = bouncer_->Start(request, "alice");
    EXPECT_EQ(start.refusal, ProbeStart::Refusal::kNone) << start.why;
    return bouncer_->Find(start.id);
  }
  std::string Refusal(const BounceRequest& request) {
    const ProbeStart start = bouncer_->Start(request, "alice");
    return std::to_string(static_cast<int>(start.refusal)) + " " + start.why;
  }
  bool RunUntil(const std::function<bool()>& done) {
    return net_.RunUntil([&] {
      clock_.now += 20 * kNanosPerMilli;
      return done();
    });
  }
  // As the analyzer has them: what went to it, 700 us after each other.
  void Answer() {
    std::vector<PacketRecord> records;
    for (const std::string& frame : ovs_.FramesOf("br0p2")) {
      PacketRecord record;
      record.switch_name = "br0";
      record.time = clock_.UnixNow() + static_cast<Nanos>(records.size()) * 700'000;
      record.bytes = frame;
      records.push_back(std::move(record));
    }
    const TakeRecords answer = std::move(answers_.back());
    answers_.clear();
    answer(BounceRecords{{"an1", records}});
  }
  std::string FlowsOfOurs() {
    return ovs_.Ofctl({"--no-stats", "--no-names", "dump-flows", "br0", kOurs}) +
           ovs_.Ofctl({"--no-stats", "--no-names", "dump-flows", "br1", kOurs});
  }

  TestSwitch ovs_;
  TestNet net_{[] {
    OpenflowOptions options;
    options.names = {{1, "br0"}, {2, "br1"}};
    return options;
  }()};
  TickingClock clock_;
  ProbeRate rate_{100};
  OpenflowSwitch* here_ = nullptr;
  OpenflowSwitch* there_ = nullptr;
  bool has_analyzer_ = true;
  std::vector<ExpectedSlice> expected_;
  std::vector<uint32_t> asked_;
  std::vector<TakeRecords> answers_;
  std::unique_ptr<Bouncer> bouncer_;
};

TEST_F(BouncerTest, PacketsGoThereAndBackAndAreCopiedTwice) {
  const BounceView* const bounce = Begin(Request());
  ASSERT_TRUE(RunUntil([&] { return bounce->state == ProbeState::kWaiting; }));
  const std::string flows = FlowsOfOurs();
  EXPECT_NE(flows.find("hard_timeout=33, priority=64998,ip,in_port=7,dl_dst="), flows.npos)
      << flows;
  EXPECT_NE(flows.find("actions=dec_ttl,IN_PORT"), flows.npos) << flows;
  ASSERT_TRUE(RunUntil([&] { return !asked_.empty(); }));
  ASSERT_TRUE(RunUntil([&] { return ovs_.FramesOf("br0p2").size() == 6; }));
  const std::vector<std::string> frames = ovs_.FramesOf("br0p2");
  for (size_t i = 0; i < frames.size(); ++i) {
    EXPECT_EQ(frames[i][kTtlAt], i % 2 == 0 ? kBounceTtl : kBounceTtl - 1);
    EXPECT_EQ(frames[i].substr(0, 6), frames[0].substr(0, 6));
    EXPECT_EQ(frames[i][0] & 3, 2) << "an address of nobody's card";
  }
  ASSERT_EQ(expected_.size(), 1u);
  EXPECT_EQ(expected_[0].tag, asked_[0]);
  EXPECT_EQ(TraceTagPort(asked_[0]), kTraceTestPort) << "no trace is made of it";
  EXPECT_EQ(expected_[0].numbers, std::vector<uint16_t>{5});
  Answer();
  EXPECT_EQ(bounce->findings.returned, 3u);
  EXPECT_EQ(bounce->findings.min, 700'000);
  EXPECT_EQ(bounce->findings.max, 700'000);
  ASSERT_TRUE(RunUntil([&] { return bounce->state == ProbeState::kDone; }));
  ASSERT_TRUE(RunUntil([&] { return FlowsOfOurs().find("IN_PORT") == std::string::npos; }));
  ASSERT_TRUE(RunUntil([&] { return FlowsOfOurs().find("dl_dst") == std::string::npos; }));
  EXPECT_TRUE(ovs_.FramesOf("br0p1").empty() && ovs_.FramesOf("br1p1").empty());
}

TEST_F(BouncerTest, ALinkThatTakesNothingBackIsToldAsLost) {
  ovs_.Ofctl({"add-flow", "br1", "priority=65535,in_port=7,actions=drop"});
  BounceRequest request = Request(2);
  request.to.clear();
  request.switch_name = "first";  // as the topology calls it
  request.port = "to-br1";
  const BounceView* const bounce = Begin(request);
  ASSERT_TRUE(RunUntil([&] {
    if (!answers_.empty()) Answer();
    return bounce->state == ProbeState::kDone;
  }));
  EXPECT_EQ(bounce->findings.lost, 2u);
  EXPECT_EQ(bounce->findings.returned, 0u);
  // Nobody has answered at all.
  const BounceView* const silent = Begin(Request(1));
  ASSERT_TRUE(RunUntil([&] {
    for (const auto& answer : std::exchange(answers_, {})) answer(Status::Error("gone"));
    return silent->state == ProbeState::kDone;
  }));
  EXPECT_EQ(silent->findings.not_copied, 1u);
  EXPECT_NE(asked_.front(), asked_.back()) << "tags take turns";
}

TEST_F(BouncerTest, WhatCannotBeIsRefused) {
  BounceRequest request = Request();
  request.rate = 101;
  EXPECT_EQ(Refusal(request),
            "1 'rate' is 101; this controller sends 100 packets of probes per second at most");
  request = Request();
  request.switch_name = "br7";
  EXPECT_EQ(Refusal(request), "1 there is no switch 'br7'");
  request = Request();
  request.port = "2";
  EXPECT_EQ(Refusal(request),
            "1 no link of switch 'br0' at port '2' to switch 'br1' has been found by LLDP");
  request = Request();
  request.to = "br9";
  EXPECT_EQ(Refusal(request), "2 switch 'br9' is not connected");
  request = Request();
  std::swap(request.switch_name, request.to);
  EXPECT_EQ(Refusal(request), "2 switch 'br1' has no port to an analyzer");
  has_analyzer_ = false;
  EXPECT_EQ(Refusal(Request()), "2 no analyzer is connected");
  has_analyzer_ = true;
  for (size_t i = 0; i < Bouncer::kMaxRunning; ++i) Begin(Request());
  EXPECT_EQ(Refusal(Request()),
            "3 there are 32 bounces under way, as many as this controller runs");
  EXPECT_EQ(bouncer_->counters().refused, 7u);
  std::vector<uint32_t> tags;
  for (const ExpectedSlice& one : expected_) tags.push_back(one.tag);
  std::sort(tags.begin(), tags.end());
  EXPECT_EQ(std::unique(tags.begin(), tags.end()), tags.end()) << "each has a tag of its own";
}

TEST_F(BouncerTest, ASwitchThatGoesAwayEndsIt) {
  const BounceView* const bounce = Begin(Request(1000));
  ASSERT_TRUE(RunUntil([&] { return bounce->sent > 0; }));
  ovs_.Vsctl({"del-controller", "br0"});
  ASSERT_TRUE(net_.RunUntil([&] { return !here_->is_ready(); }));
  ASSERT_TRUE(RunUntil([&] {
    for (const auto& answer : std::exchange(answers_, {})) answer(Status::Error("gone"));
    return bounce->state == ProbeState::kDone;
  }));
  EXPECT_EQ(bounce->notes.size(), 1u);
  EXPECT_EQ(bounce->notes[0].find("switch 'br0' went away after "), 0u) << bounce->notes[0];
}

TEST_F(BouncerTest, ASwitchThatWasAwayAtTheEndLosesItsFlowWhenItComesBack) {
  const BounceView* const bounce = Begin(Request(1000));
  ASSERT_TRUE(RunUntil([&] { return bounce->sent > 0; }));
  ovs_.Vsctl({"set-controller", "br0", "tcp:127.0.0.1:1"});
  ASSERT_TRUE(net_.RunUntil([&] { return !here_->is_ready(); }));
  ASSERT_TRUE(RunUntil([&] {
    for (const auto& answer : std::exchange(answers_, {})) answer(Status::Error("gone"));
    return bounce->state == ProbeState::kDone;
  }));
  EXPECT_NE(FlowsOfOurs().find("dl_dst"), std::string::npos);
  ovs_.Vsctl({"set-controller", "br0", net_.remote()});
  ASSERT_NE(net_.Wait(1), nullptr);
  EXPECT_EQ(FlowsOfOurs().find("dl_dst"), std::string::npos);
}

}  // namespace
}  // namespace trumpet
