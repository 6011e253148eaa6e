// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// With an ovs-vswitchd at the other end.

#include "controller/openflow/openflow_switch.h"

#include <gtest/gtest.h>

#include "controller/openflow/openflow_commit.h"
#include "controller/openflow/switch_kit_test.h"

namespace trumpet {
namespace {

constexpr char kAll[] = "OpenFlow13,OpenFlow14,OpenFlow15";
constexpr char kTheirs[] = "table=0,priority=9,ip,actions=output:1";
constexpr char kTheirFlow[] = "priority=9,ip actions=output:1\n";

class Versions : public testing::TestWithParam<int> {};

// A bridge that has come to us; null: it has not.
OpenflowSwitch* BringSwitch(TestSwitch* ovs, TestNet* test) {
  ovs->AddBridge("br0", 1, kAll);
  ovs->Vsctl({"set-controller", "br0", test->remote()});
  return test->Wait(1);
}

TEST_P(Versions, ASwitchComesAndTakesRulesAndGivesThemBack) {
  TestSwitch ovs;
  TestNet test;
  const std::string protocol = "OpenFlow1" + std::to_string(GetParam());
  ovs.AddBridge("br0", 5, protocol);
  ovs.Vsctl({"set-controller", "br0", test.remote()});
  OpenflowSwitch* const which = test.Wait(5);
  ASSERT_NE(which, nullptr);
  EXPECT_EQ(which->channel()->version(), GetParam() + 1);
  ASSERT_EQ(which->ports().count(1), 1u);
  EXPECT_EQ(which->ports().at(1).name, "br0p1");

  OpenflowChange change;
  change.add = {
      FlowRule("table=3,priority=5,udp,tp_dst=53,actions=output:2"),
      {OpenflowRule::Kind::kMeter, "meter=60001,pktps,burst,band=type=drop,rate=10,burst_size=5"},
      {OpenflowRule::Kind::kGroup, "group_id=60002,type=all,bucket=output:1"},
      FlowRule("table=4,priority=6,ip,actions=meter:60001,group:60002", 2)};
  const Status added = test.Commit(which, change);
  ASSERT_TRUE(added.ok()) << added.message();
  EXPECT_EQ(ovs.Ofctl({"dump-groups", "br0"}, protocol).find("group_id=60002") != std::string::npos,
            true);
  Result<std::vector<OpenflowFlow>> flows = Status::Error("none yet");
  const Status asked = test.Run([&](OpenflowSwitch::Done done) {
    which->AskFlows(kAllTables, kOpenflowCookie, kOpenflowCookieMask,
                    [&flows, done](const Result<std::vector<OpenflowFlow>>& answer) {
                      flows = answer;
                      done(Status::Ok());
                    });
  });
  ASSERT_TRUE(asked.ok() && flows.ok());
  EXPECT_EQ(flows->size(), 2u);
  const Status removed = test.Commit(which, {change.add, {}});
  ASSERT_TRUE(removed.ok()) << removed.message();
  EXPECT_EQ(ovs.Ofctl({"--no-stats", "dump-flows", "br0"}, protocol).find("udp"),
            std::string::npos);
  EXPECT_EQ(ovs.Ofctl({"dump-meters", "br0"}, protocol).find("meter="), std::string::npos);
  EXPECT_EQ(which->rule_count(), 0u);
}

INSTANTIATE_TEST_SUITE_P(OpenFlow, Versions, testing::Values(3, 4, 5));

TEST(OpenflowSwitch, CommitsAllOrNothingAndSaysWhichRuleWasRefused) {
  TestSwitch ovs;
  TestNet test;
  OpenflowSwitch* const which = BringSwitch(&ovs, &test);
  ASSERT_NE(which, nullptr);
  OpenflowChange change;
  change.add = {FlowRule("table=3,priority=5,ip,actions=output:2"),
                {OpenflowRule::Kind::kMeter, "meter=60001,pktps,band=type=drop,rate=10"},
                FlowRule("table=4,priority=6,ip,actions=group:77")};
  const Status status = test.Commit(which, change);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("group:77': OFPBAC_BAD_OUT_GROUP"), std::string::npos)
      << status.message();
  EXPECT_EQ(ovs.Flows("br0"), "");
  EXPECT_EQ(ovs.Ofctl({"dump-meters", "br0"}).find("meter="), std::string::npos);
  EXPECT_EQ(which->rule_count(), 0u);
}

OpenflowRule MeterRule(int number, int rate) {
  return {OpenflowRule::Kind::kMeter,
          "meter=" + std::to_string(number) + ",pktps,band=type=drop,rate=" + std::to_string(rate)};
}

TEST(OpenflowSwitch, ARefusedChangeLeavesMetersAsTheyWere) {
  TestSwitch ovs;
  TestNet test;
  ovs.AddBridge("br0", 1, kAll);
  ovs.AddBridge("br1", 2, kAll);
  ovs.Vsctl({"set-controller", "br0", test.remote()});
  ovs.Vsctl({"set-controller", "br1", test.remote()});
  OpenflowSwitch* const which = test.Wait(1);
  OpenflowSwitch* const other = test.Wait(2);
  ASSERT_TRUE(which != nullptr && other != nullptr);
  ASSERT_TRUE(test.Commit(which, {{}, {MeterRule(60001, 10)}}).ok());
  const auto meters = [&] { return ovs.Ofctl({"dump-meters", "br0"}); };
  const std::string before = meters();
  ASSERT_NE(before.find("rate=10\n"), std::string::npos) << before;
  const OpenflowRule refused = FlowRule("table=4,priority=6,ip,actions=group:77");
  const std::vector<OpenflowRule> raised = {MeterRule(60001, 1000), MeterRule(60002, 5)};
  // By the bundle, by a switch without bundles, and by another switch.
  EXPECT_FALSE(test.Commit(which, {{}, {raised[0], raised[1], refused}}).ok());
  EXPECT_EQ(meters(), before);
  which->set_has_bundles(false);
  EXPECT_FALSE(test.Commit(which, {{}, {raised[0], raised[1], refused}}).ok());
  EXPECT_EQ(meters(), before);
  which->set_has_bundles(true);
  const Status across = test.Run([&](OpenflowSwitch::Done done) {
    CommitAcross({{which, {{}, raised}}, {other, {{}, {refused}}}}, done);
  });
  EXPECT_FALSE(across.ok());
  EXPECT_EQ(meters(), before);
  // By the switch's look at the change: a flow of somebody else's is in the way.
  ovs.Ofctl({"add-flow", "br0", kTheirs});
  EXPECT_FALSE(test.Commit(which, {{}, {raised[0], FlowRule("priority=9,ip,actions=drop")}}).ok());
  EXPECT_EQ(meters(), before);
  ASSERT_TRUE(test.Commit(which, {{}, {raised[0]}}).ok());
  EXPECT_NE(meters().find("rate=1000\n"), std::string::npos) << meters();
}

TEST(OpenflowSwitch, ARefusedChangeTakesNoMeterOrGroupOfOthers) {
  TestSwitch ovs;
  TestNet test;
  OpenflowSwitch* const which = BringSwitch(&ovs, &test);
  ASSERT_NE(which, nullptr);
  const std::string group = "group_id=60009,type=all,bucket=actions=output:2";
  ovs.Ofctl({"add-meter", "br0", "meter=60003,pktps,band=type=drop,rate=7"});
  ovs.Ofctl({"add-group", "br0", group});
  const std::string meters = ovs.Ofctl({"dump-meters", "br0"});
  const std::string groups = ovs.Ofctl({"dump-groups", "br0"});
  ASSERT_NE(meters.find("rate=7"), std::string::npos) << meters;
  ASSERT_NE(groups.find("60009"), std::string::npos) << groups;
  for (const bool has_bundles : {true, false}) {
    which->set_has_bundles(has_bundles);
    EXPECT_FALSE(test.Commit(which, {{}, {MeterRule(60002, 5), MeterRule(60003, 10)}}).ok());
    EXPECT_FALSE(test.Commit(which, {{}, {{OpenflowRule::Kind::kGroup, group}}}).ok());
    EXPECT_EQ(ovs.Ofctl({"dump-meters", "br0"}), meters);
    EXPECT_EQ(ovs.Ofctl({"dump-groups", "br0"}), groups);
  }
}

TEST(OpenflowSwitch, DoesNotReplaceFlowsOfOthers) {
  TestSwitch ovs;
  TestNet test;
  OpenflowSwitch* const which = BringSwitch(&ovs, &test);
  ASSERT_NE(which, nullptr);
  ovs.Ofctl({"add-flow", "br0", kTheirs});
  const Status status = test.Commit(which, {{}, {FlowRule("priority=9,ip,actions=drop")}});
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("somebody else's"), std::string::npos) << status.message();
  const Status removed = test.Commit(which, {{FlowRule("priority=9,ip,actions=drop")}, {}});
  EXPECT_TRUE(removed.ok());
  EXPECT_EQ(ovs.Flows("br0"), kTheirFlow);
}

TEST(OpenflowSwitch, ReconcilesWhenTheSwitchComesBackAndTouchesNothingElse) {
  TestSwitch ovs;
  TestNet test;
  ovs.AddBridge("br0", 1, kAll);
  ovs.Vsctl({"set-controller", "br0", test.remote()});
  OpenflowSwitch* which = test.Wait(1);
  ASSERT_NE(which, nullptr);
  OpenflowRule brief = FlowRule("table=5,hard_timeout=60,tcp,actions=output:1", 3);
  brief.lasts = false;
  const Status added = test.Commit(
      which, {{},
              {FlowRule("table=3,ip,actions=output:2"),
               FlowRule("table=4,arp,actions=output:1", 2),
               brief,
               {OpenflowRule::Kind::kMeter, "meter=60001,pktps,band=type=drop,rate=10"}}});
  ASSERT_TRUE(added.ok()) << added.message();

  // One of ours is gone, one is another one, and one is not ours to have; theirs is there.
  ovs.Vsctl({"set-controller", "br0", "tcp:127.0.0.1:1"});
  ASSERT_TRUE(test.RunUntil([&] { return !which->is_ready(); }));
  ovs.Ofctl({"del-flows", "br0", "table=3"});
  ovs.Ofctl({"mod-flows", "br0", "table=4,arp,actions=drop"});
  ovs.Ofctl({"add-flow", "br0", "cookie=0x7472000000000099,table=7,udp,actions=output:1"});
  ovs.Ofctl({"add-meter", "br0", "meter=60009,pktps,band=type=drop,rate=10"});
  ovs.Ofctl({"add-meter", "br0", "meter=9,pktps,band=type=drop,rate=10"});
  ovs.Ofctl({"add-flow", "br0", kTheirs});
  ovs.Vsctl({"set-controller", "br0", test.remote()});
  which = test.Wait(1);
  EXPECT_EQ(ovs.Flows("br0"),
            "cookie=0x7472000000000001, table=3, ip actions=output:2\n"
            "cookie=0x7472000000000002, table=4, arp actions=output:1\n"
            "cookie=0x7472000000000003, table=5, hard_timeout=60, tcp actions=output:1\n" +
                std::string(kTheirFlow));
  const std::string meters = ovs.Ofctl({"dump-meters", "br0"});
  EXPECT_EQ(meters.find("meter=60009"), std::string::npos) << meters;
  EXPECT_NE(meters.find("meter=9"), std::string::npos) << meters;
  EXPECT_EQ(which->counters().reconciled_missing, 2u);
  EXPECT_EQ(which->counters().reconciled_stray, 2u);

  // A switch that has forgotten everything.
  ovs.Restart();
  ASSERT_TRUE(
      test.RunUntil([&] { return which->counters().connections == 3 && which->is_ready(); }));
  EXPECT_EQ(ovs.Flows("br0"),
            "cookie=0x7472000000000001, table=3, ip actions=output:2\n"
            "cookie=0x7472000000000002, table=4, arp actions=output:1\n");
  EXPECT_NE(ovs.Ofctl({"dump-meters", "br0"}).find("meter=60001"), std::string::npos);

  const Status purged = test.Run([&](OpenflowSwitch::Done done) { which->Purge(done); });
  EXPECT_TRUE(purged.ok());
  EXPECT_EQ(ovs.Flows("br0"), "");
}

TEST(OpenflowSwitch, MetersThatDoSomethingElseAreChangedWhenTheSwitchComes) {
  TestSwitch ovs;
  ovs.AddBridge("br0", 1, kAll);
  OpenflowOptions options;
  options.standing_rules[1] = {MeterRule(60001, 10), MeterRule(60002, 20),
                               FlowRule("table=4,ip,actions=meter:60001,output:1")};
  const auto come = [&](TestNet* test) {
    ovs.Vsctl({"set-controller", "br0", test->remote()});
    return test->Wait(1);
  };
  {
    TestNet test(options);
    ASSERT_NE(come(&test), nullptr);
  }
  // A later life of ours, with another rate.
  options.standing_rules[1][0] = MeterRule(60001, 7);
  TestNet test(options);
  const OpenflowSwitch* const which = come(&test);
  ASSERT_NE(which, nullptr);
  const std::string meters = ovs.Ofctl({"dump-meters", "br0"});
  EXPECT_NE(meters.find("meter=60001 pktps bands=\ntype=drop rate=7\n"), std::string::npos)
      << meters;
  EXPECT_NE(meters.find("meter=60002 pktps bands=\ntype=drop rate=20\n"), std::string::npos)
      << meters;
  EXPECT_EQ(ovs.Flows("br0"),
            "cookie=0x7472000000000001, table=4, ip actions=meter:60001,output:1\n");
  EXPECT_EQ(which->counters().reconciled_missing, 1u);
  EXPECT_EQ(which->counters().reconciled_stray, 0u);
}

TEST(OpenflowSwitch, BriefRulesThatWereRemovedWhileTheSwitchWasAwayGoWhenItComesBack) {
  TestSwitch ovs;
  TestNet test;
  OpenflowSwitch* which = BringSwitch(&ovs, &test);
  ASSERT_NE(which, nullptr);
  std::vector<OpenflowRule> brief = {MeterRule(60001, 10),
                                     FlowRule("table=5,hard_timeout=600,tcp,actions=output:1", 3)};
  for (OpenflowRule& rule : brief) rule.lasts = false;
  const OpenflowRule lasting = FlowRule("table=3,ip,actions=output:2");
  ASSERT_TRUE(test.Commit(which, {{}, {brief[0], brief[1], lasting}}).ok());
  ovs.Vsctl({"set-controller", "br0", "tcp:127.0.0.1:1"});
  ASSERT_TRUE(test.RunUntil([&] { return !which->is_ready(); }));
  EXPECT_FALSE(test.Commit(which, {{brief[0], brief[1], lasting}, {}}).ok());
  ovs.Vsctl({"set-controller", "br0", test.remote()});
  which = test.Wait(1);
  EXPECT_EQ(ovs.Flows("br0"), "cookie=0x7472000000000001, table=3, ip actions=output:2\n");
  EXPECT_EQ(ovs.Ofctl({"dump-meters", "br0"}).find("meter="), std::string::npos);
  EXPECT_EQ(which->rule_count(), 1u);
}

TEST(OpenflowSwitch, AControllerThatStandsByLeavesAloneWhatTheOtherOneHas) {
  constexpr uint64_t kKind = uint64_t{2} << 40;
  const OpenflowClaim claim = ClaimOfKind(kOpenflowCookie | kKind, 60000, 60031);
  OpenflowOptions options;
  options.claims = {claim};
  TestSwitch ovs;
  TestNet acting;
  TestNet waiting(options);
  OpenflowSwitch* const which = BringSwitch(&ovs, &acting);
  ASSERT_NE(which, nullptr);
  OpenflowChange slice;
  slice.add = {{OpenflowRule::Kind::kMeter, "meter=60001,pktps,band=type=drop,rate=10", 0, false},
               FlowRule("table=3,hard_timeout=60,ip,actions=meter:60001,output:2", kKind | 1)};
  slice.add[1].lasts = false;
  ASSERT_TRUE(acting.Commit(which, slice).ok());
  const auto left = [&] {
    const bool has_flow = ovs.Flows("br0").find("table=3") != std::string::npos;
    const bool has_meter =
        ovs.Ofctl({"dump-meters", "br0"}).find("meter=60001") != std::string::npos;
    return std::string(has_flow ? "flow " : "") + (has_meter ? "meter" : "");
  };
  ovs.Vsctl({"set-controller", "br0", acting.remote(), waiting.remote()});
  OpenflowSwitch* const other = waiting.Wait(1);
  ASSERT_NE(other, nullptr);
  EXPECT_EQ(left(), "flow meter");
  // It takes over: nobody else will end them.
  waiting.net().EndClaim(claim);
  EXPECT_TRUE(waiting.RunUntil([&] { return left().empty(); })) << left();
  // And what it has itself stays when it stands by again.
  ASSERT_TRUE(waiting.Commit(other, slice).ok());
  waiting.net().GiveBack(claim);
  EXPECT_EQ(other->rule_count(), 0u);
  EXPECT_EQ(left(), "flow meter");
}

TEST(OpenflowSwitch, WhatIsAdoptedWhenTheConnectionEndsStaysUntilItIsAdoptedAgain) {
  constexpr uint64_t kKind = uint64_t{4} << 40;
  const OpenflowClaim claim = ClaimOfKind(kOpenflowCookie | kKind);
  OpenflowOptions options;
  options.claims = {claim};
  TestSwitch ovs;
  TestNet test(options);
  OpenflowSwitch* const which = BringSwitch(&ovs, &test);
  ASSERT_NE(which, nullptr);
  ovs.Ofctl({"add-flow", "br0", "cookie=0x7472040000000001,table=3,ip,actions=output:2"});
  const std::string before = ovs.Flows("br0");
  const OpenflowRule rule = FlowRule("table=3,ip,actions=output:2", kKind | 1);
  Status adopted = Status::Ok();
  which->Adopt(claim, {rule}, [&](const Status& status) { adopted = status; });
  ovs.Vsctl({"set-controller", "br0", "tcp:127.0.0.1:1"});
  ASSERT_TRUE(test.RunUntil([&] { return !adopted.ok(); }));
  EXPECT_NE(adopted.message().find("the connection to the switch ended"), std::string::npos)
      << adopted.message();
  ovs.Vsctl({"set-controller", "br0", test.remote()});
  ASSERT_NE(test.Wait(1), nullptr);
  EXPECT_EQ(ovs.Flows("br0"), before);
  EXPECT_EQ(which->rule_count(), 0u) << "another rule may be wanted by then";
  const Status again =
      test.Run([&](OpenflowSwitch::Done done) { which->Adopt(claim, {rule}, done); });
  EXPECT_TRUE(again.ok()) << again.message();
  EXPECT_EQ(ovs.Flows("br0"), before);
  EXPECT_EQ(which->rule_count(), 1u);
  EXPECT_EQ(which->counters().reconciled_stray, 0u);
  EXPECT_EQ(which->counters().reconciled_missing, 0u);
}

TEST(OpenflowSwitch, WhatIsGivenBackDoesNotComeAgainByAChangeUnderWay) {
  const OpenflowClaim claim = ClaimOfKind(kOpenflowCookie, 60000, 60031);
  TestSwitch ovs;
  TestNet test;
  OpenflowSwitch* const which = BringSwitch(&ovs, &test);
  ASSERT_NE(which, nullptr);
  bool is_done = false;
  which->Commit({{}, {FlowRule("table=3,ip,actions=output:2")}}, [&](const Status& status) {
    EXPECT_TRUE(status.ok()) << status.message();
    is_done = true;
  });
  which->GiveBack(claim);
  ASSERT_TRUE(test.RunUntil([&] { return is_done; }));
  EXPECT_EQ(which->rule_count(), 0u);
  EXPECT_FALSE(ovs.Flows("br0").empty());
}

TEST(OpenflowSwitch, CommitsAtAllSwitchesOrAtNone) {
  TestSwitch ovs;
  TestNet test;
  ovs.AddBridge("br0", 1, "OpenFlow13");
  ovs.AddBridge("br1", 2, "OpenFlow14,OpenFlow15");
  ovs.Vsctl({"set-controller", "br0", test.remote()});
  ovs.Vsctl({"set-controller", "br1", test.remote()});
  OpenflowSwitch* const first = test.Wait(1);
  OpenflowSwitch* const second = test.Wait(2);
  ASSERT_TRUE(first != nullptr && second != nullptr);
  const auto across = [&](const std::string& at_first, const std::string& at_second) {
    return test.Run([&](OpenflowSwitch::Done done) {
      CommitAcross({{first, {{}, {FlowRule(at_first)}}}, {second, {{}, {FlowRule(at_second)}}}},
                   done);
    });
  };
  const char kFlow[] = "table=3,ip,actions=output:1";
  const auto flows_of_first = [&] {
    return ovs.Ofctl({"--no-stats", "dump-flows", "br0"}, "OpenFlow13");
  };
  // Does not prepare: a mistake; and a switch that refuses when it prepares.
  EXPECT_FALSE(across(kFlow, "table=3,nonsense").ok());
  EXPECT_FALSE(across(kFlow, "table=3,ip,actions=group:5").ok());
  EXPECT_EQ(flows_of_first().find("table=3"), std::string::npos);
  // Fails late: the bundle is taken, and its commit is not.
  ovs.Vsctl({"--", "--id=@t", "create", "Flow_Table", "flow_limit=1", "overflow_policy=refuse",
             "--", "set", "bridge", "br1", "flow_tables:3=@t"});
  ovs.Ofctl({"add-flow", "br1", "table=3,arp,actions=drop"});
  const Status late = across(kFlow, kFlow);
  ASSERT_FALSE(late.ok());
  EXPECT_NE(late.message().find("TABLE_FULL"), std::string::npos) << late.message();
  EXPECT_EQ(flows_of_first().find("table=3"), std::string::npos);
  EXPECT_EQ(first->rule_count(), 0u);
  // And when there is room.
  ovs.Ofctl({"del-flows", "br1", "table=3"});
  const Status good = across(kFlow, kFlow);
  EXPECT_TRUE(good.ok()) << good.message();
  EXPECT_NE(flows_of_first().find("table=3"), std::string::npos);
  EXPECT_NE(ovs.Flows("br1").find("table=3"), std::string::npos);
}

class PacketIns : public OpenflowObserver {
 public:
  void OnPacketIn(OpenflowSwitch*, const OpenflowMessage& message) override {
    messages.push_back(message);
  }
  std::vector<OpenflowMessage> messages;
};

TEST(OpenflowSwitch, SendsPacketsAndTakesThem) {
  TestSwitch ovs;
  TestNet test;
  OpenflowSwitch* const which = BringSwitch(&ovs, &test);
  ASSERT_NE(which, nullptr);
  PacketIns seen;
  test.net().AddObserver(&seen);
  ASSERT_TRUE(test.Commit(which, {{}, {FlowRule("in_port=2,actions=CONTROLLER:65535", 8)}}).ok());
  const std::string packet(64, 'p');
  const Result<bool> sent = which->SendPacketOut(2, packet, "resubmit(2,0)");
  ASSERT_TRUE(sent.ok() && *sent);
  ASSERT_TRUE(test.RunUntil([&] { return !seen.messages.empty(); }));
  EXPECT_EQ(seen.messages[0].packet, packet);
  EXPECT_EQ(seen.messages[0].head.in_port, 2u);
  EXPECT_EQ(seen.messages[0].head.cookie, kOpenflowCookie | 8);
  EXPECT_FALSE(which->SendPacketOut(1, packet, "nonsense").ok());
  test.net().RemoveObserver(&seen);
}

class PortChanges : public OpenflowObserver {
 public:
  void OnPorts(OpenflowSwitch* which) override {
    ++count;
    ports = which->ports().size();
  }
  int count = 0;
  size_t ports = 0;
};

TEST(OpenflowSwitch, TellsOnceOfManyPortsThatChangeTogether) {
  TestSwitch ovs;
  TestNet test;
  OpenflowSwitch* const which = BringSwitch(&ovs, &test);
  ASSERT_NE(which, nullptr);
  PortChanges seen;
  test.net().AddObserver(&seen);
  const size_t before = which->ports().size();
  OpenflowMessage added;
  added.head.kind = TRUMPET_OF_PORT_STATUS;
  added.ports.resize(1);
  for (uint32_t number = 100; number < 200; ++number) {
    added.ports[0].number = number;
    which->OnMessage(added);
  }
  EXPECT_EQ(which->ports().size(), before + 100);
  ASSERT_TRUE(test.RunUntil([&] { return seen.count > 0; }));
  ASSERT_TRUE(test.Commit(which, {}).ok());
  EXPECT_EQ(seen.count, 1);
  EXPECT_EQ(seen.ports, before + 100);
  test.net().RemoveObserver(&seen);
}

TEST(OpenflowSwitch, ASwitchThatTellsOfPortsWithoutEndIsLetGo) {
  TestSwitch ovs;
  TestNet test;
  OpenflowSwitch* const which = BringSwitch(&ovs, &test);
  ASSERT_NE(which, nullptr);
  OpenflowMessage added;
  added.head.kind = TRUMPET_OF_PORT_STATUS;
  added.ports.resize(1);
  const auto add = [&] {
    ++added.ports[0].number;
    which->OnMessage(added);
  };
  while (which->ports().size() < kMaxOpenflowPorts) add();
  EXPECT_TRUE(which->channel()->is_ready());
  add();
  EXPECT_FALSE(which->channel()->is_ready());
  const auto protocol = static_cast<size_t>(CloseCause::kProtocol);
  ASSERT_TRUE(test.RunUntil([&] { return test.net().counters().closed[protocol] == 1; }));
  ASSERT_NE(test.Wait(1), nullptr);
  EXPECT_LT(which->ports().size(), 10u);
}

TEST(OpenflowSwitch, GoesToASwitchThatListens) {
  TestSwitch ovs;
  OpenflowOptions options;
  options.first_backoff = 10 * kNanosPerMilli;
  options.longest_backoff = 50 * kNanosPerMilli;
  options.names[3] = "edge";
  TestNet test(options);
  ovs.AddBridge("br0", 3, kAll);
  const uint16_t port = FreePort();
  ovs.Vsctl({"set-controller", "br0", "ptcp:" + std::to_string(port) + ":127.0.0.1"});
  const Status connecting = test.net().Connect({false, "127.0.0.1", port}, nullptr);
  ASSERT_TRUE(connecting.ok());
  OpenflowSwitch* const which = test.Wait(3);
  ASSERT_NE(which, nullptr);
  EXPECT_EQ(test.net().Find("edge"), which);
}

}  // namespace
}  // namespace trumpet
