// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/base/backoff.h"

#include <gtest/gtest.h>

#include <set>

namespace trumpet {
namespace {

TEST(Backoff, DoublesUpToItsLimitAndStaysInTheUpperHalf) {
  Backoff backoff(100, 800, 1);
  for (const Nanos span : {100, 200, 400, 800, 800, 800}) {
    const Nanos wait = backoff.Next();
    EXPECT_GE(wait, span / 2);
    EXPECT_LE(wait, span);
  }
  backoff.Reset();
  EXPECT_LE(backoff.Next(), 100);
}

TEST(Backoff, SpreadsPeersThatFailTogether) {
  std::set<Nanos> waits;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    waits.insert(Backoff(kNanosPerSecond, kNanosPerSecond, seed).Next());
  }
  EXPECT_GT(waits.size(), 95u);
}

}  // namespace
}  // namespace trumpet
