// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What an epoch remembers of those before it, and what tables that fill up cost.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "lib/tpm/monitor_harness_test.h"
#include "lib/tpm/packet_monitor.h"

namespace trumpet {
namespace {

using testing::DstPrefix;
using testing::kRack;
using testing::PlanOf;
using testing::Rig;
using testing::Segment;
using testing::Send;
using testing::SweepAll;
using testing::UdpFrame;

constexpr Nanos kMs = kNanosPerMilli;

// Keeps the partials themselves.
struct PartialSink : DeliverySink {
  void OnPartial(const PartialView& partial) override {
    words.emplace_back(partial.words, partial.words + word_count);
    unscaled.push_back(partial.is_unscaled);
  }
  void OnFlowState(const FlowStateUpdate&) override {}
  void OnEpochEnd(Nanos, Nanos, uint32_t) override {}

  size_t word_count = 0;
  std::vector<std::vector<uint64_t>> words;
  std::vector<bool> unscaled;
};

// Epochs 0 and 2 share a bank.
TEST(PacketMonitor, AnEpochForgetsTheMaximumOfTheOneBeforeLast) {
  EventSpec spec;
  spec.id = 1;
  spec.predicate = testing::AtLeast(AggregateKind::kMax, Variable::kTtl, 0);
  spec.interval_ms = 10;
  spec.granularity.is_five_tuple = true;
  const auto plan = std::make_shared<const TriggerPlan>(MakeTriggerPlan(spec));
  Rig rig({plan});
  PartialSink sink;
  sink.word_count = plan->word_count;
  UdpFrame udp(1, kRack, 5, 6);
  Send(rig.monitor.get(), udp, 1);
  SweepAll(rig.monitor.get(), 10 * kMs, &sink);
  udp.bytes[22] = 9;  // its TTL, 64 before
  Send(rig.monitor.get(), udp, 10 * kMs);
  SweepAll(rig.monitor.get(), 20 * kMs, &sink);
  Send(rig.monitor.get(), udp, 20 * kMs);
  SweepAll(rig.monitor.get(), 30 * kMs, &sink);
  const uint16_t extreme = FindAggregateCells(*plan, spec.predicate.args[0]).extreme;
  ASSERT_EQ(sink.words.size(), 3u);
  EXPECT_EQ(sink.words[0][extreme], 64u);
  EXPECT_EQ(sink.words[1][extreme], 9u);
  EXPECT_EQ(sink.words[2][extreme], 9u);
}

TEST(PacketMonitor, AnEpochForgetsTheUnscaledWindowOfTheOneBeforeLast) {
  const auto plan = PlanOf(1, DstPrefix(0, 0), Variable::kRwnd, 10, true);
  Rig rig({plan});
  PartialSink sink;
  sink.word_count = plan->word_count;
  UdpFrame segment = Segment(1, 2, 100, 1, 10);  // of a connection whose SYNs were not seen
  Send(rig.monitor.get(), segment, 1);
  SweepAll(rig.monitor.get(), 10 * kMs, &sink);
  segment.bytes[47] = 0x14;  // a reset has no window
  Send(rig.monitor.get(), segment, 10 * kMs);
  SweepAll(rig.monitor.get(), 20 * kMs, &sink);
  Send(rig.monitor.get(), segment, 20 * kMs);
  SweepAll(rig.monitor.get(), 30 * kMs, &sink);
  EXPECT_EQ(sink.unscaled, (std::vector<bool>{true, false, false}));
}

// Packets per bucket of an epoch of 60 flows, after which as many others come before any of the
// first were swept.
std::map<std::string, uint64_t> FirstOfTwoEpochs(uint32_t max_flows) {
  MonitorOptions options;
  options.stat_megabytes = 1;
  options.max_flows = max_flows;
  options.ring_bytes = 1u << 16;
  options.sweep_budget_ns = 1;
  Rig rig({PlanOf(1, DstPrefix(kRack, 24), Variable::kPackets, 10, true)}, options);
  for (const Nanos now : {Nanos{0}, 10 * kMs}) {
    for (uint16_t port = 0; port < 60; port++) {
      const auto source = static_cast<uint16_t>(port + (now == 0 ? 0 : 100));
      Send(rig.monitor.get(), UdpFrame(1, kRack + 1, source, 6), now);
    }
  }
  rig.Finish(20 * kMs);
  std::map<std::string, uint64_t> first;
  for (const auto& [place, packets] : rig.sink.packets) {
    if (std::get<2>(place) == 0) first[std::get<1>(place)] += packets;
  }
  return first;
}

// A flow that took the place of one not yet swept would be charged with its packets.
TEST(PacketMonitor, NewFlowsLeaveThoseThatAreStillToBeSwept) {
  const auto with_room = FirstOfTwoEpochs(1024);
  EXPECT_EQ(with_room.size(), 60u);
  EXPECT_EQ(FirstOfTwoEpochs(64), with_room);
}

TEST(PacketMonitor, AConnectionGivenUpWhileAliveMarksTheEpoch) {
  MonitorOptions options;
  options.connections.max_connections = 16;
  Rig rig({PlanOf(1, DstPrefix(0, 0), Variable::kIsLost, 10)}, options);
  for (uint32_t source = 10; source < 200; source++) {
    Send(rig.monitor.get(), Segment(source, 1000, 100, 1, 10), 1);
  }
  rig.Finish(10 * kMs);
  EXPECT_GT(rig.monitor->counters().connections_evicted, 0u);
  EXPECT_NE(rig.sink.reasons & kConnectionEvicted, 0u);
}

// Asked late, an epoch answers with its own count, although the next one is under way.
TEST(Defects, G_AnEpochThatIsSweptLateGivesItsOwnCount) {
  Rig rig({PlanOf(1, DstPrefix(kRack, 24), Variable::kPackets, 10)});
  const UdpFrame udp(1, kRack + 1, 5, 6);
  for (int i = 0; i < 7; i++) Send(rig.monitor.get(), udp, 5 * kMs);
  for (int i = 0; i < 3; i++) Send(rig.monitor.get(), udp, 15 * kMs);
  SweepAll(rig.monitor.get(), 19 * kMs, &rig.sink);
  EXPECT_EQ((rig.sink.packets[{1, "", 0}]), 7u);
  EXPECT_EQ(rig.sink.packets.size(), 1u);
  rig.Finish(20 * kMs);
  EXPECT_EQ((rig.sink.packets[{1, "", 0}]), 7u);
  EXPECT_EQ((rig.sink.packets[{1, "", 1}]), 3u);
}

TEST(Defects, H_EpochsBeyond65536KeepTheirCounts) {
  constexpr int64_t kEpochs = 70001;
  Rig rig({PlanOf(1, DstPrefix(kRack, 24), Variable::kPackets, 10, true)});
  const UdpFrame udp(1, kRack + 1, 5, 6);
  for (int64_t epoch = 0; epoch < kEpochs; epoch++) {
    for (int64_t i = 0; i <= epoch % 3; i++) Send(rig.monitor.get(), udp, epoch * 10 * kMs);
    SweepAll(rig.monitor.get(), epoch * 10 * kMs, &rig.sink);
  }
  rig.Finish(kEpochs * 10 * kMs);
  ASSERT_EQ(rig.sink.packets.size(), static_cast<size_t>(kEpochs));
  for (const auto& [place, packets] : rig.sink.packets) {
    const int64_t epoch = std::get<2>(place);
    ASSERT_EQ(packets, static_cast<uint64_t>(epoch % 3 + 1)) << epoch;
  }
  EXPECT_EQ(rig.sink.reasons, 0u);
}

TEST(Defects, I_SixtyThousandFlowsOfOneEventHurtNobody) {
  Rig rig({PlanOf(1, DstPrefix(0, 0), Variable::kPackets, 10, true)});
  for (uint32_t flow = 0; flow < 60000; flow++) {
    Send(rig.monitor.get(), UdpFrame(flow, kRack, 1, 2), 1);
  }
  rig.Finish(10 * kMs);
  EXPECT_EQ(rig.sink.packets.size(), 60000u);
  EXPECT_EQ(rig.sink.total_packets[1], 60000u);
}

}  // namespace
}  // namespace trumpet
