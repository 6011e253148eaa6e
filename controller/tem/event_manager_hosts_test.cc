// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// EventManager with agents: sessions over loopback, time that only the test moves.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "controller/tem/event_manager_kit_test.h"
#include "lib/verdict/verdict_test_kit.h"

namespace trumpet {
namespace {

TEST_F(EventManagerHostsTest, BringsEventsToAgentsThatAreThereAndThatComeLater) {
  Connect(0);
  Put(kBig);
  Settle();
  EXPECT_EQ(Agent(0).Names(), "big");
  Connect(1);
  Settle();
  EXPECT_EQ(Agent(1).Names(), "big");
  const EventView view = View("big");
  EXPECT_EQ(view.wanted, 2u);
  EXPECT_EQ(view.applied, 2u);
  EXPECT_GT(view.last_applied_ns, 0);
  EXPECT_EQ(manager_->HostsOf("big").size(), 2u);
  EXPECT_EQ(manager_->FindHost("name-of-h1")->events_applied, 1u);
}

TEST_F(EventManagerHostsTest, ReportsWhatNoHostCouldSeeByItself) {
  for (const char* event : {kBig, kMean}) {
    told_.rows.clear();
    const bool splits = event == kBig;
    Connect(0);
    Connect(1);
    Settle();
    Put(event);
    Settle();
    const std::string name = splits ? "big" : "mean";
    EXPECT_EQ(View(name).mode, splits ? "threshold" : "partials");
    for (int warm_up = 0; warm_up < 4; ++warm_up) {  // until shares have been raised
      AdvanceTo(NextStart() + kInterval);
      for (size_t i = 0; i < 2; ++i) Agent(i).End(clock_.UnixNow());
      Settle();
    }
    const Nanos start = NextStart();
    AdvanceTo(start + kInterval);
    Agent(0).Count(name, start, 700);
    Agent(1).Count(name, start, 600);
    for (size_t i = 0; i < 2; ++i) Agent(i).End(start + kInterval);
    ASSERT_TRUE(RunUntil([&] { return !told_.rows.empty(); }));
    const ReportRow& row = *told_.rows[0];
    EXPECT_EQ(row.event, name);
    EXPECT_EQ(row.end_ns, start + kInterval);
    EXPECT_TRUE(row.is_complete) << row.json;
    EXPECT_EQ(row.number, hub_.last_number());
    const char* const value = splits ? "\"value\":1300" : "\"value\":650";
    EXPECT_NE(row.json.find(value), std::string::npos) << row.json;
    Remove(name);
    Settle();
    EXPECT_EQ(Agent(0).Names() + Agent(1).Names(), "");
  }
}

TEST_F(EventManagerHostsTest, AsksHostsBelowTheirShare) {
  Connect(0);
  Connect(1);
  Settle();
  Put(kBig);
  Settle();
  for (int warm_up = 0; warm_up < 4; ++warm_up) {
    AdvanceTo(NextStart() + kInterval);
    for (size_t i = 0; i < 2; ++i) Agent(i).End(clock_.UnixNow());
    Settle();
  }
  const Nanos start = NextStart();
  AdvanceTo(start + kInterval);
  Agent(0).Count("big", start, 900);
  Agent(1).Count("big", start, 200);
  const uint64_t told_before = Agent(1).cells_told;
  for (size_t i = 0; i < 2; ++i) Agent(i).End(start + kInterval);
  ASSERT_TRUE(RunUntil([&] { return !told_.rows.empty(); }));
  EXPECT_EQ(Agent(1).cells_told, told_before) << "it was below its share";
  EXPECT_EQ(Agent(1).questions, 1u);
  EXPECT_NE(told_.rows[0]->json.find("\"value\":1100"), std::string::npos) << told_.rows[0]->json;
  EXPECT_TRUE(told_.rows[0]->is_complete) << told_.rows[0]->json;
}

TEST_F(EventManagerHostsTest, DecidesAtTheDeadlineWithoutASilentHost) {
  Connect(0);
  Connect(1);
  Put(kMean);
  Settle();
  AdvanceTo(NextStart() + kInterval);
  for (size_t i = 0; i < 2; ++i) Agent(i).End(clock_.UnixNow());
  Settle();
  const Nanos start = NextStart();
  AdvanceTo(start + kInterval);
  Agent(0).Count("mean", start, 700);
  Agent(0).End(start + kInterval);
  Agent(1).Kill();
  Settle();
  loop_.RunReady();
  manager_->Tick();
  EXPECT_TRUE(told_.rows.empty()) << "it waits for the other one";
  AdvanceTo(start + 2 * kInterval);
  manager_->Tick();
  ASSERT_EQ(told_.rows.size(), 1u);
  EXPECT_FALSE(told_.rows[0]->is_complete);
  EXPECT_NE(told_.rows[0]->json.find("\"silent\":[\"h1\"]"), std::string::npos)
      << told_.rows[0]->json;
}

TEST_F(EventManagerHostsTest, PublishesWhatAHostDecidedByItself) {
  Connect(0);
  Put("- {name: local, event: '*, sum(volume) > 5, 10ms', scope: host, severity: low}");
  Settle();
  ASSERT_NE(Agent(0).Find("local"), nullptr);
  EXPECT_EQ(Agent(0).Find("local")->trigger.mode, TriggerMode::kHost);
  HostReport report;
  report.report.event_id = Agent(0).Find("local")->trigger.event.id;
  report.report.start_ns = NextStart();
  report.report.end_ns = report.report.start_ns + kInterval;
  report.report.value = Number::Integer(9);
  report.report.threshold = Number::Integer(5);
  report.report.detected_ns = report.report.end_ns;
  Agent(0).Send(report);
  ASSERT_TRUE(RunUntil([&] { return !told_.rows.empty(); }));
  EXPECT_EQ(told_.rows[0]->event, "local");
  EXPECT_NE(told_.rows[0]->json.find("\"host\":\"h0\""), std::string::npos) << told_.rows[0]->json;
  EXPECT_NE(told_.rows[0]->json.find("\"severity\":\"low\""), std::string::npos);
  EXPECT_EQ(View("local").counters.reports, 1u);
}

TEST_F(EventManagerHostsTest, PublishesNothingOfHostsThatDoNotHaveTheEvent) {
  manager_->SetTopology(*ParseTopologyYaml(
      "hosts:\n- {id: h0, prefixes: [10.0.0.0/24]}\n- {id: h1, prefixes: [10.0.1.0/24]}\n", "t"));
  for (size_t i = 0; i < 2; ++i) Connect(i);
  Put("- {name: local, event: 'srcIP=10.0.1.7, sum(volume) > 5, dstPort, 10ms', scope: host}");
  Settle();
  HostReport report;
  report.report.bucket_key = kit::PortKey(80);
  report.report.event_id = View("local").record.id;
  report.report.start_ns = NextStart();
  report.report.end_ns = report.report.start_ns + kInterval;
  report.report.value = Number::Integer(9);
  report.report.threshold = Number::Integer(5);
  report.report.detected_ns = report.report.end_ns;
  EXPECT_EQ(Agent(0).Names(), "");
  Agent(0).Send(report);
  ASSERT_TRUE(RunUntil([&] { return View("local").counters.strangers == 1; }));
  EXPECT_TRUE(told_.rows.empty());
  Agent(1).Send(report);
  ASSERT_TRUE(RunUntil([&] { return !told_.rows.empty(); }));
  // One that is moved away, and not acknowledged yet, may have decided before.
  Agent(1).answers = false;
  manager_->SetTopology(*ParseTopologyYaml(
      "hosts:\n- {id: h0, prefixes: [10.0.1.0/24]}\n- {id: h1, prefixes: [10.0.0.0/24]}\n", "t"));
  ASSERT_TRUE(RunUntil([&] { return Agent(1).has_set_waiting(); }));
  Agent(1).Send(report);
  ASSERT_TRUE(RunUntil([&] { return told_.rows.size() == 2; }));
  Agent(1).AnswerNow();
  Settle();
  Agent(1).Send(report);
  ASSERT_TRUE(RunUntil([&] { return View("local").counters.strangers == 2; }));
}

TEST_F(EventManagerHostsTest, TakesADisabledEventFromHostsAndNotFromTheStore) {
  Connect(0);
  Put(kBig);
  Put(kMean);
  Settle();
  Enable("big", false);
  Settle();
  EXPECT_EQ(Agent(0).Names(), "mean");
  EXPECT_FALSE(View("big").record.is_enabled);
  EXPECT_EQ(View("big").mode, "");
  Enable("big", true);
  Settle();
  EXPECT_EQ(Agent(0).Names(), "big mean");
}

TEST_F(EventManagerHostsTest, LetsHostsCountOnThroughItsOwnRestart) {
  Connect(0);
  Put(kMean);
  Settle();
  const uint32_t id = Agent(0).Find("mean")->trigger.event.id;
  const Nanos from = Agent(0).Find("mean")->from;
  clock_.Advance(kNanosPerSecond);
  Agent(0).Kill();
  Begin();
  Connect(0);
  Settle();
  ASSERT_NE(Agent(0).Find("mean"), nullptr);
  EXPECT_EQ(Agent(0).Find("mean")->trigger.event.id, id);
  EXPECT_EQ(Agent(0).Find("mean")->from, from) << "it began anew";
  EXPECT_EQ(Agent(0).whole_sets, 2u);
  EXPECT_EQ(View("mean").applied, 1u);
}

TEST_F(EventManagerHostsTest, TakesAnotherDatabaseInWhichItsIdsMeanOtherEvents) {
  Connect(0);
  Put(kBig);
  Put(kMean);
  Settle();
  std::vector<EventRecord> records{View("big").record, View("mean").record};
  std::swap(records[0].id, records[1].id);
  store_.Replace(78, records);
  ASSERT_TRUE(RunUntil([&] { return !Agent(0).is_connected(); }));
  Agent(0).Restart();
  Connect(0);
  Settle();
  EXPECT_EQ(Agent(0).Names(), "big mean");
  for (const EventRecord& record : records) {
    EXPECT_EQ(View(record.name).problem, "");
    EXPECT_EQ(View(record.name).record.id, record.id);
    ASSERT_NE(Agent(0).Find(record.name), nullptr);
    EXPECT_EQ(Agent(0).Find(record.name)->trigger.event.id, record.id);
  }
  const Nanos start = NextStart();
  Agent(0).Count("mean", start, 2000);
  AdvanceTo(start + kInterval);
  Agent(0).End(start + kInterval);
  ASSERT_TRUE(RunUntil([&] { return !told_.rows.empty(); }));
  EXPECT_EQ(told_.rows[0]->event, "mean");
}

TEST_F(EventManagerHostsTest, SaysWhatAHostRefuses) {
  Agent(0).refused_event = "big";
  Connect(0);
  Put(kBig);
  Put(kMean);
  Settle();
  const auto hosts = manager_->HostsOf("big");
  ASSERT_EQ(hosts.size(), 1u);
  EXPECT_EQ(hosts[0].state, HostApplication::kRefused);
  EXPECT_EQ(hosts[0].error, "too much");
  EXPECT_EQ(View("mean").applied, 1u);
}

TEST_F(EventManagerHostsTest, RefusesASecondAgentOfAHostUnlessTheFirstIsDead) {
  Connect(0);
  Settle();
  ScriptedAgent twin(loop_.base(), clock_, "h0");
  twin.Connect({false, "127.0.0.1", port_}, nullptr);
  ASSERT_TRUE(RunUntil([&] { return !twin.last_error().empty(); }));
  EXPECT_NE(twin.last_error().find("h0"), std::string::npos) << twin.last_error();
  EXPECT_FALSE(twin.is_connected());
  clock_.Advance(3 * kNanosPerSecond);  // and the first has said nothing
  twin.Tick();
  ASSERT_TRUE(RunUntil([&] { return twin.is_connected(); }));
  ASSERT_TRUE(RunUntil([&] { return !Agent(0).is_connected(); }));
  EXPECT_EQ(manager_->connected_hosts(), 1u);
}

TEST_F(EventManagerHostsTest, SendsEventsOnlyWhereTheirPacketsCanBe) {
  const auto topology = ParseTopologyYaml(
      "hosts:\n- {id: h0, prefixes: [10.0.0.0/24]}\n- {id: h1, prefixes: [10.0.1.0/24]}\n", "t");
  ASSERT_TRUE(topology.ok()) << topology.message();
  manager_->SetTopology(*topology);
  Connect(0);
  Connect(1);
  Connect(2);  // whom the file does not name
  Put("- {name: from-h1, event: 'srcIP=10.0.1.7, sum(volume) > 5, 10ms'}");
  Settle();
  EXPECT_EQ(Agent(0).Names(), "");
  EXPECT_EQ(Agent(1).Names(), "from-h1");
  EXPECT_EQ(Agent(2).Names(), "from-h1") << "nobody knows what is there";
  ASSERT_TRUE(Agent(1).place);
  EXPECT_TRUE(Agent(1).was_placed_first);
  ASSERT_EQ(Agent(1).place->own.prefixes.size(), 1u);
  EXPECT_EQ(PrintPrefix(Agent(1).place->own.prefixes[0]), "10.0.1.0/24");
  // The workload moves.
  const auto moved = ParseTopologyYaml(
      "hosts:\n- {id: h0, prefixes: [10.0.1.0/24]}\n- {id: h1, prefixes: [10.0.0.0/24]}\n", "t");
  manager_->SetTopology(*moved);
  Settle();
  EXPECT_EQ(Agent(0).Names(), "from-h1");
  EXPECT_EQ(Agent(1).Names(), "");
  EXPECT_EQ(PrintPrefix(Agent(1).place->own.prefixes[0]), "10.0.0.0/24");
}

// Events come, change and go, hosts too, the controller as well; in the end every host that is
// connected runs exactly what it should, and nothing that was acknowledged has got lost.
TEST_F(EventManagerHostsTest, EndsAsTheStoreSaysWhateverHappens) {
  constexpr uint32_t kRuns = 12;
  constexpr size_t kHosts = 4;
  for (uint32_t seed = 1; seed <= kRuns; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const auto below = [&](uint32_t count) { return static_cast<uint32_t>(random() % count); };
    std::map<std::string, bool> expected;  // acknowledged events: enabled?
    for (const EventView& event : manager_->Events(Caller())) Remove(event.record.name);
    for (int step = 0; step < 80; ++step) {
      const std::string name = "e" + std::to_string(below(6));
      const size_t host = below(kHosts);
      switch (below(10)) {
        case 0:
        case 1:
        case 2:
          Put("- {name: " + name + ", event: '*, sum(volume) > " + std::to_string(below(5)) +
              ", 10ms', scope: " + (below(2) == 0 ? "host" : "network") + "}");
          expected.emplace(name, true);
          break;
        case 3:
          if (expected.erase(name) > 0) Remove(name);
          break;
        case 4:
          if (expected.count(name) == 0) break;
          expected[name] = below(2) == 0;
          Enable(name, expected[name]);
          break;
        case 5:
          if (!Agent(host).is_connected()) Connect(host);
          break;
        case 6:
          if (below(2) == 0) Agent(host).Kill();
          break;
        case 7:
          if (below(2) == 0) Agent(host).Restart();
          break;
        case 8:
          loop_.RunReady(static_cast<int>(below(6)));
          manager_->Tick();
          break;
        default:
          clock_.Advance(Nanos{below(30)} * kNanosPerMilli);
          if (below(20) != 0) break;
          for (size_t i = 0; i < kHosts; ++i) Agent(i).Kill();
          Begin();
          break;
      }
      loop_.RunReady(static_cast<int>(below(3)));
      if (HasFatalFailure()) return;
    }
    Settle();
    std::string names;
    std::string running;
    for (const auto& [name, is_enabled] : expected) {
      names += (names.empty() ? "" : " ") + name;
      if (is_enabled) running += (running.empty() ? "" : " ") + name;
    }
    std::string stored;
    for (const EventView& event : manager_->Events(Caller())) {
      stored += (stored.empty() ? "" : " ") + event.record.name;
    }
    EXPECT_EQ(stored, names);
    for (size_t i = 0; i < kHosts; ++i) {
      if (!Agent(i).is_connected()) Connect(i);
      Settle();
      EXPECT_EQ(Agent(i).Names(), running) << "host " << i;
      for (const auto& [id, one] : Agent(i).running) {
        EXPECT_EQ(View(one.trigger.event.name).record.id, id);
      }
    }
    if (HasFailure()) return;
  }
}

class CertificatesTest : public SessionTest {};

TEST_F(CertificatesTest, BindAHostToItsName) {
  MemoryEventStore store(loop_.base(), 77);
  ReportHub hub(nullptr);
  EventManagerParts parts;
  parts.base = loop_.base();
  parts.store = &store;
  parts.reports = &hub;
  parts.clock = &clock_;
  EventManagerOptions options;
  options.listener = listener_options_;
  EventManager manager(parts, options);
  auto tls = TlsContext::Load(controller_files_);
  ASSERT_TRUE(tls.ok()) << tls.message();
  const auto port = manager.Listen({true, "127.0.0.1", 0}, tls->get());
  ASSERT_TRUE(port.ok()) << port.message();
  manager.Start();
  ASSERT_TRUE(loop_.RunUntil([&] { return manager.is_store_ready(); }));
  struct Case {
    const char* certificate;
    const char* id;
    bool is_taken;
  };
  for (const Case& one : {Case{"h1", "h1", true}, Case{"h2", "h1", false},
                          Case{"name-of-h3", "h3", true}, Case{"name-of-h1", "h1", false}}) {
    SCOPED_TRACE(std::string(one.certificate) + " as " + one.id);
    auto agent_tls =
        TlsContext::Load(switches_.Issue(one.certificate, one.certificate, controllers_));
    ASSERT_TRUE(agent_tls.ok()) << agent_tls.message();
    ScriptedAgent agent(loop_.base(), agent_clock_, one.id);
    agent.Connect({true, "127.0.0.1", *port}, agent_tls->get());
    ASSERT_TRUE(
        loop_.RunUntil([&] { return agent.is_connected() || !agent.last_error().empty(); }));
    EXPECT_EQ(agent.is_connected(), one.is_taken) << agent.last_error();
    agent.Kill();
    ASSERT_TRUE(loop_.RunUntil([&] { return manager.connected_hosts() == 0; }));
  }
}

}  // namespace
}  // namespace trumpet
