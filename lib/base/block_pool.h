// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// BlockPool: memory blocks of power-of-two sizes out of one buffer taken at start.
//
// A block is named by a 32-bit reference, so that it fits in a table entry.  Freed blocks serve
// later requests of the same size class only.
//
// Threads: one.  Cost: a few instructions; never asks the system for memory after Init().

#ifndef TRUMPET_LIB_BASE_BLOCK_POOL_H
#define TRUMPET_LIB_BASE_BLOCK_POOL_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "lib/base/page_buffer.h"

namespace trumpet {

using BlockRef = uint32_t;
constexpr BlockRef kNoBlock = UINT32_MAX;

class BlockPool {
 public:
  static constexpr size_t kUnitBytes = 32;  // the smallest block
  static constexpr size_t kMaxBlockBytes = 1 << 19;

  // False when there is no memory.
  [[nodiscard]] bool Init(size_t bytes) {
    free_.fill(kNoBlock);
    return units_.Allocate(bytes / kUnitBytes);
  }

  // A block of at least `bytes`, with any content, or kNoBlock.
  BlockRef Allocate(size_t bytes) {
    if (bytes > kMaxBlockBytes) return kNoBlock;
    const int size_class = ClassOf(bytes);
    BlockRef block = free_[static_cast<size_t>(size_class)];
    if (block != kNoBlock) {
      std::memcpy(&free_[static_cast<size_t>(size_class)], At(block), sizeof(BlockRef));
    } else {
      const size_t need = size_t{1} << size_class;
      if (units_.count() - next_ < need) return kNoBlock;
      block = static_cast<BlockRef>(next_);
      next_ += need;
    }
    used_units_ += size_t{1} << size_class;
    return block;
  }

  // `bytes` as in Allocate().
  void Free(BlockRef block, size_t bytes) {
    const int size_class = ClassOf(bytes);
    std::memcpy(At(block), &free_[static_cast<size_t>(size_class)], sizeof(BlockRef));
    free_[static_cast<size_t>(size_class)] = block;
    used_units_ -= size_t{1} << size_class;
  }

  uint8_t* At(BlockRef block) { return units_[block].bytes; }
  const uint8_t* At(BlockRef block) const { return units_[block].bytes; }

  size_t used_bytes() const { return used_units_ * kUnitBytes; }
  size_t size_bytes() const { return units_.size_bytes(); }

 private:
  struct alignas(kUnitBytes) Unit {
    uint8_t bytes[kUnitBytes];
  };
  static constexpr int kClasses = 15;  // 32 B << 0 ... 32 B << 14

  static int ClassOf(size_t bytes) {
    int size_class = 0;
    while ((kUnitBytes << size_class) < bytes) size_class++;
    return size_class;
  }

  PageBuffer<Unit> units_;
  size_t next_ = 0;  // first unit never handed out
  size_t used_units_ = 0;
  std::array<BlockRef, kClasses> free_{};
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_BASE_BLOCK_POOL_H
