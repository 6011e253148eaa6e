// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

// PacketMonitor while programs change: instants, generations, samples that cross a change, threads.

#include "lib/tpm/packet_monitor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <random>
#include <thread>

#include "lib/model/report.h"
#include "lib/packet/test_frames.h"
#include "lib/tpm/cycle_samples.h"
#include "lib/tpm/monitor_harness_test.h"
#include "lib/tpm/next_flows.h"

namespace trumpet {
namespace {

using testing::DstPrefix;
using testing::kRack;
using testing::MakeMonitor;
using testing::OneForEachAddress;
using testing::PlanOf;
using testing::Rig;
using testing::Segment;
using testing::Send;
using testing::SendToEachAddress;
using testing::SummingSink;
using testing::SweepAll;
using testing::UdpFrame;

constexpr Nanos kMs = kNanosPerMilli;

TEST(PacketMonitor, AnEventCountsFromItsStatedInstantOn) {
  const auto old_event = PlanOf(1, DstPrefix(kRack, 24), Variable::kPackets, 10);
  const auto new_event = PlanOf(2, DstPrefix(kRack, 16), Variable::kVolume, 10);
  Rig rig({old_event});
  const UdpFrame udp(1, kRack + 1, 5, 6);
  for (int ms = 0; ms < 40; ms++) {
    if (ms == 10) rig.Change({old_event, new_event}, 17 * kMs);
    SweepAll(rig.monitor.get(), ms * kMs, &rig.sink);
    Send(rig.monitor.get(), udp, ms * kMs);
  }
  rig.Finish(40 * kMs);
  EXPECT_EQ(rig.sink.total_packets[1], 40u);
  EXPECT_EQ(rig.sink.total_packets[2], 23u);
  EXPECT_EQ((rig.sink.packets[{1, "", 1}]), 10u);  // the interval in which the set changed
  EXPECT_EQ((rig.sink.packets[{2, "", 1}]), 3u);
  EXPECT_EQ(rig.sink.reasons, 0u);
}

TEST(PacketMonitor, AnEventThatIsHandedOverTooLateIsMarked) {
  const auto old_event = PlanOf(1, DstPrefix(kRack, 24), Variable::kPackets, 10);
  const auto new_event = PlanOf(2, DstPrefix(kRack, 16), Variable::kPackets, 10);
  Rig rig({old_event});
  const UdpFrame udp(1, kRack + 1, 5, 6);
  Send(rig.monitor.get(), udp, 11 * kMs);
  Send(rig.monitor.get(), udp, 12 * kMs);  // of the new event too, but nobody knew
  rig.Change({old_event, new_event}, 12 * kMs);
  Send(rig.monitor.get(), udp, 12 * kMs);
  rig.Finish(20 * kMs);
  EXPECT_EQ(rig.sink.total_packets[1], 3u);
  EXPECT_EQ(rig.sink.total_packets[2], 1u);
  EXPECT_NE(rig.sink.reasons & kMonitorInterrupted, 0u);
}

TEST(PacketMonitor, AnEventWhoseProgramWasReplacedBeforeAThreadSawItIsMarked) {
  const auto event = PlanOf(1, DstPrefix(kRack, 24), Variable::kPackets, 10);
  Rig rig({});
  const UdpFrame udp(1, kRack + 1, 5, 6);
  Send(rig.monitor.get(), udp, 1);
  rig.Change({event}, 12 * kMs);
  rig.Change({event}, 15 * kMs);
  Send(rig.monitor.get(), udp, 13 * kMs);
  EXPECT_LE(rig.monitor->clean_until(), 12 * kMs) << "the mark is to come";
  Send(rig.monitor.get(), udp, 16 * kMs);
  rig.Finish(20 * kMs);
  EXPECT_EQ(rig.sink.total_packets[1], 1u);
  EXPECT_NE(rig.sink.reasons & kMonitorInterrupted, 0u);
}

TEST(PacketMonitor, AProgramThatIsReplacedInTimeLeavesNoMark) {
  const auto event = PlanOf(1, DstPrefix(kRack, 24), Variable::kPackets, 10);
  Rig rig({});
  const UdpFrame udp(1, kRack + 1, 5, 6);
  Send(rig.monitor.get(), udp, 1);
  rig.Change({event}, 12 * kMs);
  rig.Change({event}, 15 * kMs);
  Send(rig.monitor.get(), udp, 16 * kMs);
  rig.Finish(20 * kMs);
  EXPECT_EQ(rig.sink.total_packets[1], 1u);
  EXPECT_EQ(rig.sink.reasons, 0u);
}

TEST(PacketMonitor, ASampleOfAFlowOfTheProgramBeforeIsCounted) {
  const auto event = PlanOf(1, DstPrefix(0, 0), Variable::kRtt, 10, true);
  const auto other = PlanOf(2, DstPrefix(0, 0), Variable::kRtt, 10, true);
  Rig rig({event});
  Send(rig.monitor.get(), Segment(1, 2, 100, 1, 10), 1 * kMs);
  rig.Change({event, other}, 2 * kMs);
  Send(rig.monitor.get(), Segment(2, 1, 1, 110, 0), 3 * kMs);
  rig.Finish(10 * kMs);
  EXPECT_EQ(rig.monitor->counters().rtt_samples, 1u);
  EXPECT_EQ(rig.sink.total_sums[1], static_cast<uint64_t>(2 * kMs));
  EXPECT_EQ(rig.sink.reasons, uint32_t{kConnectionEvicted}) << "the other event lacks it";
}

TEST(PacketMonitor, ASampleOfAFlowOfTheProgramBeforeIsWholeForTheEventsOfBoth) {
  const auto event = PlanOf(1, DstPrefix(0, 0), Variable::kRtt, 10, true);
  const auto other = PlanOf(2, DstPrefix(0, 0), Variable::kPackets, 10);
  Rig rig({event});
  Send(rig.monitor.get(), Segment(1, 2, 100, 1, 10), 1 * kMs);
  rig.Change({other, event}, 2 * kMs);
  Send(rig.monitor.get(), Segment(2, 1, 1, 110, 0), 3 * kMs);
  rig.Finish(10 * kMs);
  EXPECT_EQ(rig.sink.total_sums[1], static_cast<uint64_t>(2 * kMs));
  EXPECT_EQ(rig.sink.reasons, 0u);
}

// Nobody can tell any more whose flow it was; there is room enough.
TEST(PacketMonitor, ASampleThatTwoChangesLeaveBehindIsNotForLackOfRoom) {
  const auto event = PlanOf(1, DstPrefix(0, 0), Variable::kRtt, 5, true);
  const auto other = PlanOf(2, DstPrefix(0, 0), Variable::kPackets, 5);
  Rig rig({event});
  Send(rig.monitor.get(), Segment(1, 2, 100, 1, 10), 1 * kMs);
  rig.Change({event, other}, 2 * kMs);
  SweepAll(rig.monitor.get(), 2 * kMs, &rig.sink);
  rig.Change({event}, 6 * kMs);
  SweepAll(rig.monitor.get(), 6 * kMs, &rig.sink);
  Send(rig.monitor.get(), Segment(2, 1, 1, 110, 0), 7 * kMs);
  rig.Finish(10 * kMs);
  EXPECT_EQ(rig.monitor->counters().rtt_samples_orphaned, 1u);
  EXPECT_EQ(rig.sink.reasons, uint32_t{kConnectionEvicted});
}

// CloseEpoch() may end an epoch before its time; what comes until then counts in the next one.
TEST(PacketMonitor, ASampleOfAPacketFromBeforeTheOpenEpochCountsInIt) {
  const auto event = PlanOf(1, DstPrefix(0, 0), Variable::kRtt, 10, true);
  Rig rig({event});
  Send(rig.monitor.get(), Segment(1, 2, 100, 1, 10), 1 * kMs);
  rig.Finish(2 * kMs);
  Send(rig.monitor.get(), Segment(2, 1, 1, 110, 0), 3 * kMs);
  rig.Finish(20 * kMs);
  EXPECT_EQ(rig.monitor->counters().rtt_samples, 1u);
  EXPECT_EQ(rig.sink.total_sums[1], static_cast<uint64_t>(2 * kMs));
  EXPECT_EQ(rig.sink.reasons, 0u);
}

TEST(PacketMonitor, ASampleThatTwoChangesInOneEpochLoseIsMarked) {
  const auto event = PlanOf(1, DstPrefix(0, 0), Variable::kRtt, 10, true);
  const auto other = PlanOf(2, DstPrefix(0, 0), Variable::kRtt, 10, true);
  Rig rig({event});
  Send(rig.monitor.get(), Segment(1, 2, 100, 1, 10), 1 * kMs);
  rig.Change({event, other}, 2 * kMs);
  SweepAll(rig.monitor.get(), 2 * kMs, &rig.sink);
  Send(rig.monitor.get(), Segment(2, 1, 1, 110, 0), 3 * kMs);
  rig.Change({event}, 4 * kMs);
  rig.Finish(10 * kMs);
  ASSERT_EQ(rig.monitor->counters().rtt_samples, 1u);
  ASSERT_EQ(rig.sink.total_sums[1], 0u);
  EXPECT_NE(rig.sink.reasons & kMonitorInterrupted, 0u);
}

// The named defects of the authors' code that concern this unit.
TEST(Defects, D_AnEventAddedAfterARemovalCountsFromItsFirstPacket) {
  const auto first = PlanOf(1, DstPrefix(kRack, 24), Variable::kPackets, 10);
  const auto second = PlanOf(2, DstPrefix(kRack, 24), Variable::kPackets, 10);
  Rig rig({first});
  const UdpFrame udp(1, kRack + 1, 5, 6);
  Send(rig.monitor.get(), udp, 1);
  rig.Change({}, 10 * kMs);
  SweepAll(rig.monitor.get(), 15 * kMs, &rig.sink);
  rig.Change({second}, 20 * kMs);
  SweepAll(rig.monitor.get(), 20 * kMs, &rig.sink);
  for (int i = 0; i < 7; i++) Send(rig.monitor.get(), udp, 25 * kMs);
  rig.Finish(30 * kMs);
  EXPECT_EQ(rig.sink.total_packets[2], 7u);
}

TEST(Defects, F_ASecondEventLeavesTheCountsOfALiveFlowAlone) {
  const auto volume = PlanOf(1, DstPrefix(kRack, 24), Variable::kVolume, 10);
  const auto packets = PlanOf(2, DstPrefix(kRack, 24), Variable::kPackets, 10);
  Rig rig({volume});
  const UdpFrame udp(1, kRack + 1, 5, 6, 1000);
  for (int i = 0; i < 3; i++) Send(rig.monitor.get(), udp, i);
  rig.Change({volume, packets}, 100);
  for (int i = 0; i < 2; i++) Send(rig.monitor.get(), udp, 200 + i);
  rig.Finish(10 * kMs);
  EXPECT_EQ(rig.sink.total_sums[1], 5000u);
  EXPECT_EQ(rig.sink.total_packets[2], 2u);
}

// Random traffic, random idle time, small steps, and a changing set of events: every packet is
// counted exactly once by every event installed at its time.
TEST(PacketMonitor, RandomInstallsUnderTrafficKeepEveryCountExact) {
  for (uint32_t seed = 1; seed <= 20; seed++) {
    std::mt19937 random(seed);
    MonitorOptions options;
    options.max_flows = 4096;
    options.sweep_budget_ns = 200;
    std::map<uint32_t, std::shared_ptr<const TriggerPlan>> installed;
    Rig rig({}, options);
    std::map<uint32_t, uint64_t> expected;
    std::map<uint32_t, int> prefix_of;
    uint32_t next_id = 1;
    Nanos now = 0;
    HostVerdicts::Plans next_plans;
    Nanos change_at = INT64_MAX;
    for (int step = 0; step < 4000; step++) {
      now += static_cast<Nanos>(random() % 20000);
      if (now >= change_at) {
        installed.clear();
        for (const auto& plan : next_plans) installed[plan->spec.id] = plan;
        change_at = INT64_MAX;
      }
      if (change_at == INT64_MAX && random() % 100 == 0) {
        next_plans.clear();
        for (const auto& [id, plan] : installed) {
          if (random() % 3 != 0) next_plans.push_back(plan);
        }
        const int prefix = static_cast<int>(16 + random() % 16);
        prefix_of[next_id] = prefix;
        next_plans.push_back(PlanOf(next_id++, DstPrefix(kRack, prefix), Variable::kVolume,
                                    1 + random() % 7, random() % 2 == 0));
        change_at = now + 100000;
        rig.Change(next_plans, change_at);
      }
      // Finish what could get in the way of a change of epoch, then maybe some idle time.
      SweepAll(rig.monitor.get(), now, &rig.sink);
      const uint32_t dst = kRack + random() % 600;
      Send(rig.monitor.get(), UdpFrame(random() % 3, dst, 5, 6), now);
      for (const auto& [id, plan] : installed) {
        const uint32_t shift = static_cast<uint32_t>(32 - prefix_of[id]);
        if (dst >> shift == kRack >> shift) expected[id]++;
      }
    }
    rig.Finish(now);
    for (const auto& [id, count] : expected) {
      EXPECT_EQ(rig.sink.total_packets[id], count) << "seed " << seed << " event " << id;
    }
    EXPECT_EQ(rig.sink.reasons, 0u) << "seed " << seed;
    EXPECT_FALSE(rig.sink.is_out_of_order) << "seed " << seed;
  }
}

// What sets held lies in the ring by reference, and nobody reads it until eight programs have come
// and gone, twice as many as there is room for.
TEST(PacketMonitor, ProgramsMayChangeFasterThanTheAgentReads) {
  constexpr uint32_t kEvents = 30;
  Rig rig({});
  for (int64_t epoch = 0; epoch < 8; epoch++) {
    HostVerdicts::Plans plans = OneForEachAddress(kEvents);
    std::rotate(plans.begin(), plans.begin() + epoch, plans.end());
    plans.resize(kEvents / 2);
    plans.push_back(PlanOf(100, DstPrefix(0, 0), Variable::kVolume, 10, true));
    rig.Change(plans, epoch * 10 * kMs);
    SendToEachAddress(&rig, kEvents, 3, epoch * 10 * kMs);
    while (rig.monitor->OnIdle(epoch * 10 * kMs + 1)) continue;
    EXPECT_EQ(rig.monitor->running_generation(), rig.generation);
  }
  EXPECT_EQ(rig.sink.epochs, 0u);
  rig.Finish(80 * kMs);
  for (uint32_t id = 1; id <= kEvents; id++) {
    for (int64_t epoch = 0; epoch < 8; epoch++) {
      const bool is_on = (id + kEvents - 1 - epoch) % kEvents < kEvents / 2;
      EXPECT_EQ(rig.PacketsIn(id, epoch), is_on ? 3u : 0u) << id << " in " << epoch;
    }
  }
  EXPECT_EQ(rig.sink.total_packets[100], 8u * 3 * kEvents);
  EXPECT_EQ(rig.sink.epochs, 8u);
  EXPECT_FALSE(rig.sink.is_out_of_order);
  EXPECT_EQ(rig.sink.reasons, 0u);
}

// It may have read what sets hold, and not yet that this was all, when their program is given up.
TEST(PacketMonitor, ProgramsMayChangeWhereverTheAgentHasReadTo) {
  constexpr uint32_t kEvents = 40;
  MonitorOptions options;
  options.sweep_budget_ns = 1;  // a step for each flow and set
  Rig rig(OneForEachAddress(kEvents), options);
  std::mt19937 random(1);
  Nanos now = 0;
  std::vector<uint64_t> sent(kEvents + 1);
  const auto step = [&] {
    const bool has_more = rig.monitor->OnIdle(now);
    if (random() % 4 == 0) rig.monitor->Drain(&rig.sink);
    const bool may_change = rig.monitor->running_generation() == rig.generation;
    if (may_change && random() % 2 == 0) rig.Change(OneForEachAddress(kEvents), INT64_MIN);
    return has_more;
  };
  for (; now < 5000 * kMs; now += kMs) {
    const uint32_t count = 1 + random() % kEvents;
    SendToEachAddress(&rig, count, 1, now);
    for (uint32_t id = 1; id <= count; id++) sent[id]++;
    while (step()) continue;
  }
  rig.Finish(now);
  for (uint32_t id = 1; id <= kEvents; id++) EXPECT_EQ(rig.sink.total_packets[id], sent[id]) << id;
  EXPECT_FALSE(rig.sink.is_out_of_order);
  EXPECT_EQ(rig.sink.reasons, 0u);
}

// Under TSan: the packet thread and the agent thread at once.
TEST(PacketMonitorThread, ProgramsAndPartialsCrossBetweenThreads) {
  const auto event = PlanOf(1, DstPrefix(kRack, 16), Variable::kPackets, 1);
  const auto other = PlanOf(2, DstPrefix(kRack, 24), Variable::kVolume, 1);
  Rig rig({event});
  constexpr int kPackets = 100000;
  std::atomic<bool> is_over{false};
  std::thread packet_thread([&] {
    for (int i = 0; i < kPackets; i++) {
      const Nanos now = i * 1000;
      Send(rig.monitor.get(), UdpFrame(1, kRack + i % 50, 5, 6), now);
      // Epochs end faster here than any switch would end them: wait for the agent.
      while (rig.monitor->OnIdle(now)) std::this_thread::yield();
    }
    rig.monitor->CloseEpoch(Nanos{kPackets} * 1000);
    while (rig.monitor->OnIdle(Nanos{kPackets} * 1000)) std::this_thread::yield();
    is_over = true;
  });
  uint64_t changes = 0;
  while (!is_over) {
    rig.monitor->Drain(&rig.sink);
    if (changes < 200 && rig.monitor->running_generation() == rig.generation) {
      const HostVerdicts::Plans both{event, other};
      rig.Change(++changes % 2 == 0 ? HostVerdicts::Plans{event} : both, INT64_MIN);
    }
    static_cast<void>(rig.monitor->counters());
    static_cast<void>(rig.monitor->clean_until());
  }
  packet_thread.join();
  rig.monitor->Drain(&rig.sink);
  EXPECT_EQ(rig.sink.total_packets[1], static_cast<uint64_t>(kPackets));
  EXPECT_EQ(rig.monitor->counters().packets, static_cast<uint64_t>(kPackets));
}

// 4,000 filters are tested for each of these flows, which takes far longer than a packet may wait.
TEST(PacketMonitor, FlowsThatAreDearToMatchAreNotMatchedAhead) {
  HostVerdicts::Plans plans;
  FilterExpr ttl;
  ttl.op = FilterOp::kTest;
  ttl.test.ref.field = Field::kTtl;
  ttl.test.ranges = {{ValueKind::kNumber, 1, 200}};
  for (uint32_t id = 1; id <= 4000; id++) {
    plans.push_back(PlanOf(id, ttl, Variable::kPackets, 10));
  }
  SummingSink sink(plans);
  const auto monitor = testing::MakeMonitor();
  constexpr Nanos kInstant = 20 * kNanosPerMilli;
  ASSERT_TRUE(monitor->Publish(TriggerProgram::Make(plans, 1, kInstant)).ok());
  // Packets of a flow that has an entry do not make the others less dear.
  for (uint16_t flow = 0; flow < 100; flow++) {
    testing::Send(monitor.get(), UdpFrame(1, 2, flow, 6), kInstant - 1000 + flow);
    for (int i = 0; i < 10; i++) {
      testing::Send(monitor.get(), UdpFrame(1, 2, 0, 6), kInstant - 1000 + flow);
    }
  }
  for (uint16_t flow = 0; flow < 100; flow++) {
    testing::Send(monitor.get(), UdpFrame(1, 2, flow, 6), kInstant + flow);
  }
  testing::SweepAll(monitor.get(), kInstant + 10 * kNanosPerMilli, &sink);
  constexpr uint64_t kBatches = 100 * 11;
  EXPECT_GE(monitor->counters().flows_prepared, 1u);
  EXPECT_LE(monitor->counters().flows_prepared, 4 + kBatches / DearBatches::kTriedOfLeftOut);
  EXPECT_EQ(sink.total_packets[1], 100u);
  EXPECT_EQ(sink.total_packets[4000], 100u);
}

// All that send, by what the last epoch had: a microsecond each.
TEST(PacketMonitor, WantsTimeForTheFlowsThatSend) {
  Rig rig({PlanOf(1, FilterExpr(), Variable::kPackets, 10)});
  EXPECT_EQ(rig.monitor->preparing_time(), 0);
  constexpr uint16_t kFlows = 3000;
  for (int round = 0; round < 2; round++) {
    for (uint16_t flow = 0; flow < kFlows; flow++) {
      Send(rig.monitor.get(), UdpFrame(1, 2, flow, 6), round * 5 * kMs + flow);
    }
  }
  SweepAll(rig.monitor.get(), 10 * kMs, &rig.sink);
  EXPECT_EQ(rig.monitor->preparing_time(), kFlows * 1000) << "and not for each of their packets";
  Send(rig.monitor.get(), UdpFrame(1, 2, 3, 6), 11 * kMs);
  SweepAll(rig.monitor.get(), 20 * kMs, &rig.sink);
  EXPECT_EQ(rig.monitor->preparing_time(), 1000) << "the others have gone quiet";
  static_assert(NextFlows::WaitFor(UINT64_MAX) == 100 * kMs);
}

// It finds code and tables in no cache, and takes as long as a batch may.
TEST(PacketMonitor, TheFirstFlowMatchedAheadGetsNoEntryYet) {
  const HostVerdicts::Plans plans = {PlanOf(1, FilterExpr(), Variable::kPackets, 10)};
  constexpr Nanos kInstant = 20 * kNanosPerMilli;
  for (uint64_t ahead = 1; ahead <= 2; ahead++) {
    SummingSink sink(plans);
    const auto monitor = testing::MakeMonitor();
    ASSERT_TRUE(monitor->Publish(TriggerProgram::Make(plans, 1, kInstant)).ok());
    for (uint64_t i = 0; i < ahead; i++) {
      testing::Send(monitor.get(), UdpFrame(1, 2, 3, 6), kInstant - 1000);
    }
    testing::Send(monitor.get(), UdpFrame(1, 2, 3, 6), kInstant);
    testing::SweepAll(monitor.get(), kInstant + 10 * kNanosPerMilli, &sink);
    EXPECT_EQ(monitor->counters().flows_prepared, ahead - 1);
    EXPECT_EQ(sink.total_packets[1], 1u);
  }
}

// Their addresses agree in all that IPv4 has room for, and so do their ports.
TEST(PacketMonitor, Ipv6FlowsMatchedAheadAreToldApartByWholeAddresses) {
  const auto udp = [](uint8_t last_byte) {
    test_frames::Bytes bytes = test_frames::Ethernet(
        0x86dd, test_frames::Ipv6({17}, test_frames::Udp(1000, 80, test_frames::Zeros(20))));
    bytes[14 + 23] = last_byte;  // of the source address
    return bytes;
  };
  const HostVerdicts::Plans plans = {PlanOf(1, FilterExpr(), Variable::kPackets, 10, true)};
  SummingSink sink(plans);
  const auto monitor = testing::MakeMonitor();
  constexpr Nanos kInstant = 20 * kNanosPerMilli;
  ASSERT_TRUE(monitor->Publish(TriggerProgram::Make(plans, 1, kInstant)).ok());
  const auto send = [&monitor](const test_frames::Bytes& bytes, Nanos now) {
    const auto size = static_cast<uint32_t>(bytes.size());
    const Frame frame{bytes.data(), size, size};
    monitor->OnBatch(&frame, 1, false, 0, 0, now);
  };
  for (int i = 0; i < 2; i++) send(udp(1), kInstant - 1000);  // the first one is tried only
  for (int i = 0; i < 3; i++) send(udp(1), kInstant + i);
  for (int i = 0; i < 2; i++) send(udp(2), kInstant + i);
  testing::SweepAll(monitor.get(), kInstant + 10 * kNanosPerMilli, &sink);
  std::vector<uint64_t> packets;
  for (const auto& bucket : sink.packets) packets.push_back(bucket.second);
  std::sort(packets.begin(), packets.end());
  EXPECT_EQ(monitor->counters().flows_prepared, 1u);
  EXPECT_EQ(packets, (std::vector<uint64_t>{2, 3}));
}

}  // namespace
}  // namespace trumpet
