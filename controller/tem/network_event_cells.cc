// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What hosts deliver for an interval: where it waits, and how it is merged.

#include <algorithm>

#include "controller/tem/network_event.h"
#include "lib/model/bucket_key.h"

namespace trumpet {

NetworkEvent::Waiting& NetworkEvent::At(int64_t interval) {
  const auto [at, is_new] = waiting_.try_emplace(interval, max_key_bytes_, word_count_, hash_seed_);
  if (is_new) std::swap(at->second.cells, spare_);
  return at->second;
}

// Something of what the host counted then is not here, should it owe the interval.
void NetworkEvent::Mark(uint32_t host, int64_t interval, uint32_t reason) {
  (*hosts_)[host]->incomplete_of[plan().spec.id].Add(StartOf(interval), StartOf(interval + 1),
                                                     reason);
}

void NetworkEvent::MarkWaiting(Nanos instant) {
  for (const auto& [interval, waiting] : waiting_) {
    const CellTable& cells = waiting.cells;
    if (StartOf(interval + 1) <= instant || cells.count() == 0) continue;
    for (uint32_t index = cells.First(); index != kNoBucket; index = cells.Next(index)) {
      Mark(cells.host(index), interval, kMonitorInterrupted);
    }
  }
}

// Where `count` cells of the host go that counted in the interval from `start` on; null: nowhere.
// What comes before the host has said that it counts the event may be of a life of it before, with
// another predicate: it is dropped, and the interval marked, should the host turn out to owe it.
NetworkEvent::Waiting* NetworkEvent::Admit(uint32_t host, Nanos start, size_t word_count,
                                           size_t count) {
  const int64_t interval = CellOf(start, interval_ns_);
  const Member* member = FindMember(host);
  if (member == nullptr || !Owes(*member, interval)) {
    counters_.strangers += count;
    if (interval >= next()) Mark(host, interval, kMonitorInterrupted);
  } else if (word_count != word_count_) {
    counters_.malformed += count;
  } else if (interval < next()) {
    counters_.late_partials += count;
  } else if (interval - next() >= limits_.max_ahead_intervals) {
    counters_.early_partials += count;
    Mark(host, interval, kBucketEvicted);
  } else {
    Waiting* const waiting = &At(interval);
    if (interval == next()) MergeFirst(waiting);
    return waiting;
  }
  return nullptr;
}

void NetworkEvent::Add(uint32_t host, const PartialView& partial, size_t word_count, Nanos now) {
  Waiting* const waiting = Admit(host, partial.epoch_start, word_count, 1);
  if (waiting == nullptr) return;
  if (!IsBucketKey(plan().spec.granularity, partial.bucket_key)) {
    ++counters_.malformed;
    return;
  }
  Store(host, partial, waiting);
  if (shares_) NoteReported(host, partial.bucket_key, now, waiting);
}

void NetworkEvent::Add(uint32_t host, const Partials& partials) {
  Waiting* const waiting =
      Admit(host, partials.start_ns, partials.words_per_bucket, partials.bucket_count());
  if (waiting == nullptr) return;
  PartialView view;
  partials.Visit([&](std::string_view key, const uint64_t* words, bool is_unscaled) {
    if (!IsBucketKey(plan().spec.granularity, key)) {
      ++counters_.malformed;
      return;
    }
    view.bucket_key = key;
    view.words = words;
    view.is_unscaled = is_unscaled;
    Store(host, view, waiting);
    if (shares_) NoteReported(host, key, /*now=*/0, waiting);
  });
}

void NetworkEvent::Store(uint32_t host, const PartialView& partial, Waiting* waiting) {
  CellTable& cells = waiting->cells;
  uint32_t index = kNoBucket;
  if (!cells.FindOrAdd(host, partial.bucket_key, &index)) {
    ++counters_.replaced_partials;
    MergeLater(waiting);
  } else if (Charge(BytesPerCell(), waiting)) {
    ++counters_.partials;
  } else {
    cells.Remove(index);
    ++counters_.refused_partials;
    return;
  }
  std::copy_n(partial.words, word_count_, cells.words(index));
  cells.SetUnscaled(index, partial.is_unscaled);
  if (waiting->merging != Merging::kAsTheyCome) return;
  if (verdicts_.HasRoom()) {
    Merge(index, &cells);
  } else {
    MergeLater(waiting);
  }
}

size_t NetworkEvent::BytesPerCell() const {
  return CellTable::kBytesPerCell + max_key_bytes_ + 8 * word_count_;
}

// Takes `bytes` of what may wait; if there is no room, the interval is marked.
bool NetworkEvent::Charge(size_t bytes, Waiting* waiting) {
  if (waiting_bytes_ + bytes > options_.max_waiting_bytes ||
      budget_->bytes + bytes > budget_->max_bytes) {
    waiting->reasons |= kBucketEvicted;
    return false;
  }
  waiting->bytes += bytes;
  waiting_bytes_ += bytes;
  budget_->bytes += bytes;
  return true;
}

// Gives back what Charge() took.
void NetworkEvent::Release(size_t bytes, Waiting* waiting) {
  waiting->bytes -= bytes;
  waiting_bytes_ -= bytes;
  budget_->bytes -= bytes;
}

// A late state is taken in, too: verdicts to come are better for it.
void NetworkEvent::Add(uint32_t host, const FlowStateUpdate& update, Nanos flow_timeout_ns) {
  if (!plan().uses_flow_state) return;
  const int64_t interval = CellOf(update.epoch_end - 1, interval_ns_);
  if (interval - next() >= limits_.max_ahead_intervals ||
      flows_.queued_count() >= options_.max_queued_flow_states ||
      budget_->bytes + FlowStateMap::kBytesPerQueued > budget_->max_bytes) {
    ++counters_.refused_flow_states;
    const Nanos start = std::max(update.epoch_start, verdicts_.NextStart());
    (*hosts_)[host]->incomplete_of[plan().spec.id].Add(start, std::max(update.epoch_end, start),
                                                       kConnectionEvicted);
    return;
  }
  if (interval < next()) ++counters_.late_flow_states;
  flows_.Queue(update, flow_timeout_ns);
  CountQueuedFlows();
}

void NetworkEvent::ApplyFlows(Nanos until) {
  flows_.ApplyUntil(until);
  CountQueuedFlows();
}

void NetworkEvent::CountQueuedFlows() {
  const size_t bytes = flows_.queued_count() * FlowStateMap::kBytesPerQueued;
  budget_->bytes += bytes - queued_bytes_;
  queued_bytes_ = bytes;
}

// --- merging -----------------------------------------------------------------------------------

void NetworkEvent::LimitBuckets() {
  const size_t room = budget_->max_buckets - std::min(budget_->max_buckets, budget_->buckets);
  verdicts_.LimitBuckets(buckets_counted_ + room);
}

void NetworkEvent::MergeAll(Waiting* waiting) {
  CellTable& cells = waiting->cells;
  for (uint32_t index = cells.First(); index != kNoBucket; index = cells.Next(index)) {
    Merge(index, &cells);
  }
}

// The interval is the next one to decide, and something more of it is coming.
void NetworkEvent::MergeFirst(Waiting* waiting) {
  if (waiting->merging != Merging::kNotYet) return;
  waiting->merging = Merging::kAsTheyCome;
  LimitBuckets();
  CellTable& cells = waiting->cells;
  if (cells.count() == 0) return;  // as nearly always: First() would pass over all old ones
  for (uint32_t index = cells.First(); index != kNoBucket; index = cells.Next(index)) {
    if (!verdicts_.HasRoom()) return MergeLater(waiting);
    Merge(index, &cells);
  }
}

// What has been merged is merged again with the rest: cells are replaced, but none goes before the
// verdict.
void NetworkEvent::MergeLater(Waiting* waiting) {
  if (waiting->merging != Merging::kAsTheyCome) return;
  waiting->merging = Merging::kInTheEnd;
  verdicts_.EmptyNext();
}

void NetworkEvent::Merge(uint32_t index, CellTable* cells) {
  uint32_t& bucket = cells->merged_into(index);
  bucket = verdicts_.AddToNext(cells->bucket_key(index), cells->words(index),
                               cells->is_unscaled(index), bucket);
}

}  // namespace trumpet
