// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Networks and twins for the tests of the slice planners: everything here looks at all simple
// paths, one after the other.

#ifndef TRUMPET_CONTROLLER_PLAN_SLICE_SLICE_KIT_TEST_H
#define TRUMPET_CONTROLLER_PLAN_SLICE_SLICE_KIT_TEST_H

#include <algorithm>
#include <ctime>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "controller/plan/slice/network.h"
#include "controller/plan/slice/paths.h"

namespace trumpet::slice {

using Random = std::mt19937;

inline int Draw(Random* random, int least, int most) {
  return std::uniform_int_distribution<int>(least, most)(*random);
}

// Of this process, for comparisons: other processes do not count.
inline double ProcessorSeconds(const std::function<void()>& action) {
  const std::clock_t begin = std::clock();
  action();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

// Connected; `extra` links beyond a tree are tried.
inline Network RandomNetwork(Random* random, int routers, int extra, int heaviest = 1) {
  Network network;
  for (int i = 0; i < routers; ++i) network.AddRouter("r" + std::to_string(i));
  const auto weight = [&] { return static_cast<uint32_t>(Draw(random, 1, heaviest)); };
  for (int i = 1; i < routers; ++i) network.AddLink(i, Draw(random, 0, i - 1), weight());
  for (int i = 0; i < extra; ++i) {
    network.AddLink(Draw(random, 0, routers - 1), Draw(random, 0, routers - 1), weight());
  }
  return network;
}

// The network of the paper's Fig. 2; 1, 2 and 3 are its egresses E1, E2 and E3.
inline Network PaperNetwork() {
  Network network;
  for (const char* link : {"AB", "AF", "AL", "BC", "BH", "BJ", "BK", "BL", "CD", "CF", "CH", "CL",
                           "CU", "1P", "2I", "2P", "3F", "FL", "FU", "HI", "HJ", "JP", "KP"}) {
    const int from = network.AddRouter(std::string(1, link[0]));
    const int to = network.AddRouter(std::string(1, link[1]));
    network.AddLink(from, to, 1);
  }
  return network;
}

// A region whose smallest surrounding takes longer to find than anybody waits.
struct DenseCase {
  Network network;
  std::vector<int> region;
  std::vector<int> egresses;
  DenseCase() {
    constexpr int kRouters = 200;
    constexpr int kRegion = 15;
    Random random(11);
    network = RandomNetwork(&random, kRouters, 400);
    for (int i = 0; i < kRegion; ++i) region.push_back(kRouters - 1 - i);
    for (int i = 1; i < kRegion; ++i) network.AddLink(region[i - 1], region[i], 1);
    egresses.push_back(region[0]);
    for (int i = 0; i < 15; ++i) egresses.push_back(2 * i + 1);
  }
};

inline std::vector<int> Named(const Network& network, const std::string& letters) {
  std::vector<int> routers;
  for (char letter : letters) routers.push_back(*network.Find(std::string(1, letter)));
  return routers;
}

// Calls `found` with every simple path from `start`, the one of no links among them.
inline void ForEachSimplePath(const Network& network, int start,
                              const std::function<void(const Path&)>& found) {
  Path path{start};
  const std::function<void()> walk = [&] {
    found(path);
    for (const NetworkLink& link : network.LinksOf(path.back())) {
      if (std::find(path.begin(), path.end(), link.to) != path.end()) continue;
      path.push_back(link.to);
      walk();
      path.pop_back();
    }
  };
  walk();
}

}  // namespace trumpet::slice

#endif  // TRUMPET_CONTROLLER_PLAN_SLICE_SLICE_KIT_TEST_H
