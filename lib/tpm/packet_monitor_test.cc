// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/packet_monitor.h"

#include <gtest/gtest.h>

#include <string>

#include "lib/model/report.h"
#include "lib/tpm/monitor_harness_test.h"
#include "lib/tpm/set_choice.h"

namespace trumpet {
namespace {

using testing::DstPrefix;
using testing::kRack;
using testing::MakeMonitor;
using testing::PlanOf;
using testing::Rig;
using testing::Send;
using testing::SendToEachAddress;
using testing::SweepAll;
using testing::UdpFrame;

constexpr Nanos kMs = kNanosPerMilli;

MonitorOptions SmallOptions() {
  MonitorOptions options;
  options.max_flows = 64;
  options.stat_megabytes = 1;
  options.ring_bytes = 4096;
  return options;
}

// sum(ttl * id)
std::shared_ptr<const TriggerPlan> ScaledTtlPlan(uint32_t id, const FilterExpr& filter) {
  EventSpec spec;
  spec.id = id;
  spec.filter = filter;
  spec.interval_ms = 10;
  spec.predicate = testing::AtLeast(AggregateKind::kSum, Variable::kTtl, 0);
  Expr scale;
  scale.number = Number::Integer(id + 1);
  Expr product;
  product.op = ExprOp::kMultiply;
  product.args = {testing::VariableExpr(Variable::kTtl), scale};
  spec.predicate.args[0].args[0] = product;
  return std::make_shared<const TriggerPlan>(MakeTriggerPlan(spec));
}

TEST(PacketMonitor, RefusesARingThatIsNoPowerOfTwo) {
  MonitorOptions options;
  options.ring_bytes = 5000;
  EXPECT_EQ(PacketMonitor::Create(options).message(),
            "ring_bytes is 5000; it takes a power of two from 4096 up");
}

TEST(PacketMonitor, RefusesAProgramWhosePartialsNeverFitInTheRing) {
  EventSpec spec;
  spec.id = 1;
  spec.name = "wide";
  spec.interval_ms = 10;
  spec.predicate.op = ExprOp::kAdd;
  for (int64_t i = 0; i < 100; i++) {
    Expr number;
    number.number = Number::Integer(i);
    Expr sum = testing::AtLeast(AggregateKind::kSum, Variable::kBytes, 0).args[0];
    Expr shifted;
    shifted.op = ExprOp::kAdd;
    shifted.args = {sum.args[0], number};
    sum.args[0] = shifted;
    spec.predicate.args.push_back(sum);
  }
  const auto wide = std::make_shared<const TriggerPlan>(MakeTriggerPlan(spec));
  const auto monitor = MakeMonitor(SmallOptions());
  const Status status = monitor->Publish(TriggerProgram::Make({wide}, 1, INT64_MIN));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.message(),
            "a record of event \"wide\" takes up to 2432 bytes; a ring of 4096 bytes takes 2040");
  EXPECT_TRUE(MakeMonitor()->Publish(TriggerProgram::Make({wide}, 1, INT64_MIN)).ok());
}

TEST(PacketMonitor, DeliversNothingBeforeTheEpochEnds) {
  Rig rig({PlanOf(1, DstPrefix(kRack, 24), Variable::kVolume, 10)});
  Send(rig.monitor.get(), UdpFrame(1, kRack + 1, 5, 6), 10 * kMs);
  SweepAll(rig.monitor.get(), 20 * kMs - 1, &rig.sink);
  EXPECT_TRUE(rig.sink.packets.empty());
  EXPECT_EQ(rig.monitor->clean_until(), 10 * kMs);
  SweepAll(rig.monitor.get(), 20 * kMs, &rig.sink);
  EXPECT_EQ(rig.sink.total_packets[1], 1u);
  EXPECT_EQ(rig.sink.total_sums[1], 18u);
  EXPECT_EQ(rig.monitor->clean_until(), INT64_MAX);
}

TEST(PacketMonitor, CountsOnlyPacketsThatPassTheFilter) {
  Rig rig({PlanOf(1, DstPrefix(kRack, 24), Variable::kPackets, 10)});
  Send(rig.monitor.get(), UdpFrame(1, kRack + 1, 5, 6), 1);
  Send(rig.monitor.get(), UdpFrame(1, kRack + 256, 5, 6), 2);
  rig.Finish(20 * kMs);
  EXPECT_EQ(rig.sink.total_packets[1], 1u);
}

// A gap of at most 10 us, to the packet before of the same flow.
TEST(PacketMonitor, CountsBurstsOfAnyProtocol) {
  Rig rig({PlanOf(1, DstPrefix(kRack, 16), Variable::kIsBurst, 10)});
  for (const Nanos us : {0, 10, 21, 30}) {
    Send(rig.monitor.get(), UdpFrame(1, kRack + 1, 5, 6), us * kNanosPerMicro);
  }
  Send(rig.monitor.get(), UdpFrame(1, kRack + 1, 7, 6), 31 * kNanosPerMicro);
  rig.Finish(10 * kMs);
  EXPECT_EQ(rig.sink.total_packets[1], 5u);
  EXPECT_EQ(rig.sink.total_sums[1], 2u);
}

TEST(PacketMonitor, PacketsAtAnIntervalsEdgeBelongToTheNextInterval) {
  Rig rig({PlanOf(1, DstPrefix(kRack, 24), Variable::kPackets, 10)});
  const UdpFrame udp(1, kRack + 1, 5, 6);
  Send(rig.monitor.get(), udp, 10 * kMs - 1);
  SweepAll(rig.monitor.get(), 10 * kMs, &rig.sink);
  Send(rig.monitor.get(), udp, 10 * kMs);
  rig.Finish(10 * kMs);
  EXPECT_EQ((rig.sink.packets[{1, "", 0}]), 1u);
  EXPECT_EQ((rig.sink.packets[{1, "", 1}]), 1u);
}

TEST(PacketMonitor, ABlockedRingOnlyDelaysTheSweep) {
  Rig rig({PlanOf(1, DstPrefix(kRack, 24), Variable::kVolume, 10, true)}, SmallOptions());
  for (uint16_t port = 0; port < 60; port++) {
    Send(rig.monitor.get(), UdpFrame(1, kRack + 1, port, 6), 1);
  }
  SweepAll(rig.monitor.get(), 10 * kMs, &rig.sink);
  EXPECT_EQ(rig.sink.total_packets[1], 60u);
  EXPECT_EQ(rig.sink.reasons, 0u);
}

// Sixty flows in each epoch from `first` on, before `end`: more than the ring takes.
void SendWhileTheAgentSleeps(Rig* rig, int first, int end) {
  for (int epoch = first; epoch < end; epoch++) {
    for (uint16_t port = 0; port < 60; port++) {
      Send(rig->monitor.get(), UdpFrame(1, kRack + 1, port, 6), epoch * 10 * kMs);
      rig->monitor->OnIdle(epoch * 10 * kMs);
    }
  }
}

TEST(PacketMonitor, ARingThatStaysFullIsCountedAndTheEpochMarked) {
  Rig rig({PlanOf(1, DstPrefix(kRack, 24), Variable::kVolume, 10, true)}, SmallOptions());
  SendWhileTheAgentSleeps(&rig, 0, 4);
  EXPECT_GT(rig.monitor->counters().partials_dropped, 0u);
  rig.Finish(40 * kMs);
  EXPECT_NE(rig.sink.reasons & kRingFull, 0u);
  EXPECT_EQ(rig.monitor->counters().packets, 240u);
}

// Some epochs of one packet, then one of many, in front of an agent that sleeps: whatever room the
// partials leave in the ring, be it too little for the record of the last epoch's end.  True if it
// was too little for that alone.
bool DeliversEveryEnd(int epochs_before, uint16_t flows) {
  Rig rig({PlanOf(1, DstPrefix(kRack, 24), Variable::kVolume, 10, true)}, SmallOptions());
  Nanos now = 0;
  uint64_t sent = 0;
  const auto receive = [&](uint16_t count) {
    for (uint16_t port = 0; port < count; port++) {
      Send(rig.monitor.get(), UdpFrame(1, kRack + 1, port, 6), now);
    }
    sent += count;
    now += 10 * kMs;
    for (int i = 0; i < 50; i++) rig.monitor->OnIdle(now);
  };
  for (int i = 0; i < epochs_before; i++) receive(1);
  receive(flows);
  const bool waits = rig.monitor->counters().partials == sent && rig.monitor->OnIdle(now);
  SweepAll(rig.monitor.get(), now, &rig.sink);
  EXPECT_EQ(rig.sink.epochs, static_cast<uint64_t>(epochs_before) + 1) << "flows " << flows;
  EXPECT_EQ(rig.sink.total_packets[1], sent);
  EXPECT_EQ(rig.sink.reasons, 0u);
  return waits;
}

TEST(PacketMonitor, AnEpochsEndWaitsForRoomInTheRing) {
  int waited = 0;
  for (int before = 0; before < 5; before++) {
    for (uint16_t flows = 30; flows < 60; flows++) waited += DeliversEveryEnd(before, flows);
  }
  EXPECT_GT(waited, 0);
}

TEST(PacketMonitor, AnEpochGivenUpIsNotCleanBeforeItIsMarked) {
  Rig rig({PlanOf(1, DstPrefix(kRack, 24), Variable::kVolume, 10, true)}, SmallOptions());
  SendWhileTheAgentSleeps(&rig, 1, 4);
  // The sweep of the first epoch was given up for that of the second, which is under way.
  ASSERT_GT(rig.monitor->counters().partials_dropped, 0u);
  ASSERT_EQ(rig.sink.reasons, 0u);
  EXPECT_EQ(rig.monitor->clean_until(), 10 * kMs);
  SweepAll(rig.monitor.get(), 30 * kMs, &rig.sink);
  EXPECT_NE(rig.sink.reasons & kRingFull, 0u);
  EXPECT_EQ(rig.monitor->clean_until(), 30 * kMs);
}

TEST(PacketMonitor, AFullFlowTableIsCountedAndTheEpochMarked) {
  Rig rig({PlanOf(1, DstPrefix(kRack, 16), Variable::kPackets, 10)}, SmallOptions());
  for (uint16_t port = 0; port < 100; port++) {
    Send(rig.monitor.get(), UdpFrame(1, kRack + 1, port, 6), 1);
  }
  rig.Finish(10 * kMs);
  const MonitorCounters counters = rig.monitor->counters();
  EXPECT_EQ(rig.sink.total_packets[1] + counters.uncounted_packets, 100u);
  EXPECT_EQ(counters.uncounted_packets, 36u);
  EXPECT_EQ(counters.uncounted_bytes, 36u * 60);
  EXPECT_NE(rig.sink.reasons & kFlowTableFull, 0u);
}

// Of 40 events with a cell of their own three fit.
TEST(PacketMonitor, EventsBeyondThePacketsBudgetAreNotCountedAndItIsTold) {
  HostVerdicts::Plans plans;
  for (uint32_t id = 1; id <= 40; id++) plans.push_back(ScaledTtlPlan(id, DstPrefix(kRack, 16)));
  plans.push_back(PlanOf(41, DstPrefix(kRack, 16), Variable::kBytes, 10));
  const Nanos work = PacketWorkOf(*plans[0]);
  MonitorOptions options;
  options.packet_budget_ns = 3 * work + work / 2;
  Rig rig(plans, options);
  for (uint16_t port = 0; port < 100; port++) {
    Send(rig.monitor.get(), UdpFrame(1, kRack + 1, port % 10, 6), 1);
  }
  Send(rig.monitor.get(), UdpFrame(1, 5, 5, 6), 1);  // of no event
  rig.Finish(10 * kMs);
  for (uint32_t id = 1; id <= 40; id++) {
    EXPECT_EQ(rig.sink.total_packets[id], id <= 3 ? 100u : 0u) << id;
  }
  EXPECT_EQ(rig.sink.total_packets[41], 100u) << "a plain cell takes nothing of the budget";
  const MonitorCounters counters = rig.monitor->counters();
  EXPECT_EQ(counters.partly_counted_packets, 100u);
  EXPECT_EQ(counters.partly_counted_bytes, 6000u);
  EXPECT_EQ(counters.uncounted_packets, 0u);
  EXPECT_EQ(counters.matched_packets, 100u);
  EXPECT_NE(rig.sink.reasons & kFlowTableFull, 0u);
  rig.sink.reasons = 0;
  Send(rig.monitor.get(), UdpFrame(1, 5, 5, 6), 11 * kMs);
  rig.Finish(20 * kMs);
  EXPECT_EQ(rig.sink.reasons, 0u) << "only intervals with such packets are marked";
}

// What is left is plain, but not all.
TEST(PacketMonitor, PacketsOfWhichOnlyPlainCellsFindRoomAreTold) {
  for (const bool has_granularity : {false, true}) {
    HostVerdicts::Plans plans = {ScaledTtlPlan(1, DstPrefix(kRack, 16))};
    EventSpec spec = PlanOf(2, DstPrefix(kRack, 16), Variable::kBytes, 10)->spec;
    spec.granularity.is_five_tuple = has_granularity;
    plans.push_back(std::make_shared<TriggerPlan>(MakeTriggerPlan(spec)));
    MonitorOptions options;
    options.packet_budget_ns = PacketWorkOf(*plans[0]) / 2;
    Rig rig(plans, options);
    for (int i = 0; i < 100; i++) Send(rig.monitor.get(), UdpFrame(1, kRack + 1, 7, 6), 1);
    for (int i = 0; i < 100; i++) Send(rig.monitor.get(), UdpFrame(1, kRack + 1, 7, 6), 11 * kMs);
    rig.sink.reasons = 0;
    rig.Finish(20 * kMs);
    EXPECT_EQ(rig.sink.total_packets[1], 0u);
    EXPECT_EQ(rig.sink.total_packets[2], 200u);
    EXPECT_EQ(rig.monitor->counters().partly_counted_packets, 200u);
    EXPECT_NE(rig.sink.reasons & kFlowTableFull, 0u);
  }
}

// 16 kinds of flows find room, by the events that they match; of others every packet is told.
TEST(PacketMonitor, FlowsWithoutRoomForTheirSetAreUncountedAndMatchedOnce) {
  constexpr uint32_t kKinds = 40;
  HostVerdicts::Plans plans;
  for (uint32_t id = 1; id <= kKinds; id++) {
    plans.push_back(PlanOf(id, DstPrefix(kRack + id, 32), Variable::kVolume, 10));
  }
  MonitorOptions options;
  options.set_kilobytes = 8;
  Rig rig(plans, options);
  SendToEachAddress(&rig, kKinds, 5, 1);
  rig.Finish(10 * kMs);
  const uint64_t room = rig.monitor->memory().sets;
  ASSERT_LT(room, kKinds);
  const MonitorCounters counters = rig.monitor->counters();
  EXPECT_EQ(counters.flows_added, kKinds);
  EXPECT_EQ(counters.uncounted_packets, 5 * (kKinds - room));
  EXPECT_EQ(counters.uncounted_bytes, 60 * counters.uncounted_packets);
  EXPECT_EQ(counters.matched_packets, 5 * room);
  for (uint32_t id = 1; id <= kKinds; id++) {
    EXPECT_EQ(rig.sink.total_packets[id], id <= room ? 5u : 0u) << id;
  }
  EXPECT_NE(rig.sink.reasons & kFlowTableFull, 0u);
}

TEST(PacketMonitor, IdleFlowsMakeRoomForNewOnes) {
  Rig rig({PlanOf(1, DstPrefix(kRack, 16), Variable::kPackets, 10)}, SmallOptions());
  for (int epoch = 0; epoch < 50; epoch++) {
    for (uint16_t flow = 0; flow < 30; flow++) {
      const auto port = static_cast<uint16_t>(epoch * 30 + flow);
      Send(rig.monitor.get(), UdpFrame(1, kRack + 1, port, 6), epoch * 10 * kMs);
      SweepAll(rig.monitor.get(), epoch * 10 * kMs, &rig.sink);
    }
  }
  rig.Finish(500 * kMs);
  EXPECT_EQ(rig.sink.total_packets[1], 1500u);
  EXPECT_EQ(rig.monitor->counters().uncounted_packets, 0u);
}

TEST(PacketMonitor, GivesUpEntriesThatNoProgramLooksFor) {
  Rig rig({PlanOf(1, DstPrefix(0, 0), Variable::kPackets, 10)}, SmallOptions());
  rig.SendAll(40, 1);
  rig.Sweep(10 * kMs);
  EXPECT_EQ(rig.counters().flows, 40u);
  for (uint32_t id = 2; id < 4; id++) {
    rig.Change({PlanOf(id, DstPrefix(0, 0), Variable::kPackets, 10)}, id * 10 * kMs);
    rig.Sweep(id * 10 * kMs);
  }
  for (Nanos epoch = 4; epoch < 200; epoch++) {
    rig.SendAll(1, epoch * 10 * kMs);
    rig.Sweep(epoch * 10 * kMs);
  }
  EXPECT_EQ(rig.counters().flows, 1u);
}

// The blocks of the old entries are smaller than those that the new events need.
TEST(PacketMonitor, MoreEventsFindRoomInATableFullOfOldFlows) {
  MonitorOptions options;
  options.max_flows = 1u << 15;
  options.stat_megabytes = 1;
  const auto first = PlanOf(1, DstPrefix(0, 0), Variable::kPackets, 10);
  Rig rig({first}, options);
  for (uint32_t flow = 0; flow < (1u << 15); flow++) {
    Send(rig.monitor.get(), UdpFrame(flow, kRack, 1, 2), 1);
  }
  SweepAll(rig.monitor.get(), 10 * kMs, &rig.sink);
  ASSERT_EQ(rig.sink.total_packets[1], 1u << 15);  // and not a byte is left
  rig.Change({first, PlanOf(2, DstPrefix(0, 0), Variable::kVolume, 10),
              PlanOf(3, DstPrefix(0, 0), Variable::kTtl, 10)},
             20 * kMs);
  SweepAll(rig.monitor.get(), 20 * kMs, &rig.sink);
  for (Nanos epoch = 2; epoch < 40; epoch++) {
    for (uint32_t flow = 0; flow < 1000; flow++) {
      Send(rig.monitor.get(), UdpFrame(flow, kRack, 1, 2), epoch * 10 * kMs);
    }
    SweepAll(rig.monitor.get(), epoch * 10 * kMs, &rig.sink);
  }
  const uint64_t uncounted = rig.monitor->counters().uncounted_packets;
  for (uint32_t flow = 0; flow < 1000; flow++) {
    Send(rig.monitor.get(), UdpFrame(flow, kRack, 1, 2), 400 * kMs);
  }
  rig.Finish(410 * kMs);
  EXPECT_EQ(rig.monitor->counters().uncounted_packets, uncounted);
  EXPECT_EQ((rig.sink.packets[{3, "", 40}]), 1000u);
}

TEST(PacketMonitor, AnUnfinishedSweepMarksTheEpochThatWentOn) {
  MonitorOptions options;
  options.sweep_budget_ns = 1;
  Rig rig({PlanOf(1, DstPrefix(kRack, 16), Variable::kPackets, 10, true)}, options);
  for (uint16_t port = 0; port < 2000; port++) {
    Send(rig.monitor.get(), UdpFrame(1, kRack + 1, port, 6), 1);
  }
  // No idle time at all and the next epoch passes in one leap.
  Send(rig.monitor.get(), UdpFrame(1, kRack + 1, 1, 6), 10 * kMs);
  Send(rig.monitor.get(), UdpFrame(1, kRack + 1, 1, 6), 20 * kMs);
  EXPECT_EQ(rig.monitor->counters().epochs_skipped, 1u);
  rig.Finish(30 * kMs);
  EXPECT_EQ(rig.sink.total_packets[1], 2002u);
  EXPECT_NE(rig.sink.reasons & kSweepSkipped, 0u);
}

TEST(PacketMonitor, AStepOfTheSweepIsShortHoweverManyEventsAFlowHas) {
  constexpr uint32_t kEvents = 2000;
  MonitorOptions options;
  options.sweep_budget_ns = 1;
  HostVerdicts::Plans plans;
  for (uint32_t id = 1; id <= kEvents; id++) {
    plans.push_back(PlanOf(id, DstPrefix(0, 0), Variable::kVolume, 10, id % 2 == 0));
  }
  Rig rig(plans, options);
  Send(rig.monitor.get(), UdpFrame(1, kRack, 5, 6), 1);
  Send(rig.monitor.get(), UdpFrame(2, kRack, 5, 6), 1);
  EXPECT_TRUE(rig.monitor->OnIdle(10 * kMs));
  EXPECT_GT(rig.monitor->counters().partials, 0u);
  EXPECT_LE(rig.monitor->counters().partials, 64u);
  rig.Finish(10 * kMs);
  for (uint32_t id = 1; id <= kEvents; id++) ASSERT_EQ(rig.sink.total_sums[id], 36u) << id;
  EXPECT_EQ(rig.monitor->counters().swept_flows, 2u);
}

TEST(PacketMonitor, AThreadThatSleepsIsWokenToDeliverAnEpochThatHasMarksOnly) {
  MonitorOptions options;
  options.sweep_budget_ns = 1;
  Rig rig({PlanOf(1, DstPrefix(kRack, 16), Variable::kPackets, 10, true)}, options);
  for (uint16_t port = 0; port < 2000; port++) {
    Send(rig.monitor.get(), UdpFrame(1, kRack + 1, port, 6), 1);
  }
  rig.monitor->OnIdle(10 * kMs);
  rig.monitor->OnIdle(20 * kMs);  // the sweep is not done: the empty epoch goes on
  ASSERT_EQ(rig.monitor->counters().epochs_skipped, 1u);
  SweepAll(rig.monitor.get(), 21 * kMs, &rig.sink);
  EXPECT_EQ(rig.monitor->clean_until(), 10 * kMs);
  EXPECT_EQ(rig.monitor->next_work_ns(), 30 * kMs);
  SweepAll(rig.monitor.get(), 30 * kMs, &rig.sink);
  EXPECT_EQ(rig.monitor->clean_until(), INT64_MAX);
  EXPECT_EQ(rig.monitor->next_work_ns(), INT64_MAX);
}

TEST(PacketMonitor, ASweepGoesOnToItsEndAfterTheClockWasSetBack) {
  MonitorOptions options;
  options.sweep_budget_ns = 1;
  Rig rig({PlanOf(1, DstPrefix(kRack, 16), Variable::kPackets, 10, true)}, options);
  for (uint16_t port = 0; port < 2000; port++) {
    Send(rig.monitor.get(), UdpFrame(1, kRack + 1, port, 6), 15 * kMs);
  }
  rig.monitor->CloseEpoch(15 * kMs);
  SweepAll(rig.monitor.get(), 5 * kMs, &rig.sink);
  EXPECT_EQ(rig.sink.total_packets[1], 2000u);
  EXPECT_EQ(rig.monitor->counters().partials, 2000u);
}

TEST(PacketMonitor, SweepsGoOnBetweenBatchesWhenNoIdleTimeComes) {
  Rig rig({PlanOf(1, DstPrefix(kRack, 16), Variable::kPackets, 10, true)});
  for (int us = 0; us < 100000; us += 10) {
    Send(rig.monitor.get(), UdpFrame(1, kRack + 1, static_cast<uint16_t>(us / 10 % 500), 6),
         us * kNanosPerMicro);
    rig.monitor->Drain(&rig.sink);
  }
  EXPECT_EQ(rig.monitor->counters().epochs_skipped, 0u);
  rig.Finish(100 * kMs);
  EXPECT_EQ(rig.sink.total_packets[1], 10000u);
  EXPECT_EQ(rig.sink.reasons, 0u);
}

TEST(PacketMonitor, EpochsFollowTheCommonDivisorOfTheIntervals) {
  Rig rig({PlanOf(1, DstPrefix(kRack, 24), Variable::kPackets, 6),
           PlanOf(2, DstPrefix(kRack, 24), Variable::kPackets, 4)});
  for (int ms = 0; ms < 24; ms++) {
    SweepAll(rig.monitor.get(), ms * kMs, &rig.sink);
    Send(rig.monitor.get(), UdpFrame(1, kRack + 1, 5, 6), ms * kMs);
  }
  rig.Finish(24 * kMs);
  for (int64_t k = 0; k < 4; k++) EXPECT_EQ((rig.sink.packets[{1, "", k}]), 6u) << k;
  for (int64_t k = 0; k < 6; k++) EXPECT_EQ((rig.sink.packets[{2, "", k}]), 4u) << k;
}

}  // namespace
}  // namespace trumpet
