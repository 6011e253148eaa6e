// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/segment_queue.h"

#include <algorithm>

namespace trumpet {
namespace {

uint8_t Bit(int i) { return static_cast<uint8_t>(1u << i); }

int64_t EndOf(const SegmentBlock& block, int i) { return block.start[i] + block.length[i]; }

}  // namespace

void SegmentQueue::Clear() {
  first_ = last_ = kNoHistory;
  count_ = disordered_ = blocks_ = 0;
  forgotten_end_ = INT64_MIN;
}

void SegmentQueue::Release(HistoryPool* pool) {
  pool->GiveBack(first_, last_, blocks_);
  Clear();
}

void SegmentQueue::Forget(HistoryPool* pool, int64_t end) {
  Release(pool);
  forgotten_end_ = end;
}

void SegmentQueue::Push(HistoryPool* pool, const Segment& segment) {
  const bool is_full = blocks_ == 0 || pool->Segments(last_).end == SegmentBlock::kEntries;
  if (is_full && AddBlock(pool, segment.sent_ns) == kNoHistory) {
    forgotten_end_ = std::max(forgotten_end_, segment.end);
    return;
  }
  SegmentBlock& block = pool->Segments(last_);
  const int i = block.end++;
  block.sent_ns[i] = segment.sent_ns;
  block.owner[i] = segment.owner;
  block.start[i] = segment.start;
  block.length[i] = static_cast<uint32_t>(segment.end - segment.start);
  if (segment.is_repeated) block.repeated |= Bit(i);
  block.min_end = std::min(block.min_end, segment.end);
  count_++;
  if (!segment.is_in_order) disordered_ = count_;
}

void SegmentQueue::MarkRepeated(HistoryPool* pool, int64_t start, int64_t end) {
  uint32_t position = 0;
  for (HistoryRef at = first_; at != kNoHistory; at = pool->At(at).next) {
    SegmentBlock& block = pool->Segments(at);
    for (int i = block.begin; i < block.end; i++, position++) {
      if (block.start[i] >= end) {
        if (position >= disordered_) return;  // all that follow start higher still
      } else if (EndOf(block, i) > start) {
        block.repeated |= Bit(i);
      }
    }
  }
}

CoveredSegments SegmentQueue::Acknowledge(HistoryPool* pool, int64_t previous_ack, int64_t ack) {
  CoveredSegments covered;
  bool is_any = false;
  bool is_repeated = previous_ack < forgotten_end_;
  if (is_repeated) pool->CountEvicted(1);
  uint32_t position = 0;
  bool is_done = false;
  for (HistoryRef at = first_; at != kNoHistory && !is_done; at = pool->At(at).next) {
    SegmentBlock& block = pool->Segments(at);
    if (block.min_end > ack) {
      position += static_cast<uint32_t>(block.end - block.begin);
      is_done = position > disordered_;  // the last entry is in order, and too high
      continue;
    }
    for (int i = block.begin; i < block.end; i++, position++) {
      if ((block.gone & Bit(i)) != 0) continue;
      if (EndOf(block, i) > ack) {
        if (position < disordered_) continue;
        is_done = true;
        break;
      }
      is_any = true;
      is_repeated |= (block.repeated & Bit(i)) != 0;
      covered.newest_sent_ns = block.sent_ns[i];
      covered.newest_owner = block.owner[i];
      block.gone |= Bit(i);
    }
  }
  if (is_any) DropCovered(pool);
  covered.is_clean = is_any && !is_repeated;
  return covered;
}

// Takes away entries at the front that are gone.
void SegmentQueue::DropCovered(HistoryPool* pool) {
  while (first_ != kNoHistory) {
    SegmentBlock& block = pool->Segments(first_);
    while (block.begin < block.end && (block.gone & Bit(block.begin)) != 0) {
      block.begin++;
      count_--;
      if (disordered_ != 0) disordered_--;
    }
    if (block.begin < block.end) return;
    const HistoryRef empty = first_;
    first_ = block.next;
    pool->GiveBack(empty, empty, 1);
    blocks_--;
  }
  last_ = kNoHistory;
}

HistoryRef SegmentQueue::AddBlock(HistoryPool* pool, Nanos now) {
  const bool is_crowded = pool->IsScarce() || blocks_ * 2 >= pool->list_limit();
  if (blocks_ != 0 && is_crowded && FirstIsBeyondPromise(pool, now)) ForgetFirstBlock(pool);
  if (blocks_ != 0 && blocks_ >= pool->list_limit()) ForgetFirstBlock(pool);
  HistoryRef added = pool->Take();
  if (added == kNoHistory && blocks_ != 0) {
    ForgetFirstBlock(pool);
    added = pool->Take();
  }
  if (added == kNoHistory) return kNoHistory;
  SegmentBlock& block = pool->Segments(added);
  block.next = kNoHistory;
  block.begin = block.end = 0;
  block.repeated = block.gone = 0;
  block.min_end = INT64_MAX;
  (last_ == kNoHistory ? first_ : pool->At(last_).next) = added;
  last_ = added;
  blocks_++;
  return added;
}

bool SegmentQueue::FirstIsBeyondPromise(HistoryPool* pool, Nanos now) const {
  const SegmentBlock& block = pool->Segments(first_);
  const auto entries = static_cast<uint32_t>(block.end - block.begin);
  return count_ - entries >= kHistorySegments &&
         NanosBetween(block.sent_ns[block.end - 1], now) > kHistoryNanos;
}

void SegmentQueue::ForgetFirstBlock(HistoryPool* pool) {
  SegmentBlock& block = pool->Segments(first_);
  for (int i = block.begin; i < block.end; i++) {
    count_--;
    if (disordered_ != 0) disordered_--;
    if ((block.gone & Bit(i)) != 0) continue;
    forgotten_end_ = std::max(forgotten_end_, EndOf(block, i));
  }
  const HistoryRef forgotten = first_;
  first_ = block.next;
  if (first_ == kNoHistory) last_ = kNoHistory;
  blocks_--;
  pool->GiveBack(forgotten, forgotten, 1);
}

}  // namespace trumpet
