// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/topology/topology_watch.h"

#include <gtest/gtest.h>

#include "controller/openflow/switch_kit_test.h"

namespace trumpet {
namespace {

// Two bridges, a and b, and as many patches between them as are asked for.
class TopologyWatchTest : public testing::Test {
 protected:
  TopologyWatchTest() {
    for (int number = 1; number <= 2; ++number) {
      const std::string name = "br" + std::to_string(number);
      ovs_.AddBridge(name, number, "OpenFlow13,OpenFlow15");
      ovs_.Vsctl({"set-controller", name, test_.remote()});
    }
    Topology file;
    file.switches = {{"a", 1}, {"b", 2}};
    file.links = {{"a", "b", 7}};
    live_.SetFile(file);
    options_.interval = 100 * kNanosPerMilli;
    options_.forget_after = 2 * kNanosPerSecond;
    watch_ = std::make_unique<TopologyWatch>(test_.base(), clock_, options_, &test_.net(), &live_,
                                             nullptr);
  }

  // Both its ends have this number.
  void Patch(int number) {
    const std::string n = std::to_string(number);
    ovs_.Vsctl({"add-port",
                "br1",
                "a" + n,
                "--",
                "set",
                "interface",
                "a" + n,
                "type=patch",
                "options:peer=b" + n,
                "ofport_request=" + n,
                "--",
                "add-port",
                "br2",
                "b" + n,
                "--",
                "set",
                "interface",
                "b" + n,
                "type=patch",
                "options:peer=a" + n,
                "ofport_request=" + n});
  }

  const TopologyLink* Seen() const {
    for (const TopologyLink& link : live_.topology().links) {
      if (link.source == LinkSource::kBoth) return &link;
    }
    return nullptr;
  }

  TestSwitch ovs_;
  TestNet test_;
  SystemWireClock clock_;
  LinkDiscoveryOptions options_;
  LiveTopology live_;
  std::unique_ptr<TopologyWatch> watch_;
};

TEST_F(TopologyWatchTest, SeesALinkComeAndGo) {
  Patch(9);
  ASSERT_TRUE(test_.RunUntil([&] { return Seen() != nullptr; }));
  EXPECT_EQ(Seen()->weight, 7u);
  EXPECT_EQ(Seen()->from_port, 9u);
  EXPECT_EQ(Seen()->to_port, 9u);
  EXPECT_LT(watch_->Now().links[0].age, 60 * kNanosPerSecond);
  ovs_.Vsctl({"del-port", "a9"});
  ASSERT_TRUE(test_.RunUntil([&] { return live_.topology().lost_links.size() == 1; }));
  EXPECT_TRUE(live_.topology().links.empty());
  ovs_.Vsctl({"del-port", "b9"});
  Patch(8);
  ASSERT_TRUE(test_.RunUntil([&] { return Seen() != nullptr; }));
  EXPECT_EQ(Seen()->from_port, 8u);
}

TEST_F(TopologyWatchTest, SeesItAgainAfterTheSwitchWasRestarted) {
  Patch(9);
  ASSERT_TRUE(test_.RunUntil([&] { return Seen() != nullptr; }));
  ovs_.Restart();
  ASSERT_TRUE(test_.RunUntil([&] { return Seen() == nullptr; }));
  ASSERT_TRUE(test_.RunUntil([&] { return Seen() != nullptr; }));
}

TEST_F(TopologyWatchTest, BelievesNoEdgePort) {
  Topology file = live_.file();
  file.switches[0].edge_ports = {9};
  live_.SetFile(file);
  watch_->OnFile();
  Patch(9);
  // b goes on asking, and what it asks comes to the edge port of a.
  ASSERT_TRUE(test_.RunUntil([&] { return watch_->counters().from_edge_ports >= 3; }));
  EXPECT_EQ(Seen(), nullptr);
}

TEST_F(TopologyWatchTest, SendsNothingOutOfPortsToAnalyzers) {
  watch_->SetQuietPorts([](const OpenflowSwitch& which, uint32_t port) {
    return which.datapath_id() == 1 && port == 2;
  });
  ASSERT_TRUE(test_.RunUntil(
      [&] { return ovs_.FramesOf("br1p1").size() >= 3 && ovs_.FramesOf("br2p2").size() >= 3; }));
  EXPECT_TRUE(ovs_.FramesOf("br1p2").empty());
}

}  // namespace
}  // namespace trumpet
