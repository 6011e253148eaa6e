// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// BlockPool: memory blocks of power-of-two sizes out of one buffer taken at start.
//
// A block is named by a 32-bit reference, so that it fits in a table entry.  Blocks are halved when
// there is none of the size wanted, and a freed block joins its other half when that is free too
// (buddies), so what one set of events leaves behind serves the next, whatever its sizes.
//
// Threads: one.  Cost: at most kClasses steps; never asks the system for memory after Init().

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
  struct alignas(kUnitBytes) Unit {
    uint8_t bytes[kUnitBytes];
  };

  // What Init() takes for `bytes` of blocks: one more in 32, and what fills the last pages.
  static constexpr size_t BytesFor(size_t bytes) {
    return PageBuffer<Unit>::BytesFor(bytes / kUnitBytes) +
           PageBuffer<uint8_t>::BytesFor(bytes / kUnitBytes);
  }

  // False when there is no memory.
  [[nodiscard]] bool Init(size_t bytes, PageSource* source = nullptr) {
    free_.fill(kNoBlock);
    return units_.Allocate(bytes / kUnitBytes, source) &&
           marks_.Allocate(bytes / kUnitBytes, source);
  }

  // A block of at least `bytes`, with any content, or kNoBlock.
  BlockRef Allocate(size_t bytes) {
    if (bytes > kMaxBlockBytes) return kNoBlock;
    const int size_class = ClassOf(bytes);
    int found = SmallestFree(size_class);
    while (found == kClasses) {
      if (!OpenUp()) return kNoBlock;
      found = SmallestFree(size_class);
    }
    const BlockRef block = free_[static_cast<size_t>(found)];
    TakeOff(block, found);
    while (found > size_class) {
      found--;
      PutOn(block + UnitsOf(found), found);
    }
    used_units_ += UnitsOf(size_class);
    return block;
  }

  // `bytes` as in Allocate().
  void Free(BlockRef block, size_t bytes) {
    int size_class = ClassOf(bytes);
    used_units_ -= UnitsOf(size_class);
    for (; size_class + 1 < kClasses; size_class++) {
      const BlockRef other = block ^ UnitsOf(size_class);
      if (other >= units_.count() || marks_[other] != MarkOf(size_class)) break;
      TakeOff(other, size_class);
      if (other < block) block = other;
    }
    PutOn(block, size_class);
  }

  uint8_t* At(BlockRef block) { return units_[block].bytes; }
  const uint8_t* At(BlockRef block) const { return units_[block].bytes; }

  size_t used_bytes() const { return used_units_ * kUnitBytes; }
  size_t size_bytes() const { return units_.size_bytes(); }

 private:
  static constexpr int kClasses = 15;  // 32 B << 0 ... 32 B << 14

  static int ClassOf(size_t bytes) {
    int size_class = 0;
    while ((kUnitBytes << size_class) < bytes) size_class++;
    return size_class;
  }

  static uint32_t UnitsOf(int size_class) { return 1u << size_class; }
  static uint8_t MarkOf(int size_class) { return static_cast<uint8_t>(size_class + 1); }

  // In the first bytes of a free block.
  struct Link {
    BlockRef next;
    BlockRef previous;
  };
  Link LinkOf(BlockRef block) const {
    Link link;
    std::memcpy(&link, At(block), sizeof link);
    return link;
  }
  void SetLink(BlockRef block, const Link& link) { std::memcpy(At(block), &link, sizeof link); }

  // The smallest class from `size_class` on that has a free block; kClasses: none.
  int SmallestFree(int size_class) const {
    const uint32_t classes = free_classes_ >> size_class;
    return classes == 0 ? kClasses : size_class + __builtin_ctz(classes);
  }

  void PutOn(BlockRef block, int size_class) {
    BlockRef& head = free_[static_cast<size_t>(size_class)];
    if (head != kNoBlock) SetLink(head, {LinkOf(head).next, block});
    SetLink(block, {head, kNoBlock});
    head = block;
    marks_[block] = MarkOf(size_class);
    free_classes_ |= 1u << size_class;
  }

  void TakeOff(BlockRef block, int size_class) {
    BlockRef& head = free_[static_cast<size_t>(size_class)];
    const Link link = LinkOf(block);
    if (link.next != kNoBlock) SetLink(link.next, {LinkOf(link.next).next, link.previous});
    if (link.previous != kNoBlock) {
      SetLink(link.previous, {link.next, LinkOf(link.previous).previous});
    } else {
      head = link.next;
    }
    if (head == kNoBlock) free_classes_ &= ~(1u << size_class);
    marks_[block] = 0;
  }

  // Makes the largest block that still fits of what was never used; false when nothing is left.
  bool OpenUp() {
    const size_t left = units_.count() - next_;
    if (left == 0) return false;
    int size_class = kClasses - 1;
    while (UnitsOf(size_class) > left) size_class--;
    PutOn(static_cast<BlockRef>(next_), size_class);
    next_ += UnitsOf(size_class);
    return true;
  }

  PageBuffer<Unit> units_;
  PageBuffer<uint8_t> marks_;  // MarkOf() at the first unit of a free block, otherwise 0
  size_t next_ = 0;            // first unit never used
  size_t used_units_ = 0;
  uint32_t free_classes_ = 0;  // bit per class that has a free block
  std::array<BlockRef, kClasses> free_{};
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_BASE_BLOCK_POOL_H
