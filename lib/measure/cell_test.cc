// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/cell.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace trumpet {
namespace {

// All cells of all widths that may lie in a few words, with and without gaps.
TEST(ZeroCells, ClearsTheseCellsAndNoOther) {
  constexpr size_t kBytes = 128;
  for (uint8_t log2 = 0; log2 <= 3; ++log2) {
    const size_t cell = size_t{1} << log2;
    for (const size_t stride : {cell, 2 * cell, size_t{24}}) {
      for (size_t first = 0; first < 24; first += cell) {
        for (size_t count = 0; first + count * stride <= kBytes; ++count) {
          alignas(8) uint8_t memory[kBytes];
          std::memset(memory, 0xff, kBytes);
          std::vector<uint8_t> wanted(kBytes, 0xff);
          for (size_t i = 0; i < count; ++i) std::memset(&wanted[first + i * stride], 0, cell);
          ZeroCells(memory + first, log2, stride, count);
          ASSERT_EQ(std::vector<uint8_t>(memory, memory + kBytes), wanted)
              << "cells of " << cell << ", " << stride << " apart: " << count << " from " << first;
        }
      }
    }
  }
}

}  // namespace
}  // namespace trumpet
