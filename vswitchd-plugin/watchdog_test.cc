// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The watchdog over the steps, through the whole plug-in (docs/adr/0006).

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "lib/model/report.h"
#include "vswitchd-plugin/fake_switch_test.h"

namespace trumpet {
namespace {

using nlohmann::json;
using testing::StillSwitch;

constexpr Nanos kWild = 60 * kNanosPerMicro;

class Watchdog : public ::testing::Test {
 protected:
  Watchdog() : bench_(2) {
    bench_.plugin.SetConfig(kOn);
    bench_.Install({"*, sum(packets) >= 1, 10ms"});
    bench_.RunMs(50);
    bench_.RunToBoundary();
    bench_.fake.TakeLog();
  }

  // Each look at the clock takes longer than ten budgets: so does each step.
  void RunWild(Nanos ms) {
    bench_.clock.per_look = kWild;
    bench_.RunMs(ms);
    bench_.clock.per_look = 0;
  }
  json Status() { return json::parse(bench_.Command("trumpet/status", {"json"})); }
  uint64_t Packets() { return Status()["threads"][0]["counters"]["packets"]; }

  const ConfigPairs kOn{{"trumpet-enable", "true"}, {"trumpet-memory-mb", "4"}};
  StillSwitch bench_;
};

TEST_F(Watchdog, SwitchesTheMonitorOffAndSaysWhy) {
  RunWild(100);
  EXPECT_FALSE(bench_.fake.is_attached());
  const std::string log = bench_.fake.TakeLogText();
  EXPECT_EQ(log.rfind("warning: switched off by the watchdog: steps on the PMD thread on core ", 0),
            0u)
      << log;
  EXPECT_NE(log.find(" us within a second, with trumpet-sweep-budget-us 5 and "
                     "trumpet-watchdog-factor 10; switching goes on; "),
            std::string::npos)
      << log;
  EXPECT_EQ(log.find("warning", 1), std::string::npos) << "once is enough: " << log;

  const json status = Status();
  EXPECT_EQ(status["state"], "off: watchdog");
  EXPECT_EQ(status["enabled"], false);
  const Nanos since = status["watchdog"]["since_ns"];
  EXPECT_LE(since, StillSwitch::kBoot + bench_.monotonic);
  EXPECT_GT(since, StillSwitch::kBoot + bench_.monotonic - 100 * kNanosPerMilli);
  ASSERT_EQ(status["watchdog"]["step_ns"].size(), 3u);
  for (const Nanos step : status["watchdog"]["step_ns"]) EXPECT_GE(step, kWild);
  const std::string text = bench_.Command("trumpet/status");
  EXPECT_EQ(text.rfind("state:       off: watchdog, since 2023-11-14T22:13:2", 0), 0u) << text;
}

TEST_F(Watchdog, ClosesTheHooksWithoutWaitingForTheAgent) {
  bench_.threads_are_idle = false;
  ThreadMonitor* const thread = bench_.threads[0];
  bench_.clock.per_look = kWild;
  const Nanos start = bench_.monotonic;
  int packets_seen = 0;
  for (int round = 0; round < 5; round++) {
    bench_.monotonic = start + round * 10 * kNanosPerMilli;
    const uint64_t before = Packets();
    bench_.Receive(thread, 1);  // ends an epoch, and goes on with its sweep
    packets_seen += static_cast<int>(Packets() - before);
    thread->OnIdle(bench_.monotonic / 1000);
  }
  EXPECT_GE(packets_seen, 1);
  EXPECT_LT(packets_seen, 4);
  EXPECT_TRUE(bench_.fake.is_attached()) << "the agent did not have its turn yet";
  const uint64_t before = Packets();
  for (ThreadMonitor* each : bench_.threads) bench_.Receive(each, 10);
  EXPECT_EQ(Packets(), before);
  EXPECT_EQ(Status()["threads"][1]["counters"]["packets"], 0) << "the other thread's, too";
}

TEST_F(Watchdog, StaysOffUntilAnAdministratorSaysOtherwise) {
  RunWild(100);
  bench_.plugin.SetConfig(kOn);
  ConfigPairs more = kOn;
  more.emplace_back("trumpet-max-buckets", "7");
  bench_.plugin.SetConfig(more);
  bench_.RunMs(3000);
  EXPECT_FALSE(bench_.fake.is_attached());
  EXPECT_EQ(Status()["state"], "off: watchdog");

  bench_.Command("trumpet/enable");
  bench_.RunMs(50);
  EXPECT_TRUE(bench_.fake.is_attached());
  EXPECT_EQ(Status()["state"], "running");
  EXPECT_TRUE(Status()["watchdog"].is_null());
  bench_.RunToBoundary();
  const size_t reports = bench_.Reports().size();
  bench_.Receive(bench_.threads[0], 3);
  bench_.RunMs(20);
  ASSERT_EQ(bench_.Reports().size(), reports + 1);
  EXPECT_TRUE(bench_.Reports().back().is_complete());
  RunWild(100);
  EXPECT_EQ(Status()["state"], "off: watchdog") << "it watches again";
}

TEST_F(Watchdog, IsAnsweredByTogglingTheSettingToo) {
  RunWild(100);
  bench_.plugin.SetConfig({{"trumpet-enable", "false"}, {"trumpet-memory-mb", "4"}});
  bench_.plugin.SetConfig(kOn);
  bench_.RunMs(50);
  EXPECT_EQ(Status()["state"], "running");
}

TEST_F(Watchdog, LeavesTheIntervalsItCutIncomplete) {
  bench_.Receive(bench_.threads[0], 5);
  bench_.RunMs(10);
  ASSERT_EQ(bench_.Reports().size(), 1u);
  bench_.threads_are_idle = false;  // so that the steps come with packets
  bench_.clock.per_look = kWild;
  for (int i = 0; i < 20 && bench_.fake.is_attached(); i++) {
    bench_.RunMs(10);
    bench_.Receive(bench_.threads[0], 1);
  }
  bench_.RunMs(1);
  ASSERT_FALSE(bench_.fake.is_attached());
  bench_.RunMs(50);
  EXPECT_NE(bench_.Reports().back().incomplete_reasons & kMonitorInterrupted, 0u);
}

// PMD threads poll: what comes between their calls is the machine's, or the switch's.
TEST_F(Watchdog, IsQuietWhenTheMachinePausesOutsideTheStepsAsOften) {
  for (const bool machine_pauses : {true, false}) {
    bench_.threads_poll = machine_pauses;
    bench_.plugin.SetConfig({{"trumpet-enable", "true"},
                             {"trumpet-memory-mb", "4"},
                             {"trumpet-burst-gap-ns", machine_pauses ? "1" : "2"}});
    bench_.RunMs(50);
    bench_.clock.per_look = kWild;
    for (int i = 0; i < 1000; i++) {
      bench_.clock.Pass(100 * kNanosPerMicro);
      bench_.Run(100 * kNanosPerMicro);
    }
    bench_.clock.per_look = 0;
    EXPECT_EQ(Status()["state"], machine_pauses ? "running" : "off: watchdog");
  }
}

TEST_F(Watchdog, IsSwitchedOffByTheFactor) {
  ConfigPairs without = kOn;
  without.emplace_back("trumpet-watchdog-factor", "0");
  bench_.plugin.SetConfig(without);
  bench_.RunMs(50);
  RunWild(1000);
  EXPECT_EQ(Status()["state"], "running");
  bench_.plugin.SetConfig(kOn);
  bench_.RunMs(50);
  RunWild(100);
  EXPECT_EQ(Status()["state"], "off: watchdog");
}

TEST_F(Watchdog, IsQuietWhenTheThreadWasPreempted) {
  class Preempted : public StepClock {
   public:
    uint64_t Ticks() const override { return static_cast<uint64_t>(now += kWild); }
    double ticks_per_nano() const override { return 1.0; }
    Nanos ThreadCpuNs() const override { return now / 100; }
    mutable Nanos now = 0;
  };
  const Preempted clock;
  bench_.step_clock = &clock;
  bench_.plugin.SetConfig({{"trumpet-enable", "true"},
                           {"trumpet-memory-mb", "4"},
                           {"trumpet-burst-gap-ns", "1"}});  // makes new monitors
  bench_.RunMs(1000);
  EXPECT_EQ(Status()["state"], "running");
  const json perf = json::parse(bench_.Command("trumpet/perf-show", {"json"}));
  EXPECT_GT(perf["threads"][0]["steps"]["over_limit"], 50);
}

}  // namespace
}  // namespace trumpet
