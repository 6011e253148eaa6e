// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/first_sendings.h"

#include <algorithm>
#include <utility>

namespace trumpet {
namespace {

constexpr uint8_t kMaxRun = 63;  // of blocks without a landmark
constexpr int kMinTwoRuns = 48;  // two in a row with the landmark between are as long at least
static_assert(kMinTwoRuns < kMaxRun);  // else what is halved would be joined again

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

// The lowest block that ends above a number.
struct FirstSendings::Walk {
  HistoryRef block = kNoHistory;
  HistoryRef landmark = kNoHistory;  // the next at or above it, or the last block
  uint32_t count = 0;                // of blocks from it to the last
  uint32_t steps = 0;                // blocks looked at
};

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

// Walks from the top: what is sent again was mostly sent not long ago.  Looks at where blocks
// start, which lies in the line of the links, and only of the last two where they end.
FirstSendings::Walk FirstSendings::LowestEndingAbove(const HistoryPool& pool,
                                                     int64_t number) const {
  Walk walk;
  const auto ends_above = [&](HistoryRef at) {
    const RangeBlock& block = pool.Ranges(at);
    return block.end[block.count - 1] > number;
  };
  const auto starts_above = [&](HistoryRef at) {
    walk.steps++;
    return pool.Ranges(at).start[0] > number;
  };
  if (last_ == kNoHistory || !ends_above(last_)) return walk;
  walk.landmark = last_;
  walk.count = 1;
  HistoryRef next = pool.Ranges(last_).far_previous;
  while (next != kNoHistory && starts_above(next)) {
    walk.count += pool.Ranges(walk.landmark).run + 1u;
    walk.landmark = next;
    next = pool.Ranges(next).far_previous;
  }
  walk.block = walk.landmark;
  next = pool.Ranges(walk.block).previous;
  while (next != kNoHistory && starts_above(next)) {
    walk.count++;
    walk.block = next;
    next = pool.Ranges(next).previous;
  }
  if (next != kNoHistory && ends_above(next)) {
    walk.count++;
    walk.block = next;
  }
  if (pool.Ranges(walk.block).is_landmark) walk.landmark = walk.block;
  return walk;
}

uint32_t FirstSendings::StepsTo(const HistoryPool& pool, int64_t number) const {
  return LowestEndingAbove(pool, number).steps;
}

FirstSendings::Place FirstSendings::Next(const HistoryPool& pool, Place place) const {
  if (place.block == kNoHistory) return place;
  const RangeBlock& block = pool.Ranges(place.block);
  if (place.index + 1 < block.count) return {place.block, place.index + 1};
  return {block.next, 0};
}

HistoryRef FirstSendings::AddBlockAfter(HistoryPool* pool, HistoryRef previous) {
  if (blocks_ >= pool->walk_limit()) return kNoHistory;
  const HistoryRef added = pool->Take();
  if (added == kNoHistory) return kNoHistory;
  RangeBlock& block = pool->Ranges(added);
  block.count = 0;
  block.burst = 0;
  block.previous = previous;
  block.is_landmark = false;
  HistoryRef& link = previous == kNoHistory ? first_ : pool->Ranges(previous).next;
  block.next = previous == kNoHistory ? kNoHistory : link;
  link = added;
  blocks_++;
  if (block.next == kNoHistory) {
    AddAsLast(pool, added);
  } else {
    pool->Ranges(block.next).previous = added;
    GrowRun(pool, added);
  }
  return added;
}

void FirstSendings::AddAsLast(HistoryPool* pool, HistoryRef added) {
  RangeBlock& block = pool->Ranges(added);
  block.far_previous = kNoHistory;
  block.run = 0;
  if (last_ != kNoHistory) {
    const RangeBlock& before = pool->Ranges(last_);
    block.far_previous = before.is_landmark ? last_ : before.far_previous;
    if (!before.is_landmark) block.run = static_cast<uint8_t>(before.run + 1);
  }
  last_ = added;
  block.is_landmark = block.run == kMaxRun;
  if (block.is_landmark) LinkLandmark(pool, block.far_previous, added, kNoHistory);
}

// Takes note of a block, no landmark, that was put before others.
void FirstSendings::GrowRun(HistoryPool* pool, HistoryRef added) {
  const HistoryRef landmark = LandmarkAtOrAbove(*pool, added);
  if (++pool->Ranges(landmark).run >= kMaxRun) HalveRun(pool, landmark);
}

// Makes the middle of the run before a landmark another one.
void FirstSendings::HalveRun(HistoryPool* pool, HistoryRef landmark) {
  RangeBlock& above = pool->Ranges(landmark);
  HistoryRef middle = above.previous;
  uint8_t passed = 0;
  for (; passed < kMaxRun / 2 && middle != kNoHistory; passed++) {
    middle = pool->Ranges(middle).previous;
  }
  const uint8_t had = std::exchange(above.run, passed);
  if (middle == kNoHistory) return;  // the rest has been forgotten
  RangeBlock& block = pool->Ranges(middle);
  block.is_landmark = true;
  block.run = static_cast<uint8_t>(had - passed - 1);
  LinkLandmark(pool, above.far_previous, middle, landmark);
}

// Takes note that a block with others on both sides goes.
void FirstSendings::ShrinkRun(HistoryPool* pool, HistoryRef removed) {
  RangeBlock& block = pool->Ranges(removed);
  HistoryRef landmark = LandmarkAtOrAbove(*pool, removed);
  if (landmark != removed) {
    pool->Ranges(landmark).run--;
  } else if (pool->Ranges(block.previous).is_landmark) {
    landmark = LandmarkAbove(*pool, removed);
    RemoveLandmark(pool, removed);
  } else {
    landmark = block.previous;
    RangeBlock& heir = pool->Ranges(landmark);
    heir.is_landmark = true;
    heir.run = static_cast<uint8_t>(block.run - 1);
    LinkLandmark(pool, block.far_previous, landmark, LandmarkAbove(*pool, removed));
  }
  JoinShortRuns(pool, landmark);
}

// Drops the landmark, or the one below, if the runs on both sides of it have become short.
void FirstSendings::JoinShortRuns(HistoryPool* pool, HistoryRef landmark) {
  for (HistoryRef dropped : {landmark, pool->Ranges(landmark).far_previous}) {
    if (dropped == kNoHistory || dropped == last_) continue;
    RangeBlock& block = pool->Ranges(dropped);
    RangeBlock& above = pool->Ranges(LandmarkAbove(*pool, dropped));
    if (block.run + above.run + 1 >= kMinTwoRuns) continue;
    above.run = static_cast<uint8_t>(above.run + block.run + 1);
    block.is_landmark = false;
    RemoveLandmark(pool, dropped);
    return;
  }
}

// The landmark, or else the last block.
HistoryRef FirstSendings::LandmarkAtOrAbove(const HistoryPool& pool, HistoryRef block) const {
  while (block != last_ && !pool.Ranges(block).is_landmark) block = pool.Ranges(block).next;
  return block;
}

// The same above a landmark that is not the last block.
HistoryRef FirstSendings::LandmarkAbove(const HistoryPool& pool, HistoryRef landmark) const {
  const HistoryRef above = pool.Ranges(landmark).far_next;
  return above == kNoHistory ? last_ : above;
}

// `above`: the next landmark, the last block or kNoHistory if this is the last.
void FirstSendings::LinkLandmark(HistoryPool* pool, HistoryRef below, HistoryRef landmark,
                                 HistoryRef above) {
  RangeBlock& block = pool->Ranges(landmark);
  block.far_previous = below;
  block.far_next = kNoHistory;
  if (below != kNoHistory) pool->Ranges(below).far_next = landmark;
  if (above == kNoHistory) return;
  pool->Ranges(above).far_previous = landmark;
  if (pool->Ranges(above).is_landmark) block.far_next = above;
}

// Takes a landmark that is not the last block out of the chain.
void FirstSendings::RemoveLandmark(HistoryPool* pool, HistoryRef removed) {
  const RangeBlock& block = pool->Ranges(removed);
  pool->Ranges(LandmarkAbove(*pool, removed)).far_previous = block.far_previous;
  if (block.far_previous != kNoHistory) pool->Ranges(block.far_previous).far_next = block.far_next;
}

void FirstSendings::RemoveEntry(HistoryPool* pool, Place place) {
  RangeBlock& block = pool->Ranges(place.block);
  for (int i = place.index + 1; i < block.count; i++) CopyEntry(block, i, &block, i - 1);
  if (--block.count == 0) RemoveBlock(pool, place.block);
}

void FirstSendings::RemoveBlock(HistoryPool* pool, HistoryRef removed) {
  const RangeBlock& block = pool->Ranges(removed);
  if (block.next != kNoHistory && block.previous != kNoHistory) {
    ShrinkRun(pool, removed);
  } else if (block.next != kNoHistory && block.is_landmark) {
    RemoveLandmark(pool, removed);
  }
  (block.previous == kNoHistory ? first_ : pool->Ranges(block.previous).next) = block.next;
  (block.next == kNoHistory ? last_ : pool->Ranges(block.next).previous) = block.previous;
  if (block.next == kNoHistory && last_ != kNoHistory) {
    RangeBlock& last = pool->Ranges(last_);
    if (last.is_landmark) {
      last.far_next = kNoHistory;
    } else {
      last.run = static_cast<uint8_t>(block.run - 1);
      last.far_previous = block.far_previous;
      if (last.far_previous != kNoHistory) pool->Ranges(last.far_previous).far_next = kNoHistory;
    }
    JoinShortRuns(pool, last_);
  }
  blocks_--;
  pool->GiveBack(removed, removed, 1);
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

// In one chain; kept.count is exact, as runs above the lowest landmark are.
void FirstSendings::RemoveBlocksBelow(HistoryPool* pool, const Walk& kept) {
  if (kept.block == first_) return;  // also if there is none
  const uint32_t removed = blocks_ - kept.count;
  if (kept.block == kNoHistory) {
    pool->GiveBack(first_, last_, removed);
    first_ = last_ = kNoHistory;
  } else {
    RangeBlock& block = pool->Ranges(kept.block);
    pool->GiveBack(first_, block.previous, removed);
    first_ = kept.block;
    block.previous = kNoHistory;
    pool->Ranges(kept.landmark).far_previous = kNoHistory;
  }
  blocks_ = kept.count;
}

}  // namespace trumpet
