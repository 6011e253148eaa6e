// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// FirstSendings: which numbers of a direction's sequence space were sent, and whether the first
// sending of each was in a burst.
//
// Disjoint ranges by rising number; neighbours with the same answer are merged.  The highest range
// lies in the map itself, so that a connection without gaps and bursts needs no block, and data in
// order touches one line.  Landmarks are at most 64 blocks from each other, and three are at least
// 48 apart; a walk goes down by landmarks first, so that data sent again long after costs some
// 64 times less than a walk over all, wherever blocks came and went.
//
// Threads: one.  Plain data, all-zero is not empty: call Clear() first.  Blocks belong to `pool`;
// whoever drops a map calls Release().

#ifndef TRUMPET_LIB_TPM_FIRST_SENDINGS_H
#define TRUMPET_LIB_TPM_FIRST_SENDINGS_H

#include <cstdint>

#include "lib/tpm/history_pool.h"

namespace trumpet {

enum class FirstSending {
  kUnseen,
  kAlone,
  kInBurst,
  kGivenUp,  // by Forget()
  kEvicted,  // for lack of room, inside what the contract promises
};

// Whether numbers were sent; kForgotten: perhaps.
enum class Overlap { kNone, kSome, kForgotten };

// One segment, as it adds to the map.
struct Sending {
  int64_t start = 0;
  int64_t end = 0;
  bool is_burst = false;
  Nanos sent_ns = 0;
};

class FirstSendings {
 public:
  void Clear();
  void Release(HistoryPool* pool);

  // Drops all, of which none reaches `end`, but remembers that there may have been some.
  void Forget(HistoryPool* pool, int64_t end);

  // How the number was first sent; kUnseen when it was not, or is forgotten, kGivenUp or kEvicted
  // when that may have dropped it.
  FirstSending Find(const HistoryPool& pool, int64_t number) const;

  // Was any number of [start, end) sent?  kForgotten: none of which that is known.
  Overlap OverlapOf(const HistoryPool& pool, int64_t start, int64_t end) const;

  // Adds those numbers of the segment that were not sent before; call it with every segment.  When
  // there is no room, the lowest are forgotten; when it goes over more blocks and gaps than
  // HistoryPool::fill_limit(), all below its end.
  void Add(HistoryPool* pool, const Sending& sending);

  uint32_t block_count() const { return blocks_; }

  // For tests: at how many blocks a look-up of `number` looks.
  uint32_t StepsTo(const HistoryPool& pool, int64_t number) const;

 private:
  // The lowest block that ends above a number.
  struct Walk {
    HistoryRef block = kNoHistory;
    HistoryRef landmark = kNoHistory;  // the next at or above it, or the last block
    uint32_t count = 0;                // of blocks from it to the last
    uint32_t steps = 0;                // blocks looked at
  };
  struct Place {
    HistoryRef block;  // kNoHistory: behind the last range of the blocks
    int index;
  };

  void PushHighest(HistoryPool* pool, const Sending& sending, int64_t start);
  void AddBelowHighest(HistoryPool* pool, const Sending& sending, int64_t start, int64_t end);
  bool Insert(HistoryPool* pool, const Sending& sending, int64_t start, int64_t end, Place* place);
  bool InsertEntry(HistoryPool* pool, const Sending& sending, int64_t start, int64_t end,
                   Place* place);
  bool MergeWithPrevious(HistoryPool* pool, const Sending& sending, int64_t start, int64_t end,
                         Place* place);
  bool SplitBlock(HistoryPool* pool, Place* place);
  Place FirstEndingAbove(const HistoryPool& pool, int64_t number) const;
  Place Next(const HistoryPool& pool, Place place) const;

  HistoryRef AddBlockAfter(HistoryPool* pool, HistoryRef previous);
  void AddAsLast(HistoryPool* pool, HistoryRef block);
  void GrowRun(HistoryPool* pool, HistoryRef block);
  void HalveRun(HistoryPool* pool, HistoryRef landmark);
  void ShrinkRun(HistoryPool* pool, HistoryRef removed);
  void JoinShortRuns(HistoryPool* pool, HistoryRef landmark);
  HistoryRef LandmarkAtOrAbove(const HistoryPool& pool, HistoryRef block) const;
  HistoryRef LandmarkAbove(const HistoryPool& pool, HistoryRef landmark) const;
  void LinkLandmark(HistoryPool* pool, HistoryRef below, HistoryRef landmark, HistoryRef above);
  void RemoveLandmark(HistoryPool* pool, HistoryRef landmark);
  Walk LowestEndingAbove(const HistoryPool& pool, int64_t number) const;
  void RemoveEntry(HistoryPool* pool, Place place);
  void RemoveBlock(HistoryPool* pool, HistoryRef block);
  void MakeRoom(HistoryPool* pool, Nanos now);
  bool FirstIsBeyondPromise(const HistoryPool& pool, Nanos now) const;
  void ForgetFirstBlock(HistoryPool* pool, Nanos now);
  void ForgetBelow(HistoryPool* pool, int64_t limit);
  void RemoveBlocksBelow(HistoryPool* pool, const Walk& kept);

  HistoryRef first_;
  HistoryRef last_;
  int64_t highest_start_;
  int64_t highest_end_;     // equal to highest_start_: nothing was sent
  int64_t forgotten_end_;   // numbers below may be forgotten; INT64_MIN: none
  uint32_t segment_count_;  // Add() was called so often
  uint32_t blocks_ : 29;
  uint32_t was_given_up_ : 1;  // by Forget()
  uint32_t was_evicted_ : 1;   // for lack of room, inside the promise
  uint32_t highest_is_burst_ : 1;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_FIRST_SENDINGS_H
