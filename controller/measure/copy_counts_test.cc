// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/measure/copy_counts.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "lib/base/random_runs_test.h"

namespace trumpet {
namespace {

ProgramCounts Told(Nanos since, const ProgramCopies& copies) { return {{"hh", 7}, since, copies}; }

TEST(CopyCounts, AddsUpOverHostsAndEndpoints) {
  CopyCounts counts;
  counts.Take("a", Told(1, {10, 1, 2, {{3, 0, 0}, {0, 4, 0}}}), 2);
  counts.Take("b", Told(5, {7, 0, 7, {}}), 2);
  const ProgramCopies total = counts.Total();
  EXPECT_EQ(total, (ProgramCopies{17, 1, 9, {{3, 0, 0}, {0, 4, 0}}}));
  EXPECT_EQ(total.Sum(), (EndpointCopies{3, 4, 0}));
  EXPECT_EQ(counts.Of("b"), (ProgramCopies{7, 0, 7, {}}));
  EXPECT_FALSE(counts.Of("c").has_value());
}

TEST(CopyCounts, KeepsWhatAHostHadToldBeforeItBeganAnew) {
  CopyCounts counts;
  counts.Take("a", Told(1, {10, 0, 10, {}}), 1);
  counts.Take("a", Told(2, {3, 0, 3, {}}), 1);
  EXPECT_EQ(counts.Total().collected, 13u);
  EXPECT_EQ(counts.Of("a")->collected, 3u);
  counts.Take("a", Told(2, {5, 0, 5, {}}), 1);
  EXPECT_EQ(counts.Total().collected, 15u);
}

TEST(CopyCounts, TakesNoMoreEndpointsThanTheProgramHas) {
  CopyCounts counts;
  counts.Take("a", Told(1, {1, 0, 0, {{1, 0, 0}, {9, 9, 9}}}), 1);
  EXPECT_EQ(counts.Total().endpoints.size(), 1u);
}

// Hosts that collect, tell now and then, and begin anew, against a count of all that happened.
TEST(CopyCounts, CountsWhatHappenedWhateverHostsDo) {
  struct Host {
    Nanos since = 1;
    ProgramCopies now;
  };
  constexpr size_t kEndpoints = 3;
  for (uint64_t seed = testing::FirstSeed(); seed <= testing::LastSeed(2000); ++seed) {
    std::mt19937_64 random(seed);
    const auto below = [&random](uint64_t limit) { return random() % limit; };
    std::array<Host, 4> hosts;
    CopyCounts counts;
    ProgramCopies truth;
    truth.endpoints.resize(kEndpoints);
    for (int step = 0; step < 60; ++step) {
      const size_t index = below(hosts.size());
      Host& host = hosts[index];
      ProgramCopies more;
      more.endpoints.resize(kEndpoints);
      more.endpoints[below(kEndpoints)] = {below(9), below(9), below(9)};
      more.unbound = below(9);
      more.lost = below(9);
      const EndpointCopies sum = more.Sum();
      more.collected = more.lost + more.unbound + sum.sent + sum.over_rate + sum.failed;
      host.now.Add(more);
      truth.Add(more);
      const auto tell = [&] {
        counts.Take("h" + std::to_string(index), Told(host.since, host.now), kEndpoints);
      };
      if (below(2) == 0) tell();
      if (below(8) == 0) {
        tell();  // the last it says
        host = {host.since + 1, {}};
      }
      if (below(4) == 0) tell();
    }
    for (size_t i = 0; i < hosts.size(); ++i) {
      counts.Take("h" + std::to_string(i), Told(hosts[i].since, hosts[i].now), kEndpoints);
    }
    ASSERT_EQ(counts.Total(), truth) << "seed " << seed;
    const EndpointCopies sum = truth.Sum();
    ASSERT_EQ(truth.collected, truth.lost + truth.unbound + sum.sent + sum.over_rate + sum.failed);
  }
}

}  // namespace
}  // namespace trumpet
