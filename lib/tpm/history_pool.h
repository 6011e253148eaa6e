// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// HistoryPool: the memory of what TCP connections sent, in blocks of two cache lines.
//
// A block holds segments that await acknowledgement or ranges of sequence space.  All connections
// of a packet thread share one pool; it is taken at start and never grows.
//
// Threads: one.  Cost: a few instructions to take a block or to give back a whole chain.

#ifndef TRUMPET_LIB_TPM_HISTORY_POOL_H
#define TRUMPET_LIB_TPM_HISTORY_POOL_H

#include <algorithm>
#include <cstdint>

#include "lib/base/page_buffer.h"
#include "lib/base/units.h"

namespace trumpet {

using HistoryRef = uint32_t;
constexpr HistoryRef kNoHistory = UINT32_MAX;

// Segments in the order in which they were sent, which is that of their numbers: entries
// [begin, end).  All but the newest block of a queue are filled up to the last entry.
struct SegmentBlock {
  static constexpr int kEntries = 4;
  HistoryRef next;
  HistoryRef previous;  // of no use in the oldest block
  HistoryRef far;       // so many blocks before; of no use when these are gone
  uint32_t far_count;
  uint32_t order;  // of entry 0, among all segments that the queue was given
  uint8_t begin;
  uint8_t end;
  bool is_repeated;  // the first entry of the queue: a byte of it was seen in another segment
  Nanos sent_ns[kEntries];
  uint64_t owner[kEntries];
  int64_t start[kEntries];
  uint16_t length[kEntries];
};

// Segments that were sent out of the order of their numbers.
struct DisorderedBlock {
  static constexpr int kEntries = 3;
  HistoryRef next;
  uint8_t count;
  uint8_t repeated;   // mask
  uint8_t doubtful;   // mask: perhaps repeated
  HistoryRef oldest;  // of the newest block: the other end of its list
  Nanos sent_ns[kEntries];
  uint64_t owner[kEntries];
  int64_t start[kEntries];
  uint32_t length[kEntries];
  uint32_t after[kEntries];  // so many segments in order were sent before
};

// Disjoint ranges of sequence space, by rising number.
struct RangeBlock {
  static constexpr int kEntries = 6;
  HistoryRef next;
  HistoryRef previous;
  uint32_t last_order;  // number of the latest segment that added to the block
  uint8_t count;
  uint8_t burst;        // mask: first sent in a burst
  bool is_landmark;     // one in many, chained to shorten walks
  uint8_t run;          // of a landmark and of the last block: blocks directly before it that are
                        // none; of the lowest perhaps fewer, since some are forgotten
  Nanos last_ns;        // time of that segment
  HistoryRef far_next;  // of a landmark: the next one
  HistoryRef far_previous;  // of a landmark and of the last block: the landmark before it
  int64_t start[kEntries];
  int64_t end[kEntries];
};

union alignas(64) HistoryBlock {
  HistoryRef next;  // stands first in all kinds
  SegmentBlock segments;
  DisorderedBlock disordered;
  RangeBlock ranges;
};
static_assert(sizeof(HistoryBlock) == 128);

class HistoryPool {
 public:
  // False when there is no memory; the pool is empty then.  `walk_limit`: see below.
  [[nodiscard]] bool Init(uint32_t block_count, PageSource* source = nullptr,
                          uint32_t walk_limit = kWalkLimit) {
    if (!blocks_.Allocate(block_count, source)) return false;
    list_limit_ = std::max(block_count / 4, 1u);
    walk_limit_ = std::min(list_limit_, walk_limit);
    disordered_limit_ = std::clamp(walk_limit / kDisorderedShare, 1u, list_limit_);
    fill_limit_ = std::max(walk_limit / kFillShare, 1u);
    return true;
  }

  // A block with any content, or kNoHistory.
  HistoryRef Take() {
    HistoryRef block = free_;
    if (block != kNoHistory) {
      free_ = At(block).next;
    } else if (next_unused_ < blocks_.count()) {
      block = next_unused_++;
    } else {
      return kNoHistory;
    }
    used_++;
    return block;
  }

  // Takes back `count` blocks that are chained from `first` to `last`.
  void GiveBack(HistoryRef first, HistoryRef last, uint32_t count) {
    if (count == 0) return;
    At(last).next = free_;
    free_ = first;
    used_ -= count;
  }

  HistoryBlock& At(HistoryRef block) { return blocks_[block]; }
  SegmentBlock& Segments(HistoryRef block) { return blocks_[block].segments; }
  const SegmentBlock& Segments(HistoryRef block) const { return blocks_[block].segments; }
  DisorderedBlock& Disordered(HistoryRef block) { return blocks_[block].disordered; }
  RangeBlock& Ranges(HistoryRef block) { return blocks_[block].ranges; }
  const RangeBlock& Ranges(HistoryRef block) const { return blocks_[block].ranges; }

  uint32_t capacity() const { return static_cast<uint32_t>(blocks_.count()); }
  uint32_t used() const { return used_; }
  uint32_t unused() const { return capacity() - used_; }
  // Little is left: lists should give up first what nobody was promised.
  bool IsScarce() const { return used_ > capacity() / 2; }
  // Blocks that one list may hold: nobody takes the whole pool.
  uint32_t list_limit() const { return list_limit_; }
  // The same of a list that is walked, by landmarks: a packet's time is short.
  uint32_t walk_limit() const { return walk_limit_; }
  // The same of a list of which walks look at every block.
  uint32_t disordered_limit() const { return disordered_limit_; }
  // Blocks of ranges that one segment may pass and gaps between ranges that it may fill, together.
  uint32_t fill_limit() const { return fill_limit_; }

  // Answers that lack what had been given up inside what the contract promises to remember.
  uint64_t evicted() const { return evicted_; }
  void CountEvicted() { evicted_++; }

  static constexpr uint32_t kWalkLimit = 4096;

 private:
  static constexpr uint32_t kDisorderedShare = 64;  // landmarks save so much of a walk
  static constexpr uint32_t kFillShare = 128;       // to fill a gap costs more than to look

  PageBuffer<HistoryBlock> blocks_;
  HistoryRef next_unused_ = 0;
  HistoryRef free_ = kNoHistory;
  uint32_t used_ = 0;
  uint32_t list_limit_ = 1;
  uint32_t walk_limit_ = 1;
  uint32_t disordered_limit_ = 1;
  uint32_t fill_limit_ = 1;
  uint64_t evicted_ = 0;
};

// What the contract promises to remember per direction: this much time, and this many segments.
constexpr Nanos kHistoryNanos = 3 * kNanosPerSecond;
constexpr uint32_t kHistorySegments = 64;

// later - earlier; wraps instead of overflowing on times from hostile captures.
inline Nanos NanosBetween(Nanos earlier, Nanos later) {
  return static_cast<Nanos>(static_cast<uint64_t>(later) - static_cast<uint64_t>(earlier));
}

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_HISTORY_POOL_H
