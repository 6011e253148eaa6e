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

using Line = std::tuple<uint32_t, Nanos, Int128, uint32_t>;  // event, start, value, reasons

// The ACK comes at 9 ms to the second thread; the first one's clock, which is ahead, may show 12.
std::vector<Line> ReportsOf(bool is_late, uint64_t* late_samples) {
  ThreadsHost host({SumOfRtt(1, false), SumOfRtt(2, true)}, 2);
  const FlowKey client = ClientFlow(1);
  const FlowKey server = Reversed(client);
  host.See(0, client, Syn(100), kMs);
  host.See(1, server, SynAck(500, 101), 2 * kMs);
  host.VisitAll(3 * kMs);
  host.See(0, client, Data(101, 10).Ack(501), 4 * kMs);
  if (is_late) host.Visit(0, 12 * kMs);
  host.See(1, server, Data(501, 0).Ack(111), 9 * kMs);
  host.Finish(30 * kMs);
  *late_samples = host.Sum().late_samples;
  std::vector<Line> lines;
  for (const Report& report : host.reports()) {
    lines.push_back(
        {report.event_id, report.start_ns, report.value.integer(), report.incomplete_reasons});
  }
  return lines;
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

}  // namespace
}  // namespace trumpet
