// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// With an ovs-vswitchd whose bridges send copies into files, which stand for the analyzers.

#include "controller/trace/trace_rule_manager.h"

#include <gtest/gtest.h>

#include "controller/openflow/switch_kit_test.h"
#include "controller/store/memory_event_store.h"
#include "lib/lang/trace/trace_language.h"

namespace trumpet {
namespace {

constexpr char kProtocols[] = "OpenFlow13,OpenFlow14,OpenFlow15";
constexpr char kRules[] =
    "{switch_rate: 1000, rules: [{name: pfc, filter: ethType=0x8808}, {name: web, filter: "
    "'Protocol=TCP and dstPort=80', rate: 500}]}";
constexpr char kTheirs[] = "table=0,priority=0,actions=output:1";
constexpr uint32_t kCopyPort = 2;

class JumpingClock final : public WireClock {
 public:
  Nanos MonotonicNow() const override { return system_.MonotonicNow() + ahead; }
  Nanos UnixNow() const override { return system_.UnixNow(); }

  Nanos ahead = 0;

 private:
  SystemWireClock system_;
};

OpenflowOptions NetOptions() {
  OpenflowOptions options;
  options.claims = {TraceRuleClaim()};
  options.names = {{1, "br0"}, {2, "br1"}};
  return options;
}

// A controller: a net, a store and the manager.
class Controller {
  TestSwitch* const ovs_;
  TestNet test_;
  MemoryEventStore store_;

 public:
  Controller(TestSwitch* ovs, std::vector<std::string> bridges)
      : ovs_(ovs), test_(NetOptions()), store_(test_.base(), 7) {
    TraceRuleParts parts;
    parts.base = test_.base();
    parts.clock = &clock;
    parts.store = &store_;
    parts.net = &test_.net();
    parts.places = [this, bridges = std::move(bridges)] {
      std::vector<TracePlace> places;
      for (size_t i = 0; i < bridges.size(); ++i) {
        TracePlace place{bridges[i], i + 1, TraceSwitch()};
        place.at.number = static_cast<uint16_t>(i + 1);
        place.at.port = copy_port;
        place.at.hosts = {{"h" + std::to_string(i + 1), {*ParsePrefix("10.0.0.1")}}};
        places.push_back(place);
      }
      return places;
    };
    parts.witness.is_ready = [this] { return has_analyzer; };
    parts.witness.expect = [](const std::vector<ExpectedSlice>&) {};
    parts.witness.ask = [this](uint32_t tag, uint64_t, uint32_t, const auto& answer) {
      answer(CopiesOf(TraceTagRule(tag)));
    };
    parts.seed = 5;
    parts.changing = [this] { changing.push_back(manager->Changing()); };
    parts.log = [this](const char*, const std::string& text) { log += text + "\n"; };
    manager = std::make_unique<TraceRuleManager>(parts);
  }

  OpenflowSwitch* Connect(const std::string& bridge, uint64_t id) {
    ovs_->Vsctl({"set-controller", bridge, test_.remote()});
    OpenflowSwitch* const which = test_.Wait(id);
    ovs_->Ofctl({"add-flow", bridge, kTheirs});  // a bridge is emptied when it gets a controller
    return which;
  }
  // With rules that are there already, for both bridges.
  bool StartWithBoth() {
    Store(kRules);
    manager->Start();
    first = Connect("br0", 1);
    second = Connect("br1", 2);
    return first != nullptr && second != nullptr;
  }
  TraceRuleManager::Outcome Put(const std::string& text) {
    auto rules = ParseTraceRulesYaml(text, "t");
    EXPECT_TRUE(rules.ok()) << rules.message();
    return Wait([&](const auto& done) { manager->Put(*rules, "alice", done); });
  }
  TraceRuleManager::Outcome Remove() {
    return Wait([&](const auto& done) { manager->Remove(done); });
  }
  // As if it had been written by somebody before.
  void Store(const std::string& text) {
    struct Deaf : EventStoreListener {
      void OnEventsLoaded(const StoreIdentity&, std::vector<EventRecord>) override {}
      void OnEventsChanged(std::vector<EventChange>) override {}
      void OnStoreState(StoreState, const std::string&) override {}
    } listener;
    store_.Start(&listener);
    EXPECT_TRUE(RunUntil([&] { return store_.is_ready(); }));
    EventChange change;
    change.name = "rules";
    change.put.emplace().name = "rules";
    change.put->definition = text;
    bool is_written = false;
    store_.Write({change}, [&](const auto& ids) { is_written = ids.ok(); });
    EXPECT_TRUE(RunUntil([&] { return is_written; }));
    store_.Stop();
  }
  bool RunUntil(const std::function<bool()>& done) { return test_.RunUntil(done); }
  TraceRuleVerdict Verdict(size_t rule) const {
    const auto view = manager->View();
    return view ? TogetherOf(view->at.at(rule)) : TraceRuleVerdict{TraceRuleState::kAway, "none"};
  }
  bool IsActive() const {
    return Verdict(0).state == TraceRuleState::kActive &&
           Verdict(1).state == TraceRuleState::kActive;
  }

  JumpingClock clock;
  std::vector<std::vector<uint16_t>> changing;  // as it was told
  uint32_t copy_port = kCopyPort;
  bool has_analyzer = true;
  bool is_blind = false;
  std::string log;
  const OpenflowSwitch* first = nullptr;  // of StartWithBoth()
  const OpenflowSwitch* second = nullptr;
  std::unique_ptr<TraceRuleManager> manager;

 private:
  TraceRuleManager::Outcome Wait(const std::function<void(TraceRuleManager::Done)>& call) {
    std::optional<TraceRuleManager::Outcome> outcome;
    call([&](const TraceRuleManager::Outcome& told) { outcome = told; });
    EXPECT_TRUE(RunUntil([&] { return outcome.has_value(); }));
    return outcome.value_or(TraceRuleManager::Outcome{Status::Error("no answer"), true, false});
  }
  // The files have no tags; of the two rules one takes what is not IP.
  std::vector<PacketRecord> CopiesOf(uint32_t rule) const {
    std::vector<PacketRecord> records;
    for (const char* bridge : {"br0", "br1"}) {
      if (is_blind) continue;
      for (std::string& frame : ovs_->FramesOf(std::string(bridge) + "p2")) {
        const bool is_pfc = frame.substr(12, 2) == "\x88\x08";
        if (is_pfc != (rule == 0)) continue;
        PacketRecord record;
        record.switch_name = bridge;
        record.bytes = std::move(frame);
        records.push_back(std::move(record));
      }
    }
    return records;
  }
};

class TraceRuleManagerTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const auto& [name, id] : {std::pair<const char*, int>{"br0", 1}, {"br1", 2}}) {
      ovs_.AddBridge(name, id, kProtocols);
    }
  }
  std::string Meters(const std::string& bridge) const {
    return ovs_.Ofctl({"dump-meters", bridge});
  }
  bool HasRules(const std::string& bridge) const {
    return ovs_.Flows(bridge).find("table=251") != std::string::npos;
  }

  TestSwitch ovs_;
  const std::string before_ = "priority=0 actions=output:1\n";
};

TEST_F(TraceRuleManagerTest, RulesAreActiveWhenCopiesHaveComeAndLeaveNothingBehind) {
  Controller one(&ovs_, {"br0", "br1"});
  one.has_analyzer = false;
  one.manager->Start();
  ASSERT_NE(one.Connect("br0", 1), nullptr);
  ASSERT_NE(one.Connect("br1", 2), nullptr);
  ASSERT_TRUE(one.RunUntil([&] { return one.manager->InOrder() == 2; }));
  const auto put = one.Put(kRules);
  ASSERT_TRUE(put.status.ok()) << put.status.message();
  EXPECT_TRUE(put.is_new);
  EXPECT_TRUE(HasRules("br0"));
  EXPECT_TRUE(HasRules("br1"));
  EXPECT_EQ(one.Verdict(0).why, "at br0: no analyzer is connected");
  one.has_analyzer = true;
  EXPECT_TRUE(one.RunUntil([&] { return one.IsActive(); }));
  EXPECT_GE(one.manager->test_counters().back, 4u);
  EXPECT_TRUE(ovs_.FramesOf("br0p1").empty()) << "a test packet was forwarded";

  const auto removed = one.Remove();
  ASSERT_TRUE(removed.status.ok()) << removed.status.message();
  for (const char* bridge : {"br0", "br1"}) {
    EXPECT_EQ(ovs_.Flows(bridge), before_);
    EXPECT_EQ(Meters(bridge).find("meter="), std::string::npos);
  }
  EXPECT_FALSE(one.manager->View().has_value());
}

TEST_F(TraceRuleManagerTest, NoSwitchChangesIfOneRefuses) {
  Controller one(&ovs_, {"br0", "br1"});
  one.manager->Start();
  ASSERT_NE(one.Connect("br0", 1), nullptr);
  ASSERT_NE(one.Connect("br1", 2), nullptr);
  ovs_.Ofctl({"add-flow", "br1", "table=251,priority=40000,dl_type=0x8808,actions=drop"});
  ASSERT_TRUE(one.RunUntil([&] { return one.manager->InOrder() == 2; }));
  const auto put = one.Put(kRules);
  EXPECT_TRUE(put.is_conflict);
  EXPECT_NE(put.status.message().find("nothing was changed: switch br1 has a flow of somebody"),
            std::string::npos)
      << put.status.message();
  EXPECT_EQ(ovs_.Flows("br0"), before_);
  EXPECT_EQ(Meters("br0").find("meter="), std::string::npos);
  EXPECT_FALSE(one.manager->View().has_value());
}

TEST_F(TraceRuleManagerTest, ANewLifeOfTheControllerTouchesNothing) {
  std::string flows;
  {
    Controller first(&ovs_, {"br0"});
    first.Store(kRules);
    first.manager->Start();
    ASSERT_NE(first.Connect("br0", 1), nullptr);  // a switch that comes gets what is stored
    ASSERT_TRUE(first.RunUntil([&] { return first.IsActive(); }));
    flows = ovs_.Flows("br0");
  }
  Controller second(&ovs_, {"br0"});
  second.Store(kRules);
  const OpenflowSwitch* const which = second.Connect("br0", 1);
  ASSERT_NE(which, nullptr);
  EXPECT_EQ(ovs_.Flows("br0"), flows) << "before the store was read";
  second.manager->Start();
  ASSERT_TRUE(second.RunUntil([&] { return second.IsActive(); }));
  EXPECT_EQ(ovs_.Flows("br0"), flows);
  EXPECT_EQ(which->counters().reconciled_missing, 0u);
  EXPECT_EQ(which->counters().reconciled_stray, 0u);
  // And if the rules are gone by then, so are the flows.
  Controller third(&ovs_, {"br0"});
  third.manager->Start();
  ASSERT_NE(third.Connect("br0", 1), nullptr);
  EXPECT_TRUE(third.RunUntil([&] { return ovs_.Flows("br0") == before_; }));
}

TEST_F(TraceRuleManagerTest, WhatIsSaidIsWhatWasTried) {
  Controller one(&ovs_, {"br0"});
  one.is_blind = true;
  one.Store(kRules);
  one.manager->Start();
  ASSERT_NE(one.Connect("br0", 1), nullptr);
  ASSERT_TRUE(one.RunUntil([&] {
    one.clock.ahead += RuleTester::kPatience;
    return one.Verdict(0).state == TraceRuleState::kFailed;
  }));
  EXPECT_EQ(one.Verdict(0).why, "at br0: no copy of its test packet has come to an analyzer");
  one.is_blind = false;
  EXPECT_TRUE(one.RunUntil([&] { return one.IsActive(); }));
  // Somebody takes the flows away: they come back.
  ovs_.Ofctl({"del-flows", "br0", "table=251"});
  EXPECT_TRUE(one.RunUntil([&] { return HasRules("br0"); }));
}

TEST_F(TraceRuleManagerTest, CopiesThatEndAreToldLongBeforeRulesAreDueAgain) {
  Controller one(&ovs_, {"br0", "br1"});
  one.Store("rules: [{name: pfc, filter: ethType=0x8808}, {name: ip, filter: ethType=0x0800}]");
  one.manager->Start();
  ASSERT_NE(one.Connect("br0", 1), nullptr);
  ASSERT_NE(one.Connect("br1", 2), nullptr);
  ASSERT_TRUE(one.RunUntil([&] { return one.IsActive(); }));
  EXPECT_EQ(one.log.find("do not come"), std::string::npos) << one.log;
  one.is_blind = true;
  one.clock.ahead += RuleTester::kRetest / 6;
  const Nanos begin = one.clock.MonotonicNow();
  uint64_t sent = one.manager->test_counters().sent;
  const auto are_failed = [&] {
    if (std::exchange(sent, one.manager->test_counters().sent) != sent) {
      one.clock.ahead += RuleTester::kPatience;  // once for each round
    }
    return one.Verdict(0).state == TraceRuleState::kFailed &&
           one.Verdict(1).state == TraceRuleState::kFailed;
  };
  ASSERT_TRUE(one.RunUntil(are_failed));
  EXPECT_LT(one.clock.MonotonicNow() - begin, RuleTester::kRetest * 2 / 3);
  for (const char* name : {"br0", "br1"}) {
    const std::string line = std::string("copies of switch ") + name + " do not come";
    EXPECT_EQ(one.log.find(line), one.log.rfind(line)) << "told once: " << one.log;
    EXPECT_NE(one.log.find(line), std::string::npos) << one.log;
  }
  one.is_blind = false;
  EXPECT_TRUE(one.RunUntil([&] { return one.IsActive(); }));
  EXPECT_NE(one.log.find("copies of switch br0 come again"), std::string::npos) << one.log;
}

TEST_F(TraceRuleManagerTest, WithoutTheirPortRulesAreNotActive) {
  Controller one(&ovs_, {"br0"});
  one.Store(kRules);
  one.manager->Start();
  ASSERT_NE(one.Connect("br0", 1), nullptr);
  ASSERT_TRUE(one.RunUntil([&] { return one.IsActive(); }));
  ovs_.Vsctl({"set", "interface", "br0p2", "ofport_request=9"});
  EXPECT_TRUE(one.RunUntil([&] { return one.Verdict(0).state == TraceRuleState::kFailed; }));
  EXPECT_EQ(one.Verdict(0).why, "at br0: it has no port 2, to analyzers");
  EXPECT_TRUE(HasRules("br0")) << "they stay for when it comes again";
  ovs_.Vsctl({"set", "interface", "br0p2", "ofport_request=2"});
  EXPECT_TRUE(one.RunUntil([&] { return one.IsActive(); }));
}

TEST_F(TraceRuleManagerTest, WithoutAPortOnlyNoRulesAreInOrder) {
  Controller one(&ovs_, {"br0"});
  one.copy_port = 0;
  one.manager->Start();
  const OpenflowSwitch* const which = one.Connect("br0", 1);
  ASSERT_NE(which, nullptr);
  EXPECT_TRUE(one.RunUntil([&] { return one.manager->InOrder() == 1; }));
  ASSERT_TRUE(one.Put(kRules).status.ok());
  EXPECT_TRUE(one.RunUntil([&] { return one.Verdict(0).state == TraceRuleState::kFailed; }));
  EXPECT_EQ(one.Verdict(0).why, "at br0: it has no port to the analyzers");
  EXPECT_EQ(one.manager->InOrder(), 0u);
  one.copy_port = kCopyPort;
  ASSERT_TRUE(one.RunUntil([&] { return one.IsActive(); }));
  // Removed while it is away, and its port with it: it gets back what it had, and loses it.
  ovs_.Kill();
  ASSERT_TRUE(one.RunUntil([&] { return !which->is_ready(); }));
  one.copy_port = 0;
  ASSERT_TRUE(one.Remove().status.ok());
  ovs_.Restart();
  ASSERT_TRUE(one.RunUntil([&] { return which->is_ready(); }));
  EXPECT_TRUE(one.RunUntil([&] { return !HasRules("br0") && which->rule_count() == 0; }));
}

TEST_F(TraceRuleManagerTest, RulesMayComeBeforeSwitches) {
  Controller one(&ovs_, {"br0", "br1"});
  one.manager->Start();
  ASSERT_TRUE(one.RunUntil([&] { return one.manager->is_store_ready(); }));
  const auto put = one.Put(kRules);
  ASSERT_TRUE(put.status.ok()) << put.status.message();
  EXPECT_TRUE(put.is_new);
  EXPECT_EQ(one.Verdict(0).state, TraceRuleState::kAway);
  ASSERT_NE(one.Connect("br0", 1), nullptr);
  EXPECT_TRUE(one.RunUntil([&] { return one.IsActive(); })) << one.Verdict(0).why;
  ASSERT_TRUE(one.Remove().status.ok());
  EXPECT_EQ(ovs_.Flows("br0"), before_);
  Controller nobody(&ovs_, {});
  nobody.manager->Start();
  ASSERT_TRUE(nobody.RunUntil([&] { return nobody.manager->is_store_ready(); }));
  EXPECT_EQ(nobody.Put(kRules).status.message(), "no switch copies (openflow: switches: copies)");
}

TEST_F(TraceRuleManagerTest, AnotherSetTakesThePlaceOfTheFirst) {
  Controller one(&ovs_, {"br0"});
  one.Store(kRules);
  one.manager->Start();
  ASSERT_NE(one.Connect("br0", 1), nullptr);
  ASSERT_TRUE(one.RunUntil([&] { return one.IsActive(); }));
  const auto put = one.Put(
      "rules: [{name: pause, filter: ethType=0x8808, truncate: 64}, {name: web, filter: "
      "'Protocol=TCP and dstPort=80', rate: 7}]");
  ASSERT_TRUE(put.status.ok()) << put.status.message();
  EXPECT_FALSE(put.is_new);
  EXPECT_NE(Meters("br0").find("rate=7 "), std::string::npos) << Meters("br0");
  EXPECT_EQ(Meters("br0").find("rate=500"), std::string::npos);
  EXPECT_EQ(ovs_.Flows("br0").find("table=252"), std::string::npos);
  EXPECT_TRUE(one.RunUntil([&] { return one.IsActive(); }));
  const auto wrong = one.Put("rules: [{name: n, filter: not vlan=1}]");
  EXPECT_FALSE(wrong.is_conflict);
  EXPECT_EQ(wrong.status.message(), "t:1:27: rule 'n': 'not' cannot be said to OpenFlow switches");
}

TEST_F(TraceRuleManagerTest, SaysWhereRulesAreChangingUnlessEdgesDecide) {
  Controller one(&ovs_, {"br0", "br1"});
  one.manager->Start();
  ASSERT_NE(one.Connect("br0", 1), nullptr);
  ASSERT_NE(one.Connect("br1", 2), nullptr);
  ASSERT_TRUE(one.RunUntil([&] { return one.manager->InOrder() == 2; }));
  const std::vector<uint16_t> nobody, both = {1, 2};
  ASSERT_FALSE(one.changing.empty()) << "they were asked what they have";
  EXPECT_TRUE(one.RunUntil([&] { return one.changing.back() == nobody; }));
  one.changing.clear();
  const std::string start = "{debug_bit: 5, rules: [";
  const std::string end = "{name: m, marked: true}]";
  ASSERT_TRUE(one.Put(start + end + "}").status.ok());
  ASSERT_EQ(one.changing.size(), 2u);
  EXPECT_EQ(one.changing[0], both);
  EXPECT_EQ(one.changing[1], nobody);
  one.changing.clear();
  ASSERT_TRUE(one.Put(start + "{name: e, filter: dscp=1, edge: true}, " + end + "}").status.ok());
  EXPECT_NE(ovs_.Flows("br0").find("nw_src=10.0.0.1"), std::string::npos);
  ASSERT_TRUE(one.Put(start + end + ", marks: [{name: a, hosts: [h2]}]}").status.ok());
  EXPECT_TRUE(one.changing.empty());
  // One that is refused is told of, too, and ends.
  ovs_.Ofctl({"add-flow", "br1", "table=251,priority=40000,dl_type=0x8808,actions=drop"});
  EXPECT_TRUE(one.Put(kRules).is_conflict);
  ASSERT_EQ(one.changing.size(), 2u);
  EXPECT_EQ(one.changing[0], both);
  EXPECT_EQ(one.changing[1], nobody);
}

TEST_F(TraceRuleManagerTest, SwitchesThatGetTheirRulesTogetherAreToldOfTogether) {
  Controller one(&ovs_, {"br0", "br1"});
  one.Store(kRules);
  ASSERT_NE(one.Connect("br0", 1), nullptr);
  ASSERT_NE(one.Connect("br1", 2), nullptr);
  one.manager->Start();
  const std::vector<uint16_t> nobody, both = {1, 2};
  ASSERT_TRUE(one.RunUntil([&] {
    return one.manager->InOrder() == 2 && !one.changing.empty() && one.changing.back() == nobody;
  }));
  EXPECT_EQ(one.changing.front(), both);
  EXPECT_LE(one.changing.size(), 3u) << "they may be done in different ticks";
}

TEST_F(TraceRuleManagerTest, ASwitchThatWasAwayMayHaveLostItsRulesUntilItIsReadyAgain) {
  Controller one(&ovs_, {"br0", "br1"});
  ASSERT_TRUE(one.StartWithBoth());
  const OpenflowSwitch* const first = one.first;
  const OpenflowSwitch* const second = one.second;
  const std::vector<uint16_t> nobody, both = {1, 2};
  ASSERT_TRUE(one.RunUntil([&] { return one.IsActive() && one.manager->Changing().empty(); }));
  one.changing.clear();
  const auto are_ready = [&] { return first->is_ready() && second->is_ready(); };
  const auto is_told = [&](const std::vector<uint16_t>& changing) {
    return !one.changing.empty() && one.changing.back() == changing;
  };
  ovs_.Kill();
  ASSERT_TRUE(one.RunUntil([&] { return is_told(both); }));
  ovs_.Restart();
  bool was_early = false;
  ASSERT_TRUE(one.RunUntil([&] {
    was_early |= !are_ready() && is_told(nobody);
    return are_ready() && is_told(nobody);
  }));
  EXPECT_FALSE(was_early);
  EXPECT_TRUE(HasRules("br0") && HasRules("br1"));
  // One that stays away is given up, and told of when it comes.
  ovs_.Kill();
  ASSERT_TRUE(one.RunUntil([&] { return is_told(both); }));
  one.clock.ahead += TraceRuleManager::kLongestAbsence;
  ASSERT_TRUE(one.RunUntil([&] { return is_told(nobody); }));
  one.changing.clear();
  ovs_.Restart();
  ASSERT_TRUE(one.RunUntil([&] { return are_ready() && is_told(nobody); }));
  EXPECT_FALSE(one.changing.front().empty());
}

TEST_F(TraceRuleManagerTest, WhatIsUnderWayWhenAnotherControllerTakesOverIsForgotten) {
  Controller one(&ovs_, {"br0", "br1"});
  ASSERT_TRUE(one.StartWithBoth());
  const OpenflowSwitch* const first = one.first;
  const OpenflowSwitch* const second = one.second;
  ASSERT_TRUE(one.RunUntil([&] { return one.manager->InOrder() == 2; }));
  const uint64_t commits = first->counters().commits;
  std::optional<TraceRuleManager::Outcome> outcome;
  one.manager->Put(*ParseTraceRulesYaml("rules: [{name: n, filter: ethType=0x8847}]", "t"), "alice",
                   [&](const auto& told) { outcome = told; });
  one.manager->StandBy();
  ASSERT_TRUE(one.RunUntil([&] { return outcome && first->counters().commits != commits; }));
  EXPECT_TRUE(outcome->is_conflict);
  EXPECT_EQ(first->rule_count(), 0u) << "it would put them back when the other one removes them";
  EXPECT_EQ(second->rule_count(), 0u);
  EXPECT_TRUE(HasRules("br0")) << "they are the other one's now";
  // And once it acts again it can change them.
  one.manager->Start();
  ASSERT_TRUE(one.RunUntil([&] { return one.IsActive(); })) << one.Verdict(0).why;
  EXPECT_EQ(ovs_.Flows("br0").find("0x8847"), std::string::npos);
  EXPECT_TRUE(one.Remove().status.ok());
  EXPECT_EQ(ovs_.Flows("br0"), before_);
}

TEST_F(TraceRuleManagerTest, MarksAreForHostsThatThereAre) {
  Controller one(&ovs_, {"br0", "br1"});
  one.manager->Start();
  ASSERT_NE(one.Connect("br0", 1), nullptr);
  ASSERT_NE(one.Connect("br1", 2), nullptr);
  ASSERT_TRUE(one.RunUntil([&] { return one.manager->InOrder() == 2; }));
  const std::string rules = "{debug_bit: 5, rules: [{name: m, marked: true}], marks: ";
  const auto put = one.Put(rules + "[{name: a, hosts: [h2]}]}");
  ASSERT_TRUE(put.status.ok()) << put.status.message();
  EXPECT_EQ(ovs_.Flows("br0").find("nw_src=10.0.0.1"), std::string::npos);
  EXPECT_NE(ovs_.Flows("br1").find("nw_src=10.0.0.1"), std::string::npos);
  const auto wrong = one.Put(rules + "[{name: a, hosts: [h2, h3]}]}");
  EXPECT_FALSE(wrong.is_conflict);
  EXPECT_EQ(wrong.status.message(), "mark 'a': no switch that copies has a host 'h3'");
}

}  // namespace
}  // namespace trumpet
