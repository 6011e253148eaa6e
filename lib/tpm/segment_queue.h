// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// SegmentQueue: the segments of one direction that await acknowledgement, for round-trip times.
//
// Kept in the order sent, which is that of their numbers but for a few that are kept apart: data
// sent again, and data that came late.  Every step looks at all of those few.  Of the segments in
// order an acknowledgement looks at those that it covers, but however many these are, at
// 16 blocks and a logarithm of how many blocks await acknowledgement.
//
// Which segments in order were sent more than once shows in those few, for as long as these await
// acknowledgement; when they do no more, the first segment in order is the only one that may still
// share numbers with them, and is marked.
//
// Threads: one.  Plain data, all-zero is not empty: call Clear() first.  Blocks belong to `pool`;
// whoever drops a queue calls Release().

#ifndef TRUMPET_LIB_TPM_SEGMENT_QUEUE_H
#define TRUMPET_LIB_TPM_SEGMENT_QUEUE_H

#include <cstdint>

#include "lib/tpm/disordered_segments.h"
#include "lib/tpm/history_pool.h"

namespace trumpet {

// What an acknowledgement newly covered entirely.
struct CoveredSegments {
  bool is_clean = false;  // there were some, and each was sent only once
  Nanos newest_sent_ns = 0;
  uint64_t newest_owner = 0;
};

class SegmentQueue {
 public:
  struct Segment {
    int64_t start = 0;
    int64_t end = 0;
    Nanos sent_ns = 0;
    uint64_t owner = 0;
    bool is_repeated = false;  // never one in order
    bool is_in_order = true;   // starts at or above everything sent before
    bool is_doubtful = false;  // perhaps repeated: nobody remembers
  };

  void Clear();
  void Release(HistoryPool* pool);

  // Drops all, of which none ends above `end`, but remembers that there may have been some.
  void Forget(HistoryPool* pool, int64_t end);

  // When there is no room segments are forgotten, the oldest of those in order; those of more than
  // 65,535 numbers, which no packet has, at once.
  void Push(HistoryPool* pool, const Segment& segment);

  // Marks those that share a number with [start, end) as sent more than once.
  void MarkRepeated(HistoryPool* pool, int64_t start, int64_t end);

  // Removes those that end at or below `ack`.  `previous_ack` is the acknowledgement so far,
  // INT64_MIN for none.  Never clean where forgotten segments may be among the covered, or segments
  // of which nobody remembers whether they were repeated; only that is counted
  // (HistoryPool::evicted), so that data which nobody acknowledges does no harm.
  CoveredSegments Acknowledge(HistoryPool* pool, int64_t previous_ack, int64_t ack);

  // For tests: at how many blocks the search for the oldest segment in order above `ack` looks.
  uint32_t StepsTo(const HistoryPool& pool, int64_t ack) const;

 private:
  struct InOrderCover;
  struct Search;

  HistoryRef AddBlock(HistoryPool* pool, Nanos now);
  void LinkBlock(HistoryPool* pool, SegmentBlock* block);
  Search OldestAbove(const HistoryPool& pool, int64_t ack) const;
  void RemoveFirstBlock(HistoryPool* pool);
  void ForgetFirstBlock(HistoryPool* pool);
  bool FirstIsBeyondPromise(HistoryPool* pool, Nanos now) const;
  void PushDisordered(HistoryPool* pool, const Segment& segment);
  void MarkFirst(HistoryPool* pool, int64_t end);
  InOrderCover TakeCovered(HistoryPool* pool, int64_t ack);
  void TakeMany(HistoryPool* pool, int64_t ack, InOrderCover* cover);

  HistoryRef first_;
  HistoryRef last_;
  uint32_t blocks_;
  uint32_t sent_;  // segments in order so far; wraps
  DisorderedSegments disordered_;
  int64_t forgotten_end_;  // no forgotten segment ends above this; INT64_MIN: none was forgotten
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_SEGMENT_QUEUE_H
