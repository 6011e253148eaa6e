// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/network_desk.h"

#include <gtest/gtest.h>

#include "lib/verdict/verdict_test_kit.h"

namespace trumpet {
namespace {

using namespace kit;

constexpr uint64_t kOurs = 5;     // controller
constexpr uint64_t kAnother = 6;  // likewise
constexpr uint32_t kTheirs = 70;  // the controller's id of event 1

// A desk with one event on the volume per port above 100, and what it sends.
class Desk {
 public:
  explicit Desk(TriggerMode mode = TriggerMode::kPartials) : desk(7) {
    desk.SendBy([this](const Message& message) {
      sent.push_back(message);
      return true;
    });
    EventSpec spec = Event(1, Op(Sum(Variable::kVolume), ExprOp::kGreater, Num(100)), ByPort());
    event.plan = Plan(spec);
    event.controller_event_id = kTheirs;
    event.mode = mode;
    if (mode == TriggerMode::kThreshold) event.share = {1, 50, INT64_MIN};
    Apply();
    desk.Connect(kOurs);
  }

  void Apply(uint64_t controller_id = kOurs) {
    desk.Apply(controller_id, {event}, 0, Ms(10000), false);
  }

  void SetInterval(uint32_t ms) {
    EventSpec spec = event.plan->spec;
    spec.interval_ms = ms;
    event.plan = Plan(spec);
    Apply();
  }

  void Packet(int64_t ms, uint32_t port, int64_t volume) {
    const auto words =
        CellsOf(*event.plan, Values{{Variable::kPackets, 1}, {Variable::kVolume, volume}});
    const std::string key = PortKey(port);
    EXPECT_TRUE(desk.Add(PartialOf(1, Ms(ms), Ms(ms + 10), key, words)));
  }

  template <typename Kind>
  std::vector<Kind> Sent() const {
    std::vector<Kind> found;
    for (const Message& message : sent) {
      if (const auto* one = std::get_if<Kind>(&message)) found.push_back(*one);
    }
    return found;
  }

  Report HostReportOf(uint32_t event_id) {
    Report report;
    report.event_id = event_id;
    return report;
  }

  ControllerEvent event;
  std::vector<Message> sent;
  NetworkDesk desk;
};

TEST(NetworkDesk, TellsAllBucketsOfAnIntervalAndThenItsEnd) {
  Desk bench;
  for (uint32_t port = 1; port <= 3; ++port) bench.Packet(10, port, 5);
  bench.Packet(20, 1, 7);
  bench.desk.Close(Ms(20), Ms(10));
  ASSERT_EQ(bench.sent.size(), 2u);
  const Partials partials = std::get<Partials>(bench.sent[0]);
  EXPECT_EQ(partials.event_id, kTheirs);
  EXPECT_EQ(partials.start_ns, Ms(10));
  EXPECT_EQ(partials.end_ns, Ms(20));
  EXPECT_EQ(partials.bucket_count(), 3u);
  EXPECT_EQ(std::get<IntervalEnd>(bench.sent[1]).until_ns, Ms(20));
}

TEST(NetworkDesk, TellsAnEndOncePerEpochAlsoWithoutPackets) {
  Desk bench;
  for (int64_t ms = 10; ms <= 40; ++ms) bench.desk.Close(Ms(ms), Ms(10));
  const auto ends = bench.Sent<IntervalEnd>();
  ASSERT_EQ(ends.size(), 4u);
  EXPECT_EQ(ends.back().until_ns, Ms(40));
  EXPECT_TRUE(ends.back().incomplete.empty());
}

TEST(NetworkDesk, TellsOnlyBucketsThatReachTheShareAndAnswersForTheOthers) {
  Desk bench(TriggerMode::kThreshold);
  bench.Packet(10, 1, 60);
  bench.Packet(10, 2, 40);
  bench.desk.Close(Ms(20), Ms(10));
  const auto reports = bench.Sent<HostReport>();
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].report.value, Number::Integer(60));
  EXPECT_EQ(reports[0].report.event_id, kTheirs);
  EXPECT_FALSE(reports[0].words.empty());
  bench.desk.Take({9,
                   {{kTheirs, Ms(10), PortKey(2)},
                    {kTheirs, Ms(10), PortKey(3)},
                    {kTheirs + 1, Ms(10), PortKey(2)}}});
  const auto replies = bench.Sent<PollReply>();
  ASSERT_EQ(replies.size(), 1u);
  EXPECT_EQ(replies[0].number, 9u);
  ASSERT_EQ(replies[0].answers.size(), 3u);
  EXPECT_EQ(replies[0].answers[0].status, PollStatus::kValues);
  EXPECT_EQ(replies[0].answers[1].status, PollStatus::kNoPackets);
  EXPECT_EQ(replies[0].answers[2].status, PollStatus::kUnknownEvent);
}

TEST(NetworkDesk, AnswersForAnIntervalUnderWayWhenItHasEnded) {
  Desk bench(TriggerMode::kThreshold);
  bench.Packet(10, 2, 40);
  bench.desk.Take({9, {{kTheirs, Ms(10), PortKey(2)}}});
  EXPECT_TRUE(bench.Sent<PollReply>().empty());
  EXPECT_EQ(bench.desk.counters().questions_waiting, 1u);
  bench.desk.Close(Ms(20), Ms(10));
  ASSERT_EQ(bench.Sent<PollReply>().size(), 1u);
  EXPECT_EQ(bench.Sent<PollReply>()[0].answers[0].status, PollStatus::kValues);
}

TEST(NetworkDesk, BoundsTheQuestionsThatWait) {
  Desk bench(TriggerMode::kThreshold);
  Poll poll;
  poll.questions.resize(4096, {kTheirs, Ms(10), PortKey(2)});
  for (int i = 0; i < 20; ++i) bench.desk.Take(poll);
  const NetworkDeskCounters counters = bench.desk.counters();
  EXPECT_EQ(counters.questions_waiting, NetworkDesk::kMaxQuestions);
  EXPECT_EQ(counters.questions_refused, 20 * 4096 - NetworkDesk::kMaxQuestions);
}

TEST(NetworkDesk, SaysWhatItMissedWithoutASession) {
  Desk bench;
  bench.desk.Close(Ms(10), Ms(10));
  bench.desk.Disconnect();
  bench.Packet(10, 1, 5);
  bench.Packet(20, 1, 6);
  bench.desk.Close(Ms(20), Ms(10));
  bench.sent.clear();
  bench.desk.Connect(kOurs);
  bench.desk.Close(Ms(30), Ms(10));
  ASSERT_EQ(bench.Sent<Partials>().size(), 1u) << "of the interval that was open";
  EXPECT_EQ(bench.Sent<Partials>()[0].start_ns, Ms(20));
  const auto ends = bench.Sent<IntervalEnd>();
  ASSERT_EQ(ends.size(), 1u);
  ASSERT_EQ(ends[0].incomplete.size(), 1u);
  EXPECT_EQ(ends[0].incomplete[0].event_id, kTheirs);
  EXPECT_EQ(ends[0].incomplete[0].end_ns, Ms(20));
  EXPECT_EQ(ends[0].incomplete[0].reasons, uint32_t{kMonitorInterrupted});
}

// The session may have ended before it arrived.
TEST(NetworkDesk, SaysAgainWhatIsMissingOfIntervalsThatAreOpen) {
  Desk bench;
  bench.SetInterval(1000);
  const auto has_told = [&bench](Nanos start) {
    bool has = false;
    for (const IntervalEnd& end : bench.Sent<IntervalEnd>()) {
      for (const IncompleteRange& range : end.incomplete) {
        has |= range.start_ns <= start && start < range.end_ns && (range.reasons & kRingFull) != 0;
      }
    }
    bench.sent.clear();
    return has;
  };
  bench.desk.AddIncomplete(Ms(3000), Ms(3010), kRingFull);
  bench.desk.Close(Ms(3010), Ms(10));
  EXPECT_TRUE(has_told(Ms(3000)));
  for (const bool is_open : {true, false}) {
    bench.desk.Disconnect();
    bench.desk.Connect(kOurs);
    bench.desk.Close(is_open ? Ms(3500) : Ms(4600), Ms(10));
    EXPECT_TRUE(has_told(Ms(3000))) << "of an interval that was open when the session began";
  }
  bench.desk.Disconnect();
  bench.desk.Connect(kOurs);
  bench.desk.Close(Ms(4700), Ms(10));
  EXPECT_FALSE(has_told(Ms(3000)));
}

// However often sessions end, and whatever is lost in turn.
TEST(NetworkDesk, TellsLossesApartInEverySession) {
  Desk bench;
  bench.SetInterval(10000);
  for (int i = 0; i < 20; ++i) {
    bench.desk.AddIncomplete(Ms(3000 + 40 * i), Ms(3010 + 40 * i), kRingFull);
    bench.desk.AddIncomplete(Ms(3000 + 40 * i), Ms(3010 + 40 * i), kSweepSkipped);
    bench.desk.Close(Ms(3010 + 40 * i), Ms(10));
  }
  for (int session = 0; session < 10; ++session) {
    bench.desk.Disconnect();
    bench.sent.clear();
    bench.desk.Connect(kOurs);
    bench.desk.Close(Ms(4000 + 10 * session), Ms(10));
    const auto ends = bench.Sent<IntervalEnd>();
    ASSERT_EQ(ends.size(), 1u);
    EXPECT_LE(ends[0].incomplete.size(), 41u) << "with that there was no session";
    int at[2] = {};
    for (const IncompleteRange& range : ends[0].incomplete) {
      if (range.reasons == kMonitorInterrupted) continue;
      at[0] += range.start_ns <= Ms(3405) && Ms(3405) < range.end_ns ? 1 : 0;
      at[1] += range.start_ns <= Ms(3415) && Ms(3415) < range.end_ns ? 1 : 0;
    }
    EXPECT_EQ(at[0], 2);
    EXPECT_EQ(at[1], 0);
  }
}

TEST(NetworkDesk, KeepsVerdictsOfTheHostForTheNextSession) {
  Desk bench(TriggerMode::kHost);
  bench.desk.Disconnect();
  const std::vector<Report> reports{bench.HostReportOf(1), bench.HostReportOf(2)};
  bench.desk.AddReports(reports);
  EXPECT_EQ(bench.desk.counters().reports_waiting, 1u) << "event 2 is not the controller's";
  bench.desk.Connect(kOurs);
  ASSERT_EQ(bench.Sent<HostReport>().size(), 1u);
  EXPECT_EQ(bench.Sent<HostReport>()[0].report.event_id, kTheirs);
}

// Ids may be the same, and mean something else.
TEST(NetworkDesk, DropsVerdictsOfAnotherControllersEventsAndCountsThem) {
  Desk bench(TriggerMode::kHost);
  bench.desk.Disconnect();
  bench.desk.AddReports({bench.HostReportOf(1)});
  bench.desk.Connect(kAnother);
  EXPECT_EQ(bench.desk.counters().reports_waiting, 0u);
  EXPECT_EQ(bench.desk.counters().reports_dropped, 1u);
  bench.desk.AddReports({bench.HostReportOf(1)});
  EXPECT_EQ(bench.desk.counters().reports_dropped, 2u);
  bench.Apply(kAnother);
  EXPECT_TRUE(bench.Sent<HostReport>().empty());
  bench.desk.AddReports({bench.HostReportOf(1)});
  EXPECT_EQ(bench.Sent<HostReport>().size(), 1u);
  bench.desk.Close(Ms(10), Ms(10));
  EXPECT_EQ(bench.Sent<IntervalEnd>().back().dropped_reports, 0u) << "they were not its own";
}

TEST(NetworkDesk, DropsVerdictsThatWaitWhenAnotherControllersEventsCome) {
  Desk bench(TriggerMode::kHost);
  bench.desk.Disconnect();
  bench.desk.AddReports({bench.HostReportOf(1)});
  bench.Apply(kAnother);
  EXPECT_EQ(bench.desk.counters().reports_dropped, 1u);
  bench.desk.Connect(kAnother);
  EXPECT_TRUE(bench.Sent<HostReport>().empty());
}

TEST(NetworkDesk, TellsTheControllerOfDroppedVerdictsWhenItHasComeBack) {
  Desk bench(TriggerMode::kHost);
  bench.desk.Disconnect();
  bench.desk.AddReports({bench.HostReportOf(1)});
  for (const uint64_t controller_id : {kAnother, kOurs}) {
    bench.desk.Connect(controller_id);
    bench.desk.Close(Ms(10), Ms(10));
    bench.desk.Disconnect();
  }
  const auto ends = bench.Sent<IntervalEnd>();
  ASSERT_EQ(ends.size(), 2u);
  EXPECT_EQ(ends[0].dropped_reports, 0u);
  EXPECT_EQ(ends[1].dropped_reports, 1u);
}

TEST(NetworkDesk, TellsAnotherControllerNothingThatWasCountedForThisOne) {
  for (const TriggerMode mode : {TriggerMode::kPartials, TriggerMode::kThreshold}) {
    Desk bench(mode);
    bench.Packet(10, 1, 60);
    bench.desk.Disconnect();
    bench.desk.Connect(kAnother);
    bench.desk.Close(Ms(20), Ms(10));
    bench.desk.Take({9, {{kTheirs, Ms(10), PortKey(1)}}});
    EXPECT_TRUE(bench.Sent<Partials>().empty());
    EXPECT_TRUE(bench.Sent<HostReport>().empty());
    ASSERT_EQ(bench.Sent<PollReply>().size(), 1u);
    EXPECT_EQ(bench.Sent<PollReply>()[0].answers[0].status, PollStatus::kUnknownEvent);
  }
}

// It may take the event for one that was counted since long.
TEST(NetworkDesk, TellsAnotherControllerWhatItWasNotTold) {
  Desk bench;
  bench.desk.Disconnect();
  bench.desk.Connect(kAnother);
  bench.Packet(10, 1, 60);
  bench.Packet(20, 1, 60);
  bench.desk.Close(Ms(20), Ms(10));
  bench.sent.clear();
  bench.Apply(kAnother);
  bench.desk.Close(Ms(20), Ms(10));
  const auto ends = bench.Sent<IntervalEnd>();
  ASSERT_EQ(ends.size(), 1u) << "before it hears that its events run";
  ASSERT_EQ(ends[0].incomplete.size(), 1u);
  EXPECT_EQ(ends[0].incomplete[0].event_id, kTheirs);
  EXPECT_EQ(ends[0].incomplete[0].end_ns, Ms(20));
  EXPECT_EQ(ends[0].incomplete[0].reasons, uint32_t{kMonitorInterrupted});
  bench.desk.Close(Ms(30), Ms(10));
  ASSERT_EQ(bench.Sent<Partials>().size(), 1u) << "of the interval that was open";
  EXPECT_EQ(bench.Sent<Partials>()[0].start_ns, Ms(20));
}

TEST(NetworkDesk, CountsVerdictsThatTheSessionDoesNotTake) {
  Desk bench(TriggerMode::kHost);
  bench.desk.SendBy([](const Message& message) { return KindOf(message) != MessageKind::kReport; });
  bench.desk.AddReports({bench.HostReportOf(1)});
  EXPECT_EQ(bench.desk.counters().reports_dropped, 1u);
}

TEST(NetworkDesk, SaysWhatWasDroppedAgainIfTheEndWasNotTaken) {
  Desk bench(TriggerMode::kHost);
  bool takes = false;
  uint64_t told = 0;
  bench.desk.SendBy([&](const Message& message) {
    if (const auto* end = std::get_if<IntervalEnd>(&message)) told = end->dropped_reports;
    return takes;
  });
  bench.desk.AddReports({bench.HostReportOf(1)});
  bench.desk.Close(Ms(10), Ms(10));
  takes = true;
  bench.desk.Close(Ms(20), Ms(10));
  EXPECT_EQ(told, 1u);
  bench.desk.Close(Ms(30), Ms(10));
  EXPECT_EQ(told, 0u);
}

TEST(NetworkDesk, CountsVerdictsThatFoundNoRoomAndTellsSo) {
  Desk bench(TriggerMode::kHost);
  bench.desk.Disconnect();
  const std::vector<Report> reports(NetworkDesk::kMaxWaitingReports + 3, bench.HostReportOf(1));
  bench.desk.AddReports(reports);
  EXPECT_EQ(bench.desk.counters().reports_dropped, 3u);
  bench.desk.Connect(kOurs);
  bench.desk.Close(Ms(10), Ms(10));
  ASSERT_EQ(bench.Sent<IntervalEnd>().size(), 1u);
  EXPECT_EQ(bench.Sent<IntervalEnd>()[0].dropped_reports, 3u);
}

TEST(NetworkDesk, TellsWhatIsMissing) {
  Desk bench;
  bench.desk.AddIncomplete(Ms(3), Ms(5), kRingFull);
  bench.desk.AddIncomplete(Ms(5), Ms(6), kRingFull);
  bench.desk.Close(Ms(10), Ms(10));
  const auto ends = bench.Sent<IntervalEnd>();
  ASSERT_EQ(ends.size(), 1u);
  ASSERT_EQ(ends[0].incomplete.size(), 1u);
  EXPECT_EQ(ends[0].incomplete[0].start_ns, Ms(3));
  EXPECT_EQ(ends[0].incomplete[0].end_ns, Ms(6));
}

TEST(NetworkDesk, JoinsWhatIsMissingBeyondWhatAMessageHolds) {
  Desk bench;
  for (int64_t i = 0; i < 1000; ++i) {
    bench.desk.AddIncomplete(Ms(2 * i), Ms(2 * i + 1), kRingFull);
  }
  bench.desk.Close(Ms(3000), Ms(10));
  const auto ends = bench.Sent<IntervalEnd>();
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_LE(ends[0].incomplete.size(), 256u);
  EXPECT_EQ(ends[0].incomplete.front().start_ns, 0);
  EXPECT_EQ(ends[0].incomplete.back().end_ns, Ms(1999));
}

TEST(NetworkDesk, ConfirmsAShareAgainThatItKnows) {
  Desk bench(TriggerMode::kThreshold);
  const auto first = bench.desk.ShareOf(kTheirs);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->generation, 1u);
  bench.desk.Close(Ms(100), Ms(10));
  bench.Apply();
  EXPECT_EQ(bench.desk.ShareOf(kTheirs)->from, first->from);
  bench.event.share = {2, 20, INT64_MIN};
  bench.Apply();
  EXPECT_EQ(bench.desk.ShareOf(kTheirs)->generation, 2u);
  EXPECT_EQ(bench.desk.ShareOf(kTheirs)->from, Ms(100));
}

TEST(NetworkDesk, TakesTheSharesOfAControllerThatCountsAnew) {
  Desk bench(TriggerMode::kThreshold);
  bench.event.share = {5, 50, INT64_MIN};
  bench.Apply();
  bench.event.share = {2, 30, INT64_MIN};
  bench.Apply();
  EXPECT_EQ(bench.desk.ShareOf(kTheirs)->generation, 2u);
  bench.Packet(10, 1, 40);
  bench.desk.Close(Ms(20), Ms(10));
  EXPECT_EQ(bench.Sent<HostReport>().size(), 1u);
}

TEST(NetworkDesk, KeepsWithinTheBucketsOfTheHost) {
  Desk bench(TriggerMode::kThreshold);
  bench.desk.LimitBuckets(100);
  for (int64_t interval = 1; interval <= 10; ++interval) {
    for (uint32_t port = 0; port < 60; ++port) bench.Packet(10 * interval, port, 5);
    bench.desk.Close(Ms(10 * interval + 10), Ms(10));
    EXPECT_LE(bench.desk.bucket_count(), 100u);
  }
  EXPECT_EQ(bench.desk.counters().buckets_evicted, 0u) << "what is kept makes room";
}

TEST(NetworkDesk, EndsARemovedEventAfterItsLastInterval) {
  Desk bench;
  bench.Packet(10, 1, 5);
  bench.desk.Apply(kOurs, {}, Ms(20), Ms(10000), false);
  bench.desk.Close(Ms(20), Ms(10));
  EXPECT_EQ(bench.Sent<Partials>().size(), 1u);
  PartialView partial;
  partial.event_id = 1;
  EXPECT_FALSE(bench.desk.Add(partial)) << "it is gone";
}

TEST(NetworkDesk, TellsThatAnEventThatBeginsMayNotKnowFlowsThatRest) {
  for (const bool has_tracked : {false, true}) {
    Desk bench;
    ControllerEvent asks;
    asks.plan = Plan(Event(2, Op(Var(Variable::kAck), ExprOp::kGreater, Num(0)), ByFlow()));
    asks.controller_event_id = kTheirs + 1;
    asks.mode = TriggerMode::kPartials;
    for (const Nanos from : {Ms(30), Ms(60)}) {  // it begins once
      bench.desk.Apply(kOurs, {bench.event, asks}, from, Ms(10000), has_tracked);
    }
    bench.desk.Close(Ms(70), Ms(10));
    const auto ends = bench.Sent<IntervalEnd>();
    ASSERT_EQ(ends.size(), 1u);
    ASSERT_EQ(ends[0].incomplete.size(), has_tracked ? 1u : 0u);
    if (!has_tracked) continue;
    EXPECT_EQ(ends[0].incomplete[0].event_id, kTheirs + 1);
    EXPECT_EQ(ends[0].incomplete[0].start_ns, Ms(30));
    EXPECT_EQ(ends[0].incomplete[0].end_ns, Ms(10030));
    EXPECT_EQ(ends[0].incomplete[0].reasons, uint32_t{kConnectionEvicted});
  }
}

TEST(NetworkDesk, TellsWithStatesOfFlowsHowLongTheyLive) {
  Desk bench;
  bench.event.plan = Plan(Event(1, Op(Var(Variable::kAck), ExprOp::kGreater, Num(0)), ByFlow()));
  bench.desk.Apply(kOurs, {bench.event}, 0, Ms(123), false);
  bench.desk.Add(FlowStateUpdate{Flow(1), FlowState(), Ms(10), Ms(20)});
  bench.desk.Close(Ms(20), Ms(10));
  const auto told = bench.Sent<FlowStates>();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].flow_timeout_ns, Ms(123));
}

TEST(NetworkDesk, TellsTheSameOfAnEventThatIsReplacedUnderItsId) {
  const Expr ack = Op(Var(Variable::kAck), ExprOp::kGreater, Num(0));
  const Expr volume = Op(Sum(Variable::kVolume), ExprOp::kGreater, Num(100));
  const Expr both = Op(ack, ExprOp::kOr, volume);
  const struct {
    EventSpec before;
    EventSpec after;
    bool is_told;
  } cases[] = {
      {Event(2, volume, ByPort()), Event(2, ack, ByFlow()), true},  // it counts otherwise
      {Event(2, volume, ByFlow()), Event(2, both, ByFlow()), true},
      {Event(2, both, ByFlow()), Event(2, both, ByFlow(), 20), true},  // it begins anew
      {Event(2, both, ByFlow()), Event(2, both, ByFlow()), false},
  };
  for (const auto& one : cases) {
    Desk bench;
    ControllerEvent event;
    event.controller_event_id = kTheirs + 1;
    event.mode = TriggerMode::kPartials;
    event.plan = Plan(one.before);
    bench.desk.Apply(kOurs, {bench.event, event}, Ms(30), Ms(10000), /*has_tracked_tcp=*/false);
    event.plan = Plan(one.after);
    bench.desk.Apply(kOurs, {bench.event, event}, Ms(60), Ms(10000), /*has_tracked_tcp=*/true);
    bench.desk.Close(Ms(70), Ms(10));
    const auto ends = bench.Sent<IntervalEnd>();
    ASSERT_EQ(ends.size(), 1u);
    ASSERT_EQ(ends[0].incomplete.size(), one.is_told ? 1u : 0u);
    if (!one.is_told) continue;
    EXPECT_EQ(ends[0].incomplete[0].event_id, kTheirs + 1);
    EXPECT_EQ(ends[0].incomplete[0].start_ns, Ms(60));
    EXPECT_EQ(ends[0].incomplete[0].reasons, uint32_t{kConnectionEvicted});
  }
}

TEST(NetworkDesk, TellsEndsAgainAtOnceWhenTheClockWasSetBack) {
  Desk bench;
  bench.desk.Close(Ms(3'600'000), Ms(10));
  bench.desk.Restart();
  bench.desk.SetBack(Ms(1005));
  bench.Apply();
  bench.sent.clear();
  bench.desk.Close(Ms(1010), Ms(10));
  bench.desk.Close(Ms(1020), Ms(10));
  const auto ends = bench.Sent<IntervalEnd>();
  ASSERT_EQ(ends.size(), 2u);
  EXPECT_EQ(ends[0].until_ns, Ms(1010));
  EXPECT_EQ(ends[1].until_ns, Ms(1020));
  bench.desk.TellWhetherOff(true);
  EXPECT_EQ(bench.Sent<IntervalEnd>().back().until_ns, Ms(1020));
}

TEST(NetworkDesk, TellsThatTheMonitorIsOffAndOnAgainWithoutAnyEvent) {
  Desk bench;
  bench.desk.Close(Ms(20), Ms(10));
  for (const bool is_off : {true, true, false, false, true}) bench.desk.TellWhetherOff(is_off);
  std::vector<bool> told;
  for (const IntervalEnd& end : bench.Sent<IntervalEnd>()) told.push_back(end.is_monitor_off);
  EXPECT_EQ(told, (std::vector<bool>{false, true, false, true}));
}

}  // namespace
}  // namespace trumpet
