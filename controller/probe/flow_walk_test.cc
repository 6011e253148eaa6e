// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/probe/flow_walk.h"

#include <gtest/gtest.h>

#include <random>
#include <regex>

#include "controller/openflow/openflow_switch.h"
#include "controller/openflow/switch_kit_test.h"

namespace trumpet {
namespace {

using End = FlowWalk::End;

constexpr char kProtocols[] = "OpenFlow13,OpenFlow14,OpenFlow15";
constexpr FrameMark kMark = {2, 0, 0, 0, 0, 1};

OpenflowFlow Flow(uint8_t table, uint16_t priority, const std::string& match,
                  const std::string& actions, uint64_t cookie = 0) {
  OpenflowFlow flow;
  flow.table = table;
  flow.priority = priority;
  flow.match = "priority=" + std::to_string(priority) + (match.empty() ? "" : "," + match);
  flow.actions = actions;
  flow.cookie = cookie;
  flow.packets = 7;
  return flow;
}

WalkedPacket Packet(const std::string& match, uint32_t in_port = 1, uint8_t ttl = 64) {
  const Result<std::string> frame = ComposeFrame(match, 0, kMark);
  EXPECT_TRUE(frame.ok()) << frame.message();
  return {*frame, in_port, ttl};
}

TEST(FlowWalk, TakesTheFlowOfTheHighestPriorityThatFits) {
  const std::vector<OpenflowFlow> flows = {Flow(0, 1, "", "output:2"),
                                           Flow(0, 100, "udp,tp_dst=9000", "drop"),
                                           Flow(0, 50, "ip,nw_dst=10.1.0.0/16", "output:3")};
  const FlowWalk dropped = WalkFlows(flows, Packet("udp,tp_dst=9000,nw_dst=10.1.0.1"));
  EXPECT_EQ(dropped.end, End::kDropped);
  EXPECT_EQ(dropped.flow, "table=0,priority=100,udp,tp_dst=9000 actions=drop");
  EXPECT_EQ(dropped.packets, 7u);
  EXPECT_EQ(WalkFlows(flows, Packet("udp,tp_dst=9001,nw_dst=10.1.0.1")).ports,
            std::vector<uint32_t>{3});
  EXPECT_EQ(WalkFlows(flows, Packet("udp,tp_dst=9001,nw_dst=10.2.0.1")).ports,
            std::vector<uint32_t>{2});
}

TEST(FlowWalk, SaysHowItEnds) {
  const struct {
    std::vector<OpenflowFlow> flows;
    End end;
    std::vector<uint32_t> meters;
  } cases[] = {
      {{}, End::kNoFlow, {}},
      {{Flow(0, 1, "tcp", "output:2")}, End::kNoFlow, {}},
      {{Flow(0, 1, "", "resubmit(,5)"), Flow(5, 1, "tcp", "output:2")}, End::kNoFlow, {}},
      {{Flow(0, 1, "", "goto_table:5"), Flow(5, 1, "udp", "NORMAL")}, End::kForwarded, {}},
      {{Flow(0, 1, "", "meter:3,output:2")}, End::kForwarded, {3}},
      // Of a copy that is made when it has been forwarded.
      {{Flow(0, 1, "", "output:2,resubmit(,5)"), Flow(5, 1, "", "meter:3,output:4")},
       End::kForwarded,
       {}},
      {{Flow(0, 1, "", "dec_ttl,output:2")}, End::kForwarded, {}},
      {{Flow(0, 1, "", "dec_ttl,dec_ttl,output:2")}, End::kExpired, {}},
      {{Flow(0, 1, "", "output:1")}, End::kDropped, {}},  // back to where it came from
      {{Flow(0, 1, "", "write_actions(output:2)")}, End::kForwarded, {}},
      {{Flow(0, 1, "", "mod_nw_dst:10.0.0.1,output:2")}, End::kForwarded, {}},
      {{Flow(0, 1, "", "mod_nw_dst:10.0.0.1,resubmit(,5)"), Flow(5, 1, "", "output:2")},
       End::kNotKnown,
       {}},
      {{Flow(0, 1, "", "ct(table=5)"), Flow(5, 1, "", "output:2")}, End::kNotKnown, {}},
      {{Flow(0, 1, "", "something_new")}, End::kNotKnown, {}},
      {{Flow(0, 1, "", "resubmit(,0)")}, End::kNotKnown, {}},
      {{Flow(0, 9, "what is this", "drop")}, End::kNotKnown, {}},
      // Ours copy, and whatever else there is forwards.
      {{Flow(0, 9, "", "drop", kOpenflowCookie | 5), Flow(0, 1, "", "output:2")},
       End::kForwarded,
       {}},
  };
  for (const auto& one : cases) {
    const FlowWalk walk = WalkFlows(one.flows, Packet("udp,tp_dst=9000", 1, 2));
    EXPECT_EQ(walk.end, one.end) << (one.flows.empty() ? "" : one.flows[0].actions);
    EXPECT_EQ(walk.meters, one.meters) << (one.flows.empty() ? "" : one.flows[0].actions);
  }
}

TEST(FlowWalk, DoesNotReadBehindWhatWasCaptured) {
  const std::string whole = Packet("tcp,tp_dst=80").frame;
  for (size_t bytes = 0; bytes <= whole.size(); ++bytes) {
    const std::string cut(whole, 0, bytes);
    const std::vector<OpenflowFlow> flows = {Flow(0, 9, "tcp,tp_dst=80", "output:2")};
    const FlowWalk walk = WalkFlows(flows, {cut, 1, 64});
    EXPECT_TRUE(walk.end == End::kForwarded || walk.end == End::kNoFlow) << bytes;
  }
}

TEST(SplitActions, CutsAtTheOutermostCommas) {
  EXPECT_EQ(SplitActions("a,b(c,d(e,f)),g"), (std::vector<std::string>{"a", "b(c,d(e,f))", "g"}));
  EXPECT_TRUE(SplitActions("").empty());
}

// ---- Against ofproto/trace of a real switch ----

class FlowWalkOfASwitch : public ::testing::Test {
 protected:
  void SetUp() override {
    ovs_.AddBridge("br0", 1, kProtocols);
    ovs_.Vsctl({"set-controller", "br0", net_.remote()});
    which_ = net_.Wait(1);
    ASSERT_NE(which_, nullptr);
  }
  std::vector<OpenflowFlow> FlowsOfSwitch() {
    std::vector<OpenflowFlow> all;
    bool is_there = false;
    which_->AskFlowsWithin("", 1000, [&](const Result<std::vector<OpenflowFlow>>& flows) {
      is_there = true;
      EXPECT_TRUE(flows.ok()) << flows.message();
      if (flows.ok()) all = *flows;
    });
    EXPECT_TRUE(net_.RunUntil([&] { return is_there; }));
    return all;
  }
  // Whether the switch would send the frame anywhere.
  bool Forwards(const WalkedPacket& packet) const {
    std::string hex;
    for (const char byte : packet.frame) {
      char text[3];
      std::snprintf(text, sizeof text, "%02x", static_cast<uint8_t>(byte));
      hex += text;
    }
    trace_ =
        ovs_.Appctl({"ofproto/trace", "br0", "in_port=" + std::to_string(packet.in_port), hex});
    std::smatch found;
    EXPECT_TRUE(std::regex_search(trace_, found, std::regex("Datapath actions: (.*)"))) << trace_;
    // A TTL that is used up is told to the controller.
    const std::regex inside("userspace\\(([^()]|\\([^()]*\\))*\\)|set\\(([^()]|\\([^()]*\\))*\\)");
    const std::string actions = std::regex_replace(found[1].str(), inside, "");
    return actions.find_first_of("0123456789") != std::string::npos;
  }

  TestSwitch ovs_;
  TestNet net_;
  OpenflowSwitch* which_ = nullptr;
  mutable std::string trace_;
};

class RandomFlows {
 public:
  explicit RandomFlows(uint64_t seed) : random_(seed) {}

  std::string Flow() {
    const size_t table = Below(4);
    const std::string match =
        Pick({"", ",ip", ",udp", ",tcp", ",udp,tp_dst=53", ",tcp,tp_dst=80",
              ",ip,nw_dst=10.0.0.0/8", ",ip,nw_dst=10.1.0.0/16", ",in_port=1", ",in_port=2",
              ",tcp,tcp_flags=+syn", ",ipv6", ",udp6,tp_dst=53", ",ip,ip_dscp=8"});
    const bool has_ttl = match.find("ip") != match.npos || match.find("udp") != match.npos ||
                         match.find("tcp") != match.npos;
    return "table=" + std::to_string(table) + ",priority=" + std::to_string(Below(50)) + match +
           ",actions=" + Actions(table, has_ttl);
  }
  std::string Match() {
    return Pick({"udp,tp_dst=53", "udp,tp_dst=54", "tcp,tp_dst=80", "tcp,tp_dst=81,tcp_flags=syn",
                 "icmp", "udp6,tp_dst=53", "arp"});
  }
  uint32_t Port() { return 1 + static_cast<uint32_t>(Below(2)); }

 private:
  size_t Below(size_t n) { return random_() % n; }
  std::string Pick(const std::vector<std::string>& texts) { return texts[Below(texts.size())]; }
  std::string Actions(size_t table, bool has_ttl) {
    const std::string next = std::to_string(std::min<size_t>(table + 1 + Below(2), 4));
    return Pick({"drop", "output:1", "output:2", "resubmit(," + next + ")", "goto_table:" + next,
                 has_ttl ? "dec_ttl,output:2" : "output:2", "output:1,resubmit(," + next + ")",
                 "NORMAL", "resubmit(," + next + "),output:2"});
  }

  std::mt19937_64 random_;
};

TEST_F(FlowWalkOfASwitch, EndsAsTheSwitchSays) {
  int forwarded = 0, dropped = 0, unknown = 0;
  for (uint64_t seed = 1; seed <= 25; ++seed) {
    RandomFlows random(seed);
    ovs_.Ofctl({"del-flows", "br0"});
    for (int i = 0; i < 12; ++i) ovs_.Ofctl({"add-flow", "br0", random.Flow()});
    const std::vector<OpenflowFlow> flows = FlowsOfSwitch();
    for (int i = 0; i < 12; ++i) {
      const WalkedPacket packet = Packet(random.Match(), random.Port());
      const FlowWalk walk = WalkFlows(flows, packet);
      if (walk.end == End::kNotKnown) {
        ++unknown;
        continue;
      }
      const bool forwards = walk.end == End::kForwarded;
      ++(forwards ? forwarded : dropped);
      ASSERT_EQ(forwards, Forwards(packet)) << "seed " << seed << "\n"
                                            << trace_ << ovs_.Flows("br0");
    }
  }
  EXPECT_GT(forwarded, 40);
  EXPECT_GT(dropped, 40);
  EXPECT_EQ(unknown, 0) << "nothing here changes packets";
}

}  // namespace
}  // namespace trumpet
