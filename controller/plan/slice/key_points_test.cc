// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/plan/slice/key_points.h"

#include <gtest/gtest.h>

#include "controller/plan/slice/slice_kit_test.h"

namespace trumpet::slice {
namespace {

// Does another simple path of the same length join the ends of path[from..to]?
bool IsAmbiguous(const Network& network, const Path& path, size_t from, size_t to) {
  const Path own(path.begin() + static_cast<std::ptrdiff_t>(from),
                 path.begin() + static_cast<std::ptrdiff_t>(to) + 1);
  bool is_found = false;
  ForEachSimplePath(network, own.front(), [&](const Path& other) {
    is_found =
        is_found || (other.size() == own.size() && other.back() == own.back() && other != own);
  });
  return is_found;
}

// Tries all 2^(n-2) sets of inner routers; also tells whether `positions` is one that proves.
size_t FewestKeyPoints(const Network& network, const Path& path, const std::vector<int>& positions,
                       bool* is_valid) {
  const size_t length = path.size();
  std::vector<std::vector<bool>> is_ambiguous(length, std::vector<bool>(length));
  for (size_t from = 0; from < length; ++from) {
    for (size_t to = from + 2; to < length; ++to) {
      is_ambiguous[from][to] = IsAmbiguous(network, path, from, to);
    }
  }
  const auto proves = [&](const std::vector<int>& points) {
    for (size_t i = 1; i < points.size(); ++i) {
      if (points[i - 1] >= points[i]) return false;
      if (is_ambiguous[static_cast<size_t>(points[i - 1])][static_cast<size_t>(points[i])]) {
        return false;
      }
    }
    return points.front() == 0 && points.back() == static_cast<int>(length) - 1;
  };
  *is_valid = proves(positions);
  size_t fewest = length;
  for (uint32_t inner = 0; inner < (1u << (length - 2)); ++inner) {
    std::vector<int> points{0};
    for (size_t i = 1; i + 1 < length; ++i) {
      if ((inner >> (i - 1) & 1) != 0) points.push_back(static_cast<int>(i));
    }
    points.push_back(static_cast<int>(length) - 1);
    if (points.size() < fewest && proves(points)) fewest = points.size();
  }
  return fewest;
}

Path RandomPath(const Network& network, Random* random) {
  std::vector<Path> paths;
  ForEachSimplePath(network, Draw(random, 0, network.router_count() - 1), [&](const Path& path) {
    if (path.size() >= 2) paths.push_back(path);
  });
  return paths[static_cast<size_t>(Draw(random, 0, static_cast<int>(paths.size()) - 1))];
}

TEST(KeyPoints, AreThoseOfThePaper) {
  const Network network = PaperNetwork();
  const KeyPoints points = FindKeyPoints(network, Named(network, "ABCD"));
  EXPECT_EQ(points.positions, (std::vector<int>{0, 1, 3}));
  EXPECT_TRUE(points.is_minimal);
}

TEST(KeyPoints, OfOneRouterAreThatRouter) {
  const Network network = PaperNetwork();
  EXPECT_EQ(FindKeyPoints(network, Named(network, "A")).positions, std::vector<int>{0});
}

TEST(KeyPoints, AreTheFewestOfAllThatProve) {
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    Random random(seed);
    const Network network = RandomNetwork(&random, Draw(&random, 2, 9), Draw(&random, 0, 7));
    const Path path = RandomPath(network, &random);
    const KeyPoints points = FindKeyPoints(network, path);
    bool is_valid = false;
    const size_t fewest = FewestKeyPoints(network, path, points.positions, &is_valid);
    ASSERT_TRUE(is_valid) << "seed " << seed;
    ASSERT_EQ(points.positions.size(), fewest) << "seed " << seed;
    ASSERT_TRUE(points.is_minimal);
  }
}

// Every router of a complete graph is a way round every other, and the searches for a path of just
// this length end at once; in a ladder with a long detour they do not.
TEST(KeyPoints, StayValidWhenASearchIsCutShort) {
  Network network;
  constexpr int kRungs = 60;
  for (int i = 0; i < 2 * kRungs; ++i) network.AddRouter(std::to_string(i));
  Path path;
  for (int i = 0; i < kRungs; ++i) {
    network.AddLink(2 * i, 2 * i + 1, 1);
    if (i + 1 < kRungs) network.AddLink(2 * i, 2 * i + 2, 1);
    if (i + 1 < kRungs) network.AddLink(2 * i + 1, 2 * i + 3, 1);
    path.push_back(2 * i + i % 2);
    path.push_back(2 * i + 1 - i % 2);
  }
  ASSERT_TRUE(CheckSimplePath(network, path).ok());
  const KeyPoints points = FindKeyPoints(network, path);
  EXPECT_LE(points.steps, kMaxPathSteps + kRungs * kRungs * 4);
  EXPECT_EQ(points.positions.front(), 0);
  EXPECT_EQ(points.positions.back(), static_cast<int>(path.size()) - 1);
}

// A search along it that called itself for every router would have no room on the stack.
TEST(KeyPoints, OfALongPathTakeAsManyStepsAsTheyMay) {
  constexpr int kRouters = 100'000;
  constexpr uint64_t kMost = 2'000'000;
  Network network;
  Path path;
  for (int i = 0; i < kRouters; ++i) path.push_back(network.AddRouter(std::to_string(i)));
  for (int i = 1; i < kRouters; ++i) network.AddLink(i - 1, i, 1);
  const KeyPoints points = FindKeyPoints(network, path, kMost);
  EXPECT_LE(points.steps, kMost + 2 * kRouters);
  EXPECT_FALSE(points.is_minimal);
  EXPECT_LT(points.positions.size(), path.size());
  EXPECT_EQ(points.positions.back(), kRouters - 1);
}

}  // namespace
}  // namespace trumpet::slice
