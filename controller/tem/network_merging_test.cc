// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Cells are merged as they come; nobody may see that in the verdicts.

#include <gtest/gtest.h>

#include "controller/tem/port_network_test.h"

namespace trumpet {
namespace {

using namespace kit;

TEST(NetworkMerging, WhatIsToldAgainReplacesWhatHasBeenMerged) {
  Network network(2);
  network.Volume(0, 0, 80, 12);
  network.Volume(1, 0, 80, 5);
  network.Volume(1, 0, 81, 11);
  network.Volume(0, 0, 80, 3);
  for (const uint32_t host : {0, 1}) network.End(host, 10);
  EXPECT_EQ(network.At(10), (Lines{"81@0 11"}));
  EXPECT_EQ(network.counters().replaced_partials, 1u);
  for (const uint32_t host : {0, 1}) network.Volume(host, 10, 80, 6);
  for (const uint32_t host : {0, 1}) network.End(host, 20);
  EXPECT_EQ(network.At(20), (Lines{"80@10 12", "81@10 null clear"}));
}

TEST(NetworkMerging, WhatCameAheadOfItsTurnIsMergedWithTheRest) {
  Network network(2);
  network.Volume(0, 10, 80, 6);
  network.Volume(0, 10, 81, 11);
  network.End(0, 20);
  network.Volume(1, 0, 80, 11);
  network.End(1, 10);
  EXPECT_EQ(network.At(10), (Lines{"80@0 11"}));
  network.Volume(1, 10, 80, 5);
  network.End(1, 20);
  EXPECT_EQ(network.At(20), (Lines{"80@10 11", "81@10 11"}));
}

TEST(NetworkMerging, WhatIsOnlyAheadIsMergedForItsVerdict) {
  Network network(2);
  network.Volume(0, 10, 80, 11);
  for (const uint32_t host : {0, 1}) network.End(host, 20);
  EXPECT_EQ(network.At(20), (Lines{"80@10 11"}));
}

TEST(NetworkMerging, BucketsGoOnlyWhenAllIsThere) {
  NetworkEventOptions options;
  options.max_buckets = 2;
  Network network(1, options);
  for (const uint32_t port : {1, 2, 3}) network.Volume(0, 0, port, 11);
  network.End(0, 10);
  EXPECT_EQ(network.At(10), (Lines{"1@0 11 [\"bucket-evicted\"]", "2@0 11 [\"bucket-evicted\"]"}));
  EXPECT_EQ(network.counters().buckets_evicted, 1u);
  for (const uint32_t port : {2, 3}) network.Volume(0, 10, port, 11);
  network.End(0, 20);
  EXPECT_EQ(network.At(20),
            (Lines{"1@10 null clear [\"bucket-evicted\"]", "2@10 11 [\"bucket-evicted\"]",
                   "3@10 11 [\"bucket-evicted\"]"}));
  EXPECT_EQ(network.counters().buckets_evicted, 2u);
}

}  // namespace
}  // namespace trumpet
