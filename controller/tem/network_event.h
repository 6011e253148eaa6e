// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// NetworkEvent: the verdicts of one event of scope network.
//
// What hosts deliver waits per interval, host and bucket.  An interval is decided when every host
// that owes it has delivered, or at its deadline; then the merged cells of all hosts are tested as
// a host does with those of its threads (lib/verdict/event_verdicts.h).  A bucket that a host
// delivers twice counts once: the later cells replace the earlier.
//
// A host is heard as soon as it should count: one that counted on while we began anew may say so
// after its cells have come, and then owes their interval.
//
// Cells of the next interval to decide are merged as they come, while others are still awaited.
// Where one is replaced, or buckets would have to go to make room, all are merged in the end.
//
// With a split threshold (lib/verdict/threshold_split.h) hosts deliver only buckets above their
// share.  When all have ended the interval, or half of the deadline has passed, those that have and
// did not report a bucket are asked for it, and the verdict waits for their answers.  A bucket
// which cannot reach the threshold even if all others lie just below their shares is not asked for.
//
// A part of NetworkVerdicts, which says what crosses the wire and bounds the memory of all events.
//
// Threads: one.  Time: only what is passed in.  Lifetime: hosts and budget must outlive it.

#ifndef TRUMPET_CONTROLLER_TEM_NETWORK_EVENT_H
#define TRUMPET_CONTROLLER_TEM_NETWORK_EVENT_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "controller/tem/cell_table.h"
#include "controller/tem/network_host.h"
#include "controller/tem/poll_table.h"
#include "controller/tem/report_rate.h"
#include "controller/tem/threshold_shares.h"
#include "lib/model/network_report.h"
#include "lib/verdict/event_feed.h"
#include "lib/verdict/event_verdicts.h"
#include "lib/verdict/flow_state_map.h"
#include "lib/verdict/threshold_split.h"
#include "lib/wire/message.h"

namespace trumpet {

struct NetworkEventOptions {
  Nanos deadline_ns = 0;            // after the interval's end; 0: one interval
  bool splits_threshold = false;    // where sound, see NetworkEvent::mode()
  bool waits_to_be_placed = false;  // nothing is decided before Placed()
  // Below all that follow; above all that hosts were told before, by processes before this one.
  uint64_t last_share_generation = 0;
  size_t worthwhile_hosts = SIZE_MAX / 2;  // to split a threshold over (threshold_shares.h)
  uint32_t reports_per_second = 0;         // 0: no limit
  uint32_t report_burst = 1;
  uint32_t max_buckets = 1u << 20;        // alive, of the whole network
  size_t max_waiting_bytes = 128u << 20;  // of cells that wait for their verdict
  size_t max_queued_flow_states = 1u << 20;
  Nanos flow_timeout_ns = 10 * kNanosPerSecond;  // of hosts that do not tell theirs
};

// Bounds that are alike for all events.
struct NetworkLimits {
  int64_t max_ahead_intervals = 64;     // delivered before their turn
  Nanos max_lead_ns = kNanosPerSecond;  // of a host's clock before ours
  size_t max_hosts_per_report = 16;
  size_t max_silent_per_report = 64;
  size_t max_asked_buckets = 1u << 14;  // of an event in an interval
};

struct PollOrder {
  uint32_t host = 0;
  uint32_t event_id = 0;
  Nanos start_ns = 0;
  std::string bucket_key;
};

// What an advance leads to, in order.
struct NetworkOutput {
  std::vector<NetworkReport> reports;
  std::vector<PollOrder> polls;
  std::vector<ShareOrder> shares;
};

// Of one event since it was installed, or of all.
struct NetworkCounters {
  uint64_t intervals_decided = 0;
  uint64_t intervals_incomplete = 0;  // decided at the deadline, with hosts or answers missing
  uint64_t reports = 0;
  uint64_t clears = 0;
  uint64_t reports_suppressed = 0;
  uint64_t partials = 0;           // taken in
  uint64_t late_partials = 0;      // after their verdict: dropped
  uint64_t early_partials = 0;     // too far ahead: dropped, and their interval is marked
  uint64_t refused_partials = 0;   // no room: dropped, and their interval is marked
  uint64_t replaced_partials = 0;  // told twice
  uint64_t malformed = 0;          // no key of this event, or cells of another
  uint64_t strangers = 0;          // from hosts that are not members, or answers nobody asked for
  uint64_t late_flow_states = 0;
  uint64_t refused_flow_states = 0;
  uint64_t buckets_evicted = 0;
  uint64_t polls = 0;          // questions asked
  uint64_t poll_answers = 0;   // in time
  uint64_t polls_spared = 0;   // buckets decided without asking
  uint64_t polls_refused = 0;  // buckets beyond max_asked_buckets
};

void AddTo(const NetworkCounters& from, NetworkCounters* into);

class NetworkEvent {
 public:
  enum class Mode : uint8_t { kPartials, kThreshold };

  NetworkEvent(std::shared_ptr<const TriggerPlan> plan, Nanos from,
               const NetworkEventOptions& options, const NetworkLimits& limits, NetworkHosts* hosts,
               NetworkBudget* budget, uint64_t hash_seed);
  ~NetworkEvent();
  NetworkEvent(const NetworkEvent&) = delete;
  NetworkEvent& operator=(const NetworkEvent&) = delete;

  Mode mode() const { return shares_ ? Mode::kThreshold : Mode::kPartials; }
  // In Mode::kThreshold: are there so many hosts that each reports all?
  bool reports_all() const { return shares_ && shares_->reports_all(); }
  const ThresholdSplit& split() const { return split_; }  // why_not says what stands against it
  const TriggerPlan& plan() const { return verdicts_.plan(); }

  // Goes on with another predicate, name or `for` over the same cells; false if it must begin anew.
  bool TakeOver(const std::shared_ptr<const TriggerPlan>& plan);

  // From now on hosts test shares of the threshold, if that is sound; false: nothing has changed.
  bool BeginSplit(uint64_t last_share_generation, NetworkOutput* output);

  // See NetworkVerdicts for these.
  void Placed() { options_.waits_to_be_placed = false; }
  void Await(uint32_t host, Nanos from);
  void Forgo(uint32_t host, Nanos until);
  void Invite(uint32_t host, NetworkOutput* output);
  void Join(uint32_t host, Nanos from);
  void Lose(uint32_t host, Nanos until);
  void Leave(uint32_t host, Nanos until, NetworkOutput* output);
  void ShareApplied(uint32_t host, uint64_t generation, Nanos from, NetworkOutput* output);
  void Add(uint32_t host, const PartialView& partial, size_t word_count, Nanos now);
  void Add(uint32_t host, const Partials& partials);
  void Add(uint32_t host, const FlowStateUpdate& update, Nanos flow_timeout_ns);
  void Answer(uint32_t host, FeedAnswer answer, const PartialView& cells, size_t word_count,
              uint32_t reasons, Nanos now);
  // What waits of intervals that end after `instant` is lost with this event, and they may be those
  // of another life of it.
  void MarkWaiting(Nanos instant);
  bool IsMember(uint32_t host) const;
  bool HasJoined(uint32_t host) const;
  bool IsAwaited(uint32_t host) const;  // from some instant on, without end
  void LookAgain() { LookAgainFrom(0); }

  // No interval that ends after `instant` is decided.
  void EndAt(Nanos instant) {
    verdicts_.EndAt(instant);
    is_ending_ = true;
  }
  bool is_ending() const { return is_ending_; }
  bool is_over() const { return verdicts_.NextEnd() == INT64_MAX; }
  // Clears what somebody was told of.  Advance() does so at the end.
  void TellEnd(Nanos now, NetworkOutput* output);
  // Nobody waits any longer: decides what had ended, with what is there, and clears the rest.
  void TellRest(Nanos now, NetworkOutput* output);

  // Buckets (as JSON) whose runs somebody was told of before the event was installed here.  One
  // that fires goes on as if told of here; those that have not when all intervals that end by
  // `until` are decided are cleared, with kMonitorInterrupted, for nobody knows when they ended.
  void Inherit(std::set<std::string> buckets, Nanos until);

  // Nothing waits for a verdict, and nothing can happen until something is delivered: then it is
  // enough to advance now and then, and before a delivery is taken in or a member begins anew
  // (CatchUp(); INT64_MIN: it was never advanced).
  bool IsQuiet() const;
  void CatchUp(Nanos now);

  // Asks and decides what is due at `now`; false when `output` holds max_reports or more and there
  // may be more.
  bool Advance(Nanos now, size_t max_reports, NetworkOutput* output);

  // When Advance() has something to do even if nothing is delivered until then.
  Nanos NextDue() const;
  Nanos NextStart() const { return verdicts_.NextStart(); }

  NetworkCounters counters() const;
  EventStatus Status() const { return verdicts_.Status(); }
  size_t member_count() const { return members_.size(); }

  // NetworkVerdicts' mark: it was quiet when it was last advanced, and nothing came since.
  bool is_asleep = false;

 private:
  struct Member {
    uint32_t host;
    // It counts: what it counted in between is its to deliver.  Nothing until it has joined.
    Nanos from = INT64_MAX;
    Nanos until = INT64_MIN;
    // It should count, whether it does or not.
    Nanos wanted_from = INT64_MAX;
    Nanos wanted_until = INT64_MAX;
    bool has_joined() const { return from != INT64_MAX; }
  };
  enum class Merging : uint8_t { kNotYet, kAsTheyCome, kInTheEnd };
  // What waits for the verdict of one interval.
  struct Waiting {
    Waiting(size_t max_key_bytes, size_t word_count, uint64_t hash_seed);
    bool is_empty() const { return cells.count() == 0 && reasons == 0 && refused_polls == 0; }
    bool is_quiet() const { return is_empty() && polls.bucket_count() == 0; }

    CellTable cells;
    PollTable polls;
    std::vector<uint32_t> asked_hosts;  // that are asked for what they did not report
    std::vector<bool> is_asked;         // by host
    size_t asked_buckets = 0;           // so many of the first buckets have been gone through
    uint64_t refused_polls = 0;         // cells of buckets that nobody can be asked for
    uint32_t reasons = 0;               // of our own
    size_t bytes = 0;
    size_t ended_members = 0;  // so many of the first members need not be looked at again
    Nanos delivered_ns = 0;    // when the last of these had ended the interval
    bool is_owed = false;      // by one of these, as far as is known
    bool is_asking = false;
    bool is_asking_over = false;  // until there are news
    Merging merging = Merging::kNotYet;
  };

  int64_t next() const { return CellOf(verdicts_.NextStart(), interval_ns_); }
  Nanos StartOf(int64_t interval) const { return interval * interval_ns_; }
  Waiting& At(int64_t interval);
  Nanos DeadlineOf(int64_t interval) const;
  bool Owes(const Member& member, int64_t interval) const;
  bool IsMissed(const Member& member, int64_t interval) const;
  bool IsAnyMissed(int64_t interval) const;
  Member* AddMember(uint32_t host);
  void LookAgainFrom(size_t place);
  bool HasEnded(const Member& member, int64_t interval) const;
  bool IsOff(const Member& member, int64_t interval) const;
  bool HaveAllEnded(int64_t interval, Waiting* waiting) const;
  bool IsReady(Nanos now, Waiting* waiting) const;
  const Member* FindMember(uint32_t host) const;
  void IndexMembers();
  void ForgetLeft();
  void DropCells(uint32_t host);
  size_t BytesPerCell() const;
  bool Charge(size_t bytes, Waiting* waiting);
  void Release(size_t bytes, Waiting* waiting);
  void Mark(uint32_t host, int64_t interval, uint32_t reason);
  Waiting* Admit(uint32_t host, Nanos start, size_t word_count, size_t count);
  void ApplyFlows(Nanos until);
  void CountQueuedFlows();
  void Store(uint32_t host, const PartialView& partial, Waiting* waiting);

  void AskWhereDue(Nanos now, NetworkOutput* output);
  void Ask(int64_t interval, Nanos now, Waiting* waiting, NetworkOutput* output);
  void AskHost(uint32_t host, size_t first_bucket, int64_t interval, Nanos now, Waiting* waiting,
               NetworkOutput* output);
  void SpareHopeless(int64_t interval, Waiting* waiting);
  bool CanReach(std::string_view key, int64_t interval, const Waiting& waiting) const;
  bool IsAnyToBeAsked() const;
  bool IsAnyUnasked(int64_t interval, const Waiting& waiting) const;
  void NoteReported(uint32_t host, std::string_view key, Nanos now, Waiting* waiting);

  bool SkipQuiet(Nanos now);
  void SkipEnded(Nanos now);
  void Passed(uint64_t intervals, bool are_incomplete);
  bool SaysWhenOver(const Member& member) const;
  Nanos UnchangedUntil(const Member& member) const;
  void Decide(Nanos now, NetworkOutput* output);
  void LimitBuckets();
  void MergeAll(Waiting* waiting);
  void MergeFirst(Waiting* waiting);
  void MergeLater(Waiting* waiting);
  void Merge(uint32_t index, CellTable* cells);
  void Tell(const std::vector<EventVerdicts::Decision>& decisions, Nanos now,
            const Waiting& waiting, NetworkOutput* output);
  void MeetInherited(const EventVerdicts::Decision& decision);
  void TellMissing(Nanos now, NetworkOutput* output);
  void ClearInherited(Nanos start, uint32_t reason, Nanos now, NetworkOutput* output);
  bool IsNobodyKnown() const;
  NetworkReport CommonReport(const Waiting& waiting) const;
  VerdictStages StagesOf(std::string_view key, const Waiting& waiting) const;
  NetworkReport MakeReport(const EventVerdicts::Decision& decision, const NetworkReport& common,
                           const Waiting& waiting);
  void NamePollGaps(std::string_view key, const Waiting& waiting, NetworkReport* report) const;
  using ToldBucket = std::pair<uint32_t, size_t>;  // of verdicts_, and which report tells of it
  void AddHostShares(const Waiting& waiting, std::vector<ToldBucket> told,
                     NetworkReport* reports) const;
  void AddHostShare(const Waiting& waiting, uint32_t cells, NetworkReport* report) const;
  void Bound(NetworkReport* report) const;
  void Finish();

  NetworkEventOptions options_;
  const NetworkLimits& limits_;
  NetworkHosts* hosts_;
  NetworkBudget* budget_;
  uint64_t hash_seed_;
  Nanos interval_ns_;
  size_t max_key_bytes_;
  size_t word_count_;
  EventVerdicts verdicts_;
  FlowStateMap flows_;
  ThresholdSplit split_;
  std::optional<ThresholdShares> shares_;  // only in Mode::kThreshold
  ReportRate rate_;
  std::set<std::string> inherited_;  // buckets
  Nanos inherited_until_ = INT64_MAX;
  bool is_ending_ = false;
  std::vector<Member> members_;
  size_t joined_count_ = 0;
  Nanos missed_until_ = INT64_MIN;       // by some that have joined since
  std::vector<uint32_t> member_places_;  // by host: place in members_, plus 1; 0: no member
  std::map<int64_t, Waiting> waiting_;   // by interval number
  CellTable spare_;                      // of the last one that had its turn
  size_t waiting_bytes_ = 0;
  size_t queued_bytes_ = 0;     // of budget_, for states in flows_
  size_t buckets_counted_ = 0;  // of budget_
  size_t flows_counted_ = 0;
  NetworkCounters counters_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TEM_NETWORK_EVENT_H
