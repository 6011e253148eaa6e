// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/network_desk.h"

#include <algorithm>
#include <utility>

#include "lib/model/bucket_key.h"
#include "lib/wire/limits.h"
#include "lib/wire/message_parts.h"

namespace trumpet {
namespace {

// What a frame to the controller surely has room for.
constexpr size_t kStatesInMessage = 1024;
constexpr size_t kReplyBytes = 64 * 1024;
constexpr size_t kAnswerBytes = 32;  // beside its words
constexpr size_t kWordBytes = 10;

PollStatus StatusOf(FeedAnswer answer) {
  switch (answer) {
    case FeedAnswer::kValues:
      return PollStatus::kValues;
    case FeedAnswer::kNoPackets:
      return PollStatus::kNoPackets;
    default:
      return PollStatus::kNoLongerKnown;
  }
}

// So many losses are told apart in the next session, beside its gap.
constexpr size_t kMostLost = kMaxIncompleteRanges / 4;

bool Continues(const IncompleteRange& one, const IncompleteRange& other) {
  return one.event_id == other.event_id && one.reasons == other.reasons &&
         one.start_ns <= other.end_ns && one.end_ns >= other.start_ns;
}

bool Covers(const std::vector<IncompleteRange>& ranges, const IncompleteRange& range) {
  return std::any_of(ranges.begin(), ranges.end(), [&range](const IncompleteRange& one) {
    return (one.event_id == range.event_id || one.event_id == 0) &&
           (range.reasons & ~one.reasons) == 0 && one.start_ns <= range.start_ns &&
           range.end_ns <= one.end_ns;
  });
}

}  // namespace

// --- events ----------------------------------------------------------------

void NetworkDesk::Apply(uint64_t controller_id, const std::vector<ControllerEvent>& events,
                        Nanos from, Nanos flow_timeout_ns, bool has_tracked_tcp) {
  const uint64_t owner_before = std::exchange(events_of_, controller_id);
  const bool is_other_owner = owner_before != 0 && owner_before != controller_id;
  if (is_other_owner) {
    counters_.reports_dropped += waiting_reports_.size();
    waiting_reports_.clear();
    lost_reports_ = 0;
  }
  if (std::exchange(has_restarted_, false) && told_until_ < from && !events.empty()) {
    AddRange({told_until_, from, kMonitorInterrupted, 0});  // nobody counted
  }
  flow_timeout_ns_ = flow_timeout_ns;
  uses_flow_state_ = false;
  flow_state_observers_.clear();
  longest_interval_ns_ = 0;
  host_events_.clear();
  by_controller_.clear();
  for (auto& [id, feed] : feeds_) feed->is_ending = true;
  for (const ControllerEvent& event : events) {
    const EventSpec& spec = event.plan->spec;
    longest_interval_ns_ = std::max(longest_interval_ns_, spec.interval_ns());
    if (!event.is_fed()) {
      host_events_[spec.id] = event.controller_event_id;
      continue;
    }
    if (event.plan->uses_flow_state) {
      uses_flow_state_ = true;
      flow_state_observers_.push_back(spec.observe);
    }
    Feed* feed = Begin(event, from);
    const bool asked_for_flows = std::exchange(feed->asks_for_flows, event.plan->uses_flow_state);
    if (feed->asks_for_flows && !asked_for_flows && has_tracked_tcp) {
      AddRange({from, from + flow_timeout_ns, kConnectionEvicted, feed->controller_id});
    }
    SetShare(event, feed);
    by_controller_[event.controller_event_id] = feed;
  }
  for (auto feed = feeds_.begin(); feed != feeds_.end();) {
    Feed& its = *feed->second;
    if (its.is_ending) its.end_at = std::min(its.end_at, from);
    // Its place was taken by something that counts otherwise, or its controller's by another one:
    // nobody asks for the old one.
    const bool is_replaced =
        its.is_ending && (is_other_owner || by_controller_.count(its.controller_id) != 0);
    feed = is_replaced ? feeds_.erase(feed) : std::next(feed);
  }
  if (!is_other_owner || !is_connected_) return;
  TellGap();  // what ended since the session began
  wants_end_ = true;
}

NetworkDesk::Feed* NetworkDesk::Begin(const ControllerEvent& event, Nanos from) {
  std::unique_ptr<Feed>& feed = feeds_[event.plan->spec.id];
  if (feed == nullptr || !feed->feed.TakeOver(event.plan)) {
    feed = std::make_unique<Feed>(event, from, hash_seed_, &budget_);
    feed->controller_id = event.controller_event_id;
    feed->max_buckets_in_message = MaxBucketsInPartials(
        event.plan->word_count, MaxBucketKeyBytes(event.plan->spec.granularity),
        kMaxFrameToController);
    feed->batch.event_id = event.controller_event_id;
    feed->batch.words_per_bucket = event.plan->word_count;
  }
  feed->is_ending = false;
  feed->end_at = INT64_MAX;
  return feed.get();
}

void NetworkDesk::SetShare(const ControllerEvent& event, Feed* feed) {
  if (event.share.generation == 0) {
    feed->feed.ForgetShares();
    feed->share.reset();
    return;
  }
  if (feed->share) {
    const ThresholdShare& old = feed->share_told;
    const bool is_same = old.generation == event.share.generation;
    if (is_same && old.share == event.share.share && old.from == event.share.from) return;
    if (old.generation >= event.share.generation) feed->feed.ForgetShares();  // it counts anew
  }
  feed->share_told = event.share;
  const Nanos from = feed->feed.SetShare(event.share);
  feed->share =
      ShareAck{event.controller_event_id, event.share.generation, std::max<Nanos>(0, from)};
}

void NetworkDesk::Restart() {
  has_restarted_ = true;
  feeds_.clear();
  by_controller_.clear();
  flow_states_.states.clear();
}

// Else nothing would be told until time had caught up, and the host be taken for silent.
void NetworkDesk::SetBack(Nanos now) {
  told_until_ = std::clamp<Nanos>(now, 0, told_until_);
  lost_ranges_.clear();  // of times that come again, and are counted anew
  future_questions_.clear();
}

std::optional<ShareAck> NetworkDesk::ShareOf(uint32_t controller_event_id) const {
  const auto found = by_controller_.find(controller_event_id);
  return found == by_controller_.end() ? std::nullopt : found->second->share;
}

// --- the session -----------------------------------------------------------

void NetworkDesk::Connect(uint64_t controller_id) {
  ForgetUnsent();
  is_connected_ = true;
  session_with_ = controller_id;
  if (std::exchange(has_gap_, false)) TellGap();
  // It may have been told, and not have arrived.
  ForgetPastOf(&lost_ranges_);
  for (const IncompleteRange& range : lost_ranges_) {
    if (!Covers(ranges_, range)) Tell(range);
  }
  wants_end_ = true;
  has_told_off_ = false;
  while (is_connected_ && !waiting_reports_.empty()) {
    if (!MayTell() || !send_(waiting_reports_.front())) LoseReport();
    waiting_reports_.pop_front();
  }
}

void NetworkDesk::Disconnect() {
  ForgetUnsent();
  is_connected_ = false;
  has_gap_ = true;
}

// What was meant for the session that was there.
void NetworkDesk::ForgetUnsent() {
  questions_.clear();
  future_questions_.clear();
  flow_states_.states.clear();
  for (auto& [id, feed] : feeds_) {
    Partials& batch = feed->batch;
    batch.keys.clear();
    batch.key_sizes.clear();
    batch.words.clear();
    batch.unscaled.clear();
  }
}

// What ended while there was no session was handed to nobody, and what was under way when it ended
// may not have arrived.  Events whose interval was open all the time have it whole; after a restart
// there are none.
void NetworkDesk::TellGap() {
  const bool one_each = !has_restarted_ && feeds_.size() <= kMaxIncompleteRanges / 4;
  if (!one_each) Tell({0, told_until_, kMonitorInterrupted, 0});
  for (const auto& [id, feed] : feeds_) {
    const Nanos open_from = std::max<Nanos>(0, feed->feed.next_start());
    if (one_each) Tell({0, open_from, kMonitorInterrupted, feed->controller_id});
    // Flows that did not change since are not told again.
    if (!feed->feed.plan().uses_flow_state) continue;
    Tell({0, open_from + flow_timeout_ns_, kConnectionEvicted, feed->controller_id});
  }
}

// --- what the threads deliver ----------------------------------------------

bool NetworkDesk::Add(const PartialView& partial) {
  if (feeds_.empty()) return false;
  const auto found = feeds_.find(partial.event_id);
  if (found == feeds_.end()) return false;
  found->second->feed.Add(partial);
  return true;
}

// A direction's state is told by the hosts that count its packets.
bool NetworkDesk::CountsDirection(const FlowKey& flow) const {
  return observation_ == nullptr ||
         std::any_of(flow_state_observers_.begin(), flow_state_observers_.end(),
                     [&](Observe observe) { return observation_->CountsDirection(flow, observe); });
}

void NetworkDesk::Add(const FlowStateUpdate& update) {
  if (!uses_flow_state_ || !is_connected_ || !CountsDirection(update.flow)) return;
  if (!flow_states_.states.empty() &&
      (flow_states_.start_ns != update.epoch_start || flow_states_.end_ns != update.epoch_end ||
       flow_states_.states.size() >= kStatesInMessage)) {
    FlushFlowStates();
  }
  flow_states_.start_ns = update.epoch_start;
  flow_states_.end_ns = update.epoch_end;
  flow_states_.states.emplace_back(update.flow, update.state);
}

void NetworkDesk::MarkFlowStatesLost() {
  if (!uses_flow_state_) return;
  AddRange({std::max<Nanos>(0, told_until_ - longest_interval_ns_), told_until_ + flow_timeout_ns_,
            kConnectionEvicted, 0});
}

void NetworkDesk::FlushFlowStates() {
  flow_states_.flow_timeout_ns = flow_timeout_ns_;
  if (!flow_states_.states.empty() && is_connected_) send_(flow_states_);
  flow_states_.states.clear();
}

void NetworkDesk::AddIncomplete(Nanos start, Nanos end, uint32_t reasons) {
  if (feeds_.empty()) return;
  AddRange({std::max<Nanos>(0, start), end, reasons, 0});
}

// To be told, and until no interval is open that has any of it, once more in each session.
void NetworkDesk::AddRange(const IncompleteRange& range) {
  Tell(range);
  if (range.end_ns <= range.start_ns || range.reasons == 0) return;
  if (Covers(lost_ranges_, range)) return;
  const auto same =
      std::find_if(lost_ranges_.begin(), lost_ranges_.end(),
                   [&range](const IncompleteRange& one) { return Continues(one, range); });
  if (same != lost_ranges_.end()) return JoinRange(range, &*same);
  lost_ranges_.push_back(range);
  if (lost_ranges_.size() <= kMostLost) return;
  JoinRange(lost_ranges_[1], &lost_ranges_[0]);  // the oldest; of all events, if they are of two
  lost_ranges_.erase(lost_ranges_.begin() + 1);
}

// With the next end.
void NetworkDesk::Tell(const IncompleteRange& range) {
  if (range.end_ns <= range.start_ns || range.reasons == 0) return;
  if (!ranges_.empty() && Continues(ranges_.back(), range)) {
    return JoinRange(range, &ranges_.back());
  }
  ranges_.push_back(range);
  if (ranges_.size() <= kMaxIncompleteRanges) return;
  IncompleteRange all = range;  // claims too much rather than too little
  all.event_id = 0;
  for (const IncompleteRange& one : ranges_) JoinRange(one, &all);
  ranges_.assign(1, all);
}

void NetworkDesk::AddReports(const std::vector<Report>& reports) {
  if (host_events_.empty()) return;
  for (const Report& report : reports) {
    const auto found = host_events_.find(report.event_id);
    if (found == host_events_.end()) continue;
    HostReport told{report, {}};
    told.report.event_id = found->second;
    SendReport(told);
  }
}

void NetworkDesk::SendReport(const HostReport& report) {
  if (is_connected_) {
    if (!MayTell() || !send_(report)) LoseReport();
    return;
  }
  if (waiting_reports_.size() == kMaxWaitingReports) {
    waiting_reports_.pop_front();
    LoseReport();
  }
  waiting_reports_.push_back(report);
}

void NetworkDesk::LoseReport() {
  ++counters_.reports_dropped;
  ++lost_reports_;
}

// --- ends of intervals -----------------------------------------------------

void NetworkDesk::Close(Nanos until, Nanos epoch_ns) {
  CloseFeeds(until);
  ForgetPast();
  const Nanos end = CellOf(until, epoch_ns) * epoch_ns;
  if (!is_connected_) {
    told_until_ = std::max(told_until_, end);
    ForgetPastOf(&lost_ranges_);
    return ForgetPastOf(&ranges_);
  }
  FlushFlowStates();
  const bool is_first = std::exchange(wants_end_, false);
  if (end > told_until_ || is_first) {
    told_until_ = std::max(told_until_, end);
    has_told_off_ = false;
    TellEnd();
  }
  const auto ended = future_questions_.upper_bound(until);
  for (auto question = future_questions_.begin(); question != ended; ++question) {
    questions_.push_back(std::move(question->second));
  }
  future_questions_.erase(future_questions_.begin(), ended);
  AnswerSome();
}

void NetworkDesk::TellWhetherOff(bool is_off) {
  if (!is_connected_ || has_told_off_ == is_off) return;
  has_told_off_ = is_off;
  wants_end_ = true;  // the first end of an interval afterwards is told at once, too
  TellEnd();
}

void NetworkDesk::TellEnd() {
  IntervalEnd told;
  told.until_ns = told_until_;
  told.incomplete.swap(ranges_);
  ForgetPastOf(&lost_ranges_);
  if (MayTell()) told.dropped_reports = std::exchange(lost_reports_, 0);
  told.is_monitor_off = has_told_off_;
  if (!send_(told)) lost_reports_ += told.dropped_reports;
}

void NetworkDesk::CloseFeeds(Nanos until) {
  for (auto feed = feeds_.begin(); feed != feeds_.end();) {
    closing_ = feed->second.get();
    closing_->feed.Close(std::min(until, closing_->end_at), this);
    FlushBatch(closing_);
    const bool is_over = closing_->is_ending && until >= closing_->end_at;
    feed = is_over ? feeds_.erase(feed) : std::next(feed);
  }
  closing_ = nullptr;
}

// What is kept for questions leaves half of the room to what is being counted.
void NetworkDesk::ForgetPast() {
  bool has_forgotten = true;
  while (budget_.used > budget_.max / 2 && has_forgotten) {
    has_forgotten = false;
    for (auto& [id, feed] : feeds_) has_forgotten |= feed->feed.ForgetOldest();
  }
}

// What no interval that is open has anything of.
void NetworkDesk::ForgetPastOf(std::vector<IncompleteRange>* ranges) const {
  const Nanos oldest = told_until_ - longest_interval_ns_;
  ranges->erase(std::remove_if(ranges->begin(), ranges->end(),
                               [&](const IncompleteRange& one) { return one.end_ns <= oldest; }),
                ranges->end());
}

// A host's share is told at once, before all that may be lost first.
void NetworkDesk::OnCells(const PartialView& cells) {
  ++closing_->told;
  closing_->last_told_end = cells.epoch_end;
  if (!MayTell()) return;
  const EventFeed& feed = closing_->feed;
  const Int128 share = feed.ShareAt(cells.epoch_start);
  if (share > 1) {
    HostReport told;
    told.report.event_id = closing_->controller_id;
    told.report.bucket_key = std::string(cells.bucket_key);
    told.report.start_ns = cells.epoch_start;
    told.report.end_ns = cells.epoch_end;
    told.report.value = Number::Integer(feed.split().ValueOf(cells.words));
    told.report.threshold = Number::Integer(share);
    told.report.is_unscaled = cells.is_unscaled;
    told.words.assign(cells.words, cells.words + feed.plan().word_count);
    if (!send_(told)) LoseReport();
    return;
  }
  Partials& batch = closing_->batch;
  if (batch.bucket_count() != 0 && (batch.start_ns != cells.epoch_start ||
                                    batch.bucket_count() >= closing_->max_buckets_in_message)) {
    FlushBatch(closing_);
  }
  batch.start_ns = cells.epoch_start;
  batch.end_ns = cells.epoch_end;
  batch.Add(cells.bucket_key, cells.words, cells.is_unscaled);
}

void NetworkDesk::FlushBatch(Feed* feed) {
  Partials& batch = feed->batch;
  if (batch.bucket_count() == 0) return;
  if (is_connected_) send_(batch);
  batch.keys.clear();
  batch.key_sizes.clear();
  batch.words.clear();
  batch.unscaled.clear();
}

void NetworkDesk::OnIncomplete(uint32_t /*event_id*/, Nanos start, Nanos end, uint32_t reasons) {
  AddRange({std::max<Nanos>(0, start), end, reasons, closing_->controller_id});
}

// --- questions -------------------------------------------------------------

void NetworkDesk::Take(const Poll& poll) {
  uint32_t number = 0;
  for (const PollQuestion& asked : poll.questions) {
    ++counters_.questions;
    if (questions_.size() + future_questions_.size() < kMaxQuestions) {
      questions_.push_back({poll.number, number, asked});
    } else {
      ++counters_.questions_refused;
      AddAnswer(poll.number, {number, PollStatus::kNoLongerKnown, {}, false, 0});
    }
    ++number;
  }
  AnswerSome();
}

bool NetworkDesk::AnswerSome() {
  for (size_t i = 0; i < kQuestionsAtOnce && !questions_.empty(); ++i) {
    Question question = std::move(questions_.front());
    questions_.pop_front();
    if (Answer(question)) continue;
    const Feed& feed = *by_controller_.at(question.asked.event_id);
    const Nanos length = feed.feed.plan().spec.interval_ns();
    const Nanos end = (CellOf(question.asked.start_ns, length) + 1) * length;
    future_questions_.emplace(end, std::move(question));
  }
  FlushAnswers();
  return !questions_.empty();
}

// False: its interval is still under way.
bool NetworkDesk::Answer(const Question& question) {
  PollAnswer answer;
  answer.question = question.number;
  const auto found = by_controller_.find(question.asked.event_id);
  if (found == by_controller_.end() || !MayTell()) {
    answer.status = PollStatus::kUnknownEvent;
  } else {
    const EventFeed& feed = found->second->feed;
    PartialView cells;
    const FeedAnswer known =
        feed.Answer(question.asked.bucket_key, question.asked.start_ns, &cells);
    if (known == FeedAnswer::kNotYet) return false;
    answer.status = StatusOf(known);
    if (known == FeedAnswer::kValues) {
      answer.words.assign(cells.words, cells.words + feed.plan().word_count);
      answer.is_unscaled = cells.is_unscaled;
    }
  }
  AddAnswer(question.poll, std::move(answer));
  return true;
}

void NetworkDesk::AddAnswer(uint64_t poll, PollAnswer answer) {
  const size_t bytes = kAnswerBytes + answer.words.size() * kWordBytes;
  if (reply_.number != poll || reply_bytes_ + bytes > kReplyBytes) FlushAnswers();
  reply_.number = poll;
  reply_.answers.push_back(std::move(answer));
  reply_bytes_ += bytes;
}

void NetworkDesk::FlushAnswers() {
  if (!reply_.answers.empty() && is_connected_) send_(reply_);
  reply_.answers.clear();
  reply_bytes_ = 0;
}

// --- how it is -------------------------------------------------------------

NetworkDeskCounters NetworkDesk::counters() const {
  NetworkDeskCounters now = counters_;
  now.reports_waiting = waiting_reports_.size();
  now.questions_waiting = questions_.size() + future_questions_.size();
  now.buckets = budget_.used;
  for (const auto& [id, feed] : feeds_) now.buckets_evicted += feed->feed.buckets_evicted();
  return now;
}

std::vector<EventStatus> NetworkDesk::Status() const {
  std::vector<EventStatus> events;
  for (const auto& [id, feed] : feeds_) {
    if (feed->is_ending) continue;
    events.push_back({id, feed->feed.bucket_count(), feed->feed.buckets_evicted(), feed->told,
                      feed->last_told_end});
  }
  return events;
}

}  // namespace trumpet
