// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Sets that count for their flows (docs/adr/0010): nothing is lost or counted twice whatever
// becomes of the flows, their entries, the program and the sweep.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lib/model/report.h"
#include "lib/tpm/flow_cells.h"
#include "lib/tpm/flow_entries.h"
#include "lib/tpm/monitor_harness_test.h"
#include "lib/tpm/step_test_kit.h"
#include "lib/verdict/verdict_test_kit.h"

namespace trumpet {
namespace {

using testing::DstPrefix;
using testing::HandClock;
using testing::kRack;
using testing::OneForEachAddress;
using testing::PlanOf;
using testing::Rig;
using testing::Send;
using testing::SendToEachAddress;
using testing::UdpFrame;

constexpr Nanos kMs = kNanosPerMilli;

std::shared_ptr<const TriggerPlan> Volume(uint32_t id, bool by_flow = false, int prefix = 0) {
  return PlanOf(id, DstPrefix(kRack, prefix), Variable::kVolume, 10, by_flow);
}

// Its flows have cells of their own, as a minimum is no plain cell.
std::shared_ptr<const TriggerPlan> LeastTtl(uint32_t id) {
  EventSpec spec;
  spec.id = id;
  spec.name = "ttl-" + std::to_string(id);
  spec.filter = DstPrefix(0, 0);
  spec.predicate = testing::AtLeast(AggregateKind::kMin, Variable::kTtl, 1);
  spec.interval_ms = 10;
  return std::make_shared<const TriggerPlan>(MakeTriggerPlan(spec));
}

TEST(SetCounts, ASetOfThousandsOfFlowsIsSweptAsOneThing) {
  Rig rig({Volume(1), Volume(2, false, 24)});
  for (Nanos epoch = 0; epoch < 5; epoch++) {
    rig.SendAll(3000, epoch * 10 * kMs);
    if (epoch % 2 == 0) rig.SendAll(500, epoch * 10 * kMs + 1);
    rig.Sweep(epoch * 10 * kMs + 2);
  }
  rig.Finish(50 * kMs);
  for (int64_t epoch = 0; epoch < 5; epoch++) {
    for (uint32_t event : {1u, 2u}) {
      EXPECT_EQ(rig.PacketsIn(event, epoch), epoch % 2 == 0 ? 3500u : 3000u) << epoch;
    }
  }
  EXPECT_EQ(rig.sink.total_sums[1], 18u * (5 * 3000 + 3 * 500));
  EXPECT_EQ(rig.sink.reasons, 0u);
  EXPECT_EQ(rig.counters().swept_flows, 0u);
  EXPECT_EQ(rig.counters().swept_sets, 5u);
}

TEST(SetCounts, FlowsThatNobodyWantsAreNotCounted) {
  Rig rig({Volume(1, false, 32)});
  for (int i = 0; i < 10; i++) Send(rig.monitor.get(), UdpFrame(1, kRack + 1, 5, 6), i);
  Send(rig.monitor.get(), UdpFrame(1, kRack, 5, 6), 20);
  rig.Finish(10 * kMs);
  EXPECT_EQ(rig.sink.total_packets[1], 1u);
  EXPECT_EQ(rig.counters().matched_packets, 1u);
}

TEST(SetCounts, SetsBesideThoseOfFlowsWithCellsAddUp) {
  HandClock clock;
  clock.per_look = 1000;
  for (const bool in_steps : {false, true}) {
    MonitorOptions options;
    options.sweeps_unbounded = !in_steps;
    options.step_clock = &clock;
    options.sweep_budget_ns = clock.per_look;
    // The flows of 10.0.128.0 meet all events, the others do without those by flow and by minimum.
    std::vector<std::shared_ptr<const TriggerPlan>> plans = {Volume(1), Volume(2, true, 32),
                                                             Volume(3, false, 8)};
    EventSpec least = LeastTtl(4)->spec;
    least.filter = DstPrefix(kRack, 32);
    plans.push_back(std::make_shared<const TriggerPlan>(MakeTriggerPlan(least)));
    Rig rig(plans, options);
    for (uint16_t port = 0; port < 300; port++) {
      Send(rig.monitor.get(), UdpFrame(7, kRack + port % 3, port, 6), port);
      Send(rig.monitor.get(), UdpFrame(8, 0x7f000001, port, 6), port);
    }
    rig.Finish(10 * kMs);
    EXPECT_EQ(rig.sink.total_packets[1], 600u) << in_steps;
    EXPECT_EQ(rig.sink.total_packets[2], 100u);
    EXPECT_EQ(rig.sink.packets.size(), 3u + 100);
    EXPECT_EQ(rig.sink.total_packets[3], 300u);
    EXPECT_EQ(rig.sink.total_packets[4], 100u);
    EXPECT_EQ(rig.counters().swept_flows, 100u);
    EXPECT_EQ(rig.counters().swept_sets, 3u);
    EXPECT_EQ(rig.sink.total_sums[1], 600u * 18);
  }
}

TEST(SetCounts, ProgramsThatChangeWithinAnEpochEachHaveTheirPackets) {
  Rig rig({Volume(1), Volume(2)});
  rig.SendAll(100, 1 * kMs);
  rig.Change({Volume(2), Volume(3)}, 3 * kMs);
  rig.SendAll(100, 2 * kMs);
  rig.SendAll(100, 3 * kMs);
  rig.Sweep(4 * kMs);
  rig.Change({Volume(3), Volume(4, true)}, 5 * kMs);  // again, and its flows have cells
  rig.SendAll(100, 4 * kMs);
  rig.SendAll(100, 5 * kMs);
  rig.Sweep(6 * kMs);
  rig.Change({Volume(1)}, 7 * kMs);
  rig.SendAll(100, 8 * kMs);
  rig.Sweep(9 * kMs);
  rig.Finish(10 * kMs);
  EXPECT_EQ(rig.PacketsIn(1, 0), 300u);
  EXPECT_EQ(rig.PacketsIn(2, 0), 400u);
  EXPECT_EQ(rig.PacketsIn(3, 0), 300u);
  EXPECT_EQ(rig.sink.total_packets[4], 100u);
  EXPECT_EQ(rig.sink.reasons, 0u);
}

// Nothing is swept between the changes: the second one waits until the first epoch is.
TEST(SetCounts, AChangeDoesNotOvertakeTheSweepOfTheProgramBefore) {
  MonitorOptions options;
  options.sweep_budget_ns = 1;
  Rig rig({Volume(1), Volume(5, true)}, options);
  rig.SendAll(500, 1 * kMs);
  rig.Change({Volume(2)}, 2 * kMs);
  rig.SendAll(500, 2 * kMs);
  rig.Change({Volume(3)}, 3 * kMs);
  rig.SendAll(500, 3 * kMs);
  rig.SendAll(500, 11 * kMs);
  for (Nanos now = 12 * kMs; now < 50 * kMs; now += kMs) {
    rig.Sweep(now);
    rig.SendAll(1, now);
  }
  rig.Finish(50 * kMs);
  EXPECT_EQ(rig.sink.total_packets[1], 500u);
  EXPECT_EQ(rig.sink.total_packets[2] + rig.sink.total_packets[3], 1500u + 38);
}

TEST(SetCounts, AnEpochThatWentOnKeepsItsSums) {
  MonitorOptions options;
  options.sweep_budget_ns = 1;
  Rig rig({Volume(1), Volume(2, true, 32), Volume(3, false, 31)}, options);
  Send(rig.monitor.get(), UdpFrame(1, kRack + 1, 5, 6), 1);  // not one by flow
  rig.SendAll(2000, 1);
  // No idle time: the epochs that begin at 10 and 20 ms become one.
  Send(rig.monitor.get(), UdpFrame(1, kRack + 1, 5, 6), 10 * kMs);
  Send(rig.monitor.get(), UdpFrame(1, kRack + 1, 5, 6), 20 * kMs);
  Send(rig.monitor.get(), UdpFrame(1, kRack + 1, 5, 6), 21 * kMs);
  EXPECT_EQ(rig.counters().epochs_skipped, 1u);
  rig.Finish(30 * kMs);
  EXPECT_EQ(rig.PacketsIn(1, 0), 2001u);
  EXPECT_EQ(rig.PacketsIn(3, 1), 3u);
  EXPECT_EQ(rig.sink.total_packets[1], 2004u);
  EXPECT_EQ(rig.sink.total_packets[2], 2000u);
  EXPECT_EQ(rig.sink.total_packets[3], 2004u);
  EXPECT_NE(rig.sink.reasons & kSweepSkipped, 0u);
}

TEST(SetCounts, ASweepThatWasGivenUpLeavesNothingToLaterEpochs) {
  constexpr uint32_t kEvents = 150;
  MonitorOptions options;
  options.ring_bytes = 4096;
  options.sweeps_unbounded = true;  // however slow the machine, each step fills the ring
  Rig rig(OneForEachAddress(kEvents), options);
  for (int epoch = 0; epoch < 4; epoch++) {
    SendToEachAddress(&rig, kEvents, 5, epoch * 10 * kMs);
    rig.monitor->OnIdle(epoch * 10 * kMs + 1);  // and nobody empties the ring
  }
  ASSERT_GT(rig.counters().partials_dropped, 0u);
  rig.Finish(40 * kMs);
  SendToEachAddress(&rig, kEvents, 7, 50 * kMs);
  rig.Finish(60 * kMs);
  for (const auto& [bucket, packets] : rig.sink.packets) {
    ASSERT_EQ(packets, std::get<2>(bucket) == 5 ? 7u : 5u) << "event " << std::get<0>(bucket);
  }
  EXPECT_GT(rig.PacketsIn(kEvents, 0) + rig.PacketsIn(1, 0), 0u) << "what was told before";
  for (uint32_t id = 1; id <= kEvents; id++) EXPECT_EQ(rig.PacketsIn(id, 5), 7u) << id;
  EXPECT_NE(rig.sink.reasons & kRingFull, 0u);
}

// A hundred of sixteen hundred entries: one flow in ten or twenty finds its seat taken, which is as
// many as may be, or too many.
TEST(SetCounts, FlowsThatAreNotInTheirSeatsAreCountedAllTheSame) {
  constexpr uint32_t kFlows = 100;
  for (uint64_t seed = 1; seed <= 8; seed++) {
    SCOPED_TRACE(seed);
    MonitorOptions options;
    options.max_flows = 1600;
    options.connections.hash_seed = seed;
    Rig rig(OneForEachAddress(kFlows), options);
    std::vector<UdpFrame> flows;
    std::vector<Frame> batch;
    for (uint32_t id = 1; id <= kFlows; id++) flows.emplace_back(1, kRack + id, 5, 6);
    for (const UdpFrame& flow : flows) batch.push_back(flow.frame());
    for (int epoch = 0; epoch < 4; epoch++) {
      for (int round = 0; round < 500; round++) {
        rig.monitor->OnBatch(batch.data(), kFlows, false, 0, 0, epoch * 10 * kMs + round);
      }
      rig.Sweep(epoch * 10 * kMs + 500);
    }
    rig.Finish(40 * kMs);
    for (uint32_t id = 1; id <= kFlows; id++) {
      for (int64_t epoch = 0; epoch < 4; epoch++) EXPECT_EQ(rig.PacketsIn(id, epoch), 500u) << id;
    }
  }
}

// More than the first seats are for: half of the flows get another one while they send.
TEST(SetCounts, FlowsThatMoveToTheirSeatsAreCountedAllTheSame) {
  constexpr uint32_t kEvents = 100;
  constexpr uint32_t kPorts = 30;
  MonitorOptions options;
  options.max_flows = 1 << 17;
  Rig rig(OneForEachAddress(kEvents), options);
  for (int64_t epoch = 0; epoch < 4; epoch++) {
    std::vector<UdpFrame> flows;
    std::vector<Frame> batch;
    for (uint32_t id = 1; id <= kEvents; id++) {
      for (uint32_t port = 0; port < kPorts; port++) {
        flows.emplace_back(1, kRack + id, static_cast<uint16_t>(port), 6);
      }
    }
    for (const UdpFrame& flow : flows) batch.push_back(flow.frame());
    for (size_t first = 0; first < batch.size(); first += 30) {
      for (int round = 0; round < 3; round++) {
        rig.monitor->OnBatch(&batch[first], 30, false, 0, 0, epoch * 10 * kMs + round);
      }
    }
    rig.Sweep(epoch * 10 * kMs + 500);
  }
  rig.Finish(40 * kMs);
  EXPECT_EQ(rig.counters().flows, kEvents * kPorts);
  EXPECT_EQ(rig.counters().flows_added, kEvents * kPorts);
  for (uint32_t id = 1; id <= kEvents; id++) {
    for (int64_t epoch = 0; epoch < 4; epoch++) {
      EXPECT_EQ(rig.PacketsIn(id, epoch), 3 * kPorts) << id;
    }
  }
}

// Entries come and go all the time; what their flows sent is the set's.
TEST(SetCounts, EntriesThatAreGivenUpTakeNothingAway) {
  MonitorOptions options;
  options.max_flows = 64;
  Rig rig({Volume(1)}, options);
  uint32_t next = 0;
  for (Nanos epoch = 0; epoch < 100; epoch++) {
    for (int i = 0; i < 30; i++) {
      Send(rig.monitor.get(), UdpFrame(next++, kRack, 5, 6), epoch * 10 * kMs);
    }
    rig.monitor->OnIdle(epoch * 10 * kMs);
    if (epoch % 3 == 0) rig.Sweep(epoch * 10 * kMs);
  }
  rig.Finish(1000 * kMs);
  EXPECT_EQ(rig.counters().uncounted_packets, 0u);
  EXPECT_GT(rig.counters().flows_reclaimed, 2000u);
  EXPECT_EQ(rig.sink.total_packets[1], 3000u);
}

TEST(SetCounts, AFloodDoesNotPushOutFlowsThatGoOnSending) {
  MonitorOptions options;
  options.max_flows = 128;
  Rig rig({Volume(1)}, options);
  uint32_t next = 1000;
  for (Nanos epoch = 0; epoch < 200; epoch++) {
    for (int i = 0; i < 40; i++) {
      Send(rig.monitor.get(), UdpFrame(next++, kRack, 5, 6), epoch * 10 * kMs);
    }
    rig.SendAll(20, epoch * 10 * kMs + 1);
    rig.Sweep(epoch * 10 * kMs + 2);
  }
  const MonitorCounters counters = rig.counters();
  EXPECT_GT(counters.flows_reclaimed, 1000u);
  EXPECT_EQ(counters.uncounted_packets, 0u);
  EXPECT_EQ(counters.flows_added, 200u * 40 + 20) << "each of the 20 once";
}

TEST(SetCounts, FlowsThatEndedMakeRoomAfterAWhile) {
  MonitorOptions options;
  options.max_flows = 64;
  Rig rig({Volume(1)}, options);
  for (Nanos epoch = 0; epoch < 3; epoch++) {
    rig.SendAll(64, epoch * 10 * kMs);
    rig.Sweep(epoch * 10 * kMs);
  }
  for (Nanos epoch = 3; epoch < 3 + 2 * kSlackEpochs; epoch++) {
    Send(rig.monitor.get(), UdpFrame(100, kRack, 5, 6), epoch * 10 * kMs);
    rig.Sweep(epoch * 10 * kMs);
  }
  EXPECT_EQ(rig.counters().flows_added, 65u);
  EXPECT_LE(rig.counters().uncounted_packets, kSlackEpochs + 2);
}

// Old entries hold nothing, so they are in nobody's way however long their flows went on.
TEST(SetCounts, EntriesOfAnOldProgramMakeRoomAtOnce) {
  MonitorOptions options;
  options.max_flows = 64;
  Rig rig({Volume(1)}, options);
  for (Nanos epoch = 0; epoch < 3; epoch++) {
    rig.SendAll(64, epoch * 10 * kMs);
    rig.Sweep(epoch * 10 * kMs);
  }
  rig.Change({Volume(2)}, 30 * kMs);
  rig.Sweep(30 * kMs);
  rig.SendAll(1, 40 * kMs);
  rig.Sweep(50 * kMs);
  rig.SendAll(64, 50 * kMs);
  rig.Finish(60 * kMs);
  EXPECT_EQ(rig.counters().uncounted_packets, 0u);
  EXPECT_EQ(rig.sink.total_packets[2], 65u);
}

// --- the parts ---------------------------------------------------------------

struct Parts {
  explicit Parts(const HostVerdicts::Plans& plans)
      : program(TriggerProgram::Make(plans, 1, INT64_MIN)) {
    TriggerSetTable sets;
    EXPECT_TRUE(sets.Init(16, 1 << 16));
    generation = std::make_unique<Generation>(program, &sets);
    generation->number = 1;
    EXPECT_TRUE(flows.Init(64, 4096));
    flows.RunGeneration(1);
    for (auto& list : epoch.touched) EXPECT_TRUE(list.Allocate(64));
    epoch.running = generation.get();
    ParsePacket(UdpFrame(1, kRack, 5, 6).frame(), ParseOptions(), &packet);
  }
  FlowIndex Add() {
    const FlowKey key = EntryKeyOf(packet, 0);
    const uint32_t set = MatchSet(packet, key, generation.get());
    return AddEntry(packet, key, nullptr, 42, set, *generation, epoch.number, &flows);
  }
  void Begin(uint32_t number) {
    epoch.number = number;
    epoch.touched_count[number & 1] = 0;
    generation->sets.BeginEpoch(number);
  }

  std::shared_ptr<const TriggerProgram> program;
  std::unique_ptr<Generation> generation;
  FlowTable flows;
  EpochState epoch;
  ParsedPacket packet;
};

TEST(SetCounts, TheEntryOfAFlowWithoutCellsIsSeldomWritten) {
  Parts parts({Volume(1)});
  FlowCells cells(&parts.flows, &parts.epoch);
  const FlowIndex flow = parts.Add();
  FlowEntry& entry = parts.flows.At(flow);
  EXPECT_EQ(entry.block, kNoBlock);
  uint32_t writes = 0;
  for (uint32_t number = 10; number < 110; number++) {
    parts.Begin(number);
    const uint32_t before = entry.last_epoch;
    for (int i = 0; i < 3; i++) EXPECT_TRUE(cells.CountPacket(flow, parts.packet, PacketFacts{}));
    writes += entry.last_epoch != before ? 1 : 0;
    EXPECT_LE(number - entry.last_epoch, kSlackEpochs);
    ASSERT_EQ(parts.generation->sets.FirstTouched(number), entry.set);
    EXPECT_EQ(parts.generation->sets.TotalsOf(entry.set, number)[0], 3u);
    EXPECT_EQ(parts.epoch.touched_count[number & 1], 0u);
  }
  EXPECT_EQ(writes, 2 + 98 / (kSlackEpochs + 1));
}

TEST(SetCounts, BanksAlternateWhereEpochNumbersWrapAround) {
  Parts parts({Volume(1)});
  FlowCells cells(&parts.flows, &parts.epoch);
  const FlowIndex flow = parts.Add();
  TriggerSetTable& sets = parts.generation->sets;
  const uint32_t set = parts.flows.At(flow).set;
  uint32_t number = UINT32_MAX - 20;
  parts.Begin(number);
  for (uint64_t packets = 1; packets < 50; packets++) {
    for (uint64_t i = 0; i < packets; i++) cells.CountPacket(flow, parts.packet, PacketFacts{});
    const uint32_t swept = number;
    number = FlowTable::NextEpoch(number);
    parts.Begin(number);
    cells.CountPacket(flow, parts.packet, PacketFacts{});
    // Of the epoch before, while the next one is counted.
    ASSERT_EQ(sets.FirstTouched(swept), set) << number;
    ASSERT_EQ(sets.NextTouched(set, swept), kNoSet) << number;
    ASSERT_EQ(sets.TotalsOf(set, swept)[0], packets == 1 ? 1 : packets + 1) << number;
    ASSERT_EQ(sets.TotalsOf(set, number)[0], 1u) << number;
  }
}

TEST(SetCounts, OnlyPlainCellsWithoutGranularityAreKeptBySets) {
  const auto counts = [](const HostVerdicts::Plans& plans) {
    Parts parts(plans);
    return parts.generation->sets.CountsForFlows(parts.flows.At(parts.Add()).set);
  };
  EXPECT_TRUE(counts({Volume(1)}));
  EXPECT_TRUE(counts({Volume(1), PlanOf(2, DstPrefix(0, 0), Variable::kEcn, 20),
                      PlanOf(3, DstPrefix(0, 0), Variable::kIsLost, 20)}));
  EXPECT_FALSE(counts({Volume(1), Volume(2, true)}));
  EXPECT_FALSE(counts({Volume(1), LeastTtl(2)}));
  EXPECT_FALSE(counts({PlanOf(1, DstPrefix(0, 0), Variable::kRwnd, 10)})) << "marks unscaled ones";
  EXPECT_FALSE(counts({PlanOf(1, DstPrefix(0, 0), Variable::kRtt, 10)})) << "samples come late";
}

}  // namespace
}  // namespace trumpet
