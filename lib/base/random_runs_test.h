// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// How many random runs a test does: RANDOM_PERCENT in the environment says how much of the usual
// number, for sanitizers less and for a long search more; FIRST_SEED leaves the first ones out.

#ifndef TRUMPET_LIB_BASE_RANDOM_RUNS_TEST_H
#define TRUMPET_LIB_BASE_RANDOM_RUNS_TEST_H

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace trumpet::testing {

inline uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

inline uint64_t FirstSeed() { return FromEnvironment("FIRST_SEED", 1); }
inline uint64_t LastSeed(uint64_t usual) {
  return std::max<uint64_t>(1, usual * FromEnvironment("RANDOM_PERCENT", 100) / 100);
}

}  // namespace trumpet::testing

#endif  // TRUMPET_LIB_BASE_RANDOM_RUNS_TEST_H
