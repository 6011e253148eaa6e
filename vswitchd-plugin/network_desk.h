// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// NetworkDesk: what this host tells the controller of what it counted, as messages.
//
//   events that the hosts decide together   Partials, Report with words (shares of thresholds),
//                                           FlowStates, answers to Poll
//   events that each host decides           Report
//   all of them                             IntervalEnd, with what is missing and why
//
// Inside the host events have ids of their own (EventRegistry); the controller's stand in messages.
//
// Without a session counting goes on, so that the intervals that are open when one comes are whole.
// Those that ended meanwhile are gone, and the first IntervalEnd says so; verdicts of this host
// wait, up to kMaxWaitingReports.
//
// Ids are those of the controller whose events they are.  Another one is told nothing of them until
// its own events have come, but that it was not: its ids may be the same.
//
// Threads: the agent.
// Memory: buckets as LimitBuckets() says, half of them at most of past intervals; 4,096 reports and
// 65,536 questions wait.

#ifndef TRUMPET_VSWITCHD_PLUGIN_NETWORK_DESK_H
#define TRUMPET_VSWITCHD_PLUGIN_NETWORK_DESK_H

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "lib/tpm/observation.h"
#include "lib/verdict/event_feed.h"
#include "lib/wire/message.h"
#include "vswitchd-plugin/event_registry.h"
#include "vswitchd-plugin/link_status.h"

namespace trumpet {

class NetworkDesk : private FeedSink {
 public:
  static constexpr size_t kMaxWaitingReports = 4096;
  static constexpr size_t kMaxQuestions = 65536;
  static constexpr size_t kQuestionsAtOnce = 4096;

  // Sends a message on the session.  False: it was not taken.  May call Disconnect() before it
  // returns.
  using Send = std::function<bool(const Message&)>;

  explicit NetworkDesk(uint64_t hash_seed) : hash_seed_(hash_seed) {}
  void SendBy(Send send) { send_ = std::move(send); }

  // The events of that controller (0: of none) from the instant `from` on; their shares at once.
  // `has_tracked_tcp`: connections were tracked before, so that an event that begins may lack the
  // states of those that rest since; the controller is told so.
  void Apply(uint64_t controller_id, const std::vector<ControllerEvent>& events, Nanos from,
             Nanos flow_timeout_ns, bool has_tracked_tcp);
  // Forgets all counts: the monitor begins anew.  Apply() follows.
  void Restart();
  // After Restart(), because the clock was set back: what ends from here on is told once more.
  void SetBack(Nanos now);
  // The share in use, and from when on; nothing if there is none.
  std::optional<ShareAck> ShareOf(uint32_t controller_event_id) const;

  void LimitBuckets(size_t count) { budget_.max = count; }
  size_t bucket_count() const { return budget_.used; }

  // By which events count from now on; null: all that is seen.
  void ObserveBy(std::shared_ptr<const Observation> observation) {
    observation_ = std::move(observation);
  }

  // A session with that controller is there, or not any more.
  void Connect(uint64_t controller_id);
  void Disconnect();

  // What the threads deliver.  False: not of an event that the hosts decide together.
  bool Add(const PartialView& partial);
  void Add(const FlowStateUpdate& update);
  void AddIncomplete(Nanos start, Nanos end, uint32_t reasons);
  // Verdicts of this host; those of events that were installed here are passed over.
  void AddReports(const std::vector<Report>& reports);

  // States of flows were lost on the way: until flows are heard of again they are out of date.
  void MarkFlowStatesLost();

  // All threads have delivered until then.  The end is told when an epoch has ended.
  void Close(Nanos until, Nanos epoch_ns);
  Nanos told_until() const { return told_until_; }
  // Of a monitor that has nothing to deliver: whether it is switched off.  The session hears of it
  // once, and once when it is on again, also without any event.
  void TellWhetherOff(bool is_off);

  // Questions are answered at once as far as their intervals have ended, and kQuestionsAtOnce at a
  // time.  True: there are more that could be answered now.
  void Take(const Poll& poll);
  bool AnswerSome();

  NetworkDeskCounters counters() const;
  // Of the events that the hosts decide together; reports: buckets told.
  std::vector<EventStatus> Status() const;

 private:
  struct Feed {
    Feed(const ControllerEvent& event, Nanos from, uint64_t hash_seed, FeedBudget* budget)
        : feed(event.plan, from, hash_seed, budget) {}
    EventFeed feed;
    uint32_t controller_id = 0;
    bool asks_for_flows = false;  // their states are told since it asked, or was begun anew
    bool is_ending = false;       // to be told until end_at, and then gone
    Nanos end_at = INT64_MAX;
    size_t max_buckets_in_message = 0;
    Partials batch;
    ThresholdShare share_told;      // by the controller
    std::optional<ShareAck> share;  // what it is answered
    uint64_t told = 0;
    Nanos last_told_end = 0;
  };
  struct Question {
    uint64_t poll;
    uint32_t number;
    PollQuestion asked;
  };
  using Feeds = std::unordered_map<uint32_t, std::unique_ptr<Feed>>;

  void OnCells(const PartialView& cells) override;
  void OnIncomplete(uint32_t event_id, Nanos start, Nanos end, uint32_t reasons) override;

  Feed* Begin(const ControllerEvent& event, Nanos from);
  static void SetShare(const ControllerEvent& event, Feed* feed);
  void CloseFeeds(Nanos until);
  void TellEnd();
  void ForgetPast();
  void FlushBatch(Feed* feed);
  bool CountsDirection(const FlowKey& flow) const;
  void FlushFlowStates();
  bool MayTell() const { return is_connected_ && session_with_ == events_of_; }
  void ForgetUnsent();
  void SendReport(const HostReport& report);
  void LoseReport();
  void AddRange(const IncompleteRange& range);
  void Tell(const IncompleteRange& range);
  void ForgetPastOf(std::vector<IncompleteRange>* ranges) const;
  void TellGap();
  bool Answer(const Question& question);
  void AddAnswer(uint64_t poll, PollAnswer answer);
  void FlushAnswers();

  const uint64_t hash_seed_;
  FeedBudget budget_;
  Feeds feeds_;                                         // by the host's id
  std::unordered_map<uint32_t, Feed*> by_controller_;   // those that are not ending
  std::unordered_map<uint32_t, uint32_t> host_events_;  // host's id to the controller's
  Feed* closing_ = nullptr;                             // whose OnCells() this is
  Send send_;
  bool is_connected_ = false;
  uint64_t session_with_ = 0;  // controller, of the last session
  uint64_t events_of_ = 0;     // controller
  bool has_restarted_ = true;  // nobody counts until Apply(), and perhaps a process before this did
  bool has_gap_ = false;       // what ended without a session was not told
  bool wants_end_ = false;     // of a session that begins
  bool has_told_off_ = false;
  bool uses_flow_state_ = false;
  std::vector<Observe> flow_state_observers_;  // of the events that use states of flows
  std::shared_ptr<const Observation> observation_;
  Nanos flow_timeout_ns_ = 0;
  Nanos longest_interval_ns_ = 0;
  Nanos told_until_ = 0;
  uint64_t lost_reports_ = 0;  // of reports_dropped, not told yet
  std::vector<IncompleteRange> ranges_;
  std::vector<IncompleteRange> lost_ranges_;  // of intervals that may be open, told or not
  FlowStates flow_states_;
  std::deque<HostReport> waiting_reports_;
  std::deque<Question> questions_;                   // to be looked at
  std::multimap<Nanos, Question> future_questions_;  // by the end of their interval
  PollReply reply_;
  size_t reply_bytes_ = 0;
  NetworkDeskCounters counters_;
};

}  // namespace trumpet

#endif  // TRUMPET_VSWITCHD_PLUGIN_NETWORK_DESK_H
