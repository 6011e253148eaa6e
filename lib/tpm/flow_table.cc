// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/flow_table.h"

#include <algorithm>

namespace trumpet {
namespace {

constexpr uint32_t kReclaimCandidates = 16;
constexpr uint32_t kReclaimStride = 15485863;  // a prime
constexpr uint32_t kReclaimAtOnce = 4;
constexpr uint32_t kLongIdleEpochs = 8;
constexpr uint32_t kStalePasses = 4096;  // epochs in which ReleaseStale() meets every entry once
constexpr uint32_t kReclaimSteps = 64;   // entries looked at to find them

size_t PowerOfTwoAtLeast(size_t value) {
  size_t power = 1;
  while (power < value) power *= 2;
  return power;
}

// Four entries per bucket of eight at most: about 2 % of the buckets spill.
size_t BucketCountFor(uint32_t max_flows) { return PowerOfTwoAtLeast(max_flows / 4 + 1); }
size_t OverflowCountFor(size_t bucket_count) { return bucket_count / 4 + 16; }

// Epoch numbers wrap around; ages stay far below half of their range (see ReleaseStale).
bool IsBefore(uint32_t a, uint32_t b) { return static_cast<int32_t>(a - b) < 0; }

uint8_t Log2Ceil(size_t bytes) {
  uint8_t log = 5;
  while ((size_t{1} << log) < bytes) log++;
  return log;
}

}  // namespace

bool FlowTable::Init(uint32_t max_flows, size_t block_bytes, PageSource* source) {
  const size_t bucket_count = BucketCountFor(max_flows);
  bucket_mask_ = bucket_count - 1;
  most_seats_mask_ = PowerOfTwoAtLeast(max_flows / 2 + 1) - 1;
  seat_mask_ = std::min(most_seats_mask_, kFirstSeats - 1);
  return buckets_.Allocate(bucket_count, source) &&
         overflow_.Allocate(OverflowCountFor(bucket_count), source) &&
         presence_.Allocate(bucket_count, source) && entries_.Allocate(max_flows, source) &&
         near_blocks_.Allocate(max_flows, source) && home_.Allocate(max_flows, source) &&
         blocks_.Init(block_bytes, source);
}

size_t FlowTable::BytesFor(uint32_t max_flows, size_t block_bytes) {
  const size_t bucket_count = BucketCountFor(max_flows);
  return decltype(buckets_)::BytesFor(bucket_count) +
         decltype(overflow_)::BytesFor(OverflowCountFor(bucket_count)) +
         decltype(presence_)::BytesFor(bucket_count) + decltype(entries_)::BytesFor(max_flows) +
         decltype(near_blocks_)::BytesFor(max_flows) + decltype(home_)::BytesFor(max_flows) +
         BlockPool::BytesFor(block_bytes);
}

FlowIndex FlowTable::Find(const FlowKey& key, const uint8_t* extension, size_t extension_bytes,
                          uint64_t hash, uint16_t generation) const {
  const Bucket* bucket = &buckets_[BucketOf(hash, bucket_mask_)];
  const uint16_t tag = TagOf(hash, SaltOf(generation));
  for (;;) {
    for (uint32_t hits = TagMatches(bucket->tags, tag); hits != 0; hits = WithoutFirst(hits)) {
      const FlowIndex flow = bucket->flows[FirstWay(hits)];
      if (IsFlow(flow, key, extension, extension_bytes, hash, generation)) return flow;
    }
    if (bucket->overflow == 0) return kNoFlow;
    bucket = &overflow_[bucket->overflow - 1];
  }
}

FlowIndex FlowTable::Add(const FlowKey& key, uint64_t hash, uint16_t generation, size_t block_bytes,
                         uint32_t oldest_pending_epoch) {
  MakeSeats();
  const FlowIndex seat = block_bytes == 0 ? FreeSeatOf(hash, generation) : kNoFlow;
  const FlowIndex flow = seat != kNoFlow ? TakeSeat(seat) : TakeEntry(oldest_pending_epoch);
  if (flow == kNoFlow) return kNoFlow;
  FlowEntry& entry = entries_[flow];
  entry = FlowEntry{};
  entry.key = key;
  entry.hash = static_cast<uint32_t>(hash);
  entry.generation = generation;
  entry.block = kNoBlock;
  entry.connection = kNoConnection;
  entry.last_epoch = kUntouched;
  count_++;
  if (!TakeBlock(&entry, block_bytes, oldest_pending_epoch) ||
      !Link(flow, hash, oldest_pending_epoch)) {
    Release(flow);
    return kNoFlow;
  }
  return flow;
}

bool FlowTable::TakeBlock(FlowEntry* entry, size_t bytes, uint32_t oldest_pending_epoch) {
  if (bytes == 0) return true;
  if (bytes <= kNearBlockBytes) {
    entry->block = kNearBlock;
    return true;
  }
  entry->block = blocks_.Allocate(bytes);
  for (int tries = 0; entry->block == kNoBlock && tries < 4; tries++) {
    if (!Reclaim(oldest_pending_epoch)) break;
    entry->block = blocks_.Allocate(bytes);
  }
  entry->block_class_bytes_log2 = Log2Ceil(bytes) & 63;
  return entry->block != kNoBlock;
}

// For one flow more.  Half of those that have seats get others, to be moved to with their packets.
void FlowTable::MakeSeats() {
  const bool are_enough = count_ < (seat_mask_ + 1) / kSeatsPerFlow;
  if (!are_enough && seat_mask_ != most_seats_mask_) seat_mask_ = 2 * seat_mask_ + 1;
}

// Or kNoFlow.
FlowIndex FlowTable::FreeSeatOf(uint64_t hash, uint16_t generation) const {
  if (!is_sparse()) return kNoFlow;
  const FlowIndex seat = SeatOf(hash, seat_mask_, SaltOf(generation));
  for (const FlowIndex each : {seat, SeatBeside(seat)}) {
    if (each < entries_.count() && !IsInUse(each)) return each;
  }
  return kNoFlow;
}

FlowIndex FlowTable::MoveToSeat(FlowIndex flow, uint64_t hash) {
  const FlowEntry& entry = entries_[flow];
  const FlowIndex own = SeatOf(hash, seat_mask_, SaltOf(entry.generation));
  const bool may_move = entry.block == kNoBlock && flow != own && flow != SeatBeside(own);
  const FlowIndex seat = may_move ? FreeSeatOf(hash, entry.generation) : kNoFlow;
  if (seat == kNoFlow) return flow;
  *LinkOf(flow) = TakeSeat(seat);
  entries_[seat] = entry;
  home_[seat] = home_[flow];
  count_++;
  Release(flow);
  return seat;
}

// Where the index names an entry that is in use.
FlowIndex* FlowTable::LinkOf(FlowIndex flow) {
  for (Bucket* bucket = &buckets_[home_[flow]];; bucket = &overflow_[bucket->overflow - 1]) {
    for (int way = 0; way < kWays; way++) {
      if (bucket->tags[way] != 0 && bucket->flows[way] == flow) return &bucket->flows[way];
    }
  }
}

FlowIndex FlowTable::TakeSeat(FlowIndex seat) {
  if (entries_[seat].connection == kInChain) Unchain(seat);
  end_entry_ = std::max(end_entry_, seat + 1);
  return seat;
}

void FlowTable::Unchain(FlowIndex flow) {
  const FlowIndex next = entries_[flow].hash;
  const FlowIndex previous = entries_[flow].set;
  if (next != kNoFlow) entries_[next].set = previous;
  (previous != kNoFlow ? entries_[previous].hash : free_entry_) = next;
}

FlowIndex FlowTable::TakeEntry(uint32_t oldest_pending_epoch) {
  if (free_entry_ == kNoFlow) {
    while (next_entry_ != entries_.count() && IsInUse(next_entry_)) next_entry_++;
    if (next_entry_ == entries_.count() && !Reclaim(oldest_pending_epoch)) return kNoFlow;
  }
  if (free_entry_ != kNoFlow) {
    const FlowIndex flow = free_entry_;
    Unchain(flow);
    return flow;
  }
  end_entry_ = std::max(end_entry_, next_entry_ + 1);
  return next_entry_++;
}

// Nobody sends to the entries of other generations than the running one.
uint32_t FlowTable::IdleSince(FlowIndex flow) const {
  const FlowEntry& entry = entries_[flow];
  return entry.last_epoch + (entry.generation == running_ ? SlackOf(entry.direct_cells) : 0);
}

bool FlowTable::IsReclaimable(FlowIndex flow, uint32_t oldest_pending_epoch) const {
  const uint32_t last_epoch = entries_[flow].last_epoch;
  return last_epoch != kFree && last_epoch != kUntouched &&
         IsBefore(IdleSince(flow), oldest_pending_epoch);
}

// Gives up the longest untouched of the next few entries that a hand meets, and others of them that
// were idle for long: a flood of new flows looks for room often, and finds much of it.  The hand
// jumps, so that what it meets is a sample of the table: flows that came together lie together.
bool FlowTable::Reclaim(uint32_t oldest_pending_epoch) {
  if (barren_epoch_ != oldest_pending_epoch) barren_steps_ = 0;
  barren_epoch_ = oldest_pending_epoch;
  if (barren_steps_ >= next_entry_) return false;  // the hand went round since it last found any
  // Coprime to the number of entries, or 1: it comes to all of them.
  const uint32_t stride = next_entry_ % kReclaimStride == 0 ? 1 : kReclaimStride % next_entry_;
  FlowIndex found[kReclaimCandidates];
  uint32_t count = 0;
  const uint32_t steps = std::min(kReclaimSteps, next_entry_);  // none is met twice
  for (uint32_t step = 0; step < steps && count < kReclaimCandidates; step++) {
    const FlowIndex flow = clock_hand_;
    clock_hand_ += stride;
    if (clock_hand_ >= next_entry_) clock_hand_ -= next_entry_;
    if (IsReclaimable(flow, oldest_pending_epoch)) found[count++] = flow;
  }
  barren_steps_ = count != 0 ? 0 : barren_steps_ + steps;
  const uint32_t wanted = std::min(count, kReclaimAtOnce);
  std::partial_sort(found, found + wanted, found + count, [this](FlowIndex a, FlowIndex b) {
    return IsBefore(IdleSince(a), IdleSince(b));
  });
  for (uint32_t i = 0; i < wanted; i++) {
    if (i != 0 && !IsBefore(IdleSince(found[i]) + kLongIdleEpochs, oldest_pending_epoch)) break;
    GiveUp(found[i]);
  }
  return count != 0;
}

void FlowTable::GiveUp(FlowIndex flow) {
  Unlink(flow);
  Release(flow);
  reclaimed_++;
}

uint32_t FlowTable::stale_share() const {
  return std::min<uint32_t>(end_entry_, capacity() / kStalePasses + 1);
}

void FlowTable::ReleaseStale(uint32_t count, uint32_t epoch, uint16_t running, uint16_t previous) {
  for (uint32_t step = 0; step < count; step++) {
    const FlowIndex flow = stale_hand_;
    stale_hand_ = stale_hand_ + 1 >= end_entry_ ? 0 : stale_hand_ + 1;
    const FlowEntry& entry = entries_[flow];
    const bool is_stale = epoch - entry.last_epoch > kStaleEpochs ||
                          (entry.generation != running && entry.generation != previous);
    if (!is_stale || !IsReclaimable(flow, epoch)) continue;
    Unlink(flow);
    Release(flow);
  }
}

bool FlowTable::Link(FlowIndex flow, uint64_t hash, uint32_t oldest_pending_epoch) {
  const size_t home = BucketOf(hash, bucket_mask_);
  Bucket* bucket = &buckets_[home];
  int spills = 0;
  for (;;) {
    const uint32_t empty = TagMatches(bucket->tags, 0);
    if (empty != 0) {
      const int way = FirstWay(empty);
      bucket->tags[way] = TagOf(hash, SaltOf(entries_[flow].generation));
      bucket->flows[way] = flow;
      home_[flow] = static_cast<uint32_t>(home);
      NotePresence(home);
      return true;
    }
    if (bucket->overflow == 0) {
      if (spills < kMaxSpills) bucket->overflow = TakeOverflow();
      if (bucket->overflow == 0) {
        // No room here, but maybe for somebody else's old entry.
        return GiveUpIn(home, oldest_pending_epoch) && Link(flow, hash, oldest_pending_epoch);
      }
    }
    spills++;
    bucket = &overflow_[bucket->overflow - 1];
  }
}

// The longest untouched entry that a full bucket or its overflow holds.
bool FlowTable::GiveUpIn(size_t home, uint32_t oldest_pending_epoch) {
  FlowIndex victim = kNoFlow;
  for (const Bucket* bucket = &buckets_[home];; bucket = &overflow_[bucket->overflow - 1]) {
    for (int way = 0; way < kWays; way++) {
      const FlowIndex old = bucket->flows[way];
      if (!IsReclaimable(old, oldest_pending_epoch)) continue;
      if (victim == kNoFlow || IsBefore(IdleSince(old), IdleSince(victim))) victim = old;
    }
    if (bucket->overflow == 0) break;
  }
  if (victim == kNoFlow) return false;
  GiveUp(victim);
  return true;
}

uint32_t FlowTable::TakeOverflow() {
  if (free_overflow_ != 0) {
    const uint32_t taken = free_overflow_;
    free_overflow_ = overflow_[taken - 1].overflow;
    overflow_[taken - 1] = Bucket{};
    return taken;
  }
  if (next_overflow_ == overflow_.count()) return 0;
  return ++next_overflow_;
}

void FlowTable::Unlink(FlowIndex flow) {
  Bucket* bucket = &buckets_[home_[flow]];
  uint32_t* link = nullptr;
  for (;;) {
    for (int way = 0; way < kWays; way++) {
      if (bucket->tags[way] == 0 || bucket->flows[way] != flow) continue;
      bucket->tags[way] = 0;
      const bool is_empty = TagMatches(bucket->tags, 0) == 0xffff;
      if (link != nullptr && is_empty) {
        const uint32_t freed = *link;
        *link = bucket->overflow;
        bucket->overflow = free_overflow_;
        free_overflow_ = freed;
      }
      NotePresence(home_[flow]);
      return;
    }
    if (bucket->overflow == 0) return;
    link = &bucket->overflow;
    bucket = &overflow_[*link - 1];
  }
}

// Of a bucket that has spilled nothing is told.
void FlowTable::NotePresence(size_t home) {
  const Bucket& bucket = buckets_[home];
  uint32_t word = bucket.overflow != 0 ? UINT32_MAX : 0;
  for (const uint16_t tag : bucket.tags) word |= tag != 0 ? 1u << PresenceBit(tag) : 0;
  presence_[home] = word;
}

void FlowTable::Release(FlowIndex flow) {
  FlowEntry& entry = entries_[flow];
  if (entry.block != kNoBlock && entry.block != kNearBlock) {
    blocks_.Free(entry.block, size_t{1} << entry.block_class_bytes_log2);
  }
  entry.block = kNoBlock;
  entry.key.ip_family = 0;
  entry.last_epoch = kFree;
  entry.hash = free_entry_;
  entry.set = kNoFlow;
  entry.connection = kInChain;
  if (free_entry_ != kNoFlow) entries_[free_entry_].set = flow;
  free_entry_ = flow;
  count_--;
}

}  // namespace trumpet
