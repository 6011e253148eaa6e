// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/verdict/event_verdicts.h"

#include <algorithm>
#include <utility>

#include "lib/model/bucket_key.h"

namespace trumpet {

EventVerdicts::EventVerdicts(std::shared_ptr<const TriggerPlan> plan, Nanos from, bool is_offline,
                             uint64_t hash_seed)
    : plan_(std::move(plan)),
      predicate_(std::make_unique<VerdictPredicate>(*plan_)),
      interval_ns_(plan_->spec.interval_ns()),
      next_(CellOf(from, interval_ns_)),
      interrupted_before_(is_offline ? INT64_MIN : from),
      hash_seed_(hash_seed),
      store_(EmptyStore()),
      spare_(EmptyStore()) {
  status_.event_id = plan_->spec.id;
  if (is_none()) store_.Add({});  // there from the start, with packets or without
}

BucketStore EventVerdicts::EmptyStore() const {
  return {MaxBucketKeyBytes(plan_->spec.granularity), plan_->word_count, hash_seed_};
}

bool EventVerdicts::TakeOver(std::shared_ptr<const TriggerPlan> plan) {
  if (plan->spec.interval_ns() != interval_ns_ || plan->word_count != plan_->word_count ||
      !(plan->spec.granularity == plan_->spec.granularity)) {
    return false;
  }
  predicate_ = std::make_unique<VerdictPredicate>(*plan);
  plan_ = std::move(plan);
  return true;
}

bool EventVerdicts::Add(const PartialView& partial) {
  const int64_t interval = CellOf(partial.epoch_start, interval_ns_);
  if (interval < next_) return false;
  if (interval == next_) {
    // Without granularity there is one bucket.
    const uint32_t guess = is_none() ? store_.oldest() : kNoBucket;
    AddToNext(partial.bucket_key, partial.words, partial.is_unscaled, guess);
  } else {
    Keep(partial, AheadOf(interval));
  }
  return true;
}

EventVerdicts::Ahead* EventVerdicts::AheadOf(int64_t interval) {
  const auto found = ahead_.find(interval);
  if (found != ahead_.end()) return &found->second;
  Ahead* const ahead = &ahead_.emplace(interval, Ahead{EmptyStore()}).first->second;
  std::swap(ahead->store, spare_);
  return ahead;
}

void EventVerdicts::Keep(const PartialView& partial, Ahead* ahead) {
  BucketStore& store = ahead->store;
  uint32_t index = store.Find(partial.bucket_key);
  if (index == kNoBucket) {
    if (store.count() >= SaidBuckets() || (ahead_count_ >= ahead_limit_ && !is_none())) {
      ++status_.buckets_evicted;
      ahead->has_evicted = true;
      return;
    }
    index = store.Add(partial.bucket_key);
    ++ahead_count_;
    std::copy_n(predicate_->empty_words(), plan_->word_count, store.words(index));
  }
  store.bucket(index).is_unscaled |= partial.is_unscaled;
  MergeCells(plan_->cells, partial.words, store.words(index));
}

void EventVerdicts::Replay(const Ahead& ahead) {
  const BucketStore& store = ahead.store;
  for (uint32_t index = store.oldest(); index != kNoBucket; index = store.Newer(index)) {
    AddToNext(store.key(index), store.words(index), store.is_unscaled(index));
  }
  has_evicted_ |= ahead.has_evicted;
  ahead_count_ -= store.count();
}

uint32_t EventVerdicts::AddToNext(std::string_view key, const uint64_t* words, bool is_unscaled,
                                  uint32_t guess) {
  const uint32_t index = store_.Has(guess, key) ? guess : FindOrAdd(key);
  if (index == kNoBucket) return kNoBucket;
  Bucket& bucket = store_.bucket(index);
  if (bucket.last_packet != next_) {
    bucket.last_packet = next_;
    bucket.is_unscaled = false;
    std::copy_n(predicate_->empty_words(), plan_->word_count, store_.words(index));
    store_.MakeNewest(index);
  }
  bucket.is_unscaled |= is_unscaled;
  MergeCells(plan_->cells, words, store_.words(index));
  return index;
}

void EventVerdicts::EmptyNext() {
  for (uint32_t index = store_.oldest(); index != kNoBucket; index = store_.Newer(index)) {
    Bucket& bucket = store_.bucket(index);
    if (bucket.last_packet != next_) continue;
    bucket.is_unscaled = false;
    ResetCells(plan_->cells, store_.words(index));
  }
}

uint32_t EventVerdicts::FindOrAdd(std::string_view key) {
  if (store_.count() < MaxBuckets()) return store_.FindOrAdd(key);
  const uint32_t index = store_.Find(key);
  return index != kNoBucket ? index : AddByEviction(key);
}

size_t EventVerdicts::SaidBuckets() const {
  const uint32_t said = plan_->spec.max_buckets;
  return said != 0 ? said : kDefaultMaxBuckets;
}

// With no room, the bucket idle for longest goes, unless it has packets in this interval: then the
// newcomer is turned away, kNoBucket.  A flood of buckets so cannot wash away those that were there
// before it.
uint32_t EventVerdicts::AddByEviction(std::string_view key) {
  ++status_.buckets_evicted;
  has_evicted_ = true;
  const uint32_t oldest = store_.oldest();
  if (oldest == kNoBucket || store_.bucket(oldest).last_packet == next_) return kNoBucket;
  if (store_.bucket(oldest).is_told) told_evicted_.emplace_back(store_.key(oldest));
  store_.Remove(oldest);
  return store_.Add(key);
}

Nanos EventVerdicts::NextEnd() const {
  Nanos end = 0;
  if (__builtin_mul_overflow(next_ + 1, interval_ns_, &end) || end > end_at_) return INT64_MAX;
  return end;
}

bool EventVerdicts::IsQuiet() const {
  if (!is_none()) return store_.count() == 0;
  const Bucket& bucket = store_.bucket(store_.oldest());
  return bucket.last_packet != next_ && !bucket.is_told && !predicate_->can_fire_empty();
}

uint64_t EventVerdicts::SkipQuiet(Nanos until) {
  if (!IsQuiet()) return 0;
  int64_t target = CellOf(std::min(until, end_at_), interval_ns_);
  if (!ahead_.empty()) target = std::min(target, ahead_.begin()->first);
  if (target <= next_) return 0;
  const auto skipped = static_cast<uint64_t>(target - next_);
  next_ = target;
  has_evicted_ = false;  // that was in an interval before
  store_.Trim();
  status_.buckets = 0;
  return skipped;
}

const std::vector<EventVerdicts::Decision>& EventVerdicts::Decide(const FlowStateMap& flows) {
  const auto ahead = ahead_.find(next_);
  if (ahead != ahead_.end()) {
    Replay(ahead->second);
    // In the switch one interval after the other comes a little ahead.  Freeing its memory each
    // time would shrink the heap, and interrupt packet threads for their address translations.
    std::swap(ahead->second.store, spare_);
    ahead_.erase(ahead);
    spare_.Clear();
    spare_.Trim();
  }
  status_.buckets = store_.count();
  ForgiveEvictions();
  decisions_.clear();
  for (uint32_t index = store_.oldest(); index != kNoBucket; index = store_.Newer(index)) {
    if (SaysNothing(index)) continue;
    Decision decision{store_.key(index), index, false, 0, {}};
    if (TestBucket(index, flows, &decision)) decisions_.push_back(std::move(decision));
  }
  for (const std::string& key : told_evicted_) {
    decisions_.push_back({key, kNoBucket, true, kBucketEvicted, {}});
  }
  SortDecisions();
  return decisions_;
}

// A told bucket that came again in the interval in which it was evicted goes on, or ends, by what
// it has now.
void EventVerdicts::ForgiveEvictions() {
  const auto is_back = [this](const std::string& key) {
    const uint32_t index = store_.Find(key);
    if (index != kNoBucket) store_.bucket(index).is_told = true;
    return index != kNoBucket;
  };
  told_evicted_.erase(std::remove_if(told_evicted_.begin(), told_evicted_.end(), is_back),
                      told_evicted_.end());
}

const std::vector<EventVerdicts::Decision>& EventVerdicts::DecideEnd() {
  decisions_.clear();
  for (uint32_t index = store_.oldest(); index != kNoBucket; index = store_.Newer(index)) {
    if (!store_.bucket(index).is_told) continue;
    store_.bucket(index).is_told = false;
    decisions_.push_back({store_.key(index), index, true, kEventEnded, {}});
  }
  SortDecisions();
  return decisions_;
}

void EventVerdicts::SortDecisions() {
  std::sort(decisions_.begin(), decisions_.end(),
            [](const Decision& a, const Decision& b) { return a.key < b.key; });
}

void EventVerdicts::Finish() {
  if (KeepsAny()) {
    // The newest first: what comes again in the same order then has the same places again.
    for (uint32_t index = store_.newest(); index != kNoBucket;) {
      const uint32_t older = store_.Older(index);
      if (!IsKept(store_.bucket(index))) store_.Remove(index);
      index = older;
    }
  } else {
    store_.Clear();
  }
  store_.Trim();
  told_evicted_.clear();
  has_evicted_ = false;
  ++next_;
}

uint32_t EventVerdicts::Relevant(uint32_t reasons) const {
  if (!predicate_->uses_connections()) reasons &= ~static_cast<uint32_t>(kConnectionEvicted);
  if (!predicate_->uses_tcp()) reasons &= ~static_cast<uint32_t>(kSplitConnection);
  return reasons;
}

// Tests one bucket in the interval and keeps its run; true if there is something to tell.
bool EventVerdicts::TestBucket(uint32_t index, const FlowStateMap& flows, Decision* decision) {
  Bucket& bucket = store_.bucket(index);
  FlowInstants flow;
  Verdict verdict;
  if (IsTested(bucket)) {
    const bool has_packets = bucket.last_packet == next_;
    const uint64_t* words = has_packets ? store_.words(index) : predicate_->empty_words();
    if (plan_->uses_flow_state) flow = flows.Read(store_.key(index), NextStart(), NextEnd());
    if (!predicate_->IsBelowThreshold(words)) verdict = predicate_->Test(words, flow);
  }
  if (verdict.fires) {
    if (bucket.last_true != next_ - 1) bucket.run = 0;
    if (bucket.run != UINT32_MAX) ++bucket.run;
    bucket.last_true = next_;
  }
  const bool is_due = verdict.fires && bucket.run >= plan_->spec.for_count;
  decision->is_clear = bucket.is_told && !is_due;
  if (flow.is_doubtful()) decision->reasons |= kSplitConnection;
  if (is_due) decision->verdict = std::move(verdict);
  if (decision->is_clear) bucket.is_told = false;
  return is_due || decision->is_clear;
}

// A test that cannot succeed is left out: it would end a run just like no test.
// Most buckets: they have packets, far too few to fire, and nobody was told of them.
bool EventVerdicts::SaysNothing(uint32_t index) const {
  const Bucket& bucket = store_.bucket(index);
  return bucket.last_packet == next_ && !bucket.is_told &&
         predicate_->IsBelowThreshold(store_.words(index));
}

bool EventVerdicts::IsTested(const Bucket& bucket) const {
  if (bucket.last_packet == next_) return true;
  if (!predicate_->can_fire_empty()) return false;
  return is_none() || next_ - bucket.last_packet <= kTailIntervals;
}

// Worth keeping for the next interval: for its tail, its run, or the end of its run.  The last test
// of a tail can begin a longer run.
bool EventVerdicts::IsKept(const Bucket& bucket) const {
  if (is_none()) return true;
  if (predicate_->can_fire_empty() && next_ - bucket.last_packet < kTailIntervals) return true;
  if (bucket.is_told) return true;
  return plan_->spec.for_count > 1 && bucket.last_true == next_;
}

bool EventVerdicts::KeepsAny() const {
  uint32_t index = store_.oldest();
  while (index != kNoBucket && !IsKept(store_.bucket(index))) index = store_.Newer(index);
  return index != kNoBucket;
}

Report EventVerdicts::MakeReport(const Decision& decision, uint32_t reasons) {
  reasons |= decision.reasons;
  if (has_evicted_) reasons |= kBucketEvicted;
  if (NextStart() < interrupted_before_) reasons |= kMonitorInterrupted;
  Report report;
  report.event_id = plan_->spec.id;
  report.event = plan_->spec.name;
  report.severity = plan_->spec.severity;
  report.bucket_key = decision.key;
  report.bucket_json = BucketToJson(plan_->spec.granularity, decision.key);
  report.start_ns = NextStart();
  report.end_ns = NextStart() + interval_ns_;
  report.value = decision.verdict.value;
  report.threshold = decision.verdict.threshold;
  report.incomplete_reasons = reasons;
  if (decision.is_clear) return report;
  const Bucket& bucket = store_.bucket(decision.bucket);
  report.is_unscaled = plan_->uses_rwnd && bucket.last_packet == next_ && bucket.is_unscaled;
  ++status_.reports;
  status_.last_report_end_ns = report.end_ns;
  return report;
}

EventStatus EventVerdicts::Status() const {
  EventStatus status = status_;
  status.buckets = std::max<uint64_t>(status.buckets, store_.count());
  return status;
}

}  // namespace trumpet
