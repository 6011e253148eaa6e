// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// EventFeed: what a host tells the controller of one event of scope network.
//
// Merges what the packet threads counted, bucket by bucket and interval by interval, and hands out
// the cells of each bucket once per interval: of every bucket with packets, or, if the host has a
// share of the event's threshold (threshold_split.h), of those that reach it.  Then the last
// kHistoryIntervals intervals are kept for Answer(), as the controller asks about buckets that
// others reported.
//
// What crosses the wire: OnCells() as Partials (or Report with words), Answer() as PollAnswer,
// SetShare() from Trigger.local_predicate.  After Close(until) the host says IntervalEnd{until}.
//
// Threads: one (the agent).  May allocate.
// Memory: in each interval at most EventSpec::max_buckets buckets, in the intervals kept together
// twice as many besides those of the latest; the oldest go first.  All feeds with one FeedBudget
// together have no more than that says; where it ends, a feed first forgets what it keeps.
// Newcomers beyond that are turned away, counted, and mark the interval kBucketEvicted.

#ifndef TRUMPET_LIB_VERDICT_EVENT_FEED_H
#define TRUMPET_LIB_VERDICT_EVENT_FEED_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "lib/base/units.h"
#include "lib/verdict/bucket_store.h"
#include "lib/verdict/host_verdicts.h"
#include "lib/verdict/threshold_split.h"

namespace trumpet {

constexpr int kHistoryIntervals = 16;  // answered for, after their end

// A host's share of a threshold.  Generations rise; the controller sees to it that the shares of
// all hosts fit together in every interval.
struct ThresholdShare {
  uint64_t generation = 0;
  Int128 share = 0;  // 1: every bucket with something to sum is reported
  // In intervals that start then or later; until then, no more than `share`, and no more than what
  // was said before.
  Nanos from = INT64_MIN;
};

enum class FeedAnswer : uint8_t {
  kValues,
  kNoPackets,
  kNoLongerKnown,
  kNotYet,  // the interval has not been closed
};

// Buckets of all feeds that share it.
struct FeedBudget {
  size_t max = SIZE_MAX;
  size_t used = 0;
};

class FeedSink {
 public:
  virtual ~FeedSink() = default;
  // The cells of a bucket in the interval [epoch_start, epoch_end), all of them, once.
  virtual void OnCells(const PartialView& cells) = 0;
  // Some of the interval's packets are missing, for these reasons of the feed's own.
  virtual void OnIncomplete(uint32_t event_id, Nanos start, Nanos end, uint32_t reasons) = 0;
};

class EventFeed {
 public:
  // Begins with the interval that holds `from`.  `budget` may be null, and must outlive the feed.
  EventFeed(std::shared_ptr<const TriggerPlan> plan, Nanos from, uint64_t hash_seed,
            FeedBudget* budget = nullptr);
  ~EventFeed();
  EventFeed(const EventFeed&) = delete;
  EventFeed& operator=(const EventFeed&) = delete;

  // Goes on with another plan of the same event; false if it counts something else.
  bool TakeOver(std::shared_ptr<const TriggerPlan> plan);

  // The split must be sound.  Returns the start of the first interval that no larger share counts
  // in: to be acknowledged with the generation.  Older generations are ignored: INT64_MAX.
  Nanos SetShare(const ThresholdShare& share);
  // As if none had been set: every bucket is reported, and shares are counted anew.
  void ForgetShares();
  // That counts in the interval that starts at `start`; 0: every bucket is reported.
  Int128 ShareAt(Nanos start) const { return ShareIn(CellOf(start, interval_ns_)); }

  // What a thread counted.  False: the interval was closed before.
  bool Add(const PartialView& partial);

  // Closes all intervals that end at or before `until`, when every thread has delivered until then.
  void Close(Nanos until, FeedSink* sink);

  // The cells of a bucket in the interval that starts at `start`; a view, until the next call.
  FeedAnswer Answer(std::string_view bucket_key, Nanos start, PartialView* cells) const;

  const TriggerPlan& plan() const { return *plan_; }
  const ThresholdSplit& split() const { return split_; }
  uint64_t buckets_evicted() const { return buckets_evicted_; }
  size_t bucket_count() const { return bucket_count_; }  // in all intervals
  Nanos next_start() const { return next_ * interval_ns_; }

  // Forgets the oldest interval that is kept for Answer(); false if there is none.
  bool ForgetOldest();

 private:
  struct Interval {
    explicit Interval(const TriggerPlan& plan, uint64_t hash_seed);
    BucketStore cells;
    bool has_evicted = false;
  };

  void Hand(int64_t number, Interval* interval, FeedSink* sink);
  Int128 ShareIn(int64_t number) const;
  void Forget();
  void EraseBefore(std::map<int64_t, Interval>::iterator first_kept);
  bool HasRoom(const Interval& interval);

  std::shared_ptr<const TriggerPlan> plan_;
  ThresholdSplit split_;
  Nanos interval_ns_;
  size_t max_key_bytes_;
  uint64_t hash_seed_;
  int64_t next_;                           // number of the first interval not closed
  int64_t first_;                          // and of the first one ever
  std::map<int64_t, Interval> intervals_;  // by number, open ones and those kept
  std::vector<ThresholdShare> shares_;     // by `from`; empty: there are none
  uint64_t share_generation_ = 0;
  uint64_t buckets_evicted_ = 0;
  FeedBudget* budget_;
  size_t bucket_count_ = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_VERDICT_EVENT_FEED_H
