// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/analyzer/trace_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>
#include <vector>

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

}  // namespace
}  // namespace trumpet
