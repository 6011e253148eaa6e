// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// FirstSendings: the list of its blocks, and the landmarks in it.
//
// Every block knows its neighbours.  Some are landmarks, which know the next ones, so that a walk
// first goes down by these.  A landmark, and the last block, counts the run of blocks between
// it and the landmark below: a run that gets longer than kMaxRun is halved, and two that together
// have become shorter than kMinTwoRuns are joined.

#include <utility>

#include "lib/tpm/first_sendings.h"

namespace trumpet {
namespace {

constexpr uint8_t kMaxRun = 63;  // of blocks without a landmark
constexpr int kMinTwoRuns = 48;  // two in a row with the landmark between are as long at least
static_assert(kMinTwoRuns < kMaxRun);  // else what is halved would be joined again

}  // namespace

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
