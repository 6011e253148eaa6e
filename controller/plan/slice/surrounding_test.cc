// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/plan/slice/surrounding.h"

#include <gtest/gtest.h>

#include <set>

#include "controller/plan/slice/slice_kit_test.h"

namespace trumpet::slice {
namespace {

using Names = std::vector<std::string>;

Names Sorted(Names names) {
  std::sort(names.begin(), names.end());
  return names;
}

struct SurroundingCase {
  Network network;
  std::vector<int> region;
  std::vector<int> egresses;
};

uint32_t MaskOf(const std::vector<int>& routers) {
  uint32_t mask = 0;
  for (int router : routers) mask |= 1u << router;
  return mask;
}

// The routers outside of every path that starts in the region, leaves it and ends at an egress.
std::set<uint32_t> MixedEgressPaths(const SurroundingCase& one) {
  const uint32_t inside = MaskOf(one.region);
  const uint32_t egresses = MaskOf(one.egresses);
  std::set<uint32_t> paths;
  for (int start : one.region) {
    ForEachSimplePath(one.network, start, [&](const Path& path) {
      const uint32_t outside = MaskOf(path) & ~inside;
      if (outside != 0 && (egresses >> path.back() & 1) != 0) paths.insert(outside);
    });
  }
  return paths;
}

bool HitsAll(const std::set<uint32_t>& paths, uint32_t set) {
  return std::all_of(paths.begin(), paths.end(),
                     [set](uint32_t path) { return (path & set) != 0; });
}

int FewestThatHitAll(const SurroundingCase& one, const std::set<uint32_t>& paths) {
  const uint32_t inside = MaskOf(one.region);
  int fewest = one.network.router_count();
  for (uint32_t set = 0; set < (1u << one.network.router_count()); ++set) {
    const int size = __builtin_popcount(set);
    if ((set & inside) == 0 && size < fewest && HitsAll(paths, set)) fewest = size;
  }
  return fewest;
}

SurroundingCase RandomCase(Random* random, int most_routers) {
  const int routers = Draw(random, 2, most_routers);
  SurroundingCase one{RandomNetwork(random, routers, Draw(random, 0, routers + 3)), {}, {}};
  one.region.push_back(Draw(random, 0, routers - 1));
  for (int wanted = Draw(random, 1, 5); wanted > 0; --wanted) {
    const int from =
        one.region[static_cast<size_t>(Draw(random, 0, static_cast<int>(one.region.size()) - 1))];
    const auto& links = one.network.LinksOf(from);
    const int to =
        links[static_cast<size_t>(Draw(random, 0, static_cast<int>(links.size()) - 1))].to;
    if (std::count(one.region.begin(), one.region.end(), to) == 0) one.region.push_back(to);
  }
  for (int router = 0; router < routers; ++router) {
    if (Draw(random, 0, 3) == 0) one.egresses.push_back(router);
  }
  return one;
}

TEST(Surrounding, IsThatOfThePaper) {
  const Network network = PaperNetwork();
  const auto optimal =
      FindOptimalSurrounding(network, Named(network, "ABLCD"), Named(network, "D123"), kNoDeadline);
  EXPECT_EQ(Sorted(network.NamesOf(optimal.routers)), (Names{"F", "H", "P"}));
  EXPECT_TRUE(optimal.has_egress_inside);
}

TEST(Surrounding, SeesTheDetourThatJudgingNeighboursAloneMisses) {
  Network network;
  for (const char* name : {"r1", "r2", "k1", "k2"}) network.AddRouter(name);
  for (const auto& [a, b] : {std::pair(0, 1), {0, 2}, {2, 3}, {3, 1}}) network.AddLink(a, b, 1);
  EXPECT_EQ(FindOptimalSurrounding(network, {0, 1}, {1}, kNoDeadline).routers.size(), 1u);
}

TEST(Surrounding, IsValidAndSmallestInRandomNetworks) {
  std::set<SurroundingProof> proofs;
  for (uint32_t seed = 0; seed < 4000; ++seed) {
    Random random(seed);
    const SurroundingCase one = RandomCase(&random, 11);
    const auto optimal = FindOptimalSurrounding(one.network, one.region, one.egresses, kNoDeadline);
    const std::set<uint32_t> paths = MixedEgressPaths(one);
    ASSERT_TRUE(HitsAll(paths, MaskOf(optimal.routers))) << "seed " << seed;
    ASSERT_EQ(MaskOf(optimal.routers) & MaskOf(one.region), 0u) << "seed " << seed;
    ASSERT_EQ(static_cast<int>(optimal.routers.size()), FewestThatHitAll(one, paths))
        << "seed " << seed;
    proofs.insert(optimal.proof);
  }
  EXPECT_EQ(proofs.count(SurroundingProof::kNone), 0u);
}

// The smallest graphs are solved by contraction alone; these have to branch, and are checked
// against a search that knows neither flows nor contraction.
TEST(Surrounding, IsSmallestWhereItHasToBranch) {
  int branched = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    Random random(seed);
    const int routers = 15;
    SurroundingCase one{RandomNetwork(&random, routers, 9), {0, 1, 2, 3}, {0}};
    for (int i = 1; i < 4; ++i) one.network.AddLink(i - 1, i, 1);
    const auto optimal = FindOptimalSurrounding(one.network, one.region, one.egresses, kNoDeadline);
    if (optimal.branchings == 0) continue;
    ++branched;
    const std::set<uint32_t> paths = MixedEgressPaths(one);
    ASSERT_TRUE(HitsAll(paths, MaskOf(optimal.routers))) << "seed " << seed;
    ASSERT_EQ(static_cast<int>(optimal.routers.size()), FewestThatHitAll(one, paths))
        << "seed " << seed;
  }
  EXPECT_GT(branched, 5);
}

TEST(Surrounding, EndsAtTheDeadline) {
  const DenseCase one;
  const auto optimal =
      FindOptimalSurrounding(one.network, one.region, one.egresses, DeadlineIn(0.05));
  EXPECT_EQ(optimal.proof, SurroundingProof::kNone);
  EXPECT_LT(optimal.branchings, 100'000u);
  const auto none = FindOptimalSurrounding(one.network, one.region, one.egresses, Deadline::min());
  EXPECT_EQ(none.proof, SurroundingProof::kNone);
  EXPECT_EQ(none.branchings, 0u);
  EXPECT_LE(optimal.routers.size(), none.routers.size());
}

TEST(Surrounding, IsValidWithoutAnyTime) {
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    Random random(seed);
    const SurroundingCase one = RandomCase(&random, 11);
    const auto found =
        FindOptimalSurrounding(one.network, one.region, one.egresses, Deadline::min());
    const std::set<uint32_t> paths = MixedEgressPaths(one);
    ASSERT_TRUE(HitsAll(paths, MaskOf(found.routers))) << "seed " << seed;
    ASSERT_EQ(MaskOf(found.routers) & MaskOf(one.region), 0u) << "seed " << seed;
    if (found.proof == SurroundingProof::kNone) continue;
    ASSERT_EQ(static_cast<int>(found.routers.size()), FewestThatHitAll(one, paths))
        << "seed " << seed;
  }
}

TEST(Surrounding, ByEdgesAndByNodesIsAllThatIsNextToTheRegion) {
  const Network network = PaperNetwork();
  const std::vector<int> region = Named(network, "AB");
  Names edges;
  for (const auto& [a, b] : EdgeSurrounding(network, region)) {
    edges.push_back(network.NameOf(a) + network.NameOf(b));
  }
  EXPECT_EQ(edges, (Names{"AF", "AL", "BC", "BH", "BJ", "BK", "BL"}));
  EXPECT_EQ(Sorted(network.NamesOf(NodeSurrounding(network, region))),
            (Names{"C", "F", "H", "J", "K", "L"}));
}

TEST(Surrounding, RefusesARegionInPieces) {
  const Network network = PaperNetwork();
  EXPECT_EQ(CheckRegion(network, Named(network, "AP")).message(),
            "the region is not connected: no way inside of it from 'A' to 'P'");
  EXPECT_TRUE(CheckRegion(network, Named(network, "ABC")).ok());
}

}  // namespace
}  // namespace trumpet::slice
