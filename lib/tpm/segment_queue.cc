// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/segment_queue.h"

#include <algorithm>

namespace trumpet {
namespace {

constexpr int kBlocksInARow = 16;  // taken one by one, which is cheaper than to search

int64_t EndOf(const SegmentBlock& block, int i) { return block.start[i] + block.length[i]; }

int64_t LastEndOf(const SegmentBlock& block) { return EndOf(block, block.end - 1); }

}  // namespace

struct SegmentQueue::InOrderCover {
  bool is_any = false;
  bool is_repeated = false;
  int64_t end = INT64_MIN;
  Nanos newest_sent_ns = 0;
  uint64_t newest_owner = 0;
  uint32_t newest_order = 0;

  void Add(const SegmentBlock& block, int i) {
    is_any = true;
    end = EndOf(block, i);
    newest_sent_ns = block.sent_ns[i];
    newest_owner = block.owner[i];
    newest_order = block.order + static_cast<uint32_t>(i);
  }
};

struct SegmentQueue::Search {
  HistoryRef found = kNoHistory;
  uint32_t steps = 0;  // blocks looked at
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
  constexpr int64_t kMaxLength = UINT16_MAX;
  const bool is_full = blocks_ == 0 || pool->Segments(last_).end == SegmentBlock::kEntries;
  const bool has_room = segment.end - segment.start <= kMaxLength &&
                        (!is_full || AddBlock(pool, segment.sent_ns) != kNoHistory);
  if (!has_room) {
    forgotten_end_ = std::max(forgotten_end_, segment.end);
    return;
  }
  SegmentBlock& block = pool->Segments(last_);
  const int i = block.end++;
  block.sent_ns[i] = segment.sent_ns;
  block.owner[i] = segment.owner;
  block.start[i] = segment.start;
  block.length[i] = static_cast<uint16_t>(segment.end - segment.start);
  sent_++;
}

void SegmentQueue::PushDisordered(HistoryPool* pool, const Segment& segment) {
  if (disordered_.Push(pool, {segment.start, segment.end, segment.sent_ns, segment.owner,
                              segment.is_repeated, segment.is_doubtful, sent_})) {
    return;
  }
  // Which of those in order it repeated is forgotten, too.
  forgotten_end_ = std::max(forgotten_end_, segment.end);
  if (first_ == kNoHistory) return;
  forgotten_end_ = std::max(forgotten_end_, LastEndOf(pool->Segments(last_)));
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
  if (block.start[block.begin] < end) block.is_repeated = true;
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
  if (covered.is_clean && late.is_doubtful) {
    pool->CountEvicted();
    covered.is_clean = false;
  }
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
  for (int taken = 0; first_ != kNoHistory; taken++) {
    if (taken == kBlocksInARow) {
      TakeMany(pool, ack, &cover);
      break;
    }
    SegmentBlock& block = pool->Segments(first_);
    int covered = block.begin;
    while (covered < block.end && EndOf(block, covered) <= ack) covered++;
    if (covered == block.begin) break;
    cover.is_repeated |= block.is_repeated;
    cover.Add(block, covered - 1);
    block.is_repeated = false;
    block.begin = static_cast<uint8_t>(covered);
    if (covered < block.end) break;
    RemoveFirstBlock(pool);
  }
  return cover;
}

// The same of segments that are not marked, without a look at each.
void SegmentQueue::TakeMany(HistoryPool* pool, int64_t ack, InOrderCover* cover) {
  const HistoryRef left = OldestAbove(*pool, ack).found;
  if (left != first_) {
    const HistoryRef newest = left == kNoHistory ? last_ : pool->Segments(left).previous;
    const SegmentBlock& block = pool->Segments(newest);
    cover->Add(block, block.end - 1);
    const uint32_t count =
        (block.order - pool->Segments(first_).order) / SegmentBlock::kEntries + 1;
    pool->GiveBack(first_, newest, count);
    blocks_ -= count;
    first_ = left;
    if (left == kNoHistory) last_ = kNoHistory;
  }
  if (left == kNoHistory) return;
  SegmentBlock& block = pool->Segments(left);
  while (EndOf(block, block.begin) <= ack) cover->Add(block, block.begin++);
}

// The oldest block with a segment that ends above `ack`; kNoHistory: there is none.
SegmentQueue::Search SegmentQueue::OldestAbove(const HistoryPool& pool, int64_t ack) const {
  Search search;
  const auto ends_above = [&](HistoryRef at) {
    search.steps++;
    return LastEndOf(pool.Segments(at)) > ack;
  };
  if (last_ == kNoHistory || !ends_above(last_)) return search;
  search.found = last_;
  const uint32_t first_order = pool.Segments(first_).order;
  while (search.found != first_) {
    const SegmentBlock& block = pool.Segments(search.found);
    const uint32_t older = (block.order - first_order) / SegmentBlock::kEntries;
    if (block.far_count <= older && ends_above(block.far)) {
      search.found = block.far;
    } else if (ends_above(block.previous)) {
      search.found = block.previous;
    } else {
      break;
    }
  }
  return search;
}

uint32_t SegmentQueue::StepsTo(const HistoryPool& pool, int64_t ack) const {
  return OldestAbove(pool, ack).steps;
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
  block.is_repeated = false;
  LinkBlock(pool, &block);
  (last_ == kNoHistory ? first_ : pool->At(last_).next) = added;
  last_ = added;
  blocks_++;
  return added;
}

// Links to a block far before, so that a search that goes back by these links looks at few blocks.
// Two leaps of equal length become one of both and the step to them (E. W. Myers, An applicative
// random-access stack, 1983).
void SegmentQueue::LinkBlock(HistoryPool* pool, SegmentBlock* block) {
  block->previous = block->far = last_;
  block->far_count = 1;
  if (last_ == kNoHistory) return;
  const SegmentBlock& last = pool->Segments(last_);
  const uint32_t older = blocks_ - 1;
  if (last.far_count > older) return;
  const SegmentBlock& middle = pool->Segments(last.far);
  if (middle.far_count != last.far_count) return;
  block->far = middle.far;
  block->far_count = 1 + 2 * last.far_count;
}

bool SegmentQueue::FirstIsBeyondPromise(HistoryPool* pool, Nanos now) const {
  const SegmentBlock& block = pool->Segments(first_);
  const uint32_t sent_since = sent_ - (block.order + block.end);
  return sent_since >= kHistorySegments &&
         NanosBetween(block.sent_ns[block.end - 1], now) > kHistoryNanos;
}

void SegmentQueue::ForgetFirstBlock(HistoryPool* pool) {
  const SegmentBlock& block = pool->Segments(first_);
  forgotten_end_ = std::max(forgotten_end_, LastEndOf(block));
  RemoveFirstBlock(pool);
}

}  // namespace trumpet
