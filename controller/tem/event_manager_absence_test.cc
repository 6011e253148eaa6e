// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// EventManager when hosts or events are not there: who is named, what is cleared, and the mode of
// events that began before their hosts.

#include <gtest/gtest.h>

#include <string>

#include "controller/tem/event_manager_kit_test.h"

namespace trumpet {
namespace {

class EventManagerAbsenceTest : public EventManagerHostsTest {
 protected:
  void NameHosts() {
    const auto topology = ParseTopologyYaml("hosts:\n- {id: h0}\n- {id: h1}\n", "t");
    ASSERT_TRUE(topology.ok()) << topology.message();
    manager_->SetTopology(*topology);
  }
  // Both hosts end an interval, and another, so that all that follows are whole.
  void WarmUp(size_t hosts) {
    for (int i = 0; i < 4; ++i) {
      AdvanceTo(NextStart() + kInterval);
      for (size_t host = 0; host < hosts; ++host) Agent(host).End(clock_.UnixNow());
      Settle();
    }
    told_.rows.clear();
  }
  // Host 0 counts `volume` in the next interval, and says so at its end.
  void CountInNext(const std::string& name, uint64_t volume) {
    const Nanos start = NextStart();
    AdvanceTo(start + kInterval);
    Agent(0).Count(name, start, volume);
    Agent(0).End(start + kInterval);
  }
  std::string OnlyReport() {
    EXPECT_TRUE(RunUntil([&] { return !told_.rows.empty(); }));
    EXPECT_EQ(told_.rows.size(), 1u);
    return told_.rows.empty() ? "" : told_.rows[0]->json;
  }
  static bool Has(const std::string& json, const std::string& text) {
    return json.find(text) != json.npos;
  }
};

TEST_F(EventManagerAbsenceTest, NamesAHostThatShouldCountAndHasNeverCome) {
  NameHosts();
  Connect(0);
  Put(kMean);
  Settle();
  WarmUp(1);
  CountInNext("mean", 700);
  const std::string report = OnlyReport();  // without a wait for the deadline
  EXPECT_TRUE(Has(report, R"("complete":false,"reasons":["host-silent"])")) << report;
  EXPECT_TRUE(Has(report, R"("silent":["h1"])")) << report;
  EXPECT_TRUE(Has(report, R"("host_count":2)")) << report;
}

TEST_F(EventManagerAbsenceTest, NamesHostsThatHaveNotComeBackSinceItsOwnRestart) {
  NameHosts();
  Connect(0);
  Connect(1);
  Put(kMean);
  Settle();
  Agent(0).Kill();
  Agent(1).Kill();
  Begin();
  NameHosts();
  Connect(0);
  Settle();
  WarmUp(1);
  CountInNext("mean", 700);
  EXPECT_TRUE(Has(OnlyReport(), R"("silent":["h1"])"));
  Connect(1);
  Settle();
  WarmUp(2);
  Agent(1).End(NextStart() + kInterval);
  CountInNext("mean", 700);
  EXPECT_TRUE(Has(OnlyReport(), R"("complete":true)"));
}

// The host's program did not change, so that the interval is its to tell, of which it had told.
TEST_F(EventManagerAbsenceTest, MarksWhatAHostTellsBeforeItSaysThatItCountedOn) {
  Put(kMean);
  for (size_t i = 0; i < 2; ++i) Connect(i);
  Settle();
  WarmUp(2);
  for (size_t i = 0; i < 2; ++i) Agent(i).Kill();
  Begin();
  NameHosts();
  Connect(0);
  Settle();
  Agent(1).answers = false;
  Connect(1);
  ASSERT_TRUE(RunUntil([&] { return Agent(1).has_set_waiting(); }));
  AdvanceTo(NextStart() + kInterval);
  for (size_t i = 0; i < 2; ++i) Agent(i).End(clock_.UnixNow());
  loop_.RunReady();
  told_.rows.clear();
  const Nanos start = NextStart();
  AdvanceTo(start + kInterval);
  for (size_t i = 0; i < 2; ++i) Agent(i).Count("mean", start, 900);
  Agent(1).End(start + kInterval);
  Agent(1).AnswerNow();
  Agent(1).answers = true;
  ASSERT_TRUE(RunUntil([&] { return View("mean").applied == 2; }));
  Agent(0).End(start + kInterval);
  EXPECT_TRUE(Has(OnlyReport(), R"("complete":false)")) << OnlyReport();
}

TEST_F(EventManagerAbsenceTest, NamesAHostThatRefusesWhatItHadCounted) {
  for (size_t i = 0; i < 2; ++i) Connect(i);
  Put(kMean);
  Settle();
  WarmUp(2);
  const Nanos start = NextStart();
  AdvanceTo(start + kInterval / 2);
  Agent(1).Restart();
  Agent(1).refused_event = "mean";
  ASSERT_TRUE(RunUntil([&] { return !manager_->FindHost("h1")->is_connected; }));
  AdvanceTo(start + kInterval);
  Connect(1);
  Settle();
  EXPECT_EQ(View("mean").applied, 1u);
  Agent(0).Count("mean", start, 700);
  for (size_t i = 0; i < 2; ++i) Agent(i).End(start + kInterval);
  const std::string lost = OnlyReport();
  EXPECT_TRUE(Has(lost, R"("complete":false,"reasons":["monitor-interrupted"])")) << lost;
  told_.rows.clear();
  CountInNext("mean", 700);
  const std::string report = OnlyReport();  // without a wait for the deadline
  EXPECT_TRUE(Has(report, R"("complete":false,"reasons":["host-silent"])")) << report;
  EXPECT_TRUE(Has(report, R"("silent":["h1"])")) << report;
}

TEST_F(EventManagerAbsenceTest, MissesNobodyWhoseEventWasTakenAwayAsItsSetWasLost) {
  const auto both = ParseTopologyYaml(
      "hosts:\n- {id: h0, prefixes: [10.0.1.0/24]}\n- {id: h1, prefixes: [10.0.2.0/24]}\n", "t");
  const auto moved = ParseTopologyYaml(
      "hosts:\n- {id: h0, prefixes: [10.0.1.0/24, 10.0.2.0/24]}\n"
      "- {id: h1, prefixes: [10.0.3.0/24]}\n",
      "t");
  for (const std::string aggregate : {"avg", "sum"}) {
    for (int way = 0; way < 4; ++way) {
      SCOPED_TRACE(aggregate + ", way " + std::to_string(way));
      manager_->SetTopology(*both);
      for (size_t i = 0; i < 2; ++i) Connect(i);
      Put("- {name: e, event: 'srcIP={10.0.1.7,10.0.2.7}, " + aggregate + "(volume) > 5, 10ms'}");
      Settle();
      WarmUp(2);
      Agent(1).answers = false;
      manager_->SetTopology(*moved);
      ASSERT_TRUE(RunUntil([&] { return Agent(1).has_set_waiting(); }));
      if (way == 0) Agent(1).AnswerNow();  // which is lost with the session
      if (way == 1) Agent(1).Restart();
      Agent(1).Kill();
      Agent(1).answers = true;
      ASSERT_TRUE(RunUntil([&] { return !manager_->FindHost("h1")->is_connected; }));
      if (way < 3) {
        Connect(1);
        Settle();
        EXPECT_EQ(Agent(1).Names(), "");
        WarmUp(2);
        Agent(1).Kill();
        ASSERT_TRUE(RunUntil([&] { return !manager_->FindHost("h1")->is_connected; }));
      } else {
        for (int i = 0; i < 4; ++i) WarmUp(1);  // it does not come back
      }
      CountInNext("e", 7000);
      const std::string report = OnlyReport();  // without a wait for the deadline
      EXPECT_TRUE(Has(report, R"("complete":true)")) << report;
      EXPECT_TRUE(Has(report, R"("host_count":1)")) << report;
      Remove("e");
      Settle();
      Agent(0).Kill();
      ASSERT_TRUE(RunUntil([&] { return manager_->connected_hosts() == 0; }));
    }
  }
}

TEST_F(EventManagerAbsenceTest, TakesAHostBackThatItNoLongerWaitedFor) {
  options_.forget_hosts_after_ns = 10 * kNanosPerSecond;
  Begin();
  NameHosts();
  Connect(0);
  Connect(1);
  for (const char* event : {kBig, kMean}) Put(event);
  Settle();
  WarmUp(2);
  Agent(1).Kill();
  ASSERT_TRUE(RunUntil([&] { return !manager_->FindHost("h1")->is_connected; }));
  for (int second = 0; second < 12; ++second) {
    clock_.Advance(kNanosPerSecond);
    Agent(0).Tick();
    loop_.RunReady();
    manager_->Tick();
  }
  ASSERT_EQ(manager_->FindHost("h1")->sessions, 0u) << "it is waited for";
  Connect(1);  // and has counted on all the time
  Settle();
  for (const char* event : {"big", "mean"}) {
    WarmUp(2);
    const Nanos start = NextStart();
    AdvanceTo(start + kInterval);
    Agent(1).Count(event, start, 7000);
    for (size_t i = 0; i < 2; ++i) Agent(i).End(start + kInterval);
    const std::string report = OnlyReport();
    EXPECT_TRUE(Has(report, R"("value":7000)")) << report;
    EXPECT_TRUE(Has(report, R"("complete":true)")) << report;
    EXPECT_TRUE(Has(report, R"("host_count":2)")) << report;
  }
}

TEST_F(EventManagerAbsenceTest, MissesNobodyWhoIsNoLongerInTheTopology) {
  NameHosts();
  Connect(0);
  Put(kMean);
  Settle();
  const auto smaller = ParseTopologyYaml("hosts:\n- {id: h0}\n", "t");
  manager_->SetTopology(*smaller);
  Settle();
  WarmUp(1);
  CountInNext("mean", 700);
  EXPECT_TRUE(Has(OnlyReport(), R"("complete":true)"));
}

TEST_F(EventManagerAbsenceTest, DecidesAgainOnceItsClockIsNoLongerAhead) {
  Connect(0);
  Put(kMean);
  Settle();
  WarmUp(1);
  CountInNext("mean", 700);
  EXPECT_TRUE(Has(OnlyReport(), R"("complete":true)"));
  clock_.unix_base += 60 * kNanosPerSecond;
  manager_->Tick();
  clock_.unix_base -= 60 * kNanosPerSecond;
  Settle();
  WarmUp(1);
  CountInNext("mean", 700);
  EXPECT_TRUE(Has(OnlyReport(), R"("complete":true)"));
  EXPECT_EQ(View("mean").counters.late_partials, 0u);
}

// Agents pass over shares that are older than those they have.
TEST_F(EventManagerAbsenceTest, SharesOfAClockThatWasSetBackAreNewer) {
  Connect(0);
  Connect(1);
  clock_.unix_base += 60 * kNanosPerSecond;
  Put(kBig);
  Settle();
  const auto generation = [&] { return Agent(0).Find("big")->trigger.share_generation; };
  const uint64_t before = generation();
  ASSERT_GT(before, 0u);
  clock_.unix_base -= 60 * kNanosPerSecond;
  clock_.Advance(kNanosPerMilli);
  ASSERT_TRUE(RunUntil([&] { return generation() != before; }));
  EXPECT_GT(generation(), before);
}

TEST_F(EventManagerAbsenceTest, NamesAHostWhoseMonitorIsOffAndDoesNotWaitForIt) {
  Connect(0);
  Connect(1);
  Put(kMean);
  Settle();
  WarmUp(2);
  IntervalEnd off;
  off.until_ns = NextStart();
  off.is_monitor_off = true;
  Agent(1).Send(off);
  ASSERT_TRUE(RunUntil([&] { return manager_->FindHost("h1")->is_monitor_off; }));
  CountInNext("mean", 700);
  const std::string report = OnlyReport();
  EXPECT_TRUE(Has(report, R"("complete":false,"reasons":["monitor-interrupted"])")) << report;
  EXPECT_TRUE(Has(report, R"("monitor_off":["h1"])")) << report;
  EXPECT_FALSE(Has(report, "silent")) << report;
  // It is on again.
  Agent(1).End(NextStart());
  ASSERT_TRUE(RunUntil([&] { return !manager_->FindHost("h1")->is_monitor_off; }));
  told_.rows.clear();
  Agent(1).End(NextStart() + kInterval);
  CountInNext("mean", 700);
  EXPECT_TRUE(Has(OnlyReport(), R"("complete":true)"));
}

TEST_F(EventManagerAbsenceTest, MarksWhatAHostDropsAfterItsClockWasAhead) {
  Connect(0);
  Put(kMean);
  Settle();
  WarmUp(1);
  IntervalEnd wrong;
  wrong.until_ns = clock_.UnixNow() + 3600 * kNanosPerSecond;
  Agent(0).Send(wrong);
  loop_.RunReady();
  AdvanceTo(NextStart() + 2 * kNanosPerSecond);
  Agent(0).Tick();
  WarmUp(1);
  const Nanos start = NextStart();
  AdvanceTo(start + kInterval);
  Agent(0).Count("mean", start, 700);
  IntervalEnd dropped;
  dropped.until_ns = start + kNanosPerMilli;
  dropped.dropped_partials = 5;
  Agent(0).Send(dropped);
  Agent(0).End(start + kInterval);
  const std::string report = OnlyReport();
  EXPECT_TRUE(Has(report, R"("complete":false,"reasons":["ring-full"])")) << report;
}

TEST_F(EventManagerAbsenceTest, ClearsWhatItToldWhenTheEventEnds) {
  Connect(0);
  constexpr char kOther[] = "- {name: mean, event: '*, avg(volume) > 99, 10ms'}";
  for (int way = 0; way < 3; ++way) {
    SCOPED_TRACE(way);
    Put(kMean);
    Enable("mean", true);
    Settle();
    WarmUp(1);
    CountInNext("mean", 700);
    EXPECT_TRUE(Has(OnlyReport(), R"("value":700)"));
    told_.rows.clear();
    if (way == 0) Remove("mean");
    if (way == 1) Enable("mean", false);
    if (way == 2) Put(kOther);
    const std::string clear = OnlyReport();
    EXPECT_TRUE(Has(clear, R"("event":"mean")")) << clear;
    EXPECT_TRUE(Has(clear, R"("cleared":true)")) << clear;
    EXPECT_TRUE(Has(clear, R"("reasons":["event-ended"])")) << clear;
  }
}

// The host counts on, and does not tell again of flows that rest; the verdicts know none of them,
// for as long as states live on the host.
TEST_F(EventManagerAbsenceTest, SaysThatAnEventThatBeginsAgainMayNotKnowFlowsThatRest) {
  options_.event.flow_timeout_ns = 100 * kNanosPerSecond;
  Begin();
  Put("- {name: rests, event: '*, ack - ack_lastepoch > 9 or avg(volume) > 100, 5-tuple, 10ms'}");
  Connect(0);
  Agent(0).flow_timeout = kNanosPerSecond;
  Settle();
  WarmUp(1);
  CountInNext("rests", 700);
  EXPECT_TRUE(Has(OnlyReport(), R"("complete":true)"));
  Agent(0).answers = false;
  Enable("rests", false);
  Enable("rests", true);
  ASSERT_TRUE(RunUntil([&] { return Agent(0).has_set_waiting(); }));
  Agent(0).AnswerNow();
  Agent(0).answers = true;
  Settle();
  WarmUp(1);
  CountInNext("rests", 700);
  const std::string report = OnlyReport();
  EXPECT_TRUE(Has(report, R"("complete":false,"reasons":["connection-evicted"])")) << report;
  clock_.Advance(kNanosPerSecond);
  WarmUp(1);
  CountInNext("rests", 700);
  EXPECT_TRUE(Has(OnlyReport(), R"("complete":true)"));
}

TEST_F(EventManagerAbsenceTest, ClearsWhatItToldEvenIfTheEventBeginsAgainAtOnce) {
  Connect(0);
  Put(kMean);
  Settle();
  WarmUp(1);
  CountInNext("mean", 700);
  EXPECT_FALSE(Has(OnlyReport(), "cleared"));
  told_.rows.clear();
  manager_->SetEnabled("mean", false, Caller(), [](const Result<std::vector<EventRecord>>&) {});
  Enable("mean", true);
  EXPECT_TRUE(Has(OnlyReport(), R"("reasons":["event-ended"])"));
}

TEST_F(EventManagerAbsenceTest, ClearsWhatTheControllerBeforeItToldUnlessItGoesOn) {
  for (const bool goes_on : {false, true}) {
    SCOPED_TRACE(goes_on);
    Connect(0);
    Put(kMean);
    Settle();
    WarmUp(1);
    CountInNext("mean", 700);
    EXPECT_FALSE(Has(OnlyReport(), "cleared"));
    Agent(0).Kill();
    Begin();  // it was killed, too
    Connect(0);
    Settle();
    WarmUp(1);
    if (goes_on) {
      CountInNext("mean", 700);
      EXPECT_FALSE(Has(OnlyReport(), "cleared"));
      told_.rows.clear();
      AdvanceTo(NextStart() + kInterval);
      Agent(0).End(clock_.UnixNow());
    } else {
      AdvanceTo(NextStart() + 16 * kNanosPerSecond);
    }
    const std::string clear = OnlyReport();
    EXPECT_TRUE(Has(clear, R"("cleared":true)")) << clear;
    EXPECT_EQ(Has(clear, R"("reasons":["monitor-interrupted"])"), !goes_on) << clear;
    // Once for all.
    told_.rows.clear();
    Agent(0).Kill();
    Begin();
    Connect(0);
    Settle();
    AdvanceTo(NextStart() + 16 * kNanosPerSecond);
    Settle();
    EXPECT_TRUE(told_.rows.empty());
  }
}

TEST_F(EventManagerAbsenceTest, StandsByWhileAnotherControllerActsAndTakesOverAgain) {
  Connect(0);
  Put(kMean);
  Settle();
  const uint32_t id = Agent(0).Find("mean")->trigger.event.id;
  WarmUp(1);
  CountInNext("mean", 700);
  EXPECT_FALSE(Has(OnlyReport(), "cleared"));
  told_.rows.clear();
  store_.SetState(StoreState::kStandby, "another has the lock");
  ASSERT_TRUE(RunUntil([&] { return !Agent(0).is_connected(); }));
  EXPECT_NE(Agent(0).last_error().find("another controller acts"), std::string::npos)
      << Agent(0).last_error();
  EXPECT_TRUE(manager_->is_standing_by());
  EXPECT_EQ(manager_->connected_hosts(), 0u);
  EXPECT_TRUE(Has(OnlyReport(), R"("reasons":["event-ended"])"));
  EXPECT_EQ(View("mean").applied, 0u);
  Agent(0).Connect({false, "127.0.0.1", port_}, nullptr);
  ASSERT_TRUE(RunUntil([&] {
    return Agent(0).last_error().find("standing by") != std::string::npos;
  })) << Agent(0).last_error();
  store_.SetState(StoreState::kReady, "ours again");
  Connect(0);
  Settle();
  ASSERT_NE(Agent(0).Find("mean"), nullptr);
  EXPECT_EQ(Agent(0).Find("mean")->trigger.event.id, id);
  EXPECT_EQ(View("mean").applied, 1u);
  EXPECT_FALSE(manager_->is_standing_by());
  WarmUp(1);
  CountInNext("mean", 700);
  EXPECT_TRUE(Has(OnlyReport(), R"("value":700)"));
}

TEST_F(EventManagerAbsenceTest, DecidesNothingWhileItStandsBy) {
  NameHosts();
  Connect(0);
  Connect(1);
  Put("- {name: low, event: '*, sum(volume) < 10, 10ms'}");
  Settle();
  WarmUp(2);
  store_.SetState(StoreState::kStandby, "another has the lock");
  ASSERT_TRUE(RunUntil([&] { return !Agent(0).is_connected(); }));
  told_.rows.clear();
  for (int i = 0; i < 5; ++i) {
    AdvanceTo(NextStart() + kInterval);
    loop_.RunReady(2);
    manager_->Tick();
  }
  EXPECT_TRUE(told_.rows.empty());
  const Nanos back = NextStart();
  store_.SetState(StoreState::kReady, "ours again");
  Settle();
  AdvanceTo(back + 4 * kInterval);
  ASSERT_TRUE(RunUntil([&] { return !told_.rows.empty(); }));
  EXPECT_GT(told_.rows[0]->end_ns, back - kInterval) << "not of the time in which another acted";
}

TEST_F(EventManagerAbsenceTest, AnIntervalOfNoHostAtAllIsNotComplete) {
  Put("- {name: low, event: '*, sum(volume) < 10, 10ms'}");
  Settle();
  AdvanceTo(NextStart() + 2 * kInterval);
  ASSERT_TRUE(RunUntil([&] { return !told_.rows.empty(); }));
  const std::string& report = told_.rows.back()->json;
  EXPECT_TRUE(Has(report, R"("complete":false,"reasons":["host-silent"])")) << report;
}

TEST_F(EventManagerAbsenceTest, GoesOnWhileTheDatabaseIsAway) {
  Connect(0);
  Put(kMean);
  Settle();
  WarmUp(1);
  store_.SetState(StoreState::kAway, "connection refused");
  ASSERT_TRUE(RunUntil([&] { return !manager_->is_store_ready(); }));
  CountInNext("mean", 700);
  EXPECT_TRUE(Has(OnlyReport(), R"("value":700)"));
  EXPECT_TRUE(Agent(0).is_connected());
}

TEST_F(EventManagerAbsenceTest, SplitsTheThresholdOfAnEventThatWasThereBeforeItsHosts) {
  Put(kBig);
  EXPECT_EQ(View("big").mode, "partials");
  EXPECT_EQ(View("big").why_not_threshold, "no host is known yet");
  Connect(0);
  Connect(1);
  Settle();
  EXPECT_EQ(View("big").mode, "partials");
  clock_.Advance(kNanosPerSecond);
  Settle();
  EXPECT_EQ(View("big").mode, "threshold");
  EXPECT_EQ(View("big").why_not_threshold, "");
  EXPECT_EQ(Agent(0).Find("big")->trigger.mode, TriggerMode::kThreshold);
  // By shares now.
  WarmUp(2);
  const Nanos start = NextStart();
  AdvanceTo(start + kInterval);
  Agent(0).Count("big", start, 900);
  Agent(1).Count("big", start, 200);
  for (size_t i = 0; i < 2; ++i) Agent(i).End(start + kInterval);
  EXPECT_TRUE(Has(OnlyReport(), R"("value":1100)"));
  EXPECT_TRUE(Has(OnlyReport(), R"("complete":true)"));
  EXPECT_EQ(Agent(1).questions, 1u);
}

}  // namespace
}  // namespace trumpet
