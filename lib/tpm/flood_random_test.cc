// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Batches of a flood against the plain way of doing it: parse a packet, find its entry or ask for
// a new one, count it; then the next.  Whatever the passes over a batch leave out or put off, every
// counter, entry and cell must come out the same.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <vector>

#include "lib/packet/test_frames.h"
#include "lib/tpm/flow_entries.h"
#include "lib/tpm/match_scatter.h"
#include "lib/tpm/monitor_harness_test.h"

namespace trumpet {
namespace {

using test_frames::Be16;
using test_frames::Be32;
using test_frames::Bytes;
using test_frames::Join;
using testing::DstPrefix;
using testing::PlanOf;

constexpr uint64_t kSeed = 5;
constexpr uint32_t kMaxFlows = 1u << 12;
constexpr Nanos kBatchTime = 20 * kNanosPerMicro;
constexpr uint64_t kBatchCycles = 50000;
constexpr uint64_t kSlowBatchCycles = 500;  // of a processor that can hardly add any flows
constexpr uint32_t kSlowSeed = 3;
constexpr uint64_t kReadCycles = 300;  // what adding a flow is measured to take

thread_local uint64_t* clock_in_use = nullptr;
uint64_t ReadClock() { return *clock_in_use += kReadCycles; }

// What phase 1 works on.
struct Tables {
  explicit Tables(const HostVerdicts::Plans& plans) : generation(MakeGeneration(plans)) {
    epoch.running = &generation;
    generation.number = 1;
    flows.RunGeneration(1);
    generation.sets.BeginEpoch(epoch.number);
    EXPECT_TRUE(flows.Init(kMaxFlows, 1 << 20));
    for (auto& touched : epoch.touched) EXPECT_TRUE(touched.Allocate(kMaxFlows));
  }

  static Generation MakeGeneration(const HostVerdicts::Plans& plans) {
    TriggerSetTable sets;
    EXPECT_TRUE(sets.Init(1024, 1 << 20));
    return {TriggerProgram::Make(plans, 1, INT64_MIN), &sets};
  }

  static AdmissionOptions Admission() {
    AdmissionOptions options;
    options.is_enabled = true;
    options.read_cycles = ReadClock;
    return options;
  }

  static ConnectionOptions SmallConnections() {
    ConnectionOptions options;
    options.max_connections = 256;
    options.hash_seed = kSeed;
    return options;
  }

  void NextEpoch() {
    epoch.number = FlowTable::NextEpoch(epoch.number);
    epoch.oldest_pending = epoch.number;
    epoch.touched_count[epoch.bank()] = 0;
    generation.sets.BeginEpoch(epoch.number);
  }

  FlowTable flows;
  ConnectionTable connections{SmallConnections()};
  EpochState epoch;
  MonitorCounters counters;
  uint64_t clock = 0;
  Generation generation;
};

struct Batches : Tables {
  explicit Batches(const HostVerdicts::Plans& plans) : Tables(plans) {
    EXPECT_TRUE(phase.new_flows().Init(Admission(), nullptr));
  }

  void Count(const std::vector<Frame>& frames, Nanos now) {
    clock_in_use = &clock;
    Arrival arrival;
    arrival.now = now;
    phase.new_flows().OnBatch(now, 0);
    phase.Process(frames.data(), static_cast<int>(frames.size()), arrival, now);
  }

  MatchScatter phase{{}, kSeed, &flows, &connections, &epoch, &counters};
};

struct OneByOne : Tables {
  explicit OneByOne(const HostVerdicts::Plans& plans) : Tables(plans) {
    EXPECT_TRUE(new_flows.Init(Admission(), nullptr));
  }

  void Count(const std::vector<Frame>& frames, Nanos now) {
    clock_in_use = &clock;
    new_flows.OnBatch(now, 0);
    for (const Frame& frame : frames) CountOne(frame, now);
  }

  void CountOne(const Frame& frame, Nanos now) {
    const TriggerProgram& program = *generation.program;
    epoch.packets++;
    counters.bytes += frame.wire_length;
    ParsedPacket packet;
    ParsePacket(frame, {}, &packet);
    const FlowKey key = EntryKeyOf(packet, 0);
    alignas(8) uint8_t extension[kMaxExtensionBytes];
    const uint64_t hash = HashOfEntry(key_hash, key, packet, program.layout(), extension);
    if (packet.innermost.present == 0) counters.undecodable++;
    FlowIndex flow = flows.Find(key, extension, program.layout().extension_bytes(), hash, 1);
    if (flow == kNoFlow) flow = new_flows.Add(packet, key, extension, hash);
    PacketFacts facts;
    if (packet.innermost.ip_family != 0 &&
        (program.tracks_bursts() || (program.tracks_tcp() && key.protocol == kProtocolTcp))) {
      const FlowKey tuple = FlowOf(key);
      facts = tracked.Observe(flow, tuple, connections.HashOf(tuple), packet, now);
    }
    if (flow != kNoFlow && cells.CountPacket(flow, packet, facts)) counters.matched_packets++;
  }

  KeyHash key_hash{kSeed};
  FlowCells cells{&flows, &epoch};
  NewFlows new_flows{&flows, &epoch, &counters};
  TrackedPackets tracked{&flows, &connections, &cells, &epoch, &counters};
};

// --- traffic -----------------------------------------------------------------

class Traffic {
 public:
  explicit Traffic(uint32_t seed) : random_(seed) {}

  // Many flows that come once, many small ones and a few large ones, often twice in a row and in
  // both directions.
  std::vector<Frame> Next() {
    bytes_.clear();
    std::vector<Frame> frames;
    const size_t count = 1 + random_() % 64;
    for (size_t i = 0; i < count; i++) {
      if (random_() % 3 != 0) flow_ = NextFlow();
      bytes_.push_back(FrameOf(flow_));
      if (random_() % 50 == 0) bytes_.back().resize(random_() % bytes_.back().size());
    }
    for (const Bytes& bytes : bytes_) {
      const auto captured = static_cast<uint32_t>(bytes.size());
      const auto more = static_cast<uint32_t>(random_() % 200);
      frames.push_back({bytes.data(), captured, captured + more});
    }
    return frames;
  }

 private:
  Bytes FrameOf(uint32_t flow) {
    const auto port = static_cast<uint16_t>(flow);
    const bool is_reverse = random_() % 3 == 0;
    const Bytes payload = test_frames::Zeros(20 + random_() % 20);
    test_frames::Ipv4Header ip;
    ip.protocol = flow % 3 == 0 ? kProtocolTcp : kProtocolUdp;
    ip.src = 0x0a000000 + flow / 7;
    ip.ttl = static_cast<uint8_t>(60 + random_() % 2);
    ip.tos = static_cast<uint8_t>(random_() % 4);
    if (random_() % 30 == 0) ip.options = {1, 1, 1, 1};
    if (random_() % 30 == 0) ip.fragment = 0x2000;
    if (is_reverse) std::swap(ip.src, ip.dst);
    const uint16_t from = is_reverse ? 80 : port;
    const uint16_t to = is_reverse ? port : 80;
    const Bytes segment =
        ip.protocol == kProtocolTcp ? Tcp(from, to, payload) : test_frames::Udp(from, to, payload);
    if (flow % 5 == 0) return test_frames::Ethernet(0x86dd, Ipv6(ip.protocol, segment));
    const Bytes packet = test_frames::Ipv4(ip, segment);
    if (flow % 11 != 0) return test_frames::Ethernet(0x0800, packet);
    return test_frames::Ethernet(0x8100, test_frames::Tag(5, 0x0800, packet));
  }

  static Bytes Ipv6(uint8_t protocol, const Bytes& segment) {
    test_frames::Ipv6Header ip;
    ip.next_header = protocol;
    return test_frames::Ipv6(ip, segment);
  }

  uint32_t NextFlow() {
    const uint64_t lot = random_() % 100;
    if (lot < 50) return 10000 + next_++;
    if (lot < 75) return static_cast<uint32_t>(random_() % 3000);
    // Twenty large ones at a time, which are others after a while.
    return 3000 + static_cast<uint32_t>(next_ / 4000 * 20 + random_() % 20);
  }

  uint32_t Number() { return static_cast<uint32_t>(random_() % 400); }

  Bytes Tcp(uint16_t from, uint16_t to, const Bytes& payload) {
    const uint16_t flags = random_() % 8 == 0 ? kTcpSyn : kTcpAck;
    return Join({Be16(from),
                 Be16(to),
                 Be32(Number()),
                 Be32(Number()),
                 Be16(0x5000u | flags),
                 Be16(1000),
                 {0, 0, 0, 0},
                 payload});
  }

  std::mt19937 random_;
  uint32_t flow_ = 0;
  uint32_t next_ = 0;
  std::vector<Bytes> bytes_;
};

// --- comparison --------------------------------------------------------------

size_t BlockBytes(const FlowEntry& entry) {
  if (entry.block == kNoBlock) return 0;
  return entry.block == kNearBlock ? kNearBlockBytes : size_t{1} << entry.block_class_bytes_log2;
}

void ExpectSameFlows(const Tables& a, const Tables& b) {
  ASSERT_EQ(a.flows.count(), b.flows.count());
  for (FlowIndex flow = 0; flow < kMaxFlows; flow++) {
    const FlowEntry& entry = a.flows.At(flow);
    ASSERT_EQ(std::memcmp(&entry, &b.flows.At(flow), sizeof entry), 0) << "entry " << flow;
    if (!a.flows.IsInUse(flow) || BlockBytes(entry) == 0) continue;
    ASSERT_EQ(
        std::memcmp(a.flows.BlockOf(entry), b.flows.BlockOf(b.flows.At(flow)), BlockBytes(entry)),
        0)
        << "cells of entry " << flow;
  }
}

// In whichever order they were touched.
std::map<uint32_t, std::vector<uint64_t>> CountsOfSets(const Tables& tables) {
  const TriggerSetTable& sets = tables.generation.sets;
  const uint32_t epoch = tables.epoch.number;
  std::map<uint32_t, std::vector<uint64_t>> counts;
  for (uint32_t set = sets.FirstTouched(epoch); set != kNoSet; set = sets.NextTouched(set, epoch)) {
    if (!sets.CountsForFlows(set) || sets.ProgramAt(set).word_count == 0) continue;
    const uint64_t* cells = sets.TotalsOf(set, epoch);
    counts[set].assign(cells, cells + sets.ProgramAt(set).word_count);
  }
  return counts;
}

void ExpectSame(const Tables& a, const Tables& b) {
  ASSERT_EQ(std::memcmp(&a.counters, &b.counters, sizeof a.counters), 0)
      << "withheld " << a.counters.withheld_packets << " and " << b.counters.withheld_packets
      << ", credited " << a.counters.credited_packets << " and " << b.counters.credited_packets;
  ASSERT_EQ(a.clock, b.clock);
  ASSERT_EQ(a.epoch.reasons, b.epoch.reasons);
  ASSERT_EQ(a.epoch.packets, b.epoch.packets);
  const uint32_t bank = a.epoch.bank();
  ASSERT_EQ(a.epoch.touched_count[bank], b.epoch.touched_count[bank]);
  const ConnectionCounters& of_a = a.connections.counters();
  ASSERT_EQ(std::memcmp(&of_a, &b.connections.counters(), sizeof of_a), 0);
  ExpectSameFlows(a, b);
  ASSERT_EQ(CountsOfSets(a), CountsOfSets(b));
}

struct Program {
  const char* name;
  HostVerdicts::Plans plans;
};

HostVerdicts::Plans WithTtlInTheKey() {
  EventSpec spec = PlanOf(9, DstPrefix(0, 0), Variable::kBytes, 10)->spec;
  spec.granularity.fields.push_back({{Field::kTtl, Level::kInnermost}});
  return {std::make_shared<const TriggerPlan>(MakeTriggerPlan(spec))};
}

std::vector<Program> Programs() {
  const auto all = DstPrefix(0, 0);
  const auto some = DstPrefix(0x0a000000, 24);
  return {{"counts",
           {PlanOf(1, all, Variable::kBytes, 10), PlanOf(2, some, Variable::kVolume, 10, true)}},
          {"counts of sets", {PlanOf(1, all, Variable::kBytes, 10)}},
          {"ecn", {PlanOf(1, all, Variable::kEcn, 10)}},
          {"losses and round-trip times",
           {PlanOf(1, all, Variable::kPackets, 10), PlanOf(2, all, Variable::kIsLost, 10, true),
            PlanOf(3, some, Variable::kRtt, 10)}},
          {"bursts", {PlanOf(1, all, Variable::kIsBurst, 10, true)}},
          {"another field", WithTtlInTheKey()}};
}

TEST(FloodRandom, BatchesComeOutLikeOnePacketAtATime) {
  const std::vector<Program> programs = Programs();
  for (const Program& program : programs) {
    for (const uint32_t seed : {1u, 2u, kSlowSeed}) {
      SCOPED_TRACE(std::string(program.name) + ", seed " + std::to_string(seed));
      Batches batches(program.plans);
      if (seed == 2) batches.phase.ReadOneByOne();
      OneByOne one_by_one(program.plans);
      Traffic traffic(seed);
      const uint64_t cycles = seed == kSlowSeed ? kSlowBatchCycles : kBatchCycles;
      Nanos now = kNanosPerMilli;
      uint64_t threshold = 0;
      for (int i = 0; i < 2000; i++, now += kBatchTime) {
        const std::vector<Frame> frames = traffic.Next();
        batches.Count(frames, now);
        one_by_one.Count(frames, now);
        threshold = std::max(threshold, batches.counters.admission_threshold_bytes);
        batches.clock += cycles;
        one_by_one.clock += cycles;
        if (i % 200 != 199) continue;
        ExpectSame(batches, one_by_one);
        if (HasFatalFailure()) return;
        batches.NextEpoch();
        one_by_one.NextEpoch();
      }
      EXPECT_GT(batches.counters.withheld_packets, 10000u);
      if (seed == kSlowSeed) {
        EXPECT_GE(threshold, uint64_t{AdmissionFilter::kUnitBytes} * 8 * NewFlows::kUnitsPerTurn);
        EXPECT_GT(batches.counters.flows_added, kMaxFlows / 2 + 100);
      } else {
        EXPECT_GT(batches.counters.flows_added, kMaxFlows / 2 + 1000);
        EXPECT_GT(batches.flows.reclaimed(), 0u);
      }
      if (&program == &programs[0]) {
        EXPECT_GT(batches.counters.credited_packets, 0u);
      }
    }
  }
}

}  // namespace
}  // namespace trumpet
