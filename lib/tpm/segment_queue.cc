// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/segment_queue.h"

#include <algorithm>

namespace trumpet {
namespace {

uint8_t Bit(int i) { return static_cast<uint8_t>(1u << i); }

int64_t EndOf(const SegmentBlock& block, int i) { return block.start[i] + block.length[i]; }

}  // namespace

struct SegmentQueue::InOrderCover {
  bool is_any = false;
  bool is_repeated = false;
  int64_t end = INT64_MIN;
  Nanos newest_sent_ns = 0;
  uint64_t newest_owner = 0;
  uint32_t newest_order = 0;
};

void SegmentQueue::Clear() {
  first_ = last_ = kNoHistory;
  blocks_ = sent_ = 0;
  disordered_.Clear();
  forgotten_end_ = INT64_MIN;
}

void SegmentQueue::Release(HistoryPool* pool) {
  pool->GiveBack(first_, last_, blocks_);
  disordered_.Release(pool);
  Clear();
}

void SegmentQueue::Forget(HistoryPool* pool, int64_t end) {
  Release(pool);
  forgotten_end_ = end;
}

void SegmentQueue::Push(HistoryPool* pool, const Segment& segment) {
  if (!segment.is_in_order) {
    PushDisordered(pool, segment);
    return;
  }
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
  sent_++;
}

void SegmentQueue::PushDisordered(HistoryPool* pool, const Segment& segment) {
  if (disordered_.Push(pool, {segment.start, segment.end, segment.sent_ns, segment.owner,
                              segment.is_repeated, sent_})) {
    return;
  }
  // Which of those in order it repeated is forgotten, too.
  forgotten_end_ = std::max(forgotten_end_, segment.end);
  if (first_ == kNoHistory) return;
  const SegmentBlock& block = pool->Segments(last_);
  forgotten_end_ = std::max(forgotten_end_, EndOf(block, block.end - 1));
}

void SegmentQueue::MarkRepeated(HistoryPool* pool, int64_t start, int64_t end) {
  if (first_ != kNoHistory) {
    const SegmentBlock& block = pool->Segments(first_);
    if (EndOf(block, block.begin) > start) MarkFirst(pool, end);
  }
  disordered_.MarkRepeated(pool, start, end);
}

// Marks the first segment in order if it starts below `end`.
void SegmentQueue::MarkFirst(HistoryPool* pool, int64_t end) {
  SegmentBlock& block = pool->Segments(first_);
  if (block.start[block.begin] < end) block.repeated |= Bit(block.begin);
}

CoveredSegments SegmentQueue::Acknowledge(HistoryPool* pool, int64_t previous_ack, int64_t ack) {
  const InOrderCover in_order = TakeCovered(pool, ack);
  bool is_repeated = in_order.is_repeated;
  if (previous_ack < forgotten_end_) {
    pool->CountEvicted();
    is_repeated = true;
  }
  CoveredSegments covered;
  covered.is_clean = in_order.is_any && !is_repeated;
  covered.newest_sent_ns = in_order.newest_sent_ns;
  covered.newest_owner = in_order.newest_owner;
  if (disordered_.is_empty()) return covered;

  const DisorderedCover late = disordered_.Acknowledge(pool, ack, in_order.end);
  if (first_ != kNoHistory) MarkFirst(pool, late.highest_end);
  covered.is_clean = (in_order.is_any || late.is_any) && !is_repeated && !late.is_repeated;
  const bool is_late_newer =
      !in_order.is_any || static_cast<int32_t>(late.newest_after - in_order.newest_order) > 0;
  if (late.is_any && is_late_newer) {
    covered.newest_sent_ns = late.newest_sent_ns;
    covered.newest_owner = late.newest_owner;
  }
  return covered;
}

// Removes what `ack` covers of the segments in order.
SegmentQueue::InOrderCover SegmentQueue::TakeCovered(HistoryPool* pool, int64_t ack) {
  InOrderCover cover;
  while (first_ != kNoHistory) {
    SegmentBlock& block = pool->Segments(first_);
    while (block.begin < block.end && EndOf(block, block.begin) <= ack) {
      const int i = block.begin++;
      cover.is_any = true;
      cover.is_repeated |= (block.repeated & Bit(i)) != 0;
      cover.end = EndOf(block, i);
      cover.newest_sent_ns = block.sent_ns[i];
      cover.newest_owner = block.owner[i];
      cover.newest_order = block.order + static_cast<uint32_t>(i);
    }
    if (block.begin < block.end) break;
    RemoveFirstBlock(pool);
  }
  return cover;
}

void SegmentQueue::RemoveFirstBlock(HistoryPool* pool) {
  const HistoryRef removed = first_;
  first_ = pool->Segments(removed).next;
  if (first_ == kNoHistory) last_ = kNoHistory;
  pool->GiveBack(removed, removed, 1);
  blocks_--;
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
  block.order = sent_;
  block.begin = block.end = 0;
  block.repeated = 0;
  (last_ == kNoHistory ? first_ : pool->At(last_).next) = added;
  last_ = added;
  blocks_++;
  return added;
}

bool SegmentQueue::FirstIsBeyondPromise(HistoryPool* pool, Nanos now) const {
  const SegmentBlock& block = pool->Segments(first_);
  const uint32_t sent_since = sent_ - (block.order + block.end);
  return sent_since >= kHistorySegments &&
         NanosBetween(block.sent_ns[block.end - 1], now) > kHistoryNanos;
}

void SegmentQueue::ForgetFirstBlock(HistoryPool* pool) {
  const SegmentBlock& block = pool->Segments(first_);
  forgotten_end_ = std::max(forgotten_end_, EndOf(block, block.end - 1));
  RemoveFirstBlock(pool);
}

}  // namespace trumpet
