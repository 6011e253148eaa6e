// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/tem/network_verdicts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "controller/tem/port_network_test.h"

namespace trumpet {
namespace {

using namespace kit;

TEST(NetworkVerdicts, FiresOnWhatNoHostSeesAlone) {
  Network network(3);
  for (uint32_t host = 0; host < 3; ++host) network.Volume(host, 0, 80, 4);
  for (uint32_t host = 0; host < 3; ++host) network.End(host, 10);
  EXPECT_EQ(network.At(11), (Lines{"80@0 12"}));
  const NetworkReport& report = network.output.reports[0];
  EXPECT_EQ(report.host_count, 3u);
  ASSERT_EQ(report.hosts.size(), 3u);
  EXPECT_EQ(report.hosts[0].value.ToString(), "4");
  EXPECT_EQ(report.report.detected_ns, Ms(11));
}

TEST(NetworkVerdicts, NamesWhoShouldCountAndDoesNotYet) {
  Network network(1);
  const uint32_t late = *network.verdicts.AddHost("late");
  network.verdicts.Await(kEvent, late, 0);
  for (const int64_t ms : {0, 10, 20, 30}) network.Volume(0, ms, 80, 12);
  network.End(0, 10);
  EXPECT_EQ(network.At(11), (Lines{"80@0 12 -late [\"host-silent\"]"})) << "nobody waits for it";
  EXPECT_EQ(network.counters().intervals_incomplete, 1u);
  network.verdicts.Join(kEvent, late, Ms(25));
  network.End(0, 40);
  network.End(late, 40);
  EXPECT_EQ(network.At(40), (Lines{"80@10 12 -late [\"host-silent\"]",
                                   "80@20 12 [\"monitor-interrupted\"]", "80@30 12"}));
}

// As when the controller has begun anew: the host's program did not change, so that it answers
// after it has told of an interval that it counted all the same.
TEST(NetworkVerdicts, MarkWhatAHostTellsThatSaysLaterThatItCountedIt) {
  for (const bool ends_first : {false, true}) {
    Network network(1);
    const uint32_t late = *network.verdicts.AddHost("late");
    network.verdicts.Await(kEvent, late, 0);
    network.Volume(0, 0, 80, 12);
    network.Volume(late, 0, 80, 8);
    if (ends_first) network.End(late, 10);
    network.verdicts.Join(kEvent, late, Ms(-500));
    if (!ends_first) network.End(late, 10);
    EXPECT_EQ(network.At(10), Lines{});
    network.End(0, 10);
    EXPECT_EQ(network.At(10), (Lines{"80@0 12 [\"monitor-interrupted\"]"}));
    EXPECT_EQ(network.counters().strangers, 1u);
  }
}

TEST(NetworkVerdicts, MarkWhatCameBeforeAnybodyAskedForIt) {
  Network network(1);
  const uint32_t late = *network.verdicts.AddHost("late");
  for (const int64_t ms : {0, 10}) network.Volume(0, ms, 80, 12);
  network.Volume(late, 0, 80, 8);
  network.verdicts.Await(kEvent, late, 0);
  network.verdicts.Join(kEvent, late, Ms(-500));
  for (const uint32_t host : {0u, late}) network.End(host, 20);
  EXPECT_EQ(network.At(20), (Lines{"80@0 12 [\"monitor-interrupted\"]", "80@10 12"}));
  EXPECT_EQ(network.counters().strangers, 1u);
}

// Its host is ahead, told of the interval to the life before, and does not begin anew.
TEST(NetworkVerdicts, MarkWhatWasToldToAnotherLifeOfTheEvent) {
  for (const bool has_ended : {false, true}) {
    Network network(2);
    for (const int64_t ms : {0, 10}) network.Volume(1, ms, 80, 12);
    if (has_ended) network.verdicts.EndUntil(1, Ms(20), Ms(18));
    network.verdicts.Uninstall(kEvent, Ms(18));
    ASSERT_TRUE(network.verdicts.Install(network.plan, Ms(18), {}, &network.output).ok());
    for (const uint32_t host : {0, 1}) network.verdicts.Join(kEvent, host, 0);
    for (const int64_t ms : {10, 20}) network.Volume(0, ms, 80, 12);
    for (const uint32_t host : {0, 1}) network.End(host, 30);
    EXPECT_EQ(network.At(30), (Lines{"80@10 12 [\"monitor-interrupted\"]", "80@20 12"}));
  }
}

TEST(NetworkVerdicts, NamesNobodyWhoNeedNotCountAnyMore) {
  Network network(1);
  const uint32_t late = *network.verdicts.AddHost("late");
  network.verdicts.Await(kEvent, late, 0);
  for (const int64_t ms : {0, 10}) network.Volume(0, ms, 80, 12);
  network.verdicts.Forgo(kEvent, late, Ms(10));
  network.End(0, 20);
  EXPECT_EQ(network.At(20), (Lines{"80@0 12 -late [\"host-silent\"]", "80@10 12"}));
  network.verdicts.RemoveHost(late, Ms(20), &network.output);
  network.At(2000);
  EXPECT_EQ(network.verdicts.host_count(), 1u);
}

TEST(NetworkVerdicts, WaitsForNoMonitorThatIsOff) {
  Network network(2);
  for (const int64_t ms : {0, 10, 20}) network.Volume(0, ms, 80, 12);
  network.Volume(1, 0, 80, 3);
  network.End(1, 10);
  network.verdicts.SetOff(1, Ms(10));
  network.End(0, 20);
  EXPECT_EQ(network.At(20), (Lines{"80@0 15", "80@10 12 [\"monitor-interrupted\"]"}));
  EXPECT_EQ(network.output.reports[1].off_hosts, std::vector<std::string>{"b"});
  network.verdicts.SetOff(1, INT64_MAX);
  network.End(0, 30);
  EXPECT_EQ(network.At(30), Lines{}) << "it is on again, and owes";
  network.End(1, 30);
  EXPECT_EQ(network.At(30), (Lines{"80@20 12"}));
}

// Nobody tells when what is not counted is over, so the clock does.
TEST(NetworkVerdicts, DecideNoIntervalBeforeItsEndWhenAllMonitorsAreOff) {
  Network network(1);
  network.End(0, 10);
  network.verdicts.SetOff(0, Ms(10));
  EXPECT_EQ(network.At(100), Lines{});
  EXPECT_EQ(network.verdicts.Find(kEvent)->NextStart(), Ms(100));
  network.verdicts.SetOff(0, INT64_MAX);
  network.Volume(0, 120, 80, 12);
  network.End(0, 130);
  EXPECT_EQ(network.At(130), (Lines{"80@120 12"}));
  EXPECT_EQ(network.counters().late_partials, 0u);
}

TEST(NetworkVerdicts, TellsNothingOfTheFutureWhenAllMonitorsAreOff) {
  NetworkVerdicts verdicts(NetworkOptions{});
  NetworkOutput output;
  const uint32_t host = *verdicts.AddHost("a");
  const Expr predicate = Op(Sum(Variable::kPackets), ExprOp::kLess, Num(5));
  ASSERT_TRUE(verdicts.Install(Plan(Event(kEvent, predicate, {})), 0, {}).ok());
  verdicts.Join(kEvent, host, 0);
  verdicts.EndUntil(host, Ms(10), Ms(10));
  verdicts.SetOff(host, Ms(10));
  verdicts.Advance(Ms(11), SIZE_MAX, &output);
  ASSERT_EQ(output.reports.size(), 1u);
  EXPECT_EQ(output.reports[0].report.end_ns, Ms(10));
}

TEST(NetworkVerdicts, DecidesNothingBeforeItIsPlaced) {
  NetworkEventOptions options;
  options.waits_to_be_placed = true;
  Network network(1, options);
  network.Volume(0, 0, 80, 12);
  network.End(0, 10);
  EXPECT_EQ(network.verdicts.NextDue(), INT64_MAX);
  EXPECT_EQ(network.At(15), Lines{});
  network.verdicts.Placed(kEvent);
  EXPECT_EQ(network.At(15), (Lines{"80@0 12"}));
}

TEST(NetworkVerdicts, WaitsForTheLastHostAndNoLonger) {
  Network network(2);
  network.Volume(0, 0, 80, 12);
  network.End(0, 10);
  EXPECT_EQ(network.At(15), Lines{});
  network.Volume(1, 0, 80, 3);
  network.End(1, 10);
  EXPECT_EQ(network.At(15), (Lines{"80@0 15"}));
}

TEST(NetworkVerdicts, NamesTheHostThatIsSilentAtTheDeadline) {
  Network network(2);
  network.Volume(0, 0, 80, 12);
  network.End(0, 10);
  EXPECT_EQ(network.verdicts.NextDue(), Ms(20));
  EXPECT_EQ(network.At(20), (Lines{"80@0 12 -b [\"host-silent\"]"}));
  network.Volume(1, 0, 80, 3);
  EXPECT_EQ(network.counters().late_partials, 1u);
  EXPECT_EQ(network.counters().intervals_incomplete, 1u);
}

// Events in which nothing waits are not looked at for each interval; nobody may see that.
TEST(NetworkVerdicts, CatchesUpWithQuietIntervalsBeforeTakingAnythingIn) {
  Network network(2);
  network.End(0, 10);
  network.End(1, 10);
  EXPECT_EQ(network.At(10), Lines{});
  network.End(0, 800);
  network.End(1, 800);
  EXPECT_EQ(network.At(800), Lines{});
  network.Volume(0, 790, 80, 12);
  EXPECT_EQ(network.counters().late_partials, 1u) << "both have ended that interval";
  network.Volume(0, 800, 80, 12);
  network.End(0, 810);
  EXPECT_EQ(network.At(810), Lines{});
  EXPECT_EQ(network.counters().intervals_decided, 80u);
  network.End(1, 810);
  EXPECT_EQ(network.At(810), (Lines{"80@800 12"}));
  EXPECT_EQ(network.counters().intervals_incomplete, 0u);
  // One is silent: at their deadlines intervals are over.
  network.End(0, 1800);
  EXPECT_EQ(network.At(1800), (Lines{"80@810 null clear -b [\"host-silent\"]"}));
  network.Volume(1, 1700, 80, 12);
  EXPECT_EQ(network.counters().late_partials, 2u);
  network.Volume(1, 1790, 80, 12);
  EXPECT_EQ(network.At(1810), (Lines{"80@1790 12 -b [\"host-silent\"]"}));
}

// The twin is looked at after each interval, the other one when it says so.  (Whoever comes again
// is a new member once the old one has been forgotten, which is when somebody looks.)
TEST(NetworkVerdicts, DecidesAlikeWhenItIsLookedAtOnlyWhenDue) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    std::mt19937_64 random(seed);
    Network twin(3);
    Network seldom(3);
    Lines wanted;
    Lines lines;
    bool has_left[3] = {};
    const auto look = [](int64_t ms, Network* network, Lines* into) {
      for (std::string& line : network->At(ms)) into->push_back(std::move(line));
    };
    for (int64_t ms = 0; ms < 1000; ms += 10) {
      const auto host = static_cast<uint32_t>(random() % 3);
      const Nanos instant = Ms(ms + static_cast<int64_t>(random() % 30));
      const auto what = random() % 24;
      const bool has_packets = random() % 10 == 0;
      const bool may_join = !has_left[host];
      has_left[host] |= what == 0 || what == 3;
      for (Network* const network : {&twin, &seldom}) {
        NetworkVerdicts& verdicts = network->verdicts;
        if (what == 0) verdicts.Leave(kEvent, host, instant, &network->output);
        if (what == 1 && may_join) verdicts.Join(kEvent, host, instant);
        if (what == 2 && may_join) verdicts.Await(kEvent, host, instant);
        if (what == 3) verdicts.Forgo(kEvent, host, instant);
        if (has_packets) network->Volume(host, ms, 80, 12);
        for (const uint32_t each : {0, 1, 2}) {
          if (what != 4 || each != host) network->End(each, ms + 10);
        }
      }
      look(ms + 10, &twin, &wanted);
      if (seldom.verdicts.NextDue() <= Ms(ms + 10)) look(ms + 10, &seldom, &lines);
    }
    look(3000, &twin, &wanted);
    look(3000, &seldom, &lines);
    ASSERT_EQ(lines, wanted) << "seed " << seed;
    ASSERT_EQ(seldom.counters().intervals_decided, twin.counters().intervals_decided)
        << "seed " << seed;
    ASSERT_EQ(seldom.counters().strangers, twin.counters().strangers) << "seed " << seed;
  }
}

// In one network hosts have joined from the start, in the other they say so somewhere between what
// they tell, as long as somebody is waited for.
TEST(NetworkVerdicts, SayWhatIsMissingHoweverLateHostsSayThatTheyHaveCounted) {
  NetworkEventOptions options;
  options.deadline_ns = Ms(1000);
  int marked = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    std::mt19937_64 random(seed);
    Network early(3, options);
    Network late(1, options);
    for (const uint32_t host : {1, 2}) {
      EXPECT_EQ(*late.verdicts.AddHost(host == 1 ? "b" : "c"), host);
      late.verdicts.Await(kEvent, host, 0);
    }
    const auto join = [&](uint32_t host) {
      if (!late.verdicts.Find(kEvent)->HasJoined(host)) late.verdicts.Join(kEvent, host, Ms(-5));
    };
    const auto intervals = static_cast<int64_t>(1 + random() % 8);
    for (int64_t ms = 0; ms < 10 * intervals; ms += 10) {
      for (const uint32_t host : {1, 2, 1, 2}) {
        const auto port = static_cast<uint32_t>(random() % 3);
        const auto volume = static_cast<int64_t>(random() % 12);
        for (Network* const network : {&early, &late}) {
          if (volume > 2) network->Volume(host, ms, port, volume);
        }
        if (random() % 20 == 0) join(host);
      }
      for (const uint32_t host : {1, 2}) {
        for (Network* const network : {&early, &late}) network->End(host, ms + 10);
      }
      EXPECT_EQ(early.At(ms + 10), Lines{});
      EXPECT_EQ(late.At(ms + 10), Lines{});
    }
    for (const uint32_t host : {1, 2}) join(host);
    for (Network* const network : {&early, &late}) network->End(0, 10 * intervals);
    const Lines all = early.At(10 * intervals);
    for (const std::string& line : late.At(10 * intervals)) {
      const bool is_marked = line.find("monitor-interrupted") != std::string::npos;
      EXPECT_NE(is_marked, std::count(all.begin(), all.end(), line) == 1) << line << ", " << seed;
      marked += is_marked ? 1 : 0;
    }
  }
  EXPECT_GT(marked, 0);
}

TEST(NetworkVerdicts, MergesWhatASilentHostHadSaidInTime) {
  Network network(2);
  network.Volume(0, 0, 80, 8);
  network.End(0, 10);
  network.Volume(1, 0, 80, 4);  // and no end
  EXPECT_EQ(network.At(20), (Lines{"80@0 12 -b [\"host-silent\"]"}));
}

TEST(NetworkVerdicts, TheDeadlineIsTheEvents) {
  NetworkEventOptions options;
  options.deadline_ns = Ms(3);
  Network network(2, options);
  network.Volume(0, 0, 80, 12);
  network.End(0, 10);
  EXPECT_EQ(network.At(12), Lines{});
  EXPECT_EQ(network.At(13).size(), 1u);
}

TEST(NetworkVerdicts, ARepeatedWordReplacesTheFirst) {
  Network network(1);
  network.Volume(0, 0, 80, 12);
  network.Volume(0, 0, 80, 11);
  network.End(0, 10);
  EXPECT_EQ(network.At(10), (Lines{"80@0 11"}));
  EXPECT_EQ(network.counters().replaced_partials, 1u);
}

TEST(NetworkVerdicts, AHostThatJoinsInMidIntervalMarksIt) {
  Network network(1);
  const uint32_t host = *network.verdicts.AddHost("late");
  network.verdicts.Join(kEvent, host, Ms(15));
  for (const int64_t ms : {0, 10, 20}) network.Volume(0, ms, 80, 11);
  network.End(0, 30);
  network.End(host, 30);
  EXPECT_EQ(network.At(30), (Lines{"80@0 11", "80@10 11 [\"monitor-interrupted\"]", "80@20 11"}));
}

TEST(NetworkVerdicts, AHostThatHasLeftIsNotWaitedFor) {
  Network network(2);
  network.verdicts.Leave(kEvent, 1, Ms(10), &network.output);
  network.Volume(0, 10, 80, 11);
  network.End(0, 20);
  network.End(1, 10);
  EXPECT_EQ(network.At(20), (Lines{"80@10 11"}));
}

TEST(NetworkVerdicts, AHostThatBeginsAnewMarksWhatItLost) {
  Network network(1);
  network.End(0, 10);
  network.At(10);
  network.verdicts.Join(kEvent, 0, Ms(25));
  network.Volume(0, 10, 80, 11);
  network.Volume(0, 30, 80, 11);
  network.End(0, 40);
  EXPECT_EQ(network.At(40), (Lines{"80@10 11 [\"monitor-interrupted\"]",
                                   "80@20 null clear [\"monitor-interrupted\"]", "80@30 11"}));
}

TEST(NetworkVerdicts, TheReportBearsTheWorstSkew) {
  Network network(2);
  network.verdicts.SetSkew(0, 100);
  network.verdicts.SetSkew(1, 300);
  network.Volume(0, 0, 80, 11);
  for (uint32_t host = 0; host < 2; ++host) network.End(host, 10);
  ASSERT_EQ(network.At(10).size(), 1u);
  EXPECT_EQ(network.output.reports[0].skew_bound_ns, 300);
}

TEST(NetworkVerdicts, TheReasonsOfAHostAreThoseOfTheReportAndOfItsShare) {
  Network network(2);
  for (uint32_t host = 0; host < 2; ++host) network.Volume(host, 0, 80, 11);
  network.verdicts.AddIncomplete(1, Ms(5), Ms(6), kRingFull, 0);
  for (uint32_t host = 0; host < 2; ++host) network.End(host, 10);
  EXPECT_EQ(network.At(10), (Lines{"80@0 22 [\"ring-full\"]"}));
  const NetworkReport& report = network.output.reports[0];
  EXPECT_EQ(report.hosts[0].incomplete_reasons, 0u);
  EXPECT_EQ(report.hosts[1].incomplete_reasons, static_cast<uint32_t>(kRingFull));
}

TEST(NetworkVerdicts, MarkWhatAHostHasDroppedSinceItsLastEnd) {
  Network network(1);
  for (const int64_t ms : {0, 10, 20}) network.Volume(0, ms, 80, 12);
  network.End(0, 10);
  network.verdicts.AddDropped(0, Ms(20), Ms(20));
  for (const int64_t ms : {20, 30}) network.End(0, ms);
  EXPECT_EQ(network.At(30), (Lines{"80@0 12", "80@10 12 [\"ring-full\"]", "80@20 12"}));
  // Its clock is ahead for a moment: who knows what it meant by its last end.
  network.verdicts.EndUntil(0, Ms(3600 * 1000), Ms(30));
  network.Volume(0, 30, 80, 12);
  network.verdicts.AddDropped(0, Ms(40), Ms(40));
  EXPECT_EQ(network.At(40), (Lines{"80@30 12 [\"ring-full\"]", "80@40 null clear"}));
}

TEST(NetworkVerdicts, ReportsBeyondTheRateAreCountedInTheNext) {
  NetworkEventOptions options;
  options.reports_per_second = 10;
  Network network(1, options);
  for (const uint32_t port : {1, 2, 3}) network.Volume(0, 0, port, 11);
  network.End(0, 10);
  EXPECT_EQ(network.At(10), (Lines{"1@0 11"}));
  network.Volume(0, 200, 9, 11);
  network.End(0, 210);
  EXPECT_EQ(network.At(210), (Lines{"1@10 null clear", "9@200 11"}));
  EXPECT_EQ(network.output.reports[0].suppressed, 2u);
  EXPECT_EQ(network.output.reports[1].suppressed, 0u);
  EXPECT_EQ(network.counters().reports_suppressed, 2u);
}

TEST(NetworkVerdicts, ListsOfHostsAreBounded) {
  NetworkOptions options;
  options.limits.max_hosts_per_report = 2;
  options.limits.max_silent_per_report = 1;
  Network network(6, {}, options);
  for (uint32_t host = 0; host < 4; ++host) network.Volume(host, 0, 80, 11);
  for (uint32_t host = 0; host < 4; ++host) network.End(host, 10);
  EXPECT_EQ(network.At(20), (Lines{"80@0 44 -e [\"host-silent\"]"}));
  const NetworkReport& report = network.output.reports[0];
  EXPECT_EQ(report.hosts.size(), 2u);
  EXPECT_EQ(report.hosts_omitted, 2u);
  EXPECT_EQ(report.silent_omitted, 1u);
}

TEST(NetworkVerdicts, WhatDoesNotFitIsCountedAndMarked) {
  NetworkEventOptions options;
  options.max_waiting_bytes = 400;
  Network network(1, options);
  for (uint32_t port = 1; port <= 20; ++port) network.Volume(0, 0, port, 11);
  network.End(0, 10);
  const Lines lines = network.At(10);
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines[0], "1@0 11 [\"bucket-evicted\"]");
  EXPECT_EQ(lines.size() + network.counters().refused_partials, 20u);
  network.Volume(0, 10, 1, 11);
  EXPECT_EQ(network.counters().refused_partials, 20u - lines.size());  // there is room again
}

TEST(NetworkVerdicts, WhatAHostToldAheadBeforeItLeftTakesNoRoom) {
  Network network(2);
  for (const int64_t ms : {20, 30, 40}) {
    for (uint32_t port = 1; port <= 20; ++port) network.Volume(1, ms, port, 11);
  }
  network.Volume(0, 30, 1, 11);
  const size_t before = network.verdicts.budget().bytes;
  network.verdicts.Leave(kEvent, 1, Ms(10), &network.output);
  for (uint32_t host = 0; host < 2; ++host) network.End(host, 10);
  network.At(10);
  EXPECT_EQ(network.verdicts.budget().bytes * 61, before) << "one host's are left";
  network.End(0, 40);
  EXPECT_EQ(network.At(40), (Lines{"1@30 11"}));
  EXPECT_EQ(network.verdicts.budget().bytes, 0u);
}

// What hosts tell of thousands of connections, many times a second.
TEST(NetworkVerdicts, FlowStatesCostNoMoreForEventsThatDoNotReadThem) {
  const auto take = [](uint32_t others) {
    NetworkVerdicts verdicts(NetworkOptions{});
    const uint32_t host = *verdicts.AddHost("a");
    const Expr seq = Op(Var(Variable::kSeq), ExprOp::kGreater, Num(10));
    const Expr volume = Op(Sum(Variable::kVolume), ExprOp::kGreater, Num(10));
    for (uint32_t id = 1; id <= others + 1; ++id) {
      EXPECT_TRUE(verdicts.Install(Plan(Event(id, id == 1 ? seq : volume, ByFlow())), 0, {}).ok());
      verdicts.Join(id, host, 0);
    }
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 2000; ++i) {
      verdicts.Add(host, FlowStateUpdate{Flow(static_cast<uint8_t>(i)), FlowState(), 0, Ms(10)});
    }
    return std::chrono::steady_clock::now() - begin;
  };
  auto alone = take(0);
  auto among_many = take(4000);
  for (int again = 0; again < 2; ++again) {
    alone = std::min(alone, take(0));
    among_many = std::min(among_many, take(4000));
  }
  EXPECT_LT(among_many, 20 * alone);
}

TEST(NetworkVerdicts, FlowStatesThatDoNotFitAreCountedAndMarkTheirInterval) {
  constexpr uint8_t kFlows = 20;
  NetworkOptions options;
  options.budget.max_bytes = 1024 + kFlows * FlowStateMap::kBytesPerQueued;
  NetworkVerdicts verdicts(options);
  NetworkOutput output;
  const uint32_t host = *verdicts.AddHost("a");
  const Expr predicate = Op(Op(Var(Variable::kSeq), ExprOp::kGreater, Num(10)), ExprOp::kOr,
                            Op(Sum(Variable::kVolume), ExprOp::kGreater, Num(10)));
  for (const uint32_t id : {1u, 2u}) {
    ASSERT_TRUE(verdicts.Install(Plan(Event(id, predicate, ByFlow())), 0, {}).ok());
    verdicts.Join(id, host, 0);
  }
  const TriggerPlan& plan = verdicts.Find(1)->plan();
  const auto words = CellsOf(plan, Values{{Variable::kPackets, 1}, {Variable::kVolume, 11}});
  const std::string key = FlowBucket(1);
  for (const int64_t ms : {10, 20}) {
    verdicts.Add(host, PartialOf(1, Ms(ms), Ms(ms + 10), key, words), words.size());
  }
  for (uint8_t flow = 0; flow < kFlows; ++flow) {
    verdicts.Add(host, FlowStateUpdate{Flow(flow), FlowState(), Ms(20), Ms(30)});
  }
  EXPECT_GE(verdicts.counters().refused_flow_states, kFlows - 1024 / FlowStateMap::kBytesPerQueued);
  EXPECT_LE(verdicts.budget().bytes, options.budget.max_bytes) << "of both events together";
  verdicts.EndUntil(host, Ms(30), Ms(30));
  verdicts.Advance(Ms(30), SIZE_MAX, &output);
  ASSERT_EQ(output.reports.size(), 2u);
  EXPECT_TRUE(output.reports[0].report.is_complete());
  EXPECT_EQ(output.reports[1].report.incomplete_reasons, uint32_t{kConnectionEvicted});
  EXPECT_EQ(verdicts.budget().bytes, 0u);
}

TEST(NetworkVerdicts, TooFarAheadIsDroppedAndMarksItsInterval) {
  NetworkOptions options;
  options.limits.max_ahead_intervals = 4;
  Network network(2, {}, options);
  network.Volume(0, 40, 80, 11);
  EXPECT_EQ(network.counters().early_partials, 1u);
  network.Volume(1, 30, 80, 11);
  for (const int64_t ms : {10, 20, 30, 40}) {
    for (uint32_t host = 0; host < 2; ++host) network.End(host, ms);
    network.At(ms);
  }
  network.Volume(1, 40, 80, 11);
  for (uint32_t host = 0; host < 2; ++host) network.End(host, 50);
  EXPECT_EQ(network.At(50), (Lines{"80@40 11 [\"bucket-evicted\"]"}));
}

TEST(NetworkVerdicts, NonsenseIsCountedAndHurtsNobody) {
  Network network(1);
  const uint64_t word = 1;
  PartialView garbage;
  garbage.event_id = kEvent;
  garbage.bucket_key = "no key of this event, whatever it is";
  garbage.words = &word;
  network.verdicts.Add(0, garbage, 1);
  network.verdicts.Add(0, garbage, network.plan->word_count);
  EXPECT_EQ(network.counters().malformed, 2u);
  network.verdicts.Add(99, garbage, 1);
  garbage.event_id = 77;
  network.verdicts.Add(0, garbage, 1);
  EXPECT_EQ(network.verdicts.unknown_events(), 2u);
  network.verdicts.EndUntil(0, INT64_MAX, 0);  // capped, or time would run out here
  network.Volume(0, 2000, 80, 11);
  EXPECT_EQ(network.At(0), Lines{});
  EXPECT_LE(network.verdicts.Find(kEvent)->NextStart(), Ms(1000));
}

TEST(NetworkVerdicts, OnlyMembersAreHeard) {
  Network network(1);
  const uint32_t stranger = *network.verdicts.AddHost("stranger");
  network.Volume(stranger, 0, 80, 50);
  network.End(0, 10);
  EXPECT_EQ(network.At(10), Lines{});
  EXPECT_EQ(network.counters().strangers, 1u);
}

TEST(NetworkVerdicts, QuietNetworksSkipToTheirNextPacket) {
  Network network(1);
  network.Volume(0, 0, 80, 11);
  network.End(0, 10);
  network.At(10);
  EXPECT_EQ(network.At(3600 * 1000), (Lines{"80@10 null clear -a [\"host-silent\"]"}));
  EXPECT_GT(network.counters().intervals_decided, 300000u);
}

// Looks are bounded by members: many quiet events on a thousand hosts wait longer for their turn,
// and each gets it.
TEST(NetworkVerdicts, QuietEventsShareABoundOfLooksAtMembers) {
  constexpr uint32_t kEvents = 2000;  // 41 in a slice; 17 of them have 17,000 members
  constexpr size_t kHosts = 1000;
  NetworkOptions limits;
  limits.max_hosts = kHosts;
  NetworkVerdicts verdicts(limits);
  NetworkOutput output;
  for (uint32_t id = 1; id <= kEvents; ++id) {
    const auto plan =
        Plan(Event(id, Op(Sum(Variable::kVolume), ExprOp::kGreater, Num(10)), ByPort()));
    ASSERT_TRUE(verdicts.Install(plan, 0, NetworkEventOptions()).ok());
  }
  for (size_t i = 0; i < kHosts; ++i) {
    const uint32_t host = *verdicts.AddHost("h" + std::to_string(i));
    for (uint32_t id = 1; id <= kEvents; ++id) verdicts.Join(id, host, 0);
  }
  verdicts.Advance(Ms(1000), SIZE_MAX, &output);  // all fall asleep
  const uint64_t before = verdicts.counters().intervals_decided;
  ASSERT_EQ(before, kEvents * 99u);
  verdicts.Advance(Ms(2000), SIZE_MAX, &output);
  EXPECT_EQ(verdicts.counters().intervals_decided - before, 17u * 100u);
  int slices = 1;
  const NetworkEvent& last = *verdicts.Find(kEvents);
  for (; last.counters().intervals_decided == 99 && slices < 1000; ++slices) {
    verdicts.Advance(Ms(2000 + 20 * slices), SIZE_MAX, &output);
  }
  EXPECT_EQ(slices, 118);
}

TEST(NetworkVerdicts, NoticeThatOurClockWasSetBackByMoreThanHostsMayBeAhead) {
  Network network(1);
  EXPECT_FALSE(network.verdicts.NoticeStepBack(0));
  EXPECT_FALSE(network.verdicts.NoticeStepBack(Ms(50000)));
  EXPECT_TRUE(network.verdicts.NoticeStepBack(Ms(40000))) << "though no host has told anything";
  network.End(0, 60000);
  network.At(60000);
  EXPECT_FALSE(network.verdicts.NoticeStepBack(Ms(59000)));
  network.At(59000);
  EXPECT_TRUE(network.verdicts.NoticeStepBack(Ms(58999))) << "however many steps it took";
  EXPECT_FALSE(network.verdicts.NoticeStepBack(Ms(58999)));
  // The event begins anew, and the host has to tell what it says of the time that comes again.
  network.verdicts.Uninstall(kEvent, Ms(58999));
  ASSERT_TRUE(network.verdicts.Install(network.plan, Ms(58999), {}, &network.output).ok());
  network.verdicts.Join(kEvent, 0, 0);
  network.End(0, 59000);
  network.Volume(0, 59000, 80, 11);
  EXPECT_EQ(network.At(59010), Lines{}) << "it has not ended that again";
  network.End(0, 59010);
  EXPECT_EQ(network.At(59010), (Lines{"80@59000 11"}));
}

TEST(NetworkVerdicts, ARemovedHostGivesItsNumberBackOnceNothingWaitsForIt) {
  Network network(2);
  network.verdicts.RemoveHost(1, Ms(10), &network.output);
  network.End(0, 30);
  network.At(30);
  network.At(2000);
  EXPECT_EQ(network.verdicts.host_count(), 1u);
  EXPECT_EQ(*network.verdicts.AddHost("new"), 1u);
}

}  // namespace
}  // namespace trumpet
