// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/trace_maker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "controller/traces/link_book.h"
#include "controller/traces/trace_network_test.h"
#include "controller/traces/trace_routes.h"
#include "lib/base/byte_order.h"
#include "lib/model/trace_rule.h"

namespace trumpet {
namespace {

using test_frames::Bytes;
using trace_network::kBegin;
using trace_network::Network;
using trace_network::Packet;

// One way for all: 1, 2, 3.
class Line : public TraceRoutes {
 public:
  std::optional<TraceWay> After(uint16_t switch_number, const Trace&) const override {
    return TraceWay(stages_, std::min<size_t>(switch_number, 3) - 1);
  }
  bool IsEdge(const TraceHop& hop, const Trace&) const override { return hop.switch_number == 1; }

 private:
  const std::vector<TraceStage> stages_ = {{2}, {3}};
};

struct Told {
  std::map<uint64_t, TraceFault> faults;  // the last that was told, by id
  std::map<uint64_t, uint32_t> revisions;
  size_t kept = 0;
};

TraceSums Make(const Network& network, const TraceMakerOptions& options, Told* told) {
  const Line line;
  TraceMaker maker(options, line, [told](const TraceReport& report) {
    told->faults[report.id] = report.pass->fault;
    told->revisions[report.id] = report.trace->revision;
    told->kept += report.is_kept ? 1 : 0;
  });
  for (const auto& [time, bytes] : network.Frames()) {
    const auto size = static_cast<uint32_t>(bytes.size());
    maker.TakeFrame({bytes.data(), size, size}, time);
    maker.Advance(time);
  }
  maker.Finish();
  return maker.sums();
}

void ExpectWhole(const TraceSums& sums) {
  EXPECT_EQ(sums.frames, sums.copies + sums.other + sums.no_origin + sums.malformed);
  EXPECT_EQ(sums.copies, sums.in_traces + sums.duplicates + sums.shed);
  uint64_t packets = 0;
  for (const uint64_t count : sums.faults) packets += count;
  EXPECT_EQ(sums.packets, packets);
}

uint64_t Of(const TraceSums& sums, TraceFault fault) {
  return sums.faults[static_cast<size_t>(fault)];
}

TEST(TraceMaker, SaysWhatBecameOfEachPacket) {
  Network network;
  for (uint32_t i = 0; i < 100; ++i) {
    network.Cross({1, 2, 3}, kBegin + i * kNanosPerMilli, 1, i);
  }
  network.Cross({1, 2}, kBegin + 50 * kNanosPerMilli + 1, 2, 1000);                  // lost
  network.Cross({1, 2, 1, 2, 1, 2}, kBegin + 60 * kNanosPerMilli + 1, 3, 1001);      // in a loop
  network.Cross({1, 2, 3}, kBegin + 70 * kNanosPerMilli + 1, 4, 1002, kTcpAck, 32);  // marked
  TraceMakerOptions options;
  options.copies.debug_dscp = 8;
  Told told;
  const TraceSums sums = Make(network, options, &told);
  ExpectWhole(sums);
  EXPECT_EQ(sums.packets, 103u);
  EXPECT_EQ(Of(sums, TraceFault::kNone), 101u);
  EXPECT_EQ(Of(sums, TraceFault::kDropped), 1u);
  EXPECT_EQ(Of(sums, TraceFault::kLoop), 1u);
  EXPECT_EQ(sums.kept, 3u);
  EXPECT_EQ(told.kept, 3u);
  EXPECT_EQ(sums.lost_by_number, 0u);
}

TEST(TraceMaker, CountsWhatIsNoCopyByWhatItIs) {
  Network network;
  network.Add(kBegin, Packet(1, 1, 64));
  network.Add(kBegin, {1, 2, 3});
  network.Add(kBegin,
              test_frames::Ethernet(
                  0x0800, test_frames::Ipv4({kProtocolGre},
                                            test_frames::Gre(0, 0x6558, {}, Packet(1, 1, 9)))));
  network.Copy(1, kBegin, {});
  network.Copy(1, kBegin, Packet(1, 1, 64));
  Told told;
  const TraceSums sums = Make(network, {}, &told);
  ExpectWhole(sums);
  EXPECT_EQ(sums.frames, 5u);
  EXPECT_EQ(sums.other, 2u);
  EXPECT_EQ(sums.no_origin, 1u);
  EXPECT_EQ(sums.malformed, 1u);
  EXPECT_EQ(sums.copies, 1u);
}

TEST(TraceMaker, TakesBackWhatALateCopyShowsToBeWrong) {
  Network network;
  for (uint32_t i = 0; i < 30; ++i) {
    const Nanos time = kBegin + i * 100 * kNanosPerMilli;
    network.Cross({1, 2, 3}, time, 2, 100 + i);
    if (i == 5) network.Cross({1, 2}, time + 10 * kNanosPerMilli, 1, 1);
    if (i == 20) network.Copy(3, time + 10 * kNanosPerMilli, Packet(1, 1, 62));
  }
  Told told;
  const TraceSums sums = Make(network, {}, &told);
  ExpectWhole(sums);
  EXPECT_EQ(Of(sums, TraceFault::kNone), 31u);
  EXPECT_EQ(sums.packets, 31u);
  EXPECT_EQ(told.faults.size(), 31u);
  EXPECT_EQ(std::count_if(told.revisions.begin(), told.revisions.end(),
                          [](const auto& entry) { return entry.second == 1; }),
            1);
  EXPECT_EQ(sums.kept, 1u);  // it was told as dropped once
}

// Two packets have no copy of the last switch, one copy of which was lost: one of them was dropped.
TEST(TraceMaker, TellsAgainOfAPacketThatOneLostCopyDoesNotExplainAnyMore) {
  for (const uint32_t lost : {1u, 2u}) {
    Network network;
    for (uint32_t i = 0; i < 200; ++i) {
      const Nanos time = kBegin + i * kNanosPerMilli;
      if (i != 100 && i != 101) {
        network.Cross({1, 2, 3}, time, 1, i);
        continue;
      }
      network.Cross({1, 2}, time, 1, i);
      const bool has_copy = i - 100 < lost;
      if (has_copy) network.Copy(3, time + 20 * kNanosPerMicro, Packet(1, i, 62), true);
    }
    Told told;
    const TraceSums sums = Make(network, {}, &told);
    ExpectWhole(sums);
    EXPECT_EQ(sums.packets, 200u);
    EXPECT_EQ(Of(sums, TraceFault::kDropped), lost == 1 ? 2u : 0u);
    EXPECT_EQ(Of(sums, TraceFault::kCopiesLost), lost == 1 ? 0u : 2u);
    EXPECT_EQ(std::count_if(told.revisions.begin(), told.revisions.end(),
                            [](const auto& entry) { return entry.second == 1; }),
              lost == 1 ? 1 : 0);
  }
}

// A burst of packets, without numbers, and what switches say of it in the seconds around it: the
// faults of the packet whose copy at the last switch is missing, as they are told.
std::vector<TraceFault> FaultsOfAPacket(bool was_copied) {
  constexpr uint32_t kPackets = 20, kOdd = 7;
  const Line line;
  std::map<uint64_t, std::vector<TraceFault>> told;
  TraceMaker maker(
      {}, line, [&](const TraceReport& report) { told[report.id].push_back(report.pass->fault); });
  const auto take = [&](uint16_t at, uint32_t number, Nanos time) {
    const Bytes copy = test_frames::Ethernet(
        0x0800,
        test_frames::Ipv4({kProtocolGre},
                          test_frames::Gre(0x2000, 0x6558, test_frames::Be32(SliceGreKey(at, 5)),
                                           Packet(1, number, static_cast<uint8_t>(65 - at)))));
    const auto size = static_cast<uint32_t>(copy.size());
    maker.TakeFrame({copy.data(), size, size}, time);
  };
  for (Nanos now = kBegin - 2 * kNanosPerSecond; now < kBegin + 4 * kNanosPerSecond;
       now += 50 * kNanosPerMilli) {
    if (now == kBegin) {
      for (uint32_t i = 0; i < kPackets; ++i) {
        for (const uint16_t at : {1, 2, 3}) {
          if (at != 3 || i != kOdd) take(at, i, now + i * kNanosPerMilli);
        }
      }
    }
    const bool is_counted = now >= kBegin + 400 * kNanosPerMilli;
    for (const uint16_t at : {1, 2, 3}) {
      const uint64_t sent = kPackets - (at == 3 && !was_copied ? 1 : 0);
      maker.TakeSent(at, 1000 + (is_counted ? sent : 0), now - 800 * kNanosPerMilli, now);
    }
    maker.Advance(now);
  }
  maker.Finish();
  EXPECT_EQ(told.size(), kPackets);
  for (const auto& [id, faults] : told) {
    if (faults.front() != TraceFault::kNone) return faults;
  }
  return {};
}

TEST(TraceMaker, TellsAgainOfAPacketWhenTheSwitchHasSaidWhatItCopied) {
  EXPECT_EQ(FaultsOfAPacket(false),
            (std::vector<TraceFault>{TraceFault::kCopiesLost, TraceFault::kDropped}));
  EXPECT_EQ(FaultsOfAPacket(true),
            (std::vector<TraceFault>{TraceFault::kCopiesLost, TraceFault::kCopiesLost}));
}

TEST(TraceMaker, ShedsCopiesOfALongLoopAndCountsThem) {
  Network network;
  std::vector<uint16_t> path;
  for (int i = 0; i < 30; ++i) path.insert(path.end(), {1, 2});
  network.Cross(path, kBegin, 1, 1);
  TraceMakerOptions options;
  options.table.max_hops_of_trace = 16;
  Told told;
  const TraceSums sums = Make(network, options, &told);
  ExpectWhole(sums);
  EXPECT_EQ(sums.shed, 44u);
  EXPECT_EQ(Of(sums, TraceFault::kLoop), 1u);
}

// Any mixture, in tables too small for it: each copy is counted once, and with the numbers of the
// copies, those that were lost are as many as were.
TEST(TraceMaker, LosesNoCopyFromItsSums) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    Network network;
    uint64_t lost = 0;
    for (uint32_t i = 0; i < 2000; ++i) {
      const Nanos time = kBegin + i * kNanosPerMilli;
      const Bytes packet = Packet(static_cast<uint16_t>(random() % 9), i, 64);
      for (uint16_t at = 1; at <= 3; ++at) {
        const bool is_last = i >= 1900;  // a number behind shows that one is missing
        const bool is_lost = !is_last && i > 0 && random() % 20 == 0;
        lost += is_lost ? 1 : 0;
        network.Copy(at, time + at, packet, is_lost);
        if (random() % 50 == 0) network.Copy(at, time + at + 1, packet);
      }
    }
    TraceMakerOptions options;
    options.table.max_traces = 16 + random() % 500;
    options.table.max_hops = 64 + random() % 1000;
    Told told;
    const TraceSums sums = Make(network, options, &told);
    ExpectWhole(sums);
    EXPECT_EQ(sums.lost_by_number, lost) << "seed " << seed;
    EXPECT_GT(sums.duplicates, 0u);
  }
}

// What is told, word for word, and the sums.
std::string Story(const std::vector<trace_network::TimedBytes>& frames, size_t burst,
                  const TraceMakerOptions& options, bool in_time) {
  const Line line;
  std::string story;
  std::string taken;
  TraceMaker maker(options, line, [&story](const TraceReport& report) {
    const TracePass& pass = *report.pass;
    for (const uint64_t value :
         {report.id, uint64_t{report.trace->revision}, uint64_t{report.trace->is_evicted},
          uint64_t{report.trace->packet.marks}, static_cast<uint64_t>(pass.fault),
          uint64_t{pass.hops.size()}, uint64_t{pass.duplicates}, uint64_t{pass.last_switch},
          static_cast<uint64_t>(pass.drop_probability * 1e9)}) {
      story += std::to_string(value) + " ";
    }
    story += "\n";
  });
  for (size_t at = 0; at < frames.size(); at += burst) {
    std::vector<TimedFrame> timed;
    for (size_t i = at; i < std::min(frames.size(), at + burst); ++i) {
      const auto size = static_cast<uint32_t>(frames[i].bytes.size());
      timed.push_back({frames[i].time, {frames[i].bytes.data(), size, size}});
    }
    if (in_time && burst > 1) {
      maker.TakeInTime(timed.data(), timed.size());
      continue;
    }
    const std::unique_ptr<bool[]> is_taken(new bool[timed.size()]);
    maker.TakeFrames(timed.data(), timed.size(), is_taken.get());
    for (size_t i = 0; i < timed.size() && !in_time; ++i) taken += is_taken[i] ? "+" : "-";
    // At the same times, whatever the bursts are.
    if (in_time || (at + timed.size()) % 240 == 0) maker.Advance(timed.back().time);
  }
  maker.Finish();
  const TraceSums sums = maker.sums();
  ExpectWhole(sums);
  for (const uint64_t value : {sums.frames, sums.copies, sums.other, sums.malformed, sums.in_traces,
                               sums.duplicates, sums.lost_by_number, sums.lost_by_trace}) {
    story += std::to_string(value) + " ";
  }
  return story + taken;
}

// Copies of slices and what is no copy among them, and tables that are too small.
TEST(TraceMaker, TakesManyAtATimeAsIfEachCameAlone) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    std::mt19937_64 random(seed);
    Network network;
    for (uint32_t i = 0; i < 1200; ++i) {
      const Nanos time = kBegin + i * kNanosPerMilli;
      const Bytes packet = Packet(static_cast<uint16_t>(random() % 9), i - i % 2, 64);
      for (uint16_t at = 1; at <= 3; ++at) {
        const Nanos late = random() % 30 == 0 ? kNanosPerSecond : 0;
        network.Copy(at, time + late + at, packet, random() % 20 == 0);
        if (random() % 40 == 0) network.Add(time, packet);
      }
    }
    std::vector<trace_network::TimedBytes> frames = network.Frames();
    for (auto& [time, bytes] : frames) {
      constexpr size_t kKeyAt = 14 + 20 + 4;
      const bool is_copy = bytes[14 + 9] == kProtocolGre;
      if (!is_copy || random() % 4 == 0) continue;  // else of a slice
      const uint32_t key = LoadBe32(&bytes[kKeyAt]);
      StoreBe32(&bytes[kKeyAt], (key & ~kMaxSliceTag) | TraceTag(1, 2));
    }
    TraceMakerOptions options;
    options.copies.leaves_slices = seed % 2 == 0;
    options.table.max_traces = 8 + random() % 1500;
    options.table.max_hops = 16 + random() % 4000;
    for (const bool in_time : {false, true}) {
      const std::string alone = Story(frames, 1, options, in_time);
      for (const size_t burst : {3, 16, 40, 80}) {
        ASSERT_EQ(Story(frames, burst, options, in_time), alone) << "seed " << seed;
      }
    }
  }
}

TEST(LinkBook, AddsUpWhatLinksCarriedByTheSecond) {
  Network network;
  network.Cross({1, 2, 3}, kBegin, 1, 1, kTcpSyn);
  network.Cross({1, 2, 3}, kBegin + 5 * kNanosPerMilli, 1, 2);
  network.Cross({1, 2}, kBegin + 10 * kNanosPerMilli, 1, 3);
  for (uint32_t i = 0; i < 20; ++i) {
    network.Cross({1, 2, 3}, kBegin + kNanosPerSecond + i * kNanosPerMilli, 1, 10 + i);
  }
  const Line line;
  LinkBook book;
  TraceMaker maker({}, line, [&book](const TraceReport& report) { book.Add(report); });
  for (const auto& [time, bytes] : network.Frames()) {
    const auto size = static_cast<uint32_t>(bytes.size());
    maker.TakeFrame({bytes.data(), size, size}, time);
  }
  maker.Finish();
  const std::vector<LinkCounters> rows = book.TakeAll();
  ASSERT_EQ(rows.size(), 4u);  // two links, two seconds
  EXPECT_EQ(rows[0].from, 1);
  EXPECT_EQ(rows[0].to, 2);
  EXPECT_EQ(rows[0].time, kBegin);
  const uint64_t bytes = Packet(1, 1, 64).size();
  EXPECT_EQ(rows[0].values, (std::array<uint64_t, 10>{3, 3 * bytes, 1, 0, 0, 0, 0, 3, 0, 0}));
  EXPECT_EQ(rows[1].values[kLinkPackets], 20u);
  EXPECT_EQ(rows[2].from, 2);
  EXPECT_EQ(rows[2].values, (std::array<uint64_t, 10>{2, 2 * bytes, 1, 1, 0, 0, 0, 2, 0, 0}));
  EXPECT_EQ(book.size(), 0u);
}

}  // namespace
}  // namespace trumpet
