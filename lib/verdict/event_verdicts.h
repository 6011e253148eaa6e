// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// EventVerdicts: the buckets of one event, from its first interval on, decided interval by
// interval.
//
// A part of HostVerdicts, which says in which order things are called.
//
// Threads: one.  Memory: at most EventSpec::max_buckets buckets, plus partials that arrived ahead
// of their interval.

#ifndef TRUMPET_LIB_VERDICT_EVENT_VERDICTS_H
#define TRUMPET_LIB_VERDICT_EVENT_VERDICTS_H

#include <cstdint>
#include <map>
#include <memory>
#include <string>
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

  // End of the next interval to decide; INT64_MAX when there is none.
  Nanos NextEnd() const;
  Nanos NextStart() const { return next_ * interval_ns_; }

  // Passes over intervals that end by `until` and in which nothing can happen; returns how many.
  uint64_t SkipQuiet(Nanos until);

  // Decides the next interval.  `reasons`: what is known to be missing of the packets in it.
  void Decide(const FlowStateMap& flows, uint32_t reasons, std::vector<Report>* reports);

  const TriggerPlan& plan() const { return *plan_; }
  bool uses_connections() const { return predicate_->uses_connections(); }
  bool uses_tcp() const { return predicate_->uses_tcp(); }
  EventStatus Status() const;

 private:
  // Partials of one interval that is not next yet.
  struct Ahead {
    struct Entry {
      size_t key_bytes;
      bool is_unscaled;
    };
    std::vector<Entry> entries;
    std::string keys;
    std::vector<uint64_t> words;
  };
  struct Fired {
    uint32_t bucket;
    uint32_t reasons;  // of its own
    Verdict verdict;
  };

  bool is_none() const { return plan_->spec.granularity.is_none(); }
  void Keep(const PartialView& partial, Ahead* ahead);
  void Replay(const Ahead& ahead);
  void Merge(std::string_view key, const uint64_t* words, bool is_unscaled);
  uint32_t AddBucket(std::string_view key);
  uint32_t MaxBuckets() const;
  bool TestBucket(uint32_t index, const FlowStateMap& flows, Fired* fired);
  bool IsTested(const Bucket& bucket) const;
  bool IsKept(const Bucket& bucket) const;
  Report MakeReport(const Fired& fired, uint32_t reasons);

  std::shared_ptr<const TriggerPlan> plan_;
  std::unique_ptr<VerdictPredicate> predicate_;
  Nanos interval_ns_;
  int64_t next_;              // number of the next interval to decide
  Nanos interrupted_before_;  // intervals that began before this miss packets
  Nanos end_at_ = INT64_MAX;
  BucketStore store_;
  std::map<int64_t, Ahead> ahead_;  // by interval number
  std::vector<Fired> fired_;        // of the interval being decided
  bool has_evicted_ = false;        // in the next interval
  EventStatus status_;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_VERDICT_EVENT_VERDICTS_H
