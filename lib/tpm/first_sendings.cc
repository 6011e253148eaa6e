// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/first_sendings.h"

#include <algorithm>

namespace trumpet {
namespace {

bool IsBurst(const RangeBlock& block, int i) { return (block.burst >> i & 1) != 0; }

void SetBurst(RangeBlock* block, int i, bool is_burst) {
  const auto bit = static_cast<uint8_t>(1u << i);
  block->burst = static_cast<uint8_t>(is_burst ? block->burst | bit : block->burst & ~bit);
}

void CopyEntry(const RangeBlock& from, int from_index, RangeBlock* to, int to_index) {
  to->start[to_index] = from.start[from_index];
  to->end[to_index] = from.end[from_index];
  SetBurst(to, to_index, IsBurst(from, from_index));
}

}  // namespace

void FirstSendings::Clear() {
  first_ = last_ = kNoHistory;
  highest_start_ = highest_end_ = 0;
  forgotten_end_ = INT64_MIN;
  segment_count_ = 0;
  blocks_ = 0;
  was_given_up_ = was_evicted_ = 0;
  highest_is_burst_ = 0;
}

void FirstSendings::Release(HistoryPool* pool) {
  pool->GiveBack(first_, last_, blocks_);
  Clear();
}

void FirstSendings::Forget(HistoryPool* pool, int64_t end) {
  Release(pool);
  forgotten_end_ = end;
  was_given_up_ = 1;
}

FirstSending FirstSendings::Find(const HistoryPool& pool, int64_t number) const {
  if (number < forgotten_end_) {
    if (was_given_up_ != 0) return FirstSending::kGivenUp;
    return was_evicted_ != 0 ? FirstSending::kEvicted : FirstSending::kUnseen;
  }
  if (number >= highest_end_) return FirstSending::kUnseen;
  if (number >= highest_start_) {
    return highest_is_burst_ != 0 ? FirstSending::kInBurst : FirstSending::kAlone;
  }
  const Place place = FirstEndingAbove(pool, number);
  if (place.block == kNoHistory) return FirstSending::kUnseen;
  const RangeBlock& block = pool.Ranges(place.block);
  if (block.start[place.index] > number) return FirstSending::kUnseen;
  return IsBurst(block, place.index) ? FirstSending::kInBurst : FirstSending::kAlone;
}

Overlap FirstSendings::OverlapOf(const HistoryPool& pool, int64_t start, int64_t end) const {
  const Overlap if_none = start < forgotten_end_ ? Overlap::kForgotten : Overlap::kNone;
  const int64_t known = std::max(start, forgotten_end_);
  if (known >= end || known >= highest_end_ || highest_start_ == highest_end_) return if_none;
  if (end > highest_start_) return Overlap::kSome;
  const Place place = FirstEndingAbove(pool, known);
  const bool is_any =
      place.block != kNoHistory && pool.Ranges(place.block).start[place.index] < end;
  return is_any ? Overlap::kSome : if_none;
}

void FirstSendings::Add(HistoryPool* pool, const Sending& sending) {
  segment_count_++;
  const int64_t start = std::max(sending.start, forgotten_end_);
  if (start != sending.start) was_evicted_ = 1;  // perhaps the first sending, which nobody keeps
  if (start >= sending.end) return;
  if (highest_start_ == highest_end_) {
    highest_start_ = start;
    highest_end_ = sending.end;
    highest_is_burst_ = sending.is_burst;
    return;
  }
  if (start < highest_start_) {
    AddBelowHighest(pool, sending, start, std::min(sending.end, highest_start_));
  }
  if (sending.end <= highest_end_) return;
  const int64_t above = std::max(start, highest_end_);
  if (above == highest_end_ && sending.is_burst == (highest_is_burst_ != 0)) {
    highest_end_ = sending.end;
  } else {
    PushHighest(pool, sending, above);
  }
}

// Moves the highest range into the blocks; [start, sending.end) becomes the highest.
void FirstSendings::PushHighest(HistoryPool* pool, const Sending& sending, int64_t start) {
  Sending old = sending;
  old.is_burst = highest_is_burst_ != 0;
  const int64_t old_end = highest_end_;
  Place behind{kNoHistory, 0};
  if (!Insert(pool, old, highest_start_, old_end, &behind)) {
    ForgetFirstBlock(
        pool, sending.sent_ns);  // the lowest block is the oldest: its room serves the newest
    behind = {kNoHistory, 0};
    if (!Insert(pool, old, highest_start_, old_end, &behind)) {
      forgotten_end_ = old_end;
      was_evicted_ = 1;
    }
  }
  highest_start_ = start;
  highest_end_ = sending.end;
  highest_is_burst_ = sending.is_burst;
}

// Fills the gaps between ranges within [start, end).  A packet may state 64 KB, whatever it brings,
// and go over as many ranges: past the limit all below its end are forgotten.
void FirstSendings::AddBelowHighest(HistoryPool* pool, const Sending& sending, int64_t start,
                                    int64_t end) {
  Place place = FirstEndingAbove(*pool, start);
  uint32_t steps = 0;
  while (start < end) {
    if (steps >= pool->fill_limit()) {
      ForgetBelow(pool, end);
      return;
    }
    const bool is_behind = place.block == kNoHistory;
    const int64_t next_start = is_behind ? end : pool->Ranges(place.block).start[place.index];
    if (next_start > start) {
      steps++;
      const int64_t gap_end = std::min(end, next_start);
      bool has_room = Insert(pool, sending, start, gap_end, &place);
      if (!has_room && place.block != first_) {  // the oldest make room, as in PushHighest()
        ForgetFirstBlock(pool, sending.sent_ns);
        has_room = Insert(pool, sending, start, gap_end, &place);
      }
      if (!has_room) {
        ForgetBelow(pool, end);
        return;
      }
    }
    start = pool->Ranges(place.block).end[place.index];
    const HistoryRef passed = place.block;
    place = Next(*pool, place);
    if (place.block != passed) steps++;
  }
}

// Inserts a range before `place`, merged with equal neighbours; `place` becomes the range that
// holds it.  False when there is no room; nothing has changed then.
bool FirstSendings::Insert(HistoryPool* pool, const Sending& sending, int64_t start, int64_t end,
                           Place* place) {
  if (!MergeWithPrevious(pool, sending, start, end, place) &&
      !InsertEntry(pool, sending, start, end, place)) {
    return false;
  }
  RangeBlock& block = pool->Ranges(place->block);
  block.last_order = segment_count_;
  block.last_ns = sending.sent_ns;
  const Place next = Next(*pool, *place);
  if (next.block == kNoHistory) return true;
  const RangeBlock& next_block = pool->Ranges(next.block);
  if (next_block.start[next.index] == end && IsBurst(next_block, next.index) == sending.is_burst) {
    block.end[place->index] = next_block.end[next.index];
    RemoveEntry(pool, next);
  }
  return true;
}

bool FirstSendings::MergeWithPrevious(HistoryPool* pool, const Sending& sending, int64_t start,
                                      int64_t end, Place* place) {
  Place previous = {place->block, place->index - 1};
  if (place->block == kNoHistory || place->index == 0) {
    previous.block = place->block == kNoHistory ? last_ : pool->Ranges(place->block).previous;
    if (previous.block == kNoHistory) return false;
    previous.index = pool->Ranges(previous.block).count - 1;
  }
  RangeBlock& block = pool->Ranges(previous.block);
  if (block.end[previous.index] != start || IsBurst(block, previous.index) != sending.is_burst) {
    return false;
  }
  block.end[previous.index] = end;
  *place = previous;
  return true;
}

bool FirstSendings::InsertEntry(HistoryPool* pool, const Sending& sending, int64_t start,
                                int64_t end, Place* place) {
  if (place->block == kNoHistory) {
    if (last_ == kNoHistory || pool->Ranges(last_).count == RangeBlock::kEntries) {
      MakeRoom(pool, sending.sent_ns);
      if (AddBlockAfter(pool, last_) == kNoHistory) return false;
    }
    *place = {last_, pool->Ranges(last_).count};
  } else if (pool->Ranges(place->block).count == RangeBlock::kEntries) {
    if (!SplitBlock(pool, place)) return false;
  }
  RangeBlock& block = pool->Ranges(place->block);
  for (int i = block.count; i > place->index; i--) CopyEntry(block, i - 1, &block, i);
  block.count++;
  block.start[place->index] = start;
  block.end[place->index] = end;
  SetBurst(&block, place->index, sending.is_burst);
  return true;
}

// Moves the upper half of a full block into a new one and `place` with it.
bool FirstSendings::SplitBlock(HistoryPool* pool, Place* place) {
  constexpr int kKept = RangeBlock::kEntries / 2;
  const HistoryRef added = AddBlockAfter(pool, place->block);
  if (added == kNoHistory) return false;
  RangeBlock& from = pool->Ranges(place->block);
  RangeBlock& to = pool->Ranges(added);
  for (int i = kKept; i < from.count; i++) CopyEntry(from, i, &to, i - kKept);
  to.count = static_cast<uint8_t>(from.count - kKept);
  to.last_order = from.last_order;
  to.last_ns = from.last_ns;
  from.count = kKept;
  if (place->index > kKept) *place = {added, place->index - kKept};
  return true;
}

FirstSendings::Place FirstSendings::FirstEndingAbove(const HistoryPool& pool,
                                                     int64_t number) const {
  Place found{LowestEndingAbove(pool, number).block, 0};
  if (found.block == kNoHistory) return found;
  const RangeBlock& block = pool.Ranges(found.block);
  while (block.end[found.index] <= number) found.index++;
  return found;
}

FirstSendings::Place FirstSendings::Next(const HistoryPool& pool, Place place) const {
  if (place.block == kNoHistory) return place;
  const RangeBlock& block = pool.Ranges(place.block);
  if (place.index + 1 < block.count) return {place.block, place.index + 1};
  return {block.next, 0};
}

void FirstSendings::RemoveEntry(HistoryPool* pool, Place place) {
  RangeBlock& block = pool->Ranges(place.block);
  for (int i = place.index + 1; i < block.count; i++) CopyEntry(block, i, &block, i - 1);
  if (--block.count == 0) RemoveBlock(pool, place.block);
}

// Gives up what nobody was promised, if memory is getting short.
void FirstSendings::MakeRoom(HistoryPool* pool, Nanos now) {
  const bool is_crowded = pool->IsScarce() || blocks_ * 2 >= pool->walk_limit();
  if (is_crowded && first_ != last_ && FirstIsBeyondPromise(*pool, now)) {
    ForgetFirstBlock(pool, now);
  }
}

bool FirstSendings::FirstIsBeyondPromise(const HistoryPool& pool, Nanos now) const {
  const RangeBlock& block = pool.Ranges(first_);
  return segment_count_ - block.last_order > kHistorySegments &&
         NanosBetween(block.last_ns, now) > kHistoryNanos;
}

void FirstSendings::ForgetFirstBlock(HistoryPool* pool, Nanos now) {
  if (first_ == kNoHistory) return;
  const RangeBlock& block = pool->Ranges(first_);
  if (!FirstIsBeyondPromise(*pool, now)) was_evicted_ = 1;
  forgotten_end_ = block.end[block.count - 1];
  RemoveBlock(pool, first_);
}

// Forgets every range of the blocks that ends at or below `limit`, and of the segment for which
// there is no room or time the numbers below it.
void FirstSendings::ForgetBelow(HistoryPool* pool, int64_t limit) {
  forgotten_end_ = std::max(forgotten_end_, limit);
  was_evicted_ = 1;
  const Walk kept = LowestEndingAbove(*pool, limit);
  RemoveBlocksBelow(pool, kept);
  if (kept.block == kNoHistory) return;
  RangeBlock& block = pool->Ranges(kept.block);
  int dropped = 0;
  while (block.end[dropped] <= limit) dropped++;
  block.count = static_cast<uint8_t>(block.count - dropped);
  if (dropped == 0) return;
  for (int i = 0; i < block.count; i++) CopyEntry(block, i + dropped, &block, i);
}

}  // namespace trumpet
