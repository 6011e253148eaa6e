// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/tem_host.h"

#include <cstdio>
#include <cstdlib>

namespace trumpet {
namespace {

constexpr size_t kBucketsPerMessage = 1000;

}  // namespace

TemHost::TemHost(event_base* base, const WireClock& clock, size_t number, const Address& address,
                 TlsContext* tls)
    : clock_(clock), number_(number) {
  ConnectorOptions options;
  options.seed = number + 1;
  auto connector = Connector::Connect(base, address, tls, options, clock, this);
  if (!connector.ok()) {
    std::fprintf(stderr, "bench-tem: %s\n", connector.message().c_str());
    std::exit(1);
  }
  connector_ = std::move(*connector);
}

Hello TemHost::MakeHello() {
  Hello hello;
  hello.host_id = "host-" + std::to_string(number_);
  hello.capabilities = kCapabilityPartials | kCapabilityPoll | kCapabilityPlace;
  hello.process_start_ns = 1;
  hello.set_controller_id = controller_id_;
  hello.set_generation = generation_;
  return hello;
}

void TemHost::OnClosed(Session* /*session*/, CloseCause /*cause*/, const std::string& /*text*/) {
  session_ = nullptr;
}

void TemHost::OnMessage(Session* session, Message message) {
  if (auto* set = std::get_if<TriggerSet>(&message)) {
    const bool is_last = set->is_last;
    Take(std::move(*set));
    if (is_last) controller_id_ = session->hello_reply().controller_id;
  }
  if (const auto* poll = std::get_if<Poll>(&message)) Answer(*poll);
}

void TemHost::Take(TriggerSet set) {
  if (set.part == 0) {
    ack_ = TriggerAck();
    if (set.base_generation == 0) running_.clear();
  }
  ack_.generation = set.generation;
  ack_.is_applied = true;
  ack_.applied_ns = clock_.UnixNow();
  for (TriggerChange& change : set.changes) {
    if (change.put) {
      Put(std::move(*change.put));
    } else {
      running_.erase(change.remove_event_id);
    }
  }
  if (!set.is_last) return;
  generation_ = set.generation;
  acknowledged_at_ = clock_.MonotonicNow();
  Send(ack_);
}

// With thousands of events on a thousand hosts, plans are made for those that are counted for.
void TemHost::Put(Trigger trigger) {
  const uint32_t id = trigger.event.id;
  std::unique_ptr<EventFeed>& feed = running_[id];
  event_ = std::move(trigger.event);
  plan_ = nullptr;
  if (trigger.mode != TriggerMode::kThreshold) return feed.reset();
  plan_ = std::make_shared<TriggerPlan>(MakeTriggerPlan(event_));
  if (feed == nullptr) feed = std::make_unique<EventFeed>(plan_, ack_.applied_ns, number_);
  ThresholdShare share;
  share.generation = trigger.share_generation;
  share.share = ShareOf(feed->split(), *trigger.local_predicate);
  share.from = trigger.share_from;
  ack_.shares.push_back({id, share.generation, feed->SetShare(share)});
}

void TemHost::Count(const TemCounts& counts, Nanos start) {
  if (running_.empty()) return;
  if (plan_ == nullptr) plan_ = std::make_shared<TriggerPlan>(MakeTriggerPlan(event_));
  EventFeed* const feed = running_[event_.id].get();
  std::vector<uint64_t> words(plan_->word_count);
  PartialView view;
  view.event_id = event_.id;
  view.epoch_start = start;
  view.epoch_end = start + plan_->spec.interval_ns();
  view.words = words.data();
  partials_.clear();
  for (const auto& [key, bytes] : counts) {
    ResetCells(plan_->cells, words.data());
    for (const CellSpec& cell : plan_->cells) {
      words[cell.offset] = cell.kind == CellKind::kCount ? 10 : bytes;
    }
    view.bucket_key = key;
    if (feed != nullptr) {
      feed->Add(view);
    } else {
      OnCells(view);
    }
  }
}

void TemHost::OnCells(const PartialView& cells) {
  if (partials_.empty() || partials_.back().bucket_count() == kBucketsPerMessage) {
    Partials& next = partials_.emplace_back();
    next.event_id = cells.event_id;
    next.start_ns = cells.epoch_start;
    next.end_ns = cells.epoch_end;
    next.words_per_bucket = plan_->word_count;
  }
  partials_.back().Add(cells.bucket_key, cells.words, cells.is_unscaled);
}

void TemHost::End(Nanos until) {
  for (auto& [id, feed] : running_) {
    if (feed != nullptr) feed->Close(until, this);
  }
  for (Partials& partials : partials_) Send(std::move(partials));
  partials_.clear();
  IntervalEnd end;
  end.until_ns = until;
  Send(end);
}

void TemHost::SendReport(const std::string& key, Nanos start, Nanos end) {
  if (running_.empty()) return;
  HostReport report;
  report.report.event_id = event_.id;
  report.report.bucket_key = key;
  report.report.start_ns = start;
  report.report.end_ns = end;
  report.report.value = Number::Integer(7);
  report.report.threshold = Number::Integer(5);
  report.report.detected_ns = clock_.UnixNow();
  Send(report);
}

void TemHost::Answer(const Poll& poll) {
  PollReply reply;
  reply.number = poll.number;
  for (const PollQuestion& question : poll.questions) {
    PollAnswer answer;
    answer.question = static_cast<uint32_t>(reply.answers.size());
    answer.status = PollStatus::kNoPackets;
    const auto found = running_.find(question.event_id);
    const EventFeed* const feed = found == running_.end() ? nullptr : found->second.get();
    PartialView cells;
    if (feed != nullptr &&
        feed->Answer(question.bucket_key, question.start_ns, &cells) == FeedAnswer::kValues) {
      answer.status = PollStatus::kValues;
      answer.words.assign(cells.words, cells.words + feed->plan().word_count);
    }
    reply.answers.push_back(std::move(answer));
  }
  Send(reply);
}

void TemHost::Send(const Message& message) {
  if (session_ == nullptr) return;
  const Status sent = session_->Send(message);
  if (!sent.ok()) std::fprintf(stderr, "bench-tem: %s\n", sent.message().c_str());
}

}  // namespace trumpet
