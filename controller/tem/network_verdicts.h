// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// NetworkVerdicts: merges what the hosts of a network counted and decides the events of scope
// network.  (DESIGN section 7; docs/life-of-an-event.md, section "Across the network".)
//
// How a session uses it, with what crosses the wire in brackets:
//   AddHost() when a host is first heard of; SetSkew() as keep-alives tell [KeepAlive]
//   Await() and Invite() before a trigger is sent, Join() when the host has acknowledged it
//       [TriggerAck]
//   Add(), AddIncomplete(), EndUntil() as they come, in the host's order
//       [Partials, Report with words, FlowStates, IntervalEnd]; Answer() [PollAnswer]
//   ShareApplied() when a share of a threshold was acknowledged [TriggerAck]
//   Leave() when the event is taken from the host; a session that is gone is no reason: the host is
//       silent, and named, until it comes back or RemoveHost()
//   Advance() after deliveries and at NextDue(); what it asks for goes out [Poll, TriggerSet]
//
// Hosts deliver the cells of a bucket once per interval, merged over their packet threads
// (lib/verdict/event_feed.h), and the states of TCP directions whose packets they count.
//
// Threads: one.  Time: only what is passed in; instants of hosts are on their clocks, `now` on
// ours. Memory: bounded by NetworkEventOptions per event and NetworkBudget over all; what did not
// fit is counted, and marks the reports it may touch.

#ifndef TRUMPET_CONTROLLER_TEM_NETWORK_VERDICTS_H
#define TRUMPET_CONTROLLER_TEM_NETWORK_VERDICTS_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "controller/tem/network_event.h"
#include "controller/tem/network_host.h"
#include "lib/base/status.h"

namespace trumpet {

struct NetworkOptions {
  NetworkLimits limits;
  NetworkBudget budget;
  size_t max_hosts = 4096;
  uint64_t hash_seed = 0;  // guards the tables against chosen keys; reports do not depend on it
};

class NetworkVerdicts {
 public:
  explicit NetworkVerdicts(const NetworkOptions& options);
  ~NetworkVerdicts();
  NetworkVerdicts(const NetworkVerdicts&) = delete;
  NetworkVerdicts& operator=(const NetworkVerdicts&) = delete;

  // The number of the host of that name; numbers of removed hosts are given again.
  Result<uint32_t> AddHost(const std::string& name);
  void RemoveHost(uint32_t host, Nanos until, NetworkOutput* output);
  void SetSkew(uint32_t host, Nanos bound);
  // Its monitor counts nothing from that instant on: nobody waits for it, and reports name it.
  // INT64_MAX: it is on, or its session is gone and nobody knows.
  void SetOff(uint32_t host, Nanos from);

  // An event, from the instant `from` on; or a change of one that is there, if its cells and its
  // interval stay the same (else it needs another id).  One that was being uninstalled begins anew;
  // `output` then has what it still had to tell, decided without the hosts that it waited for.
  Status Install(const std::shared_ptr<const TriggerPlan>& plan, Nanos from,
                 const NetworkEventOptions& options, NetworkOutput* output = nullptr);
  // Intervals that end by `until` are still decided.  Then what was told of is cleared.
  void Uninstall(uint32_t event_id, Nanos until);

  // As NetworkEvent::Inherit().
  void Inherit(uint32_t event_id, std::set<std::string> buckets, Nanos until);

  // With NetworkEventOptions::waits_to_be_placed: all hosts that should count are awaited.
  void Placed(uint32_t event_id);
  // The host should count from `from` on: until it has joined, and does, it is named as silent.
  // Nobody waits for it, but what it delivers is taken in.
  void Await(uint32_t event_id, uint32_t host, Nanos from);
  void Forgo(uint32_t event_id, uint32_t host, Nanos until);  // it need not any more
  void Invite(uint32_t event_id, uint32_t host, NetworkOutput* output);
  // An event that hosts tell everything of splits its threshold from now on, if that is sound;
  // false: it does already, or cannot.  Hosts that have joined are invited.
  bool BeginSplit(uint32_t event_id, uint64_t last_share_generation, NetworkOutput* output);
  // The host counts from `from` on, which may be long ago: intervals not decided yet are owed.  If
  // it did before, it has begun anew.
  void Join(uint32_t event_id, uint32_t host, Nanos from);
  // What it counted before `until`, as far as it has not told, is lost with its process.
  void Lose(uint32_t event_id, uint32_t host, Nanos until);
  // It need not answer for intervals that start at `until` or later, nor is it awaited any more.
  void Leave(uint32_t event_id, uint32_t host, Nanos until, NetworkOutput* output);
  void ShareApplied(uint32_t event_id, uint32_t host, uint64_t generation, Nanos from,
                    NetworkOutput* output);

  // `word_count`: of partial.words, as the host says.  `now`: for VerdictStages, of what a host
  // reports because of its share.
  void Add(uint32_t host, const PartialView& partial, size_t word_count, Nanos now = 0);
  void Add(uint32_t host, const Partials& partials);
  // `flow_timeout_ns` of the host; 0: NetworkEventOptions says it.
  void Add(uint32_t host, const FlowStateUpdate& update, Nanos flow_timeout_ns = 0);
  // Packets in [start, end) were not all counted; event_id 0: for every event.
  void AddIncomplete(uint32_t host, Nanos start, Nanos end, uint32_t reasons, uint32_t event_id);
  // Of what ended before `until`, and after what it said last, the host has dropped some.  Before
  // its first end, or when its clock was ahead, nobody knows since when: then it is a second.
  void AddDropped(uint32_t host, Nanos until, Nanos now);
  // All that the host counted before `until` has been delivered.
  void EndUntil(uint32_t host, Nanos until, Nanos now);
  // To a PollOrder; `cells` holds its event, start and bucket, and words with kValues.
  void Answer(uint32_t host, FeedAnswer answer, const PartialView& cells, size_t word_count,
              uint32_t reasons, Nanos now);

  // Asks and decides what is due, in bounded pieces: false when `output` holds max_reports or more
  // and there may be more.
  bool Advance(Nanos now, size_t max_reports, NetworkOutput* output);
  Nanos NextDue() const;  // INT64_MAX: nothing
  // Our clock was ahead by more than that of a host may be, and no longer is: events have passed
  // over intervals that are still to come, and must all begin anew.  True once for each such step.
  bool NoticeStepBack(Nanos now);

  const NetworkEvent* Find(uint32_t event_id) const;
  // The start of the event's first interval that the host has not ended; INT64_MIN: of them all.
  Nanos OpenSince(uint32_t event_id, uint32_t host) const;
  NetworkCounters counters() const;  // of all events, those uninstalled included
  uint64_t unknown_events() const { return unknown_events_; }
  size_t host_count() const { return by_name_.size(); }
  const NetworkBudget& budget() const { return options_.budget; }

 private:
  using Events = std::map<uint32_t, std::unique_ptr<NetworkEvent>>;

  // As far as a host's clock may be ahead of ours.
  Nanos Capped(Nanos until, Nanos now) const {
    return std::min(until, now + options_.limits.max_lead_ns);
  }
  NetworkEvent* EventOf(uint32_t event_id, uint32_t host);
  NetworkEvent* Wake(uint32_t event_id, uint32_t host);
  void Wake(NetworkEvent* event);
  bool AdvanceAwake(Nanos now, size_t max_reports, NetworkOutput* output);
  void AdvanceQuiet(Nanos now, NetworkOutput* output);
  bool IsHost(uint32_t host) const { return host < hosts_.size() && hosts_[host] != nullptr; }
  Events::iterator Erase(Events::iterator event);
  void MarkEnded(const NetworkEvent& event);
  void ForgetPast(Nanos instant, std::map<uint32_t, IncompleteRanges>* ranges) const;
  void ForgetPast();

  NetworkOptions options_;
  NetworkHosts hosts_;
  std::unordered_map<std::string, uint32_t> by_name_;
  std::vector<uint32_t> leaving_;  // removed, but still owed to events
  Events events_;
  std::set<uint32_t> awake_;     // ids of those that something waits in; others are quiet
  std::set<uint32_t> of_flows_;  // ids of those that read states of flows
  uint32_t resume_at_ = 0;       // id of the event to advance first
  uint32_t quiet_at_ = 0;        // id of the quiet event to look at next
  Nanos quiet_due_ = INT64_MIN;  // when to look at some
  Nanos now_ = INT64_MIN;        // of the last Advance()
  Nanos latest_ = INT64_MIN;     // that our clock has shown since it was last set back
  Nanos forget_at_ = INT64_MIN;
  NetworkCounters closed_;  // of events that are gone
  uint64_t unknown_events_ = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TEM_NETWORK_VERDICTS_H
