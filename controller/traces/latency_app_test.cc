// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/latency_app.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/log_buckets.h"
#include "lib/base/random_runs_test.h"

namespace trumpet {
namespace {

using Json = nlohmann::ordered_json;

StoredTrace Way(const std::vector<std::pair<uint16_t, Nanos>>& hops) {
  StoredTrace trace;
  for (const auto& [at, time] : hops) trace.hops.push_back({time, 5, at, 64});
  return trace;
}

SwitchBook Book() {
  SwitchBook book;
  for (uint16_t i = 1; i <= 4; ++i) EXPECT_TRUE(book.Add("s" + std::to_string(i), i).ok());
  return book;
}

Json FindLink(const Json& answer, const std::string& from, const std::string& to) {
  for (const Json& one : answer) {
    if (one["from"] == from && one["to"] == to) return one;
  }
  return {};
}

// Against lists of all times, sorted.
TEST(LatencyApp, TellsWhatTheSortedTimesOfEachLinkSay) {
  for (uint64_t seed = testing::FirstSeed(); seed <= testing::LastSeed(300); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    LatencyBook book;
    std::map<std::pair<uint16_t, uint16_t>, std::vector<uint64_t>> times;
    uint64_t all = 0;
    for (size_t i = 1 + random() % 200; i > 0; --i) {
      std::vector<std::pair<uint16_t, Nanos>> hops = {{static_cast<uint16_t>(1 + random() % 4), 0}};
      for (size_t j = random() % 4; j > 0; --j) {
        const auto at = static_cast<uint16_t>(1 + random() % 4);
        const auto time = static_cast<Nanos>(random() % (uint64_t{1} << (10 + random() % 15)));
        if (at != hops.back().first) {
          times[{hops.back().first, at}].push_back(static_cast<uint64_t>(time));
          all += static_cast<uint64_t>(time);
        }
        hops.emplace_back(at, hops.back().second + time);
      }
      book.Add(Way(hops));
    }
    const Json answer = ProfileLatency(book, nullptr, Book());
    ASSERT_EQ(answer.size(), times.size());
    double share = 2;
    for (auto& [ends, list] : times) {
      std::sort(list.begin(), list.end());
      const Json one =
          FindLink(answer, "s" + std::to_string(ends.first), "s" + std::to_string(ends.second));
      ASSERT_EQ(one["packets"], list.size());
      EXPECT_EQ(one["longest_ns"], list.back());
      uint64_t sum = 0;
      for (const uint64_t time : list) sum += time;
      EXPECT_EQ(one["mean_ns"], sum / list.size());
      if (all > 0) {
        EXPECT_NEAR(one["share"].get<double>(), static_cast<double>(sum) / static_cast<double>(all),
                    1e-9);
      }
      const auto median = static_cast<double>(list[(list.size() + 1) / 2 - 1]);
      EXPECT_NEAR(one["p50_ns"].get<double>(), median, median / 16 + 1);
    }
    for (const Json& one : answer) {
      EXPECT_LE(one["share"].get<double>(), share);
      share = one["share"].get<double>();
    }
  }
}

// The buckets have the true median nearly always, and never by much.
TEST(LatencyApp, KnowsWhereTheMedianLies) {
  const uint64_t runs = testing::LastSeed(2000);
  uint64_t missed = 0;
  for (uint64_t seed = 1; seed <= runs; ++seed) {
    std::mt19937_64 random(seed);
    std::lognormal_distribution<double> times(std::log(20000.0), 0.7);  // with this median
    LinkLatency link;
    for (size_t i = 20 + random() % 500; i > 0; --i) {
      ++link.packets;
      ++link.histogram[LogBucketOf(static_cast<uint64_t>(times(random)))];
    }
    const auto [low, high] = MedianRange(link);
    missed += LogBucketOf(20000) < low || LogBucketOf(20000) > high ? 1 : 0;
  }
  EXPECT_LE(missed, runs / 50 + 3);
}

TEST(LatencyApp, NamesTheSlowestLinkAndWhatHasChanged) {
  LatencyBook then;
  LatencyBook now;
  for (Nanos i = 0; i < 100; ++i) {
    const Nanos noise = i * 10;
    then.Add(Way({{1, 0}, {2, 20000 + noise}, {4, 40000 + noise}}));
    now.Add(Way({{1, 0}, {2, 20000 + noise}, {4, 1040000 + 2 * noise}}));
  }
  now.Add(Way({{3, 0}, {4, 10}}));
  const Json answer = ProfileLatency(now, &then, Book());
  EXPECT_EQ(answer[0]["verdict"], "slowest");
  EXPECT_EQ(answer[0]["earlier"]["change"], "slower");
  EXPECT_EQ(answer[0]["explanation"],
            "s2 to s4: half of 100 packets took more than 1.0 ms, 98% of the time on all links; "
            "slower than earlier, when half took less than 19.5 us");
  EXPECT_EQ(answer[1]["verdict"], "other");
  EXPECT_EQ(answer[1]["earlier"]["change"], "same");
  EXPECT_EQ(answer[2]["verdict"], "few");
  EXPECT_EQ(answer[2]["earlier"]["change"], "few");
}

}  // namespace
}  // namespace trumpet
