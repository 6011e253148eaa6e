// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/pause_book.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "lib/base/random_runs_test.h"

namespace trumpet {
namespace {

constexpr Nanos kBegin = 1700000000 * kNanosPerSecond;

RoceSight Stop(Nanos time, uint32_t port, uint8_t priority, uint16_t quanta) {
  RoceSight sight;
  sight.time = time;
  sight.switch_number = 1;
  sight.port = port;
  sight.source = {2, 0, 0, 0, 0, static_cast<uint8_t>(port)};
  MacControl control;
  control.has_priorities = priority != kAllPriorities;
  control.priorities = control.has_priorities ? static_cast<uint8_t>(1u << priority) : 0xff;
  control.quanta.fill(quanta);
  sight.control = control;
  return sight;
}

// What intervals say, all of them kept.
struct SlowPort {
  std::vector<std::pair<Nanos, uint16_t>> frames;

  std::vector<std::pair<Nanos, Nanos>> Intervals(Nanos end, const PauseOptions& options) const {
    std::vector<std::pair<Nanos, Nanos>> list;
    for (size_t i = 0; i < frames.size(); ++i) {
      const Nanos next = i + 1 < frames.size() ? frames[i + 1].first : end;
      const long double seconds =
          512.0L * frames[i].second / static_cast<long double>(options.bits_per_second);
      const Nanos until = frames[i].first + static_cast<Nanos>(seconds * 1e9L + 1e-6L);
      list.emplace_back(frames[i].first, std::min(until, next));
    }
    return list;
  }
};

TEST(PauseBook, CountsWhatAllIntervalsTogetherSay) {
  for (uint64_t seed = testing::FirstSeed(); seed <= testing::LastSeed(3000); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    PauseOptions options;
    options.bits_per_second = (random() % 2 == 0 ? 10 : 100) * uint64_t{1000000000};
    options.storm_time = static_cast<Nanos>(1 + random() % 10) * kNanosPerMilli;
    options.storm_share = static_cast<double>(1 + random() % 100) / 100;
    PauseBook book(options);
    std::map<std::pair<uint32_t, uint8_t>, SlowPort> slow;
    Nanos now = kBegin + static_cast<Nanos>(random() % 1000000);
    for (size_t i = 1 + random() % 300; i > 0; --i) {
      now += static_cast<Nanos>(random() % (uint64_t{1} << (10 + random() % 14)));
      const auto port = static_cast<uint32_t>(random() % 3);
      const auto priority = static_cast<uint8_t>(random() % 9);
      const auto quanta = static_cast<uint16_t>(random() % 3 == 0 ? 0 : random());
      book.Take(Stop(now, port, priority, quanta));
      slow[{port, priority}].frames.emplace_back(now, quanta);
    }
    const auto ports = book.Finish();
    ASSERT_EQ(ports.size(), slow.size());
    for (const auto& [place, one] : ports) {
      const SlowPort& all = slow.at({place.port, place.priority});
      Nanos stopped = 0;
      std::map<int64_t, Nanos> spans;
      for (const auto& [from, until] : all.Intervals(now, options)) {
        stopped += until - from;
        for (Nanos at = from; at < until;) {
          const int64_t span = at / options.storm_time;
          const Nanos end = std::min(until, (span + 1) * options.storm_time);
          spans[span] += end - at;
          at = end;
        }
      }
      EXPECT_EQ(one.stopped, stopped);
      const auto storms = std::count_if(spans.begin(), spans.end(), [&](const auto& span) {
        return static_cast<double>(span.second) >=
               options.storm_share * static_cast<double>(options.storm_time);
      });
      EXPECT_EQ(one.storm_spans, static_cast<uint64_t>(storms));
      const auto goes = std::count_if(all.frames.begin(), all.frames.end(),
                                      [](const auto& frame) { return frame.second == 0; });
      EXPECT_EQ(one.goes, static_cast<uint64_t>(goes));
      EXPECT_EQ(one.stops, all.frames.size() - static_cast<uint64_t>(goes));
    }
  }
}

TEST(PauseBook, KnowsWhenAStormBegan) {
  PauseOptions options;
  PauseBook book(options);
  // At 100 Gb/s the longest frame stops for 335 us.  First a single one, then a storm of a second.
  book.Take(Stop(kBegin, 7, 3, 65535));
  book.Take(Stop(kBegin + 100 * kNanosPerMicro, 7, 3, 0));
  const Nanos begin = kBegin + 2 * kNanosPerSecond;
  for (Nanos i = 0; i < 4000; ++i) {
    book.Take(Stop(begin + i * 250 * kNanosPerMicro, 7, 3, 65535));
  }
  const auto ports = book.Finish();
  ASSERT_EQ(ports.size(), 1u);
  const PauseCounts& port = ports.begin()->second;
  EXPECT_EQ(port.storm_begin, begin);
  EXPECT_GE(port.storm_spans, 9u);
  EXPECT_LE(port.storm_spans, 11u);
  EXPECT_TRUE(port.is_standing);
  EXPECT_EQ(port.pairs, 1u);
  EXPECT_EQ(port.source[5], 7);
}

TEST(PauseBook, KeepsAsManyPortsAsItMay) {
  PauseOptions options;
  options.max_ports = 2;
  PauseBook book(options);
  for (uint32_t port = 1; port <= 5; ++port) book.Take(Stop(kBegin, port, 3, 9));
  EXPECT_EQ(book.Finish().size(), 2u);
  EXPECT_EQ(book.not_kept(), 3u);
  EXPECT_EQ(book.frames(), 5u);
}

}  // namespace
}  // namespace trumpet
