// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/verdict/event_feed.h"

#include <algorithm>
#include <utility>

#include "lib/model/bucket_key.h"

namespace trumpet {

EventFeed::Interval::Interval(const TriggerPlan& plan, uint64_t hash_seed)
    : cells(MaxBucketKeyBytes(plan.spec.granularity), plan.word_count, hash_seed) {}

EventFeed::EventFeed(std::shared_ptr<const TriggerPlan> plan, Nanos from, uint64_t hash_seed,
                     FeedBudget* budget)
    : plan_(std::move(plan)),
      split_(SplitThreshold(*plan_)),
      interval_ns_(plan_->spec.interval_ns()),
      max_key_bytes_(MaxBucketKeyBytes(plan_->spec.granularity)),
      hash_seed_(hash_seed),
      next_(CellOf(from, interval_ns_)),
      first_(next_),
      budget_(budget) {}

EventFeed::~EventFeed() {
  if (budget_ != nullptr) budget_->used -= bucket_count_;
}

bool EventFeed::TakeOver(std::shared_ptr<const TriggerPlan> plan) {
  if (plan->spec.interval_ns() != interval_ns_ || plan->word_count != plan_->word_count ||
      !(plan->spec.granularity == plan_->spec.granularity)) {
    return false;
  }
  plan_ = std::move(plan);
  split_ = SplitThreshold(*plan_);
  return true;
}

Nanos EventFeed::SetShare(const ThresholdShare& share) {
  if (share.generation <= share_generation_) return INT64_MAX;
  share_generation_ = share.generation;
  if (shares_.empty()) shares_.push_back({0, 1, INT64_MIN});  // everything was reported
  for (ThresholdShare& older : shares_) older.share = std::min(older.share, share.share);
  const auto superseded = std::find_if(shares_.begin(), shares_.end(),
                                       [&](const auto& older) { return older.from >= share.from; });
  shares_.erase(superseded, shares_.end());
  shares_.push_back(share);
  return next_ * interval_ns_;
}

void EventFeed::ForgetShares() {
  shares_.clear();
  share_generation_ = 0;
}

// 0: there are no shares.
Int128 EventFeed::ShareIn(int64_t number) const {
  Int128 share = 0;
  for (const ThresholdShare& one : shares_) {
    if (one.from <= number * interval_ns_) share = one.share;
  }
  return share;
}

bool EventFeed::Add(const PartialView& partial) {
  const int64_t number = CellOf(partial.epoch_start, interval_ns_);
  if (number < next_ || partial.bucket_key.size() > max_key_bytes_) return false;
  Interval& interval = intervals_.try_emplace(number, *plan_, hash_seed_).first->second;
  BucketStore& cells = interval.cells;
  uint32_t index = cells.Find(partial.bucket_key);
  if (index != kNoBucket) {
    MergeCells(plan_->cells, partial.words, cells.words(index));
  } else {
    if (!HasRoom(interval)) {
      interval.has_evicted = true;
      ++buckets_evicted_;
      return true;
    }
    index = cells.Add(partial.bucket_key);
    ++bucket_count_;
    if (budget_ != nullptr) ++budget_->used;
    std::copy_n(partial.words, plan_->word_count, cells.words(index));
  }
  cells.bucket(index).is_unscaled |= partial.is_unscaled;
  return true;
}

// What is being counted goes before what is kept of the past.
bool EventFeed::HasRoom(const Interval& interval) {
  const uint32_t said = plan_->spec.max_buckets;
  if (interval.cells.count() >= (said != 0 ? said : kDefaultMaxBuckets)) return false;
  if (budget_ == nullptr) return true;
  while (budget_->used >= budget_->max) {
    if (!ForgetOldest()) return false;
  }
  return true;
}

bool EventFeed::ForgetOldest() {
  const auto oldest = intervals_.begin();
  if (oldest == intervals_.end() || oldest->first >= next_) return false;
  first_ = std::max(first_, oldest->first + 1);
  EraseBefore(std::next(oldest));
  return true;
}

void EventFeed::EraseBefore(std::map<int64_t, Interval>::iterator first_kept) {
  for (auto gone = intervals_.begin(); gone != first_kept; ++gone) {
    bucket_count_ -= gone->second.cells.count();
    if (budget_ != nullptr) budget_->used -= gone->second.cells.count();
  }
  intervals_.erase(intervals_.begin(), first_kept);
}

void EventFeed::Close(Nanos until, FeedSink* sink) {
  const int64_t end = CellOf(until, interval_ns_);
  for (auto open = intervals_.lower_bound(next_); open != intervals_.end() && open->first < end;
       ++open) {
    Hand(open->first, &open->second, sink);
  }
  next_ = std::max(next_, end);
  Forget();
}

void EventFeed::Hand(int64_t number, Interval* interval, FeedSink* sink) {
  const Int128 share = ShareIn(number);
  PartialView view;
  view.event_id = plan_->spec.id;
  view.epoch_start = number * interval_ns_;
  view.epoch_end = view.epoch_start + interval_ns_;
  BucketStore& cells = interval->cells;
  for (uint32_t index = cells.oldest(); index != kNoBucket; index = cells.Newer(index)) {
    view.words = cells.words(index);
    if (share > 1 && split_.ValueOf(view.words) < share) continue;
    view.bucket_key = cells.key(index);
    view.is_unscaled = cells.bucket(index).is_unscaled;
    sink->OnCells(view);
  }
  if (interval->has_evicted) {
    sink->OnIncomplete(view.event_id, view.epoch_start, view.epoch_end, kBucketEvicted);
  }
}

// Without shares nobody asks.
void EventFeed::Forget() {
  if (shares_.empty()) first_ = next_;
  const int64_t oldest = shares_.empty() ? next_ : next_ - kHistoryIntervals;
  EraseBefore(intervals_.lower_bound(oldest));
  const uint32_t said = plan_->spec.max_buckets;
  size_t room = 2 * static_cast<size_t>(said != 0 ? said : kDefaultMaxBuckets);
  auto kept = intervals_.lower_bound(next_);
  if (kept != intervals_.begin()) --kept;  // the latest stays
  while (kept != intervals_.begin()) {
    const auto older = std::prev(kept);
    if (older->second.cells.count() > room) {
      first_ = std::max(first_, kept->first);
      EraseBefore(kept);
      break;
    }
    room -= older->second.cells.count();
    kept = older;
  }
  while (shares_.size() > 1 && shares_[1].from <= next_ * interval_ns_) {
    shares_.erase(shares_.begin());
  }
}

FeedAnswer EventFeed::Answer(std::string_view bucket_key, Nanos start, PartialView* cells) const {
  const int64_t number = CellOf(start, interval_ns_);
  if (number >= next_) return FeedAnswer::kNotYet;
  if (number < std::max(first_, next_ - kHistoryIntervals)) return FeedAnswer::kNoLongerKnown;
  const auto found = intervals_.find(number);
  if (found == intervals_.end()) return FeedAnswer::kNoPackets;
  const BucketStore& store = found->second.cells;
  const uint32_t index = store.Find(bucket_key);
  if (index == kNoBucket) {
    return found->second.has_evicted ? FeedAnswer::kNoLongerKnown : FeedAnswer::kNoPackets;
  }
  cells->event_id = plan_->spec.id;
  cells->epoch_start = number * interval_ns_;
  cells->epoch_end = cells->epoch_start + interval_ns_;
  cells->bucket_key = store.key(index);
  cells->words = store.words(index);
  cells->is_unscaled = store.is_unscaled(index);
  return FeedAnswer::kValues;
}

}  // namespace trumpet
