// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/analyzer/trace_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "controller/analyzer/packet_identity.h"

namespace trumpet {
namespace {

TraceCopy Copy(uint64_t key, uint16_t switch_number, Nanos time) {
  TraceCopy copy;
  copy.key = key;
  copy.flow = key / 10;
  copy.hop.switch_number = switch_number;
  copy.hop.time = time;
  return copy;
}

constexpr Nanos kSecond = kNanosPerSecond;

class TraceTables : public testing::Test {
 protected:
  TraceTable Make(const TraceTableOptions& options) {
    return TraceTable(options, [this](const Trace& trace) { told_.push_back(trace); });
  }
  // Everything that is complete then.
  static void AdvanceTo(Nanos now, TraceTable* table) {
    while (table->Advance(now, 3)) {
    }
  }

  std::vector<Trace> told_;
};

TEST_F(TraceTables, TellATraceASecondAfterItsLastCopy) {
  TraceTable table = Make({});
  table.Take(Copy(1, 10, 0));
  table.Take(Copy(1, 11, kSecond / 2));
  AdvanceTo(kSecond * 3 / 2 - 1, &table);
  EXPECT_TRUE(told_.empty());
  AdvanceTo(kSecond * 3 / 2, &table);
  ASSERT_EQ(told_.size(), 1u);
  ASSERT_EQ(told_[0].hops.size(), 2u);
  EXPECT_EQ(told_[0].hops[1].switch_number, 11);
  EXPECT_EQ(told_[0].revision, 0u);
}

// What is told of packets of 1,000 bytes.
TEST_F(TraceTables, KeepPacketsOfProtocolsAsFarAsThereIsRoom) {
  std::vector<std::string> bytes;
  TraceTableOptions options;
  options.max_long_packets = 2;
  TraceTable table(options, [&](const Trace& trace) { bytes.emplace_back(trace.bytes); });
  std::vector<uint8_t> packet(2000);
  for (size_t i = 0; i < packet.size(); ++i) packet[i] = static_cast<uint8_t>(i * 7);
  const auto take = [&](uint64_t key, uint8_t marks, uint32_t captured, Nanos time) {
    TraceCopy copy = Copy(key, 10, time);
    copy.packet.marks = marks;
    copy.bytes = packet.data();
    copy.captured = captured;
    table.Take(copy);
  };
  const auto head = [&](size_t size) {
    return std::string(packet.begin(), packet.begin() + static_cast<ptrdiff_t>(size));
  };
  take(1, 0, 1000, 0);
  take(2, kMarkProtocol, 1000, 0);
  take(3, kMarkProtocol, 2000, 0);
  take(4, kMarkProtocol, 1000, 0);
  AdvanceTo(kSecond, &table);
  EXPECT_EQ(bytes, (std::vector<std::string>{head(128), head(1000), head(1600), head(128)}));
  EXPECT_EQ(table.counters().cut_packets, 2u);
  // Those that are forgotten make room.
  AdvanceTo(10 * kSecond, &table);
  bytes.clear();
  for (uint64_t key = 11; key < 14; ++key) take(key, kMarkProtocol, 500, 10 * kSecond);
  table.Finish();
  EXPECT_EQ(bytes, (std::vector<std::string>{head(500), head(500), head(128)}));
}

TEST_F(TraceTables, TellATraceAgainIfACopyIsLateAndThenWaitLonger) {
  TraceTable table = Make({});
  table.Take(Copy(1, 10, 0));
  AdvanceTo(kSecond, &table);
  table.Take(Copy(1, 11, 2 * kSecond));
  EXPECT_EQ(table.quiet(), 3 * kSecond);
  AdvanceTo(5 * kSecond, &table);
  ASSERT_EQ(told_.size(), 2u);
  EXPECT_EQ(told_[1].hops.size(), 2u);
  EXPECT_EQ(told_[1].revision, 1u);
  EXPECT_EQ(table.counters().late_copies, 1u);
  for (int i = 0; i < 20000; ++i) {
    table.Take(Copy(100 + static_cast<uint64_t>(i), 10, 5 * kSecond));
  }
  AdvanceTo(9 * kSecond, &table);
  EXPECT_LT(table.quiet(), kSecond + kSecond / 100);
}

TEST_F(TraceTables, TellWhatCameBeforeTheClockWasSetBack) {
  TraceTable table = Make({});
  const Nanos before = 10000 * kSecond;
  table.Take(Copy(1, 10, before));
  AdvanceTo(before + kSecond, &table);
  ASSERT_EQ(told_.size(), 1u);
  table.Take(Copy(2, 10, before + kSecond));
  const Nanos now = 6400 * kSecond;
  table.Take(Copy(3, 10, now));
  AdvanceTo(now, &table);
  ASSERT_EQ(told_.size(), 2u);
  EXPECT_EQ(told_[1].key, 2u);
  AdvanceTo(now + kSecond, &table);
  ASSERT_EQ(told_.size(), 3u) << "it would wait for an hour";
  AdvanceTo(now + 4 * kSecond, &table);
  EXPECT_EQ(table.trace_count(), 0u);
}

TEST_F(TraceTables, ForgetATraceWhenNoLateCopyIsExpected) {
  TraceTable table = Make({});
  table.Take(Copy(1, 10, 0));
  AdvanceTo(4 * kSecond, &table);
  EXPECT_EQ(table.trace_count(), 0u);
  EXPECT_EQ(table.hop_count(), 0u);
}

TEST_F(TraceTables, KeepSoManyHopsOfALoopAndCountTheOthers) {
  TraceTableOptions options;
  options.max_hops_of_trace = 4;
  TraceTable table = Make(options);
  for (int i = 0; i < 10; ++i) table.Take(Copy(1, 10, i));
  table.Finish();
  ASSERT_EQ(told_.size(), 1u);
  EXPECT_EQ(told_[0].hops.size(), 4u);
  EXPECT_EQ(told_[0].hops_not_kept, 6u);
  EXPECT_EQ(table.counters().hops_not_kept, 6u);
}

TEST_F(TraceTables, TellOnceOfAPacketThatGoesRoundForEver) {
  TraceTableOptions options;
  options.max_hops_of_trace = 4;
  TraceTable table = Make(options);
  Nanos now = 0;
  for (; now < 20 * kSecond; now += 10 * kNanosPerMilli) {
    AdvanceTo(now, &table);
    table.Take(Copy(1, static_cast<uint16_t>(10 + now % 2), now));
    if (now >= 1100 * kNanosPerMilli) {
      ASSERT_EQ(told_.size(), 1u) << "a second after it was full";
    }
  }
  AdvanceTo(now + 10 * kSecond, &table);
  ASSERT_EQ(told_.size(), 1u);
  EXPECT_EQ(told_[0].hops.size(), 4u);
  EXPECT_EQ(table.counters().hops_not_kept, 2000u - 4);
  EXPECT_EQ(table.trace_count(), 0u);
}

// Hellos of a protocol, say, of equal bytes.
TEST_F(TraceTables, BeginAnewWithEqualBytesThatAreSentAgainAndAgain) {
  TraceTableOptions options;
  options.max_hops_of_trace = 4;
  TraceTable table = Make(options);
  std::map<uint64_t, uint64_t> hops;  // of each trace, by when it began
  for (Nanos now = 0; now < 100 * kSecond; now += 2 * kSecond) {
    AdvanceTo(now, &table);
    table.Take(Copy(1, 10, now));
    table.Take(Copy(1, 11, now + 1));
    EXPECT_EQ(table.quiet(), kSecond) << "none is late";
  }
  table.Finish();
  for (const Trace& trace : told_) {
    hops[static_cast<uint64_t>(trace.hops[0].time)] = trace.hops.size();
  }
  EXPECT_EQ(hops.size(), 25u);
  for (const auto& [begin, count] : hops) EXPECT_EQ(count, 4u) << begin;
  EXPECT_EQ(table.counters().hops_not_kept, 0u);
}

TEST_F(TraceTables, ThatAreFullTellTheOldestAsTheyAre) {
  for (const bool is_short_of_hops : {false, true}) {
    TraceTableOptions options;
    (is_short_of_hops ? options.max_hops : options.max_traces) = 3;
    TraceTable table = Make(options);
    told_.clear();
    for (uint64_t key = 1; key <= 5; ++key) table.Take(Copy(key, 10, static_cast<Nanos>(key)));
    ASSERT_EQ(told_.size(), 2u);
    EXPECT_TRUE(told_[0].is_evicted);
    EXPECT_EQ(told_[1].key, 2u);
    EXPECT_EQ(table.counters().evicted, 2u);
    EXPECT_EQ(table.trace_count(), 3u);
    AdvanceTo(2 * kSecond, &table);
    table.Take(Copy(6, 10, 2 * kSecond));
    EXPECT_EQ(table.counters().evicted, 2u);  // one that was told goes instead
    EXPECT_EQ(table.counters().forgotten, 1u);
  }
}

// The slow twin keeps all copies of each packet and looks at them in the end.
TEST_F(TraceTables, AreLikeTheSlowTwinAndLoseNoCopy) {
  using HopKey = std::tuple<uint16_t, Nanos>;
  int exact_count = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    TraceTableOptions options;
    options.max_traces = 4 + random() % 400;  // often too few
    options.max_hops = 8 + random() % 1600;
    options.max_hops_of_trace = 2 + random() % 20;
    told_.clear();
    TraceTable table = Make(options);
    std::map<uint64_t, std::vector<HopKey>> twin;
    std::vector<TraceCopy> copies;
    for (uint64_t packet = 0; packet < 300; ++packet) {
      const Nanos start = static_cast<Nanos>(random() % 8000) * kNanosPerMilli;
      // Some keys collide in their low bits, which choose the slot.
      const uint64_t key = random() % 2 == 0 ? packet : packet << 32;
      for (uint16_t hop = 0; hop <= random() % 5; ++hop) {
        const Nanos time = start + static_cast<Nanos>(random() % 300) * kNanosPerMilli;
        copies.push_back(Copy(key, hop, time));
      }
    }
    std::stable_sort(copies.begin(), copies.end(), [](const TraceCopy& a, const TraceCopy& b) {
      return a.hop.time < b.hop.time;
    });
    for (const TraceCopy& copy : copies) {
      AdvanceTo(copy.hop.time, &table);
      table.Take(copy);
      twin[static_cast<uint64_t>(copy.key)].emplace_back(copy.hop.switch_number, copy.hop.time);
    }
    table.Finish();
    const TraceTableCounters& counters = table.counters();
    size_t told_copies = 0;
    for (const Trace& trace : told_) told_copies += trace.hops.size() + trace.hops_not_kept;
    EXPECT_EQ(told_copies, copies.size()) << "seed " << seed;
    EXPECT_EQ(counters.copies, copies.size());
    EXPECT_EQ(counters.told, told_.size());
    EXPECT_EQ(counters.late_copies, 0u);
    if (counters.evicted > 0) continue;
    ++exact_count;
    EXPECT_EQ(told_.size(), twin.size()) << "seed " << seed;
    for (const Trace& trace : told_) {
      const std::vector<HopKey>& all = twin[static_cast<uint64_t>(trace.key)];
      ASSERT_EQ(trace.hops.size(), std::min(all.size(), options.max_hops_of_trace));
      for (size_t i = 0; i < trace.hops.size(); ++i) {
        EXPECT_EQ(HopKey(trace.hops[i].switch_number, trace.hops[i].time), all[i]);
      }
    }
  }
  EXPECT_GT(exact_count, 20);
  EXPECT_LT(exact_count, 180);
}

// Segments of a thousand connections, half of them over IPv6, none of which has an IP ID: those of
// one connection differ in their sequence numbers alone.
std::vector<uint8_t> SegmentOf(uint32_t number, bool is_ipv6) {
  std::vector<uint8_t> ip(is_ipv6 ? 40 : 20);
  const auto put = [&ip](size_t at, uint32_t value) {
    for (size_t i = 0; i < 4; ++i) ip[at + i] = static_cast<uint8_t>(value >> (24 - 8 * i));
  };
  if (is_ipv6) {
    put(0, 0x60000000);
    put(4, 24u << 16 | 6u << 8 | 64u);
    put(20, 0x0a000001);
    put(36, 0x0a000002);
  } else {
    put(0, 0x45000000u | 44u);
    put(8, 64u << 24 | 6u << 16);
    put(12, 0x0a000001);
    put(16, 0x0a000002);
  }
  const size_t tcp = ip.size();
  ip.resize(tcp + 24);
  put(tcp, (1024 + number / 2 % 500) << 16 | 80u);
  put(tcp + 4, number / 1000);
  put(tcp + 12, 0x50100000);
  return ip;
}

TEST(TraceTable, AMillionPacketsAreAMillionTracesAndEachHasItsHops) {
  constexpr uint32_t kPackets = 1000000;
  constexpr uint16_t kHops = 3;
  uint64_t exact = 0, told = 0;
  TraceTable table({}, [&](const Trace& trace) {
    ++told;
    if (trace.hops.size() != kHops) return;
    bool is_exact = true;
    for (uint16_t hop = 0; hop < kHops; ++hop) {
      is_exact &= trace.hops[hop].switch_number == hop &&
                  trace.hops[hop].sequence == trace.hops[0].sequence;
    }
    exact += is_exact ? 1 : 0;
  });
  // One each 20 us, which takes 60 us to its last hop: the copies of several are mixed.
  std::array<TraceCopy, kHops> under_way;
  for (uint32_t i = 0; i < kPackets + kHops; ++i) {
    std::rotate(under_way.begin(), under_way.end() - 1, under_way.end());
    if (i < kPackets) {
      const auto segment = SegmentOf(i, i % 2 == 1);
      const auto identity =
          IdentifyPacket(segment.data(), static_cast<uint32_t>(segment.size()), false, 9);
      ASSERT_TRUE(identity.has_value());
      under_way[0] = TraceCopy();
      under_way[0].key = identity->hash;
      under_way[0].hop.sequence = i;
    }
    for (uint16_t hop = kHops; hop-- > 0;) {
      if (i < hop || i - hop >= kPackets) continue;
      TraceCopy copy = under_way[hop];
      copy.hop.switch_number = hop;
      copy.hop.time = Nanos{i} * 20 * kNanosPerMicro;
      table.Take(copy);
    }
    table.Advance(Nanos{i} * 20 * kNanosPerMicro, 100);
  }
  table.Finish();
  EXPECT_EQ(told, kPackets);
  EXPECT_GE(exact * 10000, uint64_t{kPackets} * 9999) << exact;
}

TEST(TraceTable, TellsAgainWhatItHasToldAndKeeps) {
  std::vector<std::pair<Uint128, uint32_t>> told;
  TraceTable table({}, [&](const Trace& trace) { told.emplace_back(trace.key, trace.revision); });
  TraceCopy copy;
  copy.key = 7;
  table.Take(copy);
  table.TellAgain(7);  // it is not told yet
  table.TellAgain(8);  // it is not there
  EXPECT_TRUE(told.empty());
  table.Advance(2 * kNanosPerSecond, 10);
  table.TellAgain(7);
  const std::vector<std::pair<Uint128, uint32_t>> wanted = {{7, 0}, {7, 1}};
  EXPECT_EQ(told, wanted);
  EXPECT_EQ(table.counters().told, 1u);
  EXPECT_EQ(table.counters().revised, 1u);
  table.Advance(20 * kNanosPerSecond, 10);
  table.TellAgain(7);  // forgotten
  EXPECT_EQ(told.size(), 2u);
}

}  // namespace
}  // namespace trumpet
