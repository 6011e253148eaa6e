// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// EventVerdicts: the buckets of one event, from its first interval on, decided interval by
// interval.
//
// A part of HostVerdicts, which says in which order things are called; in the controller, a part
// of NetworkEvent, where hosts stand for threads.
//
// Threads: one.  Memory: at most EventSpec::max_buckets buckets, and as many of each interval whose
// partials arrived ahead of it; LimitBuckets() and LimitAhead() lower both.

#ifndef TRUMPET_LIB_VERDICT_EVENT_VERDICTS_H
#define TRUMPET_LIB_VERDICT_EVENT_VERDICTS_H

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/verdict/bucket_store.h"
#include "lib/verdict/host_verdicts.h"
#include "lib/verdict/verdict_predicate.h"

namespace trumpet {

class EventVerdicts {
 public:
  // Decides the interval that holds `from` and all later ones.
  EventVerdicts(std::shared_ptr<const TriggerPlan> plan, Nanos from, bool is_offline,
                uint64_t hash_seed);

  // Goes on with another plan of the same event; false if it counts something else.
  bool TakeOver(std::shared_ptr<const TriggerPlan> plan);

  // No interval that ends after `instant` is decided.
  void EndAt(Nanos instant) { end_at_ = instant; }

  // False: its interval was decided already.
  bool Add(const PartialView& partial);
  // Cells of a bucket in the next interval to decide.  Returns where they went, which is a good
  // guess for the next time, also in later intervals; kNoBucket: nowhere, or no guess.
  uint32_t AddToNext(std::string_view key, const uint64_t* words, bool is_unscaled,
                     uint32_t guess = kNoBucket);
  // Can AddToNext() take in cells of any bucket, and none goes for it?
  bool HasRoom() const { return store_.count() < MaxBuckets(); }
  // Buckets that AddToNext() has taken in have no packets: the cells of all of them come again.
  void EmptyNext();

  // End of the next interval to decide; INT64_MAX when there is none.
  Nanos NextEnd() const;
  Nanos NextStart() const { return next_ * interval_ns_; }

  // Nothing is known of that could make something happen in the intervals to come.
  bool IsQuiet() const;
  // Passes over intervals that end by `until` and in which nothing can happen; returns how many.
  uint64_t SkipQuiet(Nanos until);

  struct Decision {
    std::string_view key;  // of the bucket; valid until Finish()
    uint32_t bucket;       // kNoBucket: it was evicted
    bool is_clear;         // the bucket was told, and no longer satisfies
    uint32_t reasons;      // its own
    Verdict verdict;       // of nothing, in a clear
  };

  // Decides the next interval: buckets for which a report is due, or the end of a told run, in the
  // order of their keys.  Finish() must follow, and goes on to the interval after.
  const std::vector<Decision>& Decide(const FlowStateMap& flows);
  // When no interval is decided any more: the runs that somebody was told of, as clears of the
  // interval that would be next.
  const std::vector<Decision>& DecideEnd();
  // `reasons`: what is known to be missing of the packets in the interval.
  Report MakeReport(const Decision& decision, uint32_t reasons);
  void Finish();

  // Between Decide() and Finish(): somebody was told of the bucket's run and is to hear of its end,
  // once, as a decision of the first interval that does not go on with it.
  void MarkTold(uint32_t bucket) { store_.bucket(bucket).is_told = true; }

  // Those of `reasons` that can touch this event.
  uint32_t Relevant(uint32_t reasons) const;

  // A cap below that of the plan, from now on.
  void LimitBuckets(size_t count) { limit_ = count; }
  size_t bucket_count() const { return store_.count(); }
  // Likewise, of the buckets that wait for their intervals, one for each.
  void LimitAhead(size_t count) { ahead_limit_ = count; }
  size_t ahead_count() const { return ahead_count_; }

  const TriggerPlan& plan() const { return *plan_; }
  const VerdictPredicate& predicate() const { return *predicate_; }
  EventStatus Status() const;
  uint64_t buckets_evicted() const { return status_.buckets_evicted; }

 private:
  // What is known of one interval that is not next yet.  Only the first max_buckets of its buckets
  // could find room when it is, so no more are kept.
  struct Ahead {
    BucketStore store;  // in the order of their arrival
    bool has_evicted = false;
  };
  bool is_none() const { return plan_->spec.granularity.is_none(); }
  BucketStore EmptyStore() const;
  Ahead* AheadOf(int64_t interval);
  void Keep(const PartialView& partial, Ahead* ahead);
  void Replay(const Ahead& ahead);
  uint32_t FindOrAdd(std::string_view key);
  uint32_t AddByEviction(std::string_view key);
  size_t SaidBuckets() const;
  size_t MaxBuckets() const { return std::min(SaidBuckets(), limit_); }
  void ForgiveEvictions();
  void SortDecisions();
  bool TestBucket(uint32_t index, const FlowStateMap& flows, Decision* decision);
  bool SaysNothing(uint32_t index) const;
  bool IsTested(const Bucket& bucket) const;
  bool IsKept(const Bucket& bucket) const;
  bool KeepsAny() const;

  std::shared_ptr<const TriggerPlan> plan_;
  std::unique_ptr<VerdictPredicate> predicate_;
  Nanos interval_ns_;
  int64_t next_;              // number of the next interval to decide
  Nanos interrupted_before_;  // intervals that began before this miss packets
  Nanos end_at_ = INT64_MAX;
  uint64_t hash_seed_;
  BucketStore store_;
  std::map<int64_t, Ahead> ahead_;  // by interval number
  size_t ahead_count_ = 0;          // buckets of all of them
  BucketStore spare_;               // memory of the last one that had its turn
  size_t ahead_limit_ = SIZE_MAX;
  std::vector<Decision> decisions_;        // of the interval being decided
  std::vector<std::string> told_evicted_;  // keys of told buckets evicted in the next interval
  size_t limit_ = SIZE_MAX;
  bool has_evicted_ = false;  // in the next interval
  EventStatus status_;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_VERDICT_EVENT_VERDICTS_H
