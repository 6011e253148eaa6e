// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/analyzer/path_statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "controller/analyzer/path_simulation_test.h"

namespace trumpet {
namespace {

constexpr Nanos kWindow = kNanosPerSecond;

struct Outcome {
  PathCounts counts;
  PathEstimates estimates;
  std::vector<Nanos> delays;
};

// A slot that begins and ends while packets are under way.
Outcome Simulate(SimulatedPath path, uint64_t seed, int packets, int flows) {
  path.on = 20 * kNanosPerMilli;
  path.off = packets * path.spacing - 20 * kNanosPerMilli;
  PathSimulation simulation(path, seed);
  for (int i = 0; i < packets; ++i) {
    SimulatedPacket packet;
    packet.flow = static_cast<uint16_t>(simulation.Below(static_cast<uint64_t>(flows)));
    packet.ip_id = static_cast<uint16_t>(i);
    packet.payload = {1};
    simulation.Send(packet);
  }
  const MatchedPackets matched = MatchCopies(simulation.Seen(), path.hops, kWindow);
  Outcome run;
  run.counts = CountPath(matched, {});
  run.estimates = EstimatePath(run.counts, path.hops.size(), NormalReach(0.95));
  AddDelays(matched, &run.delays);
  return run;
}

bool Holds(const Estimate& estimate, double truth) {
  return estimate.is_known && estimate.low <= truth && truth <= estimate.high;
}

struct Coverage {
  double loss = 0;  // shares of runs whose interval holds the truth
  double copy_loss = 0;
  double mean_loss = 0;
  double mean_copy_loss = 0;
};

Coverage CoverageOf(const SimulatedPath& path, int runs, int packets, int flows) {
  Coverage coverage;
  const auto links = static_cast<double>(path.hops.size() - 1);
  const double loss = 1 - std::pow(1 - path.link_loss, links);
  for (int seed = 1; seed <= runs; ++seed) {
    const Outcome run = Simulate(path, static_cast<uint64_t>(seed), packets, flows);
    coverage.loss += Holds(run.estimates.loss, loss) ? 1.0 / runs : 0;
    coverage.copy_loss += Holds(run.estimates.copy_loss, path.copy_loss) ? 1.0 / runs : 0;
    coverage.mean_loss += run.estimates.loss.value / runs;
    coverage.mean_copy_loss += run.estimates.copy_loss.value / runs;
  }
  return coverage;
}

TEST(PathStatistics, HoldTheTruthInTheStatedShareOfRuns) {
  for (const double link_loss : {0.0, 0.01, 0.05}) {
    for (const double copy_loss : {0.0, 0.02, 0.1}) {
      SimulatedPath path;
      path.link_loss = link_loss;
      path.copy_loss = copy_loss;
      const Coverage coverage = CoverageOf(path, 150, 1500, 40);
      const std::string where =
          "loss " + std::to_string(link_loss) + ", copies " + std::to_string(copy_loss);
      EXPECT_GE(coverage.loss, 0.92) << where;
      EXPECT_GE(coverage.copy_loss, 0.9) << where;
      EXPECT_NEAR(coverage.mean_loss, 1 - (1 - link_loss) * (1 - link_loss), 0.006) << where;
    }
  }
}

// Of a slot of 110 ms each location copies each flow for another part.
SimulatedPath SkewedPath(double copy_loss) {
  SimulatedPath path;
  path.link_loss = 0.03;
  path.copy_loss = copy_loss;
  path.skew = 30 * kNanosPerMilli;
  return path;
}

TEST(PathStatistics, DoNotTakeForLostWhatASwitchDidNotCopyYet) {
  for (const double copy_loss : {0.0, 0.05}) {
    for (const int flows : {1, 10, 300}) {
      const Coverage coverage = CoverageOf(SkewedPath(copy_loss), 200, 1500, flows);
      const std::string where =
          std::to_string(flows) + " flows, copies " + std::to_string(copy_loss);
      EXPECT_GE(coverage.loss, 0.91) << where;
      EXPECT_GE(coverage.copy_loss, 0.91) << where;
      EXPECT_NEAR(coverage.mean_loss, 1 - 0.97 * 0.97, 0.004) << where;
      EXPECT_NEAR(coverage.mean_copy_loss, copy_loss, 0.002) << where;
    }
  }
}

TEST(PathStatistics, BearPacketsThatPassEachOther) {
  SimulatedPath path = SkewedPath(0.02);
  path.jitter = 10 * path.spacing;
  const Coverage coverage = CoverageOf(path, 200, 1500, 10);
  EXPECT_GE(coverage.loss, 0.91);
  EXPECT_GE(coverage.copy_loss, 0.91);
  EXPECT_NEAR(coverage.mean_loss, 1 - 0.97 * 0.97, 0.004);
  EXPECT_NEAR(coverage.mean_copy_loss, 0.02, 0.002);
}

TEST(PathStatistics, TellTheShareOfAPathWhateverIsCopiedWhen) {
  SimulatedPath path = SkewedPath(0.1);
  path.other_path = 0.4;
  for (const int flows : {10, 60, 4096}) {
    double error = 0;
    for (uint64_t seed = 1; seed <= 100; ++seed) {
      PathSimulation same(path, seed);
      double truth = 0;
      for (int flow = 0; flow < flows; ++flow) {
        truth += same.IsOnPath(static_cast<uint16_t>(flow)) ? 1.0 / flows : 0;
      }
      const Outcome run = Simulate(path, seed, 1500, flows);
      error += (run.estimates.share.value - truth) / 100;
    }
    // Of a flow of one packet nothing else shows that it was not copied yet.
    EXPECT_NEAR(error, 0, flows > 1000 ? 0.04 : 0.015) << flows << " flows";
  }
}

TEST(PathStatistics, TellOfFlowsThatOnlyTheIngressSees) {
  std::vector<SeenCopy> copies;
  for (uint64_t i = 0; i < 5; ++i) {
    const auto time = static_cast<Nanos>(i);
    copies.push_back({i, 1, time, 0, 64});
    copies.push_back({i, 1, time + 9, 1, 63});
    copies.push_back({100 + i, 2, time, 0, 64});
  }
  const PathCounts counts = CountPath(MatchCopies(copies, {0, 1}, kWindow), {});
  EXPECT_EQ(counts.silent_flows, 1u);
  EXPECT_EQ(counts.ingress, 3u);
  EXPECT_EQ(counts.both, 3u);
}

TEST(PathStatistics, DoNotTakeAnotherPathForLostCopies) {
  SimulatedPath path;
  path.other_path = 0.5;
  int held = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const Outcome run = Simulate(path, seed, 1500, 40);
    if (Holds(run.estimates.copy_loss, path.copy_loss)) ++held;
  }
  EXPECT_GE(held, 184);
}

TEST(PathStatistics, TellTheShareOfAPath) {
  SimulatedPath path;
  path.other_path = 0.4;
  path.copy_loss = 0.1;
  int held = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    // Each packet a flow of its own: packets are the sample.
    const Outcome run = Simulate(path, seed, 1500, 4096);
    if (Holds(run.estimates.share, 0.6)) ++held;
  }
  EXPECT_GE(held, 180);  // a flow comes twice now and then
}

TEST(PathStatistics, DoNotTakeADetourForLoss) {
  SimulatedPath path;
  path.detour = 0.3;
  path.link_loss = 0;
  path.copy_loss = 0;
  const Outcome run = Simulate(path, 1, 1000, 10);
  EXPECT_GT(run.counts.strayed, 100u);
  EXPECT_EQ(run.estimates.loss.value, 0);
}

TEST(PathStatistics, DoNotTakeForLostWhatLeftTheRegion) {
  const std::vector<SeenCopy> copies = {{1, 1, 0, 0, 64}, {1, 1, 9, 1, 63},  //
                                        {2, 1, 1, 0, 64},                    // left
                                        {3, 1, 2, 0, 64},                    // lost
                                        {4, 1, 3, 0, 64}, {4, 1, 12, 1, 63}};
  const MatchedPackets matched = MatchCopies(copies, {0, 1}, kWindow);
  const PathCounts counts = CountPath(matched, [](Uint128 identity) { return identity == 2; });
  EXPECT_EQ(counts.ingress, 1u);
  EXPECT_EQ(counts.both, 0u);
  EXPECT_EQ(counts.strayed, 1u);
  EXPECT_EQ(counts.followed, 2u);
}

TEST(PathStatistics, SayOfAPathThatIsCutThatItMayBeTheCopies) {
  SimulatedPath path;
  path.link_loss = 1;
  const Outcome run = Simulate(path, 1, 500, 10);
  EXPECT_EQ(run.estimates.loss.value, 1);
  EXPECT_EQ(run.estimates.loss.low, 0);
  EXPECT_FALSE(run.estimates.copy_loss.is_known);
  EXPECT_GT(run.counts.ingress, 50u);
}

TEST(PathStatistics, OfSlotsAddUp) {
  PathCounts sum;
  PathCounts cut;
  cut.packets = cut.ingress = 5;
  PathCounts whole;
  whole.has_ends = true;
  whole.packets = 10;
  whole.entered = 9;
  whole.ingress = 8;
  whole.both = 7;
  sum.Add(cut);
  EXPECT_EQ(sum.ingress, 5u);
  sum.Add(whole);
  sum.Add(cut);
  sum.Add(whole);
  EXPECT_EQ(sum.packets, 30u);
  EXPECT_EQ(sum.entered, 18u);
  EXPECT_EQ(sum.ingress, 16u);
  EXPECT_EQ(sum.both, 14u);
}

TEST(PathStatistics, TellDelaysWithoutCommonClocks) {
  SimulatedPath path;
  path.latency = {30 * kNanosPerMilli, 0, 10 * kNanosPerMilli};
  Outcome run = Simulate(path, 1, 1000, 10);
  const DelayStatistics delays =
      DescribeDelays(run.delays, {"A", 30 * kNanosPerMilli, 1000}, {"D", 10 * kNanosPerMilli, 500});
  EXPECT_NEAR(static_cast<double>(delays.median), 15e6, 20e3);  // three hops of 5 ms
  EXPECT_NEAR(static_cast<double>(delays.low), 15e6, 20e3);
  EXPECT_NEAR(static_cast<double>(delays.high), 15e6, 20e3);
  EXPECT_EQ(delays.error, 1500);
  EXPECT_GT(delays.packets, 400u);
}

}  // namespace
}  // namespace trumpet
