// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// DisorderedSegments: those segments of one direction that await acknowledgement and were sent out
// of the order of their numbers: data sent again, and data that came late.
//
// Few, so that walks look at all.  Past a limit (HistoryPool::disordered_limit) no more are taken.
//
// Threads: one.  Plain data, all-zero is not empty: call Clear() first.  Blocks belong to `pool`;
// whoever drops them calls Release().

#ifndef TRUMPET_LIB_TPM_DISORDERED_SEGMENTS_H
#define TRUMPET_LIB_TPM_DISORDERED_SEGMENTS_H

#include <cstdint>

#include "lib/tpm/history_pool.h"

namespace trumpet {

struct DisorderedSegment {
  int64_t start = 0;
  int64_t end = 0;
  Nanos sent_ns = 0;
  uint64_t owner = 0;
  bool is_repeated = false;  // shares numbers with segments sent before
  bool is_doubtful = false;  // perhaps
  uint32_t after = 0;        // so many segments in order were sent before; wraps
};

// What an acknowledgement newly covered of them.
struct DisorderedCover {
  bool is_any = false;
  bool is_repeated = false;  // of those covered one was sent more than once, in whole or part
  bool is_doubtful = false;  // or perhaps
  int64_t highest_end = INT64_MIN;
  Nanos newest_sent_ns = 0;
  uint64_t newest_owner = 0;
  uint32_t newest_after = 0;
};

class DisorderedSegments {
 public:
  void Clear();
  void Release(HistoryPool* pool);

  // False when there is no room; nothing has changed then.
  bool Push(HistoryPool* pool, const DisorderedSegment& segment);

  // Marks those that share a number with [start, end) as sent more than once.
  void MarkRepeated(HistoryPool* pool, int64_t start, int64_t end);

  // Removes those that end at or below `ack`.  `in_order_end`: the end of the highest segment in
  // order that `ack` covers, INT64_MIN for none; what is left may repeat a part of it.
  DisorderedCover Acknowledge(HistoryPool* pool, int64_t ack, int64_t in_order_end);

  bool is_empty() const { return first_ == kNoHistory; }

 private:
  HistoryRef first_;  // the newest
  uint32_t blocks_;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_DISORDERED_SEGMENTS_H
