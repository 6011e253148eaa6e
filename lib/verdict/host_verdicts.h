// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// HostVerdicts: merges what the packet threads of one host counted, bucket by bucket and interval
// by interval, tests the predicates and makes reports.  (Paper, section 5: the last step of
// phase 2.)
//
// Order of calls: Add() whatever the threads delivered, then Advance(t) once every thread has
// delivered all it saw before t.  Partials may arrive ahead of time (of epochs beyond t) and are
// kept.
//
// Threads: one (the agent thread, or the offline run).  May allocate.
// Memory: per event at most EventSpec::max_buckets buckets, in all at most LimitBuckets(), and as
// many again whose partials came ahead of their interval; a bucket lives 16 intervals beyond its
// last packet.  A new bucket beyond either limit evicts the one of
// its event idle for longest, or is turned away when all of the event's have packets in the
// interval; both are counted as evictions and mark the event's reports of that interval incomplete.

#ifndef TRUMPET_LIB_VERDICT_HOST_VERDICTS_H
#define TRUMPET_LIB_VERDICT_HOST_VERDICTS_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "lib/base/units.h"
#include "lib/model/flow_state.h"
#include "lib/model/report.h"
#include "lib/verdict/trigger_plan.h"

namespace trumpet {

constexpr int kTailIntervals = 16;  // a bucket is tested so long after its last packet

// Cells that one thread counted for one bucket in one epoch.  Views are only read during Add().
struct PartialView {
  uint32_t event_id = 0;
  Nanos epoch_start = 0;  // an epoch never straddles an interval boundary of the event
  Nanos epoch_end = 0;
  std::string_view bucket_key;  // bytes, see lib/model/bucket_key.h; empty for granularity none
  const uint64_t* words = nullptr;
  uint16_t word_count = 0;  // TriggerPlan::word_count
  bool is_unscaled = false;
};

struct VerdictCounters {
  uint64_t buckets = 0;        // alive at the last decision or since, all events; the most at once
  uint64_t buckets_ahead = 0;  // that wait for their intervals
  uint64_t buckets_evicted = 0;
  uint64_t late_partials = 0;     // for intervals already decided; not counted in any report
  uint64_t unknown_partials = 0;  // of events no longer installed
  uint64_t intervals_decided = 0;
  uint64_t reports = 0;
};

// What event-show and status tell of one event.
struct EventStatus {
  uint32_t event_id = 0;
  uint64_t buckets = 0;
  uint64_t buckets_evicted = 0;
  uint64_t reports = 0;
  Nanos last_report_end_ns = 0;  // 0: none yet
};

class HostVerdicts {
 public:
  // `hash_seed` guards the tables against chosen keys; reports do not depend on it.
  explicit HostVerdicts(Nanos flow_timeout_ns, uint64_t hash_seed = 0);
  ~HostVerdicts();
  HostVerdicts(const HostVerdicts&) = delete;
  HostVerdicts& operator=(const HostVerdicts&) = delete;

  using Plans =
      std::vector<std::shared_ptr<const TriggerPlan>>;  // shared: packet threads still run old sets

  // The events from the instant `from` on, in the order in which reports are sorted.  An event
  // with an id already known keeps its buckets and runs; unknown ids start; missing ids end
  // (intervals that ended before `from` are still decided).  Intervals that began before an event's
  // start are reported with kMonitorInterrupted, unless `is_offline`.
  //
  // `has_tracked_tcp`: connections were tracked before.  If no event asked for the states of flows,
  // those of flows that rest since are not known here, and kConnectionEvicted says so until no such
  // flow can be alive.
  void Apply(const Plans& plans, Nanos from, bool is_offline, bool has_tracked_tcp = false);

  // Of all events together, from now on; no limit at first.  The one bucket of an event without
  // granularity counts, too, but is always there.
  void LimitBuckets(size_t count);

  void Add(const PartialView& partial);
  void Add(const FlowStateUpdate& update);

  // Packets in [start, end) were not all counted, for these IncompleteReason bits; every event, but
  // a lost connection only matters to those that use TCP variables or bursts.
  void AddIncomplete(Nanos start, Nanos end, uint32_t reasons);

  // Decides every interval that ends at or before `until` and was not decided, and appends the
  // reports by end, event order and bucket.
  void Advance(Nanos until, std::vector<Report>* reports);

  // The same in bounded pieces: stops after the first instant at which `reports` holds
  // `max_reports` or more; true when nothing is left to decide.
  bool AdvanceSome(Nanos until, size_t max_reports, std::vector<Report>* reports);

  // For the end of an offline run: every installed event's last interval is the one that holds
  // `last_packet`.  Then AdvanceSome(INT64_MAX, ...) decides what is left.
  void EndAfter(Nanos last_packet);

  const VerdictCounters& counters() const;
  std::vector<EventStatus> Status() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_VERDICT_HOST_VERDICTS_H
