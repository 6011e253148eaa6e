// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The whole monitor under floods of new flows, in virtual time: a thread of 2.6 GHz that is never
// idle, 14,880 packets in each epoch of 10 ms.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <set>
#include <vector>

#include "lib/model/report.h"
#include "lib/tpm/key_hash.h"
#include "lib/tpm/monitor_harness_test.h"
#include "lib/tpm/new_flows.h"

namespace trumpet {
namespace {

using testing::DstPrefix;
using testing::PlanOf;
using testing::SummingSink;
using testing::SweepAll;
using testing::UdpFrame;

constexpr Nanos kEpoch = 10 * kNanosPerMilli;
constexpr int kBatch = 32;
constexpr int kBatchesPerEpoch = 465;
constexpr uint64_t kPacketsPerEpoch = uint64_t{kBatch} * kBatchesPerEpoch;
constexpr uint64_t kCyclesPerBatch = 26000000 / kBatchesPerEpoch;
constexpr uint64_t kAddCycles = 300;
constexpr uint32_t kServer = 0x0a008001;  // 10.0.128.1
constexpr uint32_t kVictim = 0x78000400;  // 120.0.4.0
constexpr uint32_t kWholeNetwork = 1;     // events
constexpr uint32_t kHeavyFlows = 2;

// Reading the clock takes as long as adding a flow, so that is what adding a flow is measured to
// take.
thread_local uint64_t fake_cycles = 0;
thread_local uint64_t add_cycles = kAddCycles;
uint64_t FakeCycles() { return fake_cycles += add_cycles; }

// As where thousands of events must be tested for every new flow: 40 us.
constexpr uint64_t kDearAddCycles = 100000;
struct DearAdds {
  DearAdds() { add_cycles = kDearAddCycles; }
  ~DearAdds() { add_cycles = kAddCycles; }
};

// As where a batch takes two fifths of the thread however little is done with its packets.
struct DearLooks {
  DearLooks() { add_cycles = kCyclesPerBatch / 2; }
  ~DearLooks() { add_cycles = kAddCycles; }
};

using FrameMaker = std::function<UdpFrame(uint64_t packet)>;

// A flow per packet, towards the victim.
UdpFrame FloodFrame(uint64_t packet) {
  return UdpFrame(0x80000000 + static_cast<uint32_t>(packet), kVictim + (packet & 0xffff), 58513,
                  2500);
}

UdpFrame HeavyFrame(uint16_t flow) { return UdpFrame(1, kServer, flow, 80, 1000); }

struct AttackRig {
  explicit AttackRig(uint32_t max_flows = 1u << 14) {
    MonitorOptions options;
    options.max_flows = max_flows;
    options.admission.is_enabled = true;
    options.admission.read_cycles = FakeCycles;
    options.sweeps_unbounded = true;
    plans = {PlanOf(kWholeNetwork, DstPrefix(0, 0), Variable::kBytes, 10),
             PlanOf(kHeavyFlows, DstPrefix(kServer, 24), Variable::kVolume, 10, true)};
    sink.Know(plans);
    monitor = testing::MakeMonitor(options);
    Install();
    // The first program may take half a table of flows for known ones.
    for (uint32_t flow = 0; flow < max_flows / 2; flow++) {
      testing::Send(monitor.get(), UdpFrame(flow, 0x0b000000, 9, 9), now);
    }
    EndEpoch();
  }

  void Install() {
    EXPECT_TRUE(monitor->Publish(TriggerProgram::Make(plans, ++generation, INT64_MIN)).ok());
  }

  // One epoch at full rate; `make` gives every packet.
  void RunEpoch(const FrameMaker& make) {
    for (int batch = 0; batch < kBatchesPerEpoch; batch++) {
      std::vector<UdpFrame> frames;
      Frame views[kBatch];
      for (int i = 0; i < kBatch; i++) frames.push_back(make(next_packet++));
      for (int i = 0; i < kBatch; i++) views[i] = frames[static_cast<size_t>(i)].frame();
      monitor->OnBatch(views, kBatch, false, 0, 0, now + batch * kEpoch / kBatchesPerEpoch);
      fake_cycles += cycles_per_batch;
    }
    EndEpoch();
  }

  void EndEpoch() {
    now += kEpoch;
    SweepAll(monitor.get(), now, &sink);
  }

  uint64_t PacketsOf(uint32_t event) { return sink.total_packets[event]; }
  MonitorCounters counters() const { return monitor->counters(); }

  // Reasons given in the last epoch delivered.
  uint32_t TakeReasons() {
    const uint32_t reasons = sink.reasons;
    sink.reasons = 0;
    return reasons;
  }

  HostVerdicts::Plans plans;
  SummingSink sink{{}};
  std::unique_ptr<PacketMonitor> monitor;
  uint64_t generation = 0;
  uint64_t next_packet = 0;
  uint64_t cycles_per_batch = kCyclesPerBatch;
  Nanos now = kEpoch;
};

// Every tenth packet belongs to one of ten heavy flows, the others open a flow each.
UdpFrame NinetyPercentFlood(uint64_t packet) {
  return packet % 10 == 0 ? HeavyFrame(static_cast<uint16_t>(packet / 10 % 10))
                          : FloodFrame(packet);
}

UdpFrame HeavyFlowsOnly(uint64_t packet) { return HeavyFrame(static_cast<uint16_t>(packet % 10)); }

void ExpectAllAccountedFor(AttackRig* rig) {
  const MonitorCounters counters = rig->counters();
  EXPECT_EQ(rig->PacketsOf(kWholeNetwork) + counters.withheld_packets - counters.credited_packets +
                counters.uncounted_packets,
            counters.packets);
  EXPECT_EQ(rig->sink.total_sums[kWholeNetwork] + counters.withheld_bytes -
                counters.credited_bytes + counters.uncounted_bytes,
            counters.bytes);
}

TEST(Attack, EveryPacketAndByteIsCountedOrWithheldOrUncounted) {
  for (const uint32_t max_flows : {256u, 1u << 14}) {
    AttackRig rig(max_flows);
    for (int epoch = 0; epoch < 20; epoch++) rig.RunEpoch(NinetyPercentFlood);
    for (int epoch = 0; epoch < 20; epoch++) rig.RunEpoch(HeavyFlowsOnly);
    EXPECT_GT(rig.counters().withheld_packets, 0u);
    ExpectAllAccountedFor(&rig);
  }
}

TEST(Attack, FlowsKnownBeforeAreCountedExactlyThroughout) {
  AttackRig rig;
  rig.RunEpoch(HeavyFlowsOnly);
  const uint64_t before = rig.PacketsOf(kHeavyFlows);
  for (int epoch = 0; epoch < 50; epoch++) rig.RunEpoch(NinetyPercentFlood);
  EXPECT_EQ(rig.PacketsOf(kHeavyFlows) - before, 50 * kPacketsPerEpoch / 10);
  EXPECT_GT(rig.counters().flows_reclaimed, 0u);
}

TEST(Attack, NewFlowsTakeNoMoreThanTheirShareOnceItIsNoticed) {
  AttackRig rig;
  rig.RunEpoch(NinetyPercentFlood);
  const uint64_t added = rig.counters().flows_added;
  for (int epoch = 0; epoch < 50; epoch++) rig.RunEpoch(NinetyPercentFlood);
  const uint64_t per_epoch = (rig.counters().flows_added - added) / 50;
  EXPECT_LT(per_epoch * kAddCycles, kCyclesPerBatch * kBatchesPerEpoch / 20);
}

// However dear they are: what a single one takes is not mistaken for an interruption.
TEST(Attack, NewFlowsTakeNoMoreThanTheirShareIfTheyAreDear) {
  AttackRig rig;
  const DearAdds dear;
  for (int epoch = 0; epoch < 5; epoch++) rig.RunEpoch(NinetyPercentFlood);
  const uint64_t added = rig.counters().flows_added;
  for (int epoch = 0; epoch < 50; epoch++) rig.RunEpoch(NinetyPercentFlood);
  const uint64_t per_epoch = (rig.counters().flows_added - added) / 50;
  EXPECT_LT(per_epoch * kDearAddCycles, kCyclesPerBatch * kBatchesPerEpoch / 10);
  EXPECT_GT(per_epoch, 0u);
  ExpectAllAccountedFor(&rig);
}

// Flows known for long come back like new ones then, after a round.
TEST(Attack, AChangeOfEventsTakesNoMoreThanItsShareIfFlowsAreDear) {
  AttackRig rig;
  const auto many_flows = [](uint64_t packet) { return FloodFrame(packet % 8000); };
  for (int epoch = 0; epoch < 3; epoch++) rig.RunEpoch(many_flows);
  rig.Install();
  const DearAdds dear;
  rig.RunEpoch([&](uint64_t packet) { return many_flows(packet % 1000); });
  const uint64_t added = rig.counters().flows_added;
  for (int epoch = 0; epoch < 20; epoch++) rig.RunEpoch(many_flows);
  const uint64_t per_epoch = (rig.counters().flows_added - added) / 20;
  EXPECT_LT(per_epoch * kDearAddCycles, kCyclesPerBatch * kBatchesPerEpoch / 10);
  ExpectAllAccountedFor(&rig);
}

// Its first round is over when twice the share was used, not only after 10 ms.
TEST(Attack, ASuddenFloodIsNoticedBeforeItTookMuchMoreThanTwiceItsShare) {
  AttackRig rig;
  for (int epoch = 0; epoch < 5; epoch++) rig.RunEpoch(HeavyFlowsOnly);
  const uint64_t added = rig.counters().flows_added;
  rig.RunEpoch(NinetyPercentFlood);
  const uint64_t share = kCyclesPerBatch * kBatchesPerEpoch / 20 / kAddCycles;
  EXPECT_LT(rig.counters().flows_added - added, share * 5 / 2);
  EXPECT_GT(rig.counters().withheld_packets, 0u);
}

TEST(Attack, EpochsWithWithheldPacketsSaySo) {
  AttackRig rig;
  rig.RunEpoch(NinetyPercentFlood);
  rig.TakeReasons();
  for (int epoch = 0; epoch < 10; epoch++) {
    const uint64_t withheld = rig.counters().withheld_packets;
    rig.RunEpoch(NinetyPercentFlood);
    ASSERT_GT(rig.counters().withheld_packets, withheld);
    ASSERT_NE(rig.TakeReasons() & kAdmissionWithheld, 0u);
  }
}

TEST(Attack, OfAFloodThatIsDearToLookAtEveryOtherEpochIsLookedAtAndExact) {
  AttackRig rig;
  rig.RunEpoch(HeavyFlowsOnly);
  const DearLooks dear;
  for (int epoch = 0; epoch < 20; epoch++) rig.RunEpoch(NinetyPercentFlood);
  rig.TakeReasons();
  const uint64_t withheld_epochs = rig.counters().epochs_withheld;
  const uint64_t before_last = rig.PacketsOf(kHeavyFlows);
  rig.RunEpoch(NinetyPercentFlood);
  bool was_withheld = rig.PacketsOf(kHeavyFlows) == before_last;
  for (int epoch = 0; epoch < 10; epoch++) {
    const uint64_t before = rig.PacketsOf(kHeavyFlows);
    rig.RunEpoch(NinetyPercentFlood);
    const uint64_t counted = rig.PacketsOf(kHeavyFlows) - before;
    EXPECT_EQ(counted, was_withheld ? kPacketsPerEpoch / 10 : 0) << epoch;
    was_withheld = counted == 0;
    EXPECT_NE(rig.TakeReasons() & kAdmissionWithheld, 0u) << epoch;
  }
  EXPECT_GE(rig.counters().epochs_withheld - withheld_epochs, 5u);
  ExpectAllAccountedFor(&rig);
}

// A segment that the peer acknowledges in the next batch; both are in a flood.
UdpFrame FloodWithConnection(uint64_t packet) {
  constexpr uint32_t kClient = 0x0a000001;
  constexpr uint32_t kVolume = 6;
  if (packet % kBatch > 1) return NinetyPercentFlood(packet);
  const bool is_data = packet % kBatch == 0;
  const auto sent = static_cast<uint32_t>(packet / kBatch) * kVolume;
  UdpFrame frame = is_data ? testing::Segment(kClient, kServer, 0, 1, kVolume)
                           : testing::Segment(kServer, kClient, 1, 0, 0);
  for (size_t i = 0; i < sizeof sent; i++) {
    frame.bytes[(is_data ? 38 : 42) + i] = static_cast<uint8_t>(sent >> (24 - 8 * i));
  }
  return frame;
}

// An acknowledgement that was not looked at is none that came late.
TEST(Attack, WithheldEpochsMakeNoRoundTripsLonger) {
  constexpr uint32_t kRoundTrips = 3;
  AttackRig rig;
  rig.plans.push_back(PlanOf(kRoundTrips, DstPrefix(kServer, 32), Variable::kRtt, 10));
  rig.sink.Know(rig.plans);
  rig.Install();
  const DearLooks dear;
  for (int epoch = 0; epoch < 30; epoch++) {
    const uint64_t samples_before = rig.counters().rtt_samples;
    const uint64_t sum_before = rig.sink.total_sums[kRoundTrips];
    rig.RunEpoch(FloodWithConnection);
    const uint64_t samples = rig.counters().rtt_samples - samples_before;
    EXPECT_LE(rig.sink.total_sums[kRoundTrips] - sum_before,
              samples * static_cast<uint64_t>(kEpoch / kBatchesPerEpoch + 1))
        << epoch;
  }
  EXPECT_GT(rig.counters().epochs_withheld, 8u);
  EXPECT_GT(rig.counters().rtt_samples, 5u * kBatchesPerEpoch);
}

// What a connection did while nothing was looked at is missing when it goes on after the flood,
// too.
TEST(Attack, ConnectionsThatWereWithheldAreMarkedWhenTheyGoOn) {
  constexpr uint32_t kRoundTrips = 3;
  AttackRig rig;
  rig.plans.push_back(PlanOf(kRoundTrips, DstPrefix(kServer, 32), Variable::kRtt, 10));
  rig.sink.Know(rig.plans);
  rig.Install();
  const auto connection_alone = [](uint64_t packet) {
    return packet % kBatch > 1 ? HeavyFlowsOnly(packet) : FloodWithConnection(packet);
  };
  for (int epoch = 0; epoch < 3; epoch++) rig.RunEpoch(connection_alone);
  {
    const DearLooks dear;
    for (int epoch = 0; epoch < 30; epoch++) rig.RunEpoch(NinetyPercentFlood);
  }
  EXPECT_GT(rig.counters().epochs_withheld, 8u);
  for (int epoch = 0; epoch < 25; epoch++) rig.RunEpoch(HeavyFlowsOnly);
  rig.TakeReasons();
  for (int epoch = 0; epoch < 3; epoch++) rig.RunEpoch(HeavyFlowsOnly);
  EXPECT_EQ(rig.TakeReasons(), 0u);
  for (int epoch = 0; epoch < 3; epoch++) rig.RunEpoch(connection_alone);
  EXPECT_EQ(rig.TakeReasons(), uint32_t{kConnectionEvicted});
  for (int epoch = 0; epoch < 3; epoch++) rig.RunEpoch(connection_alone);
  EXPECT_EQ(rig.TakeReasons(), 0u);
}

TEST(Attack, NoEpochIsWithheldSoonAfterAFloodThatIsDearToLookAt) {
  AttackRig rig;
  const DearLooks dear;
  for (int epoch = 0; epoch < 40; epoch++) rig.RunEpoch(NinetyPercentFlood);
  EXPECT_GT(rig.counters().epochs_withheld, 10u);
  for (int epoch = 0; epoch < 25; epoch++) rig.RunEpoch(HeavyFlowsOnly);
  rig.TakeReasons();
  const uint64_t before = rig.PacketsOf(kHeavyFlows);
  for (int epoch = 0; epoch < 10; epoch++) rig.RunEpoch(HeavyFlowsOnly);
  EXPECT_EQ(rig.PacketsOf(kHeavyFlows) - before, 10 * kPacketsPerEpoch);
  EXPECT_EQ(rig.TakeReasons(), 0u);
  ExpectAllAccountedFor(&rig);
}

TEST(Attack, ANewHeavyFlowIsCountedExactlyFromItsSecondIntervalOn) {
  AttackRig rig;
  for (int epoch = 0; epoch < 5; epoch++) rig.RunEpoch(NinetyPercentFlood);
  const auto with_newcomer = [](uint64_t packet) {
    return packet % 20 == 1 ? HeavyFrame(99) : NinetyPercentFlood(packet);
  };
  const auto newcomer_in = [&rig](Nanos start) {
    uint64_t most = 0;
    for (const auto& [key, packets] : rig.sink.packets) {
      const auto& [event, bucket, interval] = key;
      if (event == kHeavyFlows && interval == start / kEpoch) most = std::max(most, packets);
    }
    return most;
  };
  const Nanos first = rig.now;
  rig.RunEpoch(with_newcomer);
  const Nanos second = rig.now;
  rig.RunEpoch(with_newcomer);
  const uint64_t sent = kPacketsPerEpoch / 20;
  EXPECT_LE(newcomer_in(first), sent);
  EXPECT_GE(newcomer_in(first) * 4, sent * 3);
  EXPECT_EQ(newcomer_in(second), sent);
}

// Flows have their turns to be seen, so how much one sends until it is admitted is a matter of
// luck, but seldom much more than the threshold.
TEST(Attack, NewFlowsOfTwiceTheThresholdAreKnownSoon) {
  constexpr uint16_t kFlows = 5;
  AttackRig rig;
  rig.cycles_per_batch /= 2000;  // so that hardly any flow can be added
  for (int epoch = 0; epoch < 20; epoch++) rig.RunEpoch(NinetyPercentFlood);
  ASSERT_GE(rig.counters().admission_threshold_bytes,
            uint64_t{AdmissionFilter::kUnitBytes} * 4 * NewFlows::kUnitsPerTurn);
  const auto with_newcomers = [](uint64_t packet) {
    const auto flow = static_cast<uint16_t>(packet / 10 % kFlows);
    return packet % 10 == 1 ? HeavyFrame(static_cast<uint16_t>(1000 + flow))
                            : NinetyPercentFlood(packet);
  };
  // Each sends 297 packets of a unit in an epoch.  Every other epoch is withheld.
  for (int epoch = 0; epoch < 4; epoch++) rig.RunEpoch(with_newcomers);
  const uint64_t before = rig.PacketsOf(kHeavyFlows);
  for (int epoch = 0; epoch < 2; epoch++) rig.RunEpoch(with_newcomers);
  EXPECT_EQ(rig.PacketsOf(kHeavyFlows) - before, 2 * kPacketsPerEpoch / 10);
}

TEST(Attack, AllIsExactAgainSoonAfterwards) {
  AttackRig rig;
  for (int epoch = 0; epoch < 5; epoch++) rig.RunEpoch(NinetyPercentFlood);
  for (int epoch = 0; epoch < 10; epoch++) rig.RunEpoch(HeavyFlowsOnly);
  EXPECT_EQ(rig.counters().admission_threshold_bytes, 0u);
  rig.TakeReasons();
  rig.RunEpoch(HeavyFlowsOnly);
  EXPECT_EQ(rig.TakeReasons(), 0u);
}

// 64,000 new flows a second, of ten packets each: the paper's largest.
TEST(Attack, OrdinaryNewFlowsAreNoAttack) {
  AttackRig rig;
  for (int epoch = 0; epoch < 50; epoch++) {
    rig.RunEpoch([](uint64_t packet) {
      if (packet % 4 != 0) return HeavyFlowsOnly(packet);
      return FloodFrame(packet / 4 / 10);
    });
  }
  EXPECT_EQ(rig.counters().withheld_packets, 0u);
  EXPECT_EQ(rig.sink.reasons, 0u);
}

// Too many at once, and each sends less than any threshold before its score is forgotten.
TEST(Attack, FlowsThatSendLittleForEverAreAllKnownInTheEnd) {
  constexpr uint32_t kFlows = 40000;
  AttackRig rig(1u << 16);
  const auto small_flows = [](uint64_t packet) {
    return UdpFrame(static_cast<uint32_t>(packet % kFlows), kVictim, 58513, 2500);
  };
  rig.RunEpoch(small_flows);
  rig.RunEpoch(small_flows);
  EXPECT_GT(rig.counters().withheld_packets, 0u);
  for (int epoch = 0; epoch < 120; epoch++) rig.RunEpoch(small_flows);
  const uint64_t withheld = rig.counters().withheld_packets;
  for (int epoch = 0; epoch < 10; epoch++) rig.RunEpoch(small_flows);
  EXPECT_EQ(rig.counters().withheld_packets, withheld);
  ExpectAllAccountedFor(&rig);
}

TEST(Attack, AChangeOfEventsOnABusyTableIsNoAttack) {
  AttackRig rig;
  const auto many_flows = [](uint64_t packet) { return FloodFrame(packet % 8000); };
  for (int epoch = 0; epoch < 3; epoch++) {
    rig.RunEpoch(many_flows);
    rig.TakeReasons();
  }
  const uint64_t withheld = rig.counters().withheld_packets;
  for (int change = 0; change < 5; change++) {
    rig.Install();
    for (int epoch = 0; epoch < 12; epoch++) rig.RunEpoch(many_flows);
  }
  EXPECT_EQ(rig.counters().withheld_packets, withheld);
}

TEST(Attack, MemoryStaysAsItWas) {
  AttackRig rig(1024);
  for (int epoch = 0; epoch < 10; epoch++) {
    rig.RunEpoch(FloodFrame);
    ASSERT_LE(rig.counters().flows, 1024u);
  }
  ExpectAllAccountedFor(&rig);
}

TEST(Attack, AFullTableHasRoomForHeavyFlowsAgain) {
  AttackRig rig(256);
  for (int epoch = 0; epoch < 5; epoch++) rig.RunEpoch(NinetyPercentFlood);
  const uint64_t before = rig.PacketsOf(kHeavyFlows);
  for (int epoch = 0; epoch < 20; epoch++) rig.RunEpoch(NinetyPercentFlood);
  EXPECT_EQ(rig.PacketsOf(kHeavyFlows) - before, 20 * kPacketsPerEpoch / 10);
}

// Frames cut anywhere, fragments, and lengths that lie.
TEST(Attack, HostileFramesAreAccountedForLikeAllOthers) {
  AttackRig rig(1024);
  std::mt19937 random(7);
  for (int epoch = 0; epoch < 3; epoch++) {
    for (int batch = 0; batch < kBatchesPerEpoch; batch++) {
      std::vector<UdpFrame> frames;
      Frame views[kBatch];
      for (int i = 0; i < kBatch; i++) {
        frames.push_back(FloodFrame(random()));
        for (int edit = 0; edit < 3; edit++) {
          frames.back().bytes[random() % 60] = static_cast<uint8_t>(random());
        }
      }
      for (int i = 0; i < kBatch; i++) {
        const UdpFrame& frame = frames[static_cast<size_t>(i)];
        views[i] = {frame.bytes.data(), static_cast<uint32_t>(random() % 61), 60};
      }
      rig.monitor->OnBatch(views, kBatch, false, 0, 0, rig.now);
      fake_cycles += kCyclesPerBatch;
    }
    rig.EndEpoch();
  }
  EXPECT_GT(rig.counters().undecodable, 0u);
  const MonitorCounters counters = rig.counters();
  EXPECT_LE(counters.withheld_packets + counters.uncounted_packets, counters.packets);
  EXPECT_LE(rig.PacketsOf(kWholeNetwork), counters.packets);
}

// Whoever learned the seed of one switch knows nothing of another's.
TEST(Attack, KeysChosenToCollideUnderOneSeedSpreadUnderAnother) {
  constexpr int kShift = 20;  // 4,096 buckets
  const KeyHash known(1);
  const KeyHash secret(2);
  std::set<uint32_t> buckets;
  FlowKey key;
  key.ip_family = 4;
  key.protocol = kProtocolUdp;
  int chosen = 0;
  for (uint32_t i = 0; chosen < 1000; i++) {
    std::memcpy(key.src_ip.data(), &i, sizeof i);
    if (static_cast<uint32_t>(known(key)) >> kShift != 0) continue;
    chosen++;
    buckets.insert(static_cast<uint32_t>(secret(key)) >> kShift);
  }
  EXPECT_GT(buckets.size(), 800u);  // by lot: 887, give or take 10
}

// VXLAN in VXLAN in VXLAN, as deep as a large frame goes.
TEST(Attack, TunnelsOfAnyDepthCostNoMoreThanTheDeepestThatIsRead) {
  std::vector<uint8_t> bytes(9000);
  const UdpFrame level(1, 2, 3, 4789);
  size_t at = 0;
  for (; at + 50 + 60 <= bytes.size(); at += 50) {
    std::copy(level.bytes.begin(), level.bytes.begin() + 42, bytes.begin() + static_cast<long>(at));
    const size_t rest = bytes.size() - at;
    const auto put16 = [&](size_t offset, size_t value) {
      bytes[at + offset] = static_cast<uint8_t>(value >> 8);
      bytes[at + offset + 1] = static_cast<uint8_t>(value);
    };
    put16(16, rest - 14);
    put16(38, rest - 34);
    bytes[at + 42] = 0x08;
  }
  AttackRig rig;
  const auto size = static_cast<uint32_t>(bytes.size());
  const Frame frame{bytes.data(), size, size};
  const uint64_t packets = rig.PacketsOf(kWholeNetwork);
  for (int i = 0; i < 100; i++) rig.monitor->OnBatch(&frame, 1, false, 0, 0, rig.now);
  rig.EndEpoch();
  EXPECT_EQ(rig.counters().tunnels_too_deep, 100u);
  EXPECT_EQ(rig.PacketsOf(kWholeNetwork) - packets, 100u);
}

}  // namespace
}  // namespace trumpet
