// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// With an ovs-vswitchd whose bridge is the reshuffler.

#include "controller/trace/reshuffler_manager.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "controller/openflow/switch_kit_test.h"

namespace trumpet {
namespace {

constexpr char kTheirs[] = "table=0,priority=0,actions=output:1";
constexpr uint32_t kPort = 2;

std::vector<ReshuffleTarget> Targets() {
  return {{{"an1", 1}, "192.0.2.21"}, {{"an2", 1}, "192.0.2.22"}, {{"an3", 1}, "192.0.2.23"}};
}

OpenflowOptions NetOptions() {
  OpenflowOptions options;
  options.names = {{1, "br0"}};
  options.standing_rules[1] = ReshuffleBase({kPort, "192.0.2.9"}, Targets());
  options.more_claims[1] = ReshuffleClaim();
  return options;
}

// Analyzers speak whenever they are asked for, if they do.
class Controller {
  TestSwitch* const ovs_;
  TestNet test_;
  SystemWireClock clock_;

 public:
  explicit Controller(TestSwitch* ovs, std::set<std::string> analyzers)
      : ovs_(ovs), test_(NetOptions()), here(std::move(analyzers)) {
    ReshufflerParts parts;
    parts.base = test_.base();
    parts.clock = &clock_;
    parts.net = &test_.net();
    parts.places = {{"br0", 1, {kPort, "192.0.2.9"}}};
    parts.targets = Targets();
    parts.health.silence = 300 * kNanosPerMilli;
    parts.health.return_after = 200 * kNanosPerMilli;
    parts.health.settle = kNanosPerSecond;
    parts.signs = [this] {
      std::vector<AnalyzerSign> signs;
      for (const std::string& name : here) {
        if (mute.count(name) == 0) heard_at[name] = clock_.MonotonicNow();
        signs.push_back({name, heard_at[name]});
      }
      return signs;
    };
    parts.log = [](const char*, const std::string&) {};
    manager = std::make_unique<ReshufflerManager>(parts);
  }

  OpenflowSwitch* Connect() {
    ovs_->Vsctl({"set-controller", "br0", test_.remote()});
    OpenflowSwitch* const which = test_.Wait(1);
    ovs_->Ofctl({"add-flow", "br0", kTheirs});
    return which;
  }
  bool RunUntil(const std::function<bool()>& done) { return test_.RunUntil(done); }
  ReshufflerView Seen() const { return manager->View().reshufflers[0]; }
  // Slots of each, as the controller tells them.
  std::vector<size_t> Slots() const {
    std::vector<size_t> counts(3);
    for (const int member : Seen().slots) {
      if (member != kNoMember) ++counts[static_cast<size_t>(member)];
    }
    return counts;
  }
  bool Has(const SlotTable& table) const {
    return Seen().state == ReshufflerState::kInOrder && Seen().slots == table;
  }
  static SlotTable Table(const std::vector<bool>& is_alive) {
    return PlanSlots({{"an1", 1}, {"an2", 1}, {"an3", 1}}, is_alive);
  }

  std::set<std::string> here;
  std::set<std::string> mute;
  std::map<std::string, Nanos> heard_at;
  std::unique_ptr<ReshufflerManager> manager;
};

class ReshufflerManagerTest : public testing::Test {
 protected:
  void SetUp() override { ovs_.AddBridge("br0", 1, "OpenFlow13,OpenFlow14,OpenFlow15"); }

  // As the switch has them.
  SlotTable SlotsAtSwitch() const {
    SlotTable table(kReshuffleSlots, kNoMember);
    const std::string flows = ovs_.Flows("br0");
    for (size_t at = flows.find("table=248"); at != std::string::npos;
         at = flows.find("table=248", at + 1)) {
      const std::string line = flows.substr(at, flows.find('\n', at) - at);
      const size_t slot = line.find("reg11=");
      const size_t member = line.find("set_field:");
      if (slot == std::string::npos || member == std::string::npos) continue;
      table[std::stoul(line.substr(slot + 6), nullptr, 0)] =
          static_cast<int>(std::stoul(line.substr(member + 10), nullptr, 0)) - 1;
    }
    return table;
  }

  TestSwitch ovs_;
};

const std::set<std::string> kAllThree = {"an1", "an2", "an3"};

TEST_F(ReshufflerManagerTest, SlotsFollowWhoIsAlive) {
  Controller one(&ovs_, kAllThree);
  one.manager->Start();
  ASSERT_NE(one.Connect(), nullptr);
  const SlotTable all = Controller::Table({true, true, true});
  const SlotTable without = Controller::Table({true, false, true});
  ASSERT_TRUE(one.RunUntil([&] { return one.Has(all); }));
  EXPECT_EQ(SlotsAtSwitch(), all);
  EXPECT_EQ(one.Seen().changes, 0u);

  one.here.erase("an2");  // killed
  ASSERT_TRUE(one.RunUntil([&] { return one.Has(without); }));
  EXPECT_EQ(SlotsAtSwitch(), without);
  const ReshuffleMove killed = one.Seen().last_move;
  EXPECT_EQ(killed.lost, std::vector<std::string>{"an2"});
  EXPECT_LE(killed.slots, 86u);
  EXPECT_GE(killed.slots, 85u);
  EXPECT_GT(killed.failover_ns, 0);

  one.here.insert("an2");
  ASSERT_TRUE(one.RunUntil([&] { return one.Has(all); }));
  EXPECT_EQ(SlotsAtSwitch(), all) << "it has the slots that it had";
  EXPECT_EQ(one.Seen().last_move.taken, std::vector<std::string>{"an2"});

  one.mute.insert("an3");  // hangs
  ASSERT_TRUE(one.RunUntil([&] { return one.Has(Controller::Table({true, true, false})); }));
  EXPECT_EQ(one.Seen().changes, 3u);
  EXPECT_EQ(one.manager->View().analyzers[2].state, AnalyzerState::kSilent);
}

TEST_F(ReshufflerManagerTest, ANewLifeOfTheControllerTouchesNothingThatHolds) {
  SlotTable with_two;
  {
    Controller first(&ovs_, {"an1", "an3"});
    first.manager->Start();
    ASSERT_NE(first.Connect(), nullptr);
    with_two = Controller::Table({true, false, true});
    ASSERT_TRUE(first.RunUntil([&] { return first.Has(with_two); }));
  }
  const std::string flows = ovs_.Flows("br0");
  Controller second(&ovs_, {"an1"});
  const OpenflowSwitch* const which = second.Connect();
  ASSERT_NE(which, nullptr);
  EXPECT_EQ(ovs_.Flows("br0"), flows);
  second.manager->Start();
  ASSERT_TRUE(second.RunUntil([&] { return second.Seen().state == ReshufflerState::kWaiting; }));
  second.here.insert("an3");
  ASSERT_TRUE(second.RunUntil([&] { return second.Has(with_two); }));
  EXPECT_EQ(ovs_.Flows("br0"), flows);
  EXPECT_EQ(which->counters().reconciled_missing, 0u);
  EXPECT_EQ(which->counters().reconciled_stray, 0u);
}

TEST_F(ReshufflerManagerTest, SlotsStayWhenNobodyIsLeft) {
  Controller one(&ovs_, kAllThree);
  one.manager->Start();
  ASSERT_NE(one.Connect(), nullptr);
  const SlotTable all = Controller::Table({true, true, true});
  ASSERT_TRUE(one.RunUntil([&] { return one.Has(all); }));
  one.here.clear();
  ASSERT_TRUE(one.RunUntil([&] { return one.Seen().state == ReshufflerState::kWaiting; }));
  EXPECT_EQ(SlotsAtSwitch(), all);
}

TEST_F(ReshufflerManagerTest, FlowsThatSomebodyRemovesComeBack) {
  Controller one(&ovs_, kAllThree);
  one.manager->Start();
  ASSERT_NE(one.Connect(), nullptr);
  const SlotTable all = Controller::Table({true, true, true});
  ASSERT_TRUE(one.RunUntil([&] { return one.Has(all); }));
  const std::string flows = ovs_.Flows("br0");
  ovs_.Ofctl({"del-flows", "br0", "table=248,reg11=7/0xff"});
  EXPECT_TRUE(one.RunUntil([&] { return ovs_.Flows("br0") == flows; }));
  ovs_.Ofctl({"del-flows", "br0", "table=249"});
  EXPECT_TRUE(one.RunUntil([&] { return ovs_.Flows("br0") == flows; }));
}

TEST_F(ReshufflerManagerTest, EveryCopyIsCountedSomewhere) {
  Controller one(&ovs_, kAllThree);
  one.manager->Start();
  ASSERT_NE(one.Connect(), nullptr);
  ASSERT_TRUE(one.RunUntil([&] { return one.Has(Controller::Table({true, true, true})); }));
  for (int i = 0; i < 300; ++i) {
    ovs_.Appctl({"netdev-dummy/receive", "br0p2",
                 "in_port(2),eth(src=02:00:00:00:00:01,dst=02:00:00:00:00:02),eth_type(0x0800),"
                 "ipv4(src=10.0.0." +
                     std::to_string(i % 250 + 1) +
                     ",dst=10.0.1.1,proto=6,tos=0,ttl=64,frag=no),tcp(src=" +
                     std::to_string(1000 + i) + ",dst=80)"});
  }
  ASSERT_TRUE(one.RunUntil([&] {
    const ReshufflerCounts counts = one.Seen().counts;
    return counts.is_known && counts.received == 300 &&
           counts.given[0] + counts.given[1] + counts.given[2] == 300;
  }));
  const ReshufflerCounts counts = one.Seen().counts;
  EXPECT_EQ(counts.unassigned, 0u);
  EXPECT_GT(*std::min_element(counts.given.begin(), counts.given.end()), 40u);
}

TEST_F(ReshufflerManagerTest, StandingByLeavesEverythingInPlace) {
  Controller one(&ovs_, kAllThree);
  one.manager->Start();
  OpenflowSwitch* const which = one.Connect();
  ASSERT_NE(which, nullptr);
  ASSERT_TRUE(one.RunUntil([&] { return one.Has(Controller::Table({true, true, true})); }));
  const std::string flows = ovs_.Flows("br0");
  const uint64_t added = which->counters().reconciled_missing;
  one.manager->StandBy();
  EXPECT_EQ(ovs_.Flows("br0"), flows);
  one.manager->Start();
  ASSERT_TRUE(one.RunUntil([&] { return one.Has(Controller::Table({true, true, true})); }));
  EXPECT_EQ(ovs_.Flows("br0"), flows);
  EXPECT_EQ(which->counters().reconciled_missing, added);
}

}  // namespace
}  // namespace trumpet
