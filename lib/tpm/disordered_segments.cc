// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/disordered_segments.h"

#include <algorithm>

namespace trumpet {
namespace {

int64_t EndOf(const DisorderedBlock& block, int i) { return block.start[i] + block.length[i]; }

bool Has(uint8_t mask, int i) { return (mask >> i & 1) != 0; }

void Set(uint8_t* mask, int i, bool is_set) {
  const auto bit = static_cast<uint8_t>(1u << i);
  *mask = static_cast<uint8_t>(is_set ? *mask | bit : *mask & ~bit);
}

void RemoveEntry(DisorderedBlock* block, int removed) {
  block->count--;
  for (int i = removed; i < block->count; i++) {
    block->sent_ns[i] = block->sent_ns[i + 1];
    block->owner[i] = block->owner[i + 1];
    block->start[i] = block->start[i + 1];
    block->length[i] = block->length[i + 1];
    block->after[i] = block->after[i + 1];
    Set(&block->repeated, i, Has(block->repeated, i + 1));
    Set(&block->doubtful, i, Has(block->doubtful, i + 1));
  }
}

// Takes what `ack` covers out of one block.  Blocks and entries are visited from the newest on.
void CoverBlock(DisorderedBlock* block, int64_t ack, int64_t in_order_end, DisorderedCover* cover) {
  for (int i = block->count - 1; i >= 0; i--) {
    if (EndOf(*block, i) > ack) {
      cover->is_repeated |= block->start[i] < in_order_end;
      continue;
    }
    if (!cover->is_any) {
      cover->newest_sent_ns = block->sent_ns[i];
      cover->newest_owner = block->owner[i];
      cover->newest_after = block->after[i];
    }
    cover->is_any = true;
    cover->is_repeated |= Has(block->repeated, i);
    cover->is_doubtful |= Has(block->doubtful, i);
    cover->highest_end = std::max(cover->highest_end, EndOf(*block, i));
    RemoveEntry(block, i);
  }
}

}  // namespace

void DisorderedSegments::Clear() {
  first_ = kNoHistory;
  blocks_ = 0;
}

void DisorderedSegments::Release(HistoryPool* pool) {
  if (first_ != kNoHistory) pool->GiveBack(first_, pool->Disordered(first_).oldest, blocks_);
  Clear();
}

bool DisorderedSegments::Push(HistoryPool* pool, const DisorderedSegment& segment) {
  if (first_ == kNoHistory || pool->Disordered(first_).count == DisorderedBlock::kEntries) {
    if (blocks_ >= pool->disordered_limit()) return false;
    const HistoryRef added = pool->Take();
    if (added == kNoHistory) return false;
    DisorderedBlock& block = pool->Disordered(added);
    block.next = first_;
    block.oldest = first_ == kNoHistory ? added : pool->Disordered(first_).oldest;
    block.count = 0;
    first_ = added;
    blocks_++;
  }
  DisorderedBlock& block = pool->Disordered(first_);
  const int i = block.count++;
  block.sent_ns[i] = segment.sent_ns;
  block.owner[i] = segment.owner;
  block.start[i] = segment.start;
  block.length[i] = static_cast<uint32_t>(segment.end - segment.start);
  block.after[i] = segment.after;
  Set(&block.repeated, i, segment.is_repeated);
  Set(&block.doubtful, i, segment.is_doubtful);
  return true;
}

void DisorderedSegments::MarkRepeated(HistoryPool* pool, int64_t start, int64_t end) {
  for (HistoryRef at = first_; at != kNoHistory; at = pool->At(at).next) {
    DisorderedBlock& block = pool->Disordered(at);
    for (int i = 0; i < block.count; i++) {
      if (block.start[i] < end && EndOf(block, i) > start) Set(&block.repeated, i, true);
    }
  }
}

DisorderedCover DisorderedSegments::Acknowledge(HistoryPool* pool, int64_t ack,
                                                int64_t in_order_end) {
  DisorderedCover cover;
  HistoryRef* link = &first_;
  HistoryRef oldest = kNoHistory;
  while (*link != kNoHistory) {
    DisorderedBlock& block = pool->Disordered(*link);
    CoverBlock(&block, ack, in_order_end, &cover);
    if (block.count != 0) {
      oldest = *link;
      link = &block.next;
      continue;
    }
    const HistoryRef empty = *link;
    *link = block.next;
    pool->GiveBack(empty, empty, 1);
    blocks_--;
  }
  if (first_ != kNoHistory) pool->Disordered(first_).oldest = oldest;
  return cover;
}

}  // namespace trumpet
