// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/agent.h"

#include <gtest/gtest.h>

#include "lib/base/memory_shortage_test.h"
#include "lib/lang/event/event_language.h"
#include "vswitchd-plugin/fake_switch_test.h"

namespace trumpet {
namespace {

using testing::StillSwitch;

constexpr char kAllPackets[] = "*, sum(packets) >= 1, 10ms";

const ConfigPairs kOn{{"trumpet-enable", "true"}, {"trumpet-memory-mb", "4"}};

// On, with kAllPackets active, at the start of an interval.
class RunningSwitch : public StillSwitch {
 public:
  explicit RunningSwitch(int thread_count, const std::vector<std::string>& events = {kAllPackets},
                         const ConfigPairs& config = kOn)
      : StillSwitch(thread_count) {
    plugin.SetConfig(config);
    Install(events);
    RunMs(20);
    RunToBoundary();
  }
};

Int128 TotalOf(const std::vector<Report>& reports) {
  Int128 total = 0;
  for (const Report& report : reports) total += report.value.integer();
  return total;
}

TEST(Agent, StaysDetachedUntilItIsEnabledAndHasAnEvent) {
  StillSwitch bench(1);
  bench.plugin.SetConfig({});
  bench.Install({kAllPackets});
  bench.RunMs(20);
  EXPECT_FALSE(bench.fake.is_attached());
  bench.plugin.SetConfig(kOn);
  bench.RunMs(1);
  EXPECT_TRUE(bench.fake.is_attached());
}

TEST(Agent, DetachesWhenTheLastEventGoes) {
  RunningSwitch bench(1);
  EXPECT_TRUE(bench.fake.is_attached());
  bench.Command("trumpet/event-del", {"--all"});
  bench.RunMs(50);
  EXPECT_FALSE(bench.fake.is_attached());
}

TEST(Agent, TestsWhatAllThreadsSawTogether) {
  RunningSwitch bench(2, {"*, sum(packets) > 9, 10ms"});
  bench.Receive(bench.threads[0], 5);
  bench.Receive(bench.threads[1], 5);
  bench.RunMs(20);
  ASSERT_EQ(bench.Reports().size(), 1u);
  EXPECT_EQ(bench.Reports()[0].value, Number::Integer(10));
  EXPECT_TRUE(bench.Reports()[0].is_complete());
}

TEST(Agent, ReportsWithinAMillisecondOfTheIntervalsEnd) {
  RunningSwitch bench(2);
  bench.Receive(bench.threads[0], 1);
  bench.RunMs(20);
  ASSERT_EQ(bench.Reports().size(), 1u);
  const Report report = bench.Reports()[0];
  EXPECT_LE(report.detected_ns - report.end_ns, kNanosPerMilli);
}

TEST(Agent, CountsEveryPacketOnceOverManyIntervals) {
  RunningSwitch bench(2);
  int sent = 0;
  for (int i = 0; i < 300; ++i) {
    bench.Receive(bench.threads[i % 2], i % 7);
    sent += i % 7;
    bench.Run(370 * kNanosPerMicro);
  }
  bench.RunMs(30);
  EXPECT_EQ(TotalOf(bench.Reports()), sent);
  for (const Report& report : bench.Reports()) EXPECT_TRUE(report.is_complete());
}

TEST(Agent, MarksTheIntervalInWhichItWasDisabled) {
  RunningSwitch bench(1);
  bench.Receive(bench.threads[0], 3);
  EXPECT_TRUE(bench.plugin.agent().SetEnabled(false));
  EXPECT_FALSE(bench.fake.is_attached());
  bench.RunMs(50);
  ASSERT_EQ(bench.Reports().size(), 1u);
  EXPECT_EQ(bench.Reports()[0].value, Number::Integer(3));
  EXPECT_EQ(bench.Reports()[0].incomplete_reasons, uint32_t{kMonitorInterrupted});
}

TEST(Agent, MarksAnInterruptionThatWasOverBeforeItLooked) {
  RunningSwitch bench(1);
  bench.Receive(bench.threads[0], 3);
  bench.plugin.agent().SetEnabled(false);
  bench.monotonic += kNanosPerMilli;
  bench.plugin.agent().SetEnabled(true);
  bench.Receive(bench.threads[0], 2);
  bench.RunMs(60);
  ASSERT_EQ(bench.Reports().size(), 1u);
  EXPECT_EQ(bench.Reports()[0].value, Number::Integer(5));
  EXPECT_EQ(bench.Reports()[0].incomplete_reasons, uint32_t{kMonitorInterrupted});
  EXPECT_EQ(bench.plugin.agent().Snapshot().interruptions, 1u);
}

TEST(Agent, ReportsNothingForIntervalsThatNobodyWatched) {
  RunningSwitch bench(1, {"*, sum(packets) < 1, 10ms"});
  bench.RunMs(10);
  const size_t before = bench.Reports().size();
  bench.plugin.agent().SetEnabled(false);
  bench.RunMs(500);
  EXPECT_LE(bench.Reports().size(), before + 1);
  bench.plugin.agent().SetEnabled(true);
  bench.RunMs(50);
  EXPECT_GE(bench.Reports().size(), before + 3);
}

// It was enabled just now.
void ExpectThatItCounts(RunningSwitch* bench) {
  bench->RunMs(20);
  bench->RunToBoundary();
  bench->Receive(bench->threads[0], 4);
  bench->RunMs(20);
  ASSERT_EQ(bench->Reports().size(), 1u);
  EXPECT_EQ(bench->Reports()[0].value, Number::Integer(4));
  EXPECT_TRUE(bench->Reports()[0].is_complete());
}

TEST(Agent, CountsAgainAfterItWasEnabledAgain) {
  RunningSwitch bench(1);
  bench.plugin.agent().SetEnabled(false);
  bench.RunMs(500);
  bench.plugin.agent().SetEnabled(true);
  ExpectThatItCounts(&bench);
}

// Monitors know connections of before, the verdicts do not.
TEST(Agent, SaysThatItMayNotKnowFlowsThatRestSinceBeforeItWasDisabled) {
  ConfigPairs config = kOn;
  config.emplace_back("trumpet-flow-timeout-ms", "100");
  RunningSwitch bench(1, {"*, sum(packets) >= 1 or ack > 0, 5-tuple, 10ms"}, config);
  const auto reasons = [&] {
    bench.Receive(bench.threads[0], 1);
    bench.RunMs(20);
    const auto reports = bench.Reports();
    return reports.empty() ? ~0u : reports.back().incomplete_reasons;
  };
  EXPECT_EQ(reasons(), 0u) << "there was nothing before";
  bench.plugin.agent().SetEnabled(false);
  bench.RunMs(500);
  bench.plugin.agent().SetEnabled(true);
  bench.RunMs(20);
  bench.RunToBoundary();
  EXPECT_EQ(reasons(), uint32_t{kConnectionEvicted});
  bench.RunMs(100);
  EXPECT_EQ(reasons(), 0u);
}

TEST(Agent, CountsInTheRightIntervalThroughManyInterruptions) {
  RunningSwitch bench(1, {"*, sum(packets) >= 1, 1s"});
  bench.Run(kNanosPerSecond - (StillSwitch::kBoot + bench.monotonic) % kNanosPerSecond);
  for (int i = 0; i < 100; ++i) {
    bench.Receive(bench.threads[0], 1);
    bench.plugin.agent().SetEnabled(false);
    bench.RunMs(2);
    bench.plugin.agent().SetEnabled(true);
    bench.RunMs(2);
  }
  bench.RunMs(700);
  ASSERT_EQ(bench.Reports().size(), 1u);
  EXPECT_EQ(bench.Reports()[0].value, Number::Integer(100));
  EXPECT_FALSE(bench.Reports()[0].is_complete());
}

TEST(Agent, KeepsWhatAThreadCountedBeforeItEnded) {
  RunningSwitch bench(2);
  bench.Receive(bench.threads[0], 3);
  bench.Receive(bench.threads[1], 4);
  bench.plugin.agent().RemoveThread(bench.threads[1]);
  bench.threads.pop_back();
  bench.RunMs(20);
  ASSERT_EQ(bench.Reports().size(), 1u);
  EXPECT_EQ(bench.Reports()[0].value, Number::Integer(7));
  EXPECT_TRUE(bench.Reports()[0].is_complete());
  const AgentStatus status = bench.plugin.agent().Snapshot();
  EXPECT_EQ(status.threads.size(), 1u);
  EXPECT_EQ(status.ended_threads, 1u);
  EXPECT_EQ(status.ended.packets, 4u);
  EXPECT_EQ(status.ended.flows, 0u);
}

TEST(Agent, TakesInAThreadThatCameLater) {
  RunningSwitch bench(1);
  ThreadMonitor* late = bench.AddThread(5);
  bench.RunMs(20);
  bench.RunToBoundary();
  bench.Receive(late, 2);
  bench.RunMs(20);
  ASSERT_EQ(bench.Reports().size(), 1u);
  EXPECT_EQ(bench.Reports()[0].value, Number::Integer(2));
}

// A round takes in threads at its beginning, and decides at its end up to what is over then.
TEST(Agent, DecidesNoIntervalInWhichAThreadCameDuringItsRound) {
  RunningSwitch bench(1);
  bench.Receive(bench.threads[0], 2);
  bench.Run(9'900 * kNanosPerMicro);
  int looks = 0;
  bench.on_clocks = [&] {
    if (++looks != 2) return;
    ThreadMonitor* const first = bench.threads[0];
    bench.AddThread(5);
    bench.monotonic += 400 * kNanosPerMicro;
    first->OnIdle(bench.monotonic / 1000);
  };
  bench.RunOneStep(50 * kNanosPerMicro);  // just before the end
  EXPECT_GE(looks, 3);
  bench.on_clocks = nullptr;
  bench.RunMs(20);
  ASSERT_EQ(bench.Reports().size(), 1u);
  EXPECT_EQ(bench.Reports()[0].value, Number::Integer(2));
  EXPECT_FALSE(bench.Reports()[0].is_complete());
}

TEST(Agent, LetsTheSwitchGoOnWithoutMemoryAndSaysSo) {
  RunningSwitch bench(1);
  bench.has_memory = false;
  bench.AddThread(5);
  bench.RunMs(100);
  EXPECT_NE(bench.fake.TakeLogText().find("the PMD thread on core 5: no memory today"),
            std::string::npos);
  EXPECT_EQ(bench.plugin.agent().Snapshot().failed_monitors, 1u);
  bench.RunToBoundary();
  bench.Receive(bench.threads[0], 2);
  bench.RunMs(20);
  ASSERT_FALSE(bench.Reports().empty());
  EXPECT_FALSE(bench.Reports().back().is_complete());
}

TEST(Agent, DoesNotWaitForAThreadThatNeverDelivers) {
  RunningSwitch bench(2);
  bench.Receive(bench.threads[0], 1);
  bench.Receive(bench.threads[1], 2);
  bench.threads.pop_back();  // is never idle again, so never sweeps
  bench.RunMs(40);
  ASSERT_EQ(bench.Reports().size(), 1u);
  EXPECT_EQ(bench.Reports()[0].value, Number::Integer(1));
  EXPECT_EQ(bench.Reports()[0].incomplete_reasons, uint32_t{kSweepSkipped});
  EXPECT_GT(bench.plugin.agent().Snapshot().stalls, 0u);
}

TEST(Agent, DoesNotTakeASleepingThreadForALateOne) {
  RunningSwitch bench(2);
  bench.threads_are_idle = false;
  bench.RunMs(200);
  EXPECT_EQ(bench.plugin.agent().Snapshot().stalls, 0u);
}

// Open vSwitch's main thread sleeps until something that it waits for happens.
TEST(Agent, HasASleepingMainThreadTakeUpEventsAtOnce) {
  StillSwitch still(0);
  ThreadMonitor* const thread = still.plugin.agent().AddThread({-1, -1, false, &still});
  int wakes_seen = 0;
  const auto run_ms = [&](int ms) {
    for (int step = 0; step < 10 * ms; ++step) {
      still.RunOneStep();
      const bool is_due = still.monotonic / 1000 >= thread->NextWakeupUs();
      if (!still.fake.is_attached() || (still.fake.main_thread_wakes() == wakes_seen && !is_due)) {
        continue;
      }
      wakes_seen = still.fake.main_thread_wakes();
      thread->OnIdle(still.monotonic / 1000);
    }
  };
  still.plugin.SetConfig(kOn);
  for (int event = 1; event <= 3; ++event) {
    still.Install({"*, sum(packets) > 5, 10ms"});
    run_ms(30);
    const std::string shown = still.Command("trumpet/event-show", {"json", std::to_string(event)});
    EXPECT_NE(shown.find("\"applied_on\": 1,"), std::string::npos) << shown;
  }
}

TEST(Agent, StartsAnewWhenTheClockIsSetBack) {
  RunningSwitch bench(1);
  bench.wall_shift = -3600 * kNanosPerSecond;
  bench.RunMs(30);
  bench.RunToBoundary();
  bench.Receive(bench.threads[0], 6);
  bench.RunMs(20);
  ASSERT_EQ(bench.Reports().size(), 1u);
  const Report report = bench.Reports()[0];
  EXPECT_EQ(report.value, Number::Integer(6));
  EXPECT_LT(report.end_ns, StillSwitch::kBoot);
  EXPECT_TRUE(report.is_complete());
  EXPECT_NE(bench.fake.TakeLogText().find("warning: the wall clock was set back by 35999"),
            std::string::npos);
}

TEST(Agent, GoesOnWhenTheClockIsSetForward) {
  for (const Nanos shift : {500 * kNanosPerMilli, 7200 * kNanosPerSecond}) {
    RunningSwitch bench(1);
    bench.wall_shift = shift;
    bench.RunMs(30);
    bench.RunToBoundary();
    bench.Receive(bench.threads[0], 6);
    bench.RunMs(20);
    ASSERT_EQ(bench.Reports().size(), 1u) << shift;
    EXPECT_EQ(bench.Reports()[0].value, Number::Integer(6));
    EXPECT_TRUE(bench.Reports()[0].is_complete());
    EXPECT_GT(bench.Reports()[0].start_ns, StillSwitch::kBoot + shift);
  }
}

TEST(Agent, NeverReportsAnIntervalTwiceAfterASmallStepBack) {
  RunningSwitch bench(1);
  bench.wall_shift = -100 * kNanosPerMilli;
  for (int i = 0; i < 40; ++i) {
    bench.Receive(bench.threads[0], 1);
    bench.RunMs(10);
  }
  bench.RunMs(30);
  const std::vector<Report> reports = bench.Reports();
  EXPECT_EQ(TotalOf(reports), 40);
  for (size_t i = 1; i < reports.size(); ++i) {
    EXPECT_GT(reports[i].end_ns, reports[i - 1].end_ns);
  }
}

TEST(Agent, TakesSettingsThatNeedNewMonitorsAtOnce) {
  RunningSwitch bench(1);
  ConfigPairs changed = kOn;
  changed.emplace_back("trumpet-burst-gap-ns", "500000");
  bench.plugin.SetConfig(changed);
  bench.RunMs(30);
  bench.RunToBoundary();
  bench.Receive(bench.threads[0], 6);
  bench.RunMs(20);
  ASSERT_FALSE(bench.Reports().empty());
  EXPECT_EQ(bench.Reports().back().value, Number::Integer(6));
  EXPECT_TRUE(bench.Reports().back().is_complete());
}

TEST(Agent, HoldsAllBucketsToTheirCapAndShowsIt) {
  ConfigPairs config = kOn;
  RunningSwitch bench(1, {"*, sum(packets) >= 1, dstIP, 10ms"}, config);
  config.emplace_back("trumpet-max-total-buckets", "2");
  bench.plugin.SetConfig(config);
  bench.RunMs(10);
  for (uint32_t host = 1; host <= 5; ++host) bench.Receive(bench.threads[0], 1, host);
  bench.RunMs(11);
  const std::vector<Report> reports = bench.Reports();
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(reports[0].incomplete_reasons, static_cast<uint32_t>(kBucketEvicted));
  bench.RunMs(100);  // the status is kept up every 50 ms
  const AgentStatus status = bench.plugin.agent().Snapshot();
  EXPECT_EQ(status.verdicts.buckets_evicted, 3u);
  EXPECT_NE(bench.Command("trumpet/status").find("the cap of their event or of all"),
            std::string::npos);
  EXPECT_NE(bench.Command("trumpet/status", {"json"}).find("\"max_total_buckets\": 2"),
            std::string::npos);
}

TEST(Agent, KeepsMemoryAsItWasUntilTheNextStart) {
  RunningSwitch bench(1);
  ConfigPairs changed = kOn;
  changed[1].second = "8";
  bench.fake.TakeLog();
  bench.plugin.SetConfig(changed);
  bench.RunMs(1);
  EXPECT_EQ(bench.plugin.agent().Snapshot().in_force.memory_mb, 4u);
  EXPECT_EQ(bench.fake.TakeLogText(),
            "info: trumpet-memory-mb changes at the next start of the switch\n");
}

TEST(Agent, ChangesEventsWithoutLosingThoseThatStay) {
  RunningSwitch bench(1);
  int sent = 0;
  for (int i = 0; i < 50; ++i) {
    if (i % 2 == 0) bench.Install({"dstPort=2000, sum(packets) >= 1, 5-tuple, 3ms"});
    bench.Receive(bench.threads[0], 1);
    ++sent;
    bench.RunMs(1);
    if (i % 2 == 1) bench.Command("trumpet/event-del", {"e" + std::to_string(i / 2 + 2)});
  }
  bench.RunMs(30);
  EXPECT_EQ(TotalOf(bench.plugin.reports().Last(1000, "e1")), sent);
}

// A cut epoch leaves little time to sweep its first part (found under full load in the
// demonstration).
TEST(Agent, ChangesEventsBetweenTwoEpochs) {
  RunningSwitch bench(1);
  for (int i = 0; i < 7; ++i) {
    bench.RunMs(3);
    bench.Install({"dstPort=2000, sum(packets) >= 1, 5-tuple, 10ms"});
    bench.RunMs(20);
    const Nanos from = bench.plugin.events().List().back().effective_from_ns;
    EXPECT_EQ(from % (10 * kNanosPerMilli), 0) << "change " << i;
  }
}

// Under load a change waits for as long as matching the flows ahead takes, and no longer than that.
TEST(Agent, GivesAChangeTimeToMatchTheFlowsAhead) {
  RunningSwitch bench(1, {kAllPackets}, {{"trumpet-enable", "true"}, {"trumpet-memory-mb", "128"}});
  const auto wait_of_a_change = [&bench] {
    bench.RunMs(11);  // to the next interval, and there
    const Nanos now = StillSwitch::kBoot + bench.monotonic;
    bench.Install({"dstPort=2000, sum(packets) >= 1, 5-tuple, 10ms"});
    bench.RunMs(1);
    const Nanos wait = bench.plugin.events().List().back().effective_from_ns - now;
    bench.RunMs(100);
    return wait;
  };
  constexpr uint32_t kFlows = 30'000;
  for (uint32_t flow = 0; flow < kFlows; ++flow) bench.Receive(bench.threads[0], 1, flow);
  EXPECT_GE(wait_of_a_change(), kFlows * 500);
  EXPECT_EQ(TotalOf(bench.Reports()), kFlows);
  for (int i = 0; i < 2; ++i) {
    bench.Receive(bench.threads[0], 1);
    bench.RunMs(10);
  }
  EXPECT_LE(wait_of_a_change(), 14 * kNanosPerMilli);
}

// Events of intervals of their own, on a switch whose time goes by 50 us from a round instant on.
struct SlowSwitch : StillSwitch {
  explicit SlowSwitch(const std::string& first) : StillSwitch(1) {
    plugin.SetConfig(kOn);
    Install({first});
    RunMs(50);
    while ((kBoot + monotonic) % (100 * kNanosPerMilli) != 0) RunOneStep();
    zero = monotonic;
  }
  void RunUntil(Nanos instant) {
    while (monotonic < zero + instant) RunOneStep(50 * kNanosPerMicro);
  }
  // Of the interval that begins then.
  Report ReportOf(const std::string& event, int64_t start_ms) const {
    for (const Report& report : Reports()) {
      const bool is_it = report.start_ns == kBoot + zero + start_ms * kNanosPerMilli;
      if (is_it && report.event == event) return report;
    }
    return {};
  }
  Nanos zero = 0;
};

// The first change waits for an epoch of 10 ms, the second one for one of its own events, of 1 ms.
TEST(Agent, TakesNoChangeBeforeTheOneBeforeIt) {
  SlowSwitch still("*, sum(packets) >= 1, 10ms");
  still.RunUntil(1050 * kNanosPerMicro);
  still.Install({"*, sum(packets) >= 1000, 1ms"});
  still.RunUntil(1550 * kNanosPerMicro);
  still.Install({"*, sum(packets) < 9, 1ms"});
  still.RunUntil(5500 * kNanosPerMicro);
  still.Receive(still.threads[0], 3);
  still.RunUntil(11500 * kNanosPerMicro);
  still.Receive(still.threads[0], 4);
  still.RunUntil(14 * kNanosPerMilli);
  EXPECT_EQ(still.ReportOf("e3", 5).event, "") << "it does not count yet";
  EXPECT_EQ(still.ReportOf("e3", 11).value.integer(), 4);
  EXPECT_TRUE(still.ReportOf("e3", 11).is_complete());
}

// Threads end no epoch of the shorter kind before they run the program that has it.
TEST(Agent, HasPatienceForTheEpochsBeforeAChange) {
  SlowSwitch still("*, sum(packets) >= 1, 100ms");
  still.RunUntil(50050 * kNanosPerMicro);
  still.Receive(still.threads[0], 3);
  still.Install({"*, sum(packets) >= 1000, 1ms"});
  still.RunUntil(120 * kNanosPerMilli);
  EXPECT_EQ(still.ReportOf("e1", 0).value.integer(), 3);
  EXPECT_TRUE(still.ReportOf("e1", 0).is_complete());
}

TEST(Agent, SaysThatAThreadThatComesBeforeAChangeCountsFromThenOn) {
  SlowSwitch still("*, sum(packets) < 9, 1ms");
  still.RunUntil(1050 * kNanosPerMicro);
  still.Install({"*, sum(packets) >= 1000, 1ms"});
  still.RunOneStep(50 * kNanosPerMicro);
  still.AddThread(1);
  still.RunUntil(2500 * kNanosPerMicro);
  still.Receive(still.threads[0], 2);
  still.Receive(still.threads[1], 3);
  still.RunUntil(9500 * kNanosPerMicro);
  still.Receive(still.threads[1], 3);
  still.RunUntil(12 * kNanosPerMilli);
  EXPECT_FALSE(still.ReportOf("e1", 2).is_complete());
  EXPECT_EQ(still.ReportOf("e1", 9).value.integer(), 3);
  EXPECT_TRUE(still.ReportOf("e1", 9).is_complete());
}

TEST(Agent, KeepsCountingAnEventsReportsAcrossInterruptions) {
  RunningSwitch bench(1);
  bench.Receive(bench.threads[0], 1);
  bench.RunMs(20);
  bench.plugin.agent().SetEnabled(false);
  bench.RunMs(100);
  const auto reports = [&bench] { return bench.plugin.agent().Snapshot().events.at(0).reports; };
  EXPECT_EQ(reports(), 1u);
  bench.plugin.agent().SetEnabled(true);
  bench.RunMs(30);
  bench.Receive(bench.threads[0], 1);
  bench.RunMs(30);
  EXPECT_EQ(reports(), 2u);
}

TEST(Agent, LosesNoThreadThatComesWhileMemoryIsShort) {
  StillSwitch bench(3);
  const auto step = [&] { bench.plugin.agent().Step(); };
  for (uint64_t calls = 0; !testing::DoesWith(calls, step); ++calls) {
  }
  EXPECT_EQ(bench.plugin.agent().Snapshot().threads.size(), 3u);
}

// The second of two packets of one flow is part of a burst; zones make them two flows.
constexpr char kBursts[] = "*, sum(is_burst) >= 1, 10ms";

ConfigPairs Zoned() {
  ConfigPairs zoned = kOn;
  zoned.emplace_back("trumpet-zones", "vlan:5=1");
  return zoned;
}

bool ReportsABurstOfTwoVlans(StillSwitch* bench) {
  testing::UdpFrame plain(1, 2, 3, 4);
  std::array<uint8_t, 64> tagged{};
  std::copy(plain.bytes.begin(), plain.bytes.begin() + 12, tagged.begin());
  tagged[12] = 0x81;
  tagged[15] = 5;
  std::copy(plain.bytes.begin() + 12, plain.bytes.end(), tagged.begin() + 16);
  const trumpet_frame frames[] = {{plain.bytes.data(), 60, 60}, {tagged.data(), 64, 64}};
  uint32_t marks[2];
  EXPECT_FALSE(bench->threads[0]->OnReceive(frames, 2, 7, bench->monotonic / 1000, marks));
  bench->RunMs(20);
  return !bench->Reports().empty();
}

TEST(Agent, KeepsTenantsApartByZone) {
  RunningSwitch without(1, {kBursts});
  EXPECT_TRUE(ReportsABurstOfTwoVlans(&without));
  RunningSwitch zoned(1, {kBursts}, Zoned());
  EXPECT_FALSE(ReportsABurstOfTwoVlans(&zoned));
}

// --- memory that runs out ----------------------------------------------------

TEST(Agent, IsEnabledWhollyOrNotAtAll) {
  RunningSwitch bench(1);
  bench.plugin.agent().SetEnabled(false);
  bench.RunMs(50);
  const auto enable = [&] { bench.plugin.agent().SetEnabled(true); };
  for (uint64_t calls = 0; !testing::DoesWith(calls, enable); ++calls) {
    ASSERT_FALSE(bench.plugin.agent().Snapshot().is_enabled) << calls;
    bench.RunMs(1);
  }
  ExpectThatItCounts(&bench);
}

TEST(Agent, IsDisabledWithoutAnyMemory) {
  RunningSwitch bench(2);
  bench.Command("trumpet/slice-on", {"1", "60000", "*"});
  bool has_left = false;
  const auto disable = [&] { has_left = bench.plugin.agent().SetEnabled(false); };
  EXPECT_TRUE(testing::DoesWith(0, disable));
  EXPECT_TRUE(has_left);
  EXPECT_FALSE(bench.fake.is_attached());
}

// Nobody knows of it, so whatever the others count is not all.
TEST(Agent, ReportsAsIncompleteWhatAThreadWithoutMemoryMayHaveMissed) {
  const auto find = [](uint64_t calls, bool* is_known) {
    RunningSwitch bench(1);
    *is_known = testing::DoesWith(calls, [&] {
      bench.plugin.agent().AddThread({5, 0, true, nullptr});
    });
    bench.RunMs(100);
    bench.RunToBoundary();
    bench.Receive(bench.threads[0], 1);
    bench.RunMs(20);
    EXPECT_EQ(bench.plugin.agent().Snapshot().failed_monitors, *is_known ? 0u : 1u) << calls;
    return !bench.Reports().empty() && bench.Reports().back().is_complete();
  };
  bool is_known = false;
  for (uint64_t calls = 0; !is_known; ++calls) {
    const bool is_complete = find(calls, &is_known);
    EXPECT_TRUE(is_known || !is_complete) << calls;
  }
}

// Whether a round gets along with so many calls of operator new; else the monitor has given up.
bool StepsWith(uint64_t calls, StillSwitch* bench) {
  static_cast<void>(testing::DoesWith(calls, [&] { bench->plugin.agent().StepOrGiveUp(); }));
  return bench->plugin.agent().Snapshot().is_enabled;
}

// Has `change` taken in by a round in which memory runs out, at every place in turn and each time
// on another switch; then the monitor is enabled again, as the log advises.
template <typename Change, typename Check>
void RunOutOfMemory(const std::vector<std::string>& events, const Change& change,
                    const Check& check) {
  bool is_done = false;
  for (uint64_t calls = 0; !is_done && !::testing::Test::HasFailure(); ++calls) {
    RunningSwitch bench(1, events);
    change(&bench);
    is_done = StepsWith(calls, &bench);
    bench.plugin.agent().SetEnabled(true);
    bench.RunMs(20);
    bench.RunToBoundary();
    SCOPED_TRACE(calls);
    check(&bench);
  }
}

TEST(Agent, PutsPortsIntoTheirZonesOnceThereIsMemory) {
  RunOutOfMemory(
      {kBursts}, [](StillSwitch* bench) { bench->plugin.SetConfig(Zoned()); },
      [](StillSwitch* bench) { EXPECT_FALSE(ReportsABurstOfTwoVlans(bench)); });
}

TEST(Agent, CountsByThePlaceOfAddressesOnceThereIsMemory) {
  Trigger trigger;
  trigger.event = *ParseEventLine(kAllPackets, "test");
  trigger.event.name = "e";
  trigger.event.observe = Observe::kDestination;
  HostPlace place;
  place.monitored.prefixes = {*ParsePrefix("10.0.0.0/8")};
  const auto change = [&](StillSwitch* bench) {
    bench->plugin.events().SetControllerEvents(5, {{70, trigger}}, {10, 100}, 0);
    bench->RunMs(20);
    bench->plugin.agent().SetPlace(std::make_shared<const HostPlace>(place));
  };
  RunOutOfMemory({}, change, [](StillSwitch* bench) {
    bench->Receive(bench->threads[0], 1);
    bench->RunMs(20);
    EXPECT_TRUE(bench->Reports().empty()) << "it is counted where it goes";
  });
}

}  // namespace
}  // namespace trumpet
