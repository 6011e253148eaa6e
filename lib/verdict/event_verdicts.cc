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
      store_(MaxBucketKeyBytes(plan_->spec.granularity), plan_->word_count, hash_seed) {
  status_.event_id = plan_->spec.id;
  if (is_none()) store_.Add({});  // there from the start, with packets or without
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
    Merge(partial.bucket_key, partial.words, partial.is_unscaled);
  } else {
    Keep(partial, &ahead_[interval]);
  }
  return true;
}

void EventVerdicts::Keep(const PartialView& partial, Ahead* ahead) {
  ahead->entries.push_back({partial.bucket_key.size(), partial.is_unscaled});
  ahead->keys.append(partial.bucket_key);
  ahead->words.insert(ahead->words.end(), partial.words, partial.words + plan_->word_count);
}

void EventVerdicts::Replay(const Ahead& ahead) {
  size_t key_at = 0;
  size_t words_at = 0;
  for (const Ahead::Entry& entry : ahead.entries) {
    const std::string_view key(ahead.keys.data() + key_at, entry.key_bytes);
    Merge(key, ahead.words.data() + words_at, entry.is_unscaled);
    key_at += entry.key_bytes;
    words_at += plan_->word_count;
  }
}

void EventVerdicts::Merge(std::string_view key, const uint64_t* words, bool is_unscaled) {
  uint32_t index = store_.Find(key);
  if (index == kNoBucket) index = AddBucket(key);
  if (index == kNoBucket) return;
  Bucket& bucket = store_.bucket(index);
  if (bucket.last_packet != next_) {
    bucket.last_packet = next_;
    bucket.is_unscaled = false;
    std::copy_n(predicate_->empty_words(), plan_->word_count, store_.words(index));
    store_.MakeNewest(index);
  }
  bucket.is_unscaled |= is_unscaled;
  MergeCells(plan_->cells, words, store_.words(index));
}

uint32_t EventVerdicts::MaxBuckets() const {
  const uint32_t said = plan_->spec.max_buckets;
  return said != 0 ? said : kDefaultMaxBuckets;
}

// With no room, the bucket idle for longest goes, unless it has packets in this interval: then the
// newcomer is turned away, kNoBucket.  A flood of buckets so cannot wash away those that were there
// before it.
uint32_t EventVerdicts::AddBucket(std::string_view key) {
  if (store_.count() >= MaxBuckets()) {
    ++status_.buckets_evicted;
    has_evicted_ = true;
    const uint32_t oldest = store_.oldest();
    if (store_.bucket(oldest).last_packet == next_) return kNoBucket;
    store_.Remove(oldest);
  }
  return store_.Add(key);
}

Nanos EventVerdicts::NextEnd() const {
  Nanos end = 0;
  if (__builtin_mul_overflow(next_ + 1, interval_ns_, &end) || end > end_at_) return INT64_MAX;
  return end;
}

uint64_t EventVerdicts::SkipQuiet(Nanos until) {
  if (is_none()) {
    Bucket& bucket = store_.bucket(store_.oldest());
    if (bucket.last_packet == next_ || predicate_->can_fire_empty()) return 0;
  } else if (store_.count() != 0) {
    return 0;
  }
  int64_t target = CellOf(std::min(until, end_at_), interval_ns_);
  if (!ahead_.empty()) target = std::min(target, ahead_.begin()->first);
  if (target <= next_) return 0;
  const auto skipped = static_cast<uint64_t>(target - next_);
  next_ = target;
  status_.buckets = 0;
  return skipped;
}

void EventVerdicts::Decide(const FlowStateMap& flows, uint32_t reasons,
                           std::vector<Report>* reports) {
  const auto ahead = ahead_.find(next_);
  if (ahead != ahead_.end()) {
    Replay(ahead->second);
    ahead_.erase(ahead);
  }
  if (has_evicted_) reasons |= kBucketEvicted;
  if (NextStart() < interrupted_before_) reasons |= kMonitorInterrupted;

  status_.buckets = store_.count();
  fired_.clear();
  for (uint32_t index = store_.oldest(); index != kNoBucket; index = store_.Newer(index)) {
    Fired fired{index, 0, {}};
    if (TestBucket(index, flows, &fired)) fired_.push_back(std::move(fired));
  }
  std::sort(fired_.begin(), fired_.end(), [this](const Fired& a, const Fired& b) {
    return store_.key(a.bucket) < store_.key(b.bucket);
  });
  for (const Fired& fired : fired_) {
    reports->push_back(MakeReport(fired, reasons | fired.reasons));
  }

  for (uint32_t index = store_.oldest(); index != kNoBucket;) {
    const uint32_t newer = store_.Newer(index);
    if (!IsKept(store_.bucket(index))) store_.Remove(index);
    index = newer;
  }
  if (store_.count() == 0) store_.Clear();
  has_evicted_ = false;
  ++next_;
}

// Tests one bucket in the interval and keeps its run; true if a report is due.
bool EventVerdicts::TestBucket(uint32_t index, const FlowStateMap& flows, Fired* fired) {
  Bucket& bucket = store_.bucket(index);
  if (!IsTested(bucket)) return false;
  const bool has_packets = bucket.last_packet == next_;
  FlowInstants flow;
  if (plan_->uses_flow_state) flow = flows.Read(store_.key(index), NextStart(), NextEnd());
  fired->verdict =
      predicate_->Test(has_packets ? store_.words(index) : predicate_->empty_words(), flow);
  if (!fired->verdict.fires) return false;
  if (flow.is_doubtful()) fired->reasons |= kSplitConnection;
  if (bucket.last_true != next_ - 1) bucket.run = 0;
  if (bucket.run != UINT32_MAX) ++bucket.run;
  bucket.last_true = next_;
  return bucket.run >= plan_->spec.for_count;
}

// A test that cannot succeed is left out: it would end a run just like no test.
bool EventVerdicts::IsTested(const Bucket& bucket) const {
  if (bucket.last_packet == next_) return true;
  if (!predicate_->can_fire_empty()) return false;
  return is_none() || next_ - bucket.last_packet <= kTailIntervals;
}

// Worth keeping for the next interval: for its tail, or for its run.  The last test of a tail can
// begin a longer run.
bool EventVerdicts::IsKept(const Bucket& bucket) const {
  if (is_none()) return true;
  if (predicate_->can_fire_empty() && next_ - bucket.last_packet < kTailIntervals) return true;
  return plan_->spec.for_count > 1 && bucket.last_true == next_;
}

Report EventVerdicts::MakeReport(const Fired& fired, uint32_t reasons) {
  const Bucket& bucket = store_.bucket(fired.bucket);
  Report report;
  report.event_id = plan_->spec.id;
  report.event = plan_->spec.name;
  report.severity = plan_->spec.severity;
  report.bucket_key = store_.key(fired.bucket);
  report.bucket_json = BucketToJson(plan_->spec.granularity, report.bucket_key);
  report.start_ns = NextStart();
  report.end_ns = NextEnd();
  report.value = fired.verdict.value;
  report.threshold = fired.verdict.threshold;
  report.is_unscaled = plan_->uses_rwnd && bucket.last_packet == next_ && bucket.is_unscaled;
  report.incomplete_reasons = reasons;
  ++status_.reports;
  status_.last_report_end_ns = report.end_ns;
  return report;
}

EventStatus EventVerdicts::Status() const {
  EventStatus status = status_;
  status.max_buckets = is_none() ? 1 : MaxBuckets();
  status.buckets = std::max<uint64_t>(status.buckets, store_.count());
  return status;
}

}  // namespace trumpet
