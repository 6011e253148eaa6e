// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/plan/slice/paths.h"

#include <gtest/gtest.h>

#include <limits>

#include "controller/plan/slice/slice_kit_test.h"

namespace trumpet::slice {
namespace {

uint64_t WeightOf(const Network& network, const Path& path) {
  uint64_t weight = 0;
  for (size_t i = 1; i < path.size(); ++i) {
    for (const NetworkLink& link : network.LinksOf(path[i - 1])) {
      if (link.to == path[i]) weight += link.weight;
    }
  }
  return weight;
}

std::vector<Path> Lightest(const Network& network, int from, int to) {
  uint64_t least = std::numeric_limits<uint64_t>::max();
  std::vector<Path> paths;
  ForEachSimplePath(network, from, [&](const Path& path) {
    const uint64_t weight = WeightOf(network, path);
    if (path.back() != to || weight > least) return;
    if (weight < least) paths.clear();
    least = weight;
    paths.push_back(path);
  });
  return paths;
}

std::vector<Path> Sorted(std::vector<Path> paths) {
  std::sort(paths.begin(), paths.end());
  return paths;
}

// "A->D", "AB", "->A"; the result as "ABCD ALCD", or the error.
std::string Resolved(const std::string& region, const std::string& ends = "") {
  const Network network = PaperNetwork();
  std::vector<RegionStep> steps;
  for (size_t i = 0; i < region.size(); ++i) {
    steps.emplace_back();
    if (region[i] == '-') {
      ++i;
    } else {
      steps.back().router = network.Find(region.substr(i, 1));
    }
  }
  const auto paths = ResolveRegion(network, steps, {Named(network, ends), Named(network, ends)});
  if (!paths) return paths.message();
  std::string text;
  for (const Path& path : Sorted(*paths)) {
    text += text.empty() ? "" : " ";
    for (int router : path) text += network.NameOf(router);
  }
  return text;
}

TEST(Paths, AreAllOfTheLightest) {
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    const Network network = RandomNetwork(&random, Draw(&random, 2, 8), Draw(&random, 0, 8), 3);
    const int from = Draw(&random, 0, network.router_count() - 1);
    const int to = Draw(&random, 0, network.router_count() - 1);
    const auto paths = ShortestPaths(network, from, to);
    ASSERT_TRUE(paths.ok());
    ASSERT_EQ(Sorted(*paths), Sorted(Lightest(network, from, to))) << "seed " << seed;
  }
}

TEST(Paths, OfARegionAreWhatItsStepsSay) {
  const struct {
    const char* region;
    const char* ends;
    const char* paths;
  } cases[] = {
      {"A", "", "A"},
      {"ABCD", "", "ABCD"},
      {"A->D", "", "ABCD AFCD ALCD"},
      {"A->->D", "", "ABCD AFCD ALCD"},
      {"AB->D", "", "ABCD"},
      {"A->B->D", "", "ABCD"},
      {"D->B->D", "", "DCBCD"},
      {"->D", "CF", "FCD CD"},
      {"->D", "D", "D"},
      {"P->", "12", "P1 P2"},
      {"->", "CD", "CD DC"},
      {"AD", "", "there is no link from 'A' to 'D'"},
      {"->D", "", "no ingress router is known, so an arrow at the start has no meaning"},
      {"A->", "", "no egress router is known, so an arrow at the end has no meaning"},
      {"", "", "the region is empty"},
  };
  for (const auto& one : cases) EXPECT_EQ(Resolved(one.region, one.ends), one.paths) << one.region;
}

TEST(Paths, ToARouterOutOfReachAreAnError) {
  Network network;
  network.AddRouter("a");
  network.AddRouter("b");
  const auto paths = ResolveRegion(network, {{0}, {std::nullopt}, {1}}, {});
  EXPECT_EQ(paths.message(), "there is no path from 'a' to 'b'");
  EXPECT_EQ(ResolveRegion(network, {{0}, {std::nullopt}}, {{}, {1}}).message(),
            "no path joins the ingress and egress routers it asks for");
}

// Twenty squares in a row: a million equal-cost paths.
TEST(Paths, AreNotPlannedWhenThereAreTooMany) {
  Network network;
  for (int i = 0; i <= 60; ++i) network.AddRouter(std::to_string(i));
  for (int i = 0; i + 3 <= 60; i += 3) {
    for (const int middle : {i + 1, i + 2}) {
      network.AddLink(i, middle, 1);
      network.AddLink(middle, i + 3, 1);
    }
  }
  const auto paths = ShortestPaths(network, 0, 60);
  ASSERT_FALSE(paths.ok());
  EXPECT_NE(paths.message().find("too many equal-cost paths; at most 10000"), std::string::npos);
}

// A thousand and a half of them along a line: together more than a million routers.
TEST(Paths, FromManyRoutersTakeNoMoreRoomThanThoseOfTwo) {
  Network network;
  PathEnds ends;
  for (int i = 0; i < 1500; ++i) {
    ends.ingresses.push_back(network.AddRouter(std::to_string(i)));
    if (i > 0) network.AddLink(i - 1, i, 1);
  }
  const auto paths = ResolveRegion(network, {{std::nullopt}, {0}}, ends);
  ASSERT_FALSE(paths.ok());
  EXPECT_NE(paths.message().find("with 1000000 routers are planned"), std::string::npos);
}

TEST(Paths, ToOneEndAreSearchedOnceForAllRegionsAndPrefixes) {
  const Network network = PaperNetwork();
  const std::vector<int> borders = Named(network, "AD");
  const std::vector<RegionStep> through = {{}, {network.Find("B")}, {}};
  Distances distances(network);
  const auto first = ResolveRegion(network, through, {borders, borders}, &distances);
  ASSERT_TRUE(first) << first.message();
  EXPECT_EQ(distances.search_count(), 3u) << "to B, A and D";
  for (int prefix = 0; prefix < 3; ++prefix) {
    const auto again = ResolveRegion(network, through, {borders, borders}, &distances);
    ASSERT_TRUE(again) << again.message();
    EXPECT_EQ(*again, *first);
  }
  const std::vector<RegionStep> arrow = {{}};
  ASSERT_TRUE(ResolveRegion(network, arrow, {borders, borders}, &distances));
  EXPECT_EQ(distances.search_count(), 3u);
}

}  // namespace
}  // namespace trumpet::slice
