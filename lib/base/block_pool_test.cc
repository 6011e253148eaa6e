// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/base/block_pool.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace trumpet {
namespace {

TEST(BlockPool, SaysNoWhenItIsEmptyAndGivesAFreedBlockAgain) {
  BlockPool pool;
  ASSERT_TRUE(pool.Init(128));
  const BlockRef a = pool.Allocate(64);
  const BlockRef b = pool.Allocate(33);
  EXPECT_NE(a, kNoBlock);
  EXPECT_NE(b, kNoBlock);
  EXPECT_EQ(pool.Allocate(1), kNoBlock);
  pool.Free(a, 64);
  EXPECT_EQ(pool.Allocate(50), a);
}

TEST(BlockPool, RefusesABlockLargerThanTheLargestClass) {
  BlockPool pool;
  ASSERT_TRUE(pool.Init(4 << 20));
  EXPECT_NE(pool.Allocate(BlockPool::kMaxBlockBytes), kNoBlock);
  EXPECT_EQ(pool.Allocate(BlockPool::kMaxBlockBytes + 1), kNoBlock);
}

TEST(BlockPool, BlocksInUseNeverOverlap) {
  struct Block {
    BlockRef ref;
    size_t size;
    uint8_t fill;
  };
  BlockPool pool;
  ASSERT_TRUE(pool.Init(1 << 16));
  std::mt19937 random(1);
  std::vector<Block> blocks;
  for (int step = 0; step < 20000; step++) {
    if (random() % 2 == 0) {
      const size_t size = 1 + random() % 500;
      const BlockRef ref = pool.Allocate(size);
      if (ref == kNoBlock) continue;
      blocks.push_back({ref, size, static_cast<uint8_t>(step)});
      std::memset(pool.At(ref), blocks.back().fill, size);
    } else if (!blocks.empty()) {
      const size_t victim = random() % blocks.size();
      const Block block = blocks[victim];
      for (size_t i = 0; i < block.size; i++) ASSERT_EQ(pool.At(block.ref)[i], block.fill);
      pool.Free(block.ref, block.size);
      blocks[victim] = blocks.back();
      blocks.pop_back();
    }
  }
  for (const Block& block : blocks) pool.Free(block.ref, block.size);
  EXPECT_EQ(pool.used_bytes(), 0u);
}

}  // namespace
}  // namespace trumpet
