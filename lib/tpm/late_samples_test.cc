// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// RTT samples that one thread measures in an epoch that the thread of the segment has closed.

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "lib/tpm/packet_threads_test_kit.h"

namespace trumpet {
namespace {

using testing::ClientFlow;
using testing::Data;
using testing::Syn;
using testing::SynAck;
using testing::ThreadsHost;

constexpr Nanos kMs = kNanosPerMilli;

std::shared_ptr<const TriggerPlan> SumOfRtt(uint32_t id, bool is_five_tuple) {
  EventSpec spec;
  spec.id = id;
  spec.name = "rtt-" + std::to_string(id);
  spec.interval_ms = 10;
  spec.granularity.is_five_tuple = is_five_tuple;
  spec.predicate = kit::Op(kit::Sum(Variable::kRtt), ExprOp::kGreater, kit::Num(0));
  return std::make_shared<const TriggerPlan>(MakeTriggerPlan(spec));
}

// count(rtt) + 1, so that there is a report of each interval with packets.
std::shared_ptr<const TriggerPlan> CountOfRtt(uint32_t id) {
  EventSpec spec = SumOfRtt(id, false)->spec;
  const Expr count = kit::Agg(AggregateKind::kCount, kit::Var(Variable::kRtt));
  spec.predicate =
      kit::Op(kit::Op(count, ExprOp::kAdd, kit::Num(1)), ExprOp::kGreater, kit::Num(0));
  return std::make_shared<const TriggerPlan>(MakeTriggerPlan(spec));
}

using Line = std::tuple<uint32_t, Nanos, Int128, uint32_t>;  // event, start, value, reasons

std::vector<Line> LinesOf(const ThreadsHost& host) {
  std::vector<Line> lines;
  for (const Report& report : host.reports()) {
    lines.push_back(
        {report.event_id, report.start_ns, report.value.integer(), report.incomplete_reasons});
  }
  return lines;
}

FlowKey Client() { return ClientFlow(1); }
FlowKey Server() { return Reversed(Client()); }

// Of a connection whose directions are on two threads.
void ShakeHands(ThreadsHost* host) {
  host->See(0, Client(), Syn(100), kMs);
  host->See(1, Server(), SynAck(500, 101), 2 * kMs);
  host->VisitAll(3 * kMs);
}

// The ACK comes at 9 ms to the second thread; the first one's clock, which is ahead, may show 12.
std::vector<Line> ReportsOf(bool is_late, uint64_t* late_samples) {
  ThreadsHost host({SumOfRtt(1, false), SumOfRtt(2, true)}, 2);
  ShakeHands(&host);
  host.See(0, Client(), Data(101, 10).Ack(501), 4 * kMs);
  if (is_late) host.Visit(0, 12 * kMs);
  host.See(1, Server(), Data(501, 0).Ack(111), 9 * kMs);
  host.Finish(30 * kMs);
  *late_samples = host.Sum().late_samples;
  return LinesOf(host);
}

TEST(LateSamples, AreReportedForTheIntervalInWhichTheyWereMeasured) {
  uint64_t late = 0;
  const std::vector<Line> in_time = ReportsOf(false, &late);
  EXPECT_EQ(late, 0u);
  // The SYN's, the SYN-ACK's and the segment's: one line for all, one for each direction.
  EXPECT_EQ(in_time,
            (std::vector<Line>{{1, 0, 8 * kMs, 0}, {2, 0, 6 * kMs, 0}, {2, 0, 2 * kMs, 0}}));
  EXPECT_EQ(ReportsOf(true, &late), in_time);
  EXPECT_EQ(late, 1u);
}

// The sweep of the first thread may stand anywhere, a partial half told, when the sample comes.
std::vector<Line> ReportsWhenLateAt(int steps, uint64_t* late_samples) {
  MonitorOptions options = ThreadsHost::SmallOptions();
  options.sweeps_unbounded = false;
  options.sweep_budget_ns = 1;
  HostVerdicts::Plans plans;
  for (uint32_t id = 1; id <= 40; id++) plans.push_back(SumOfRtt(id, true));
  ThreadsHost host(plans, 2, options);
  ShakeHands(&host);
  host.See(0, Client(), Data(101, 10).Ack(501), 4 * kMs);
  for (int i = 0; i < steps; i++) host.monitor(0)->OnIdle(12 * kMs);
  host.See(1, Server(), Data(501, 0).Ack(111), 9 * kMs);
  host.Finish(30 * kMs);
  *late_samples = host.Sum().late_samples;
  return LinesOf(host);
}

TEST(LateSamples, LeaveAPartialAloneThatIsBeingTold) {
  uint64_t late = 0;
  const std::vector<Line> in_time = ReportsWhenLateAt(0, &late);
  EXPECT_EQ(in_time.size(), 80u) << "of the handshake, too";
  uint64_t cases = 0;
  for (int steps = 1; steps < 60; steps++) {
    EXPECT_EQ(ReportsWhenLateAt(steps, &late), in_time) << steps;
    cases += late;
  }
  EXPECT_GT(cases, 20u);
}

// There are too many events for a sample that comes late: the interval that it is missing from says
// so, and no other.
TEST(LateSamples, ThatAreLostMarkTheirOwnInterval) {
  HostVerdicts::Plans plans;
  for (uint32_t id = 1; id <= 65; id++) plans.push_back(CountOfRtt(id));
  ThreadsHost host(plans, 2);
  ShakeHands(&host);
  host.See(0, Client(), Data(101, 10).Ack(501), 4 * kMs);
  host.Visit(0, 12 * kMs);
  host.See(1, Server(), Data(501, 0).Ack(111), 9 * kMs);
  host.See(0, Client(), Data(111, 10).Ack(501), 14 * kMs);
  host.Finish(40 * kMs);
  EXPECT_GT(host.Sum().late_samples, 0u);
  uint64_t first = 0;
  for (const Report& report : host.reports()) {
    EXPECT_EQ(report.incomplete_reasons != 0, report.start_ns == 0) << report.start_ns;
    first += report.start_ns == 0 ? 1 : 0;
  }
  EXPECT_EQ(first, 65u);
}

// Nobody measures the round trip, nor has another half of the connection any more.
TEST(LateSamples, OfAThreadThatHasEndedAreMissing) {
  ThreadsHost host({CountOfRtt(1)}, 2);
  ShakeHands(&host);
  host.See(0, Client(), Data(101, 10).Ack(501), 12 * kMs);
  host.VisitAll(13 * kMs);
  host.EndThread(0, 14 * kMs);
  host.See(1, Server(), Data(501, 0).Ack(111), 16 * kMs);
  host.Finish(30 * kMs);
  uint64_t reports = 0;
  for (const Report& report : host.reports()) {
    if (report.start_ns < 10 * kMs || report.start_ns >= 20 * kMs) continue;
    EXPECT_NE(report.incomplete_reasons & kSplitConnection, 0u);
    ++reports;
  }
  EXPECT_EQ(reports, 1u);
}

}  // namespace
}  // namespace trumpet
