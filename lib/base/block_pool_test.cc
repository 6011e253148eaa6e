// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/base/block_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
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

TEST(BlockPool, SmallBlocksThatWereFreedServeAsALargeOne) {
  BlockPool pool;
  ASSERT_TRUE(pool.Init(1 << 20));
  std::vector<BlockRef> blocks;
  for (BlockRef block = pool.Allocate(64); block != kNoBlock; block = pool.Allocate(64)) {
    blocks.push_back(block);
  }
  EXPECT_EQ(blocks.size(), (1u << 20) / 64);
  EXPECT_EQ(pool.Allocate(1000), kNoBlock);
  std::shuffle(blocks.begin(), blocks.end(), std::mt19937(1));
  for (const BlockRef block : blocks) pool.Free(block, 64);
  EXPECT_EQ(pool.used_bytes(), 0u);
  EXPECT_NE(pool.Allocate(BlockPool::kMaxBlockBytes), kNoBlock);
  EXPECT_NE(pool.Allocate(BlockPool::kMaxBlockBytes), kNoBlock);
  EXPECT_EQ(pool.Allocate(1), kNoBlock);
}

TEST(BlockPool, ALargeBlockThatWasFreedServesAsSmallOnes) {
  BlockPool pool;
  ASSERT_TRUE(pool.Init(BlockPool::kMaxBlockBytes));
  const BlockRef large = pool.Allocate(BlockPool::kMaxBlockBytes);
  ASSERT_NE(large, kNoBlock);
  pool.Free(large, BlockPool::kMaxBlockBytes);
  for (int i = 0; i < 16384; i++) ASSERT_NE(pool.Allocate(32), kNoBlock) << i;
  EXPECT_EQ(pool.Allocate(32), kNoBlock);
}

// Not a power of two, nor a multiple of the largest block.
TEST(BlockPool, HandsOutAllOfAnOddSize) {
  BlockPool pool;
  ASSERT_TRUE(pool.Init(BlockPool::kMaxBlockBytes + 7 * 32));
  for (int i = 0; i < 16384 + 7; i++) ASSERT_NE(pool.Allocate(1), kNoBlock) << i;
  EXPECT_EQ(pool.Allocate(1), kNoBlock);
  EXPECT_EQ(pool.used_bytes(), BlockPool::kMaxBlockBytes + 7 * 32);
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
