// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ScriptedAgent: the wire's side of an agent over a real session, whose counts a test makes up.

#ifndef TRUMPET_CONTROLLER_TEM_SCRIPTED_AGENT_TEST_H
#define TRUMPET_CONTROLLER_TEM_SCRIPTED_AGENT_TEST_H

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lib/verdict/event_feed.h"
#include "lib/verdict/threshold_split.h"
#include "lib/verdict/trigger_plan.h"
#include "lib/verdict/verdict_test_kit.h"
#include "lib/wire/connector.h"
#include "lib/wire/place_codec.h"

namespace trumpet {

class ScriptedAgent final : public SessionOwner, private FeedSink {
 public:
  ScriptedAgent(event_base* base, const WireClock& clock, std::string id)
      : base_(base), clock_(clock), id_(std::move(id)) {}

  void Connect(const Address& address, TlsContext* tls) {
    ConnectorOptions options;
    options.tick = 0;
    auto connector = Connector::Connect(base_, address, tls, options, clock_, this);
    ASSERT_TRUE(connector.ok()) << connector.message();
    connector_ = std::move(*connector);
  }
  // As if its machine had lost power.
  void Kill() {
    connector_.reset();
    session_ = nullptr;
    parts_.clear();
  }
  void Restart() {
    Kill();
    ++process_start_;
    generation_ = controller_id_ = 0;
    program_from_ = clock_.UnixNow();
    running.clear();
    refused_.clear();
  }
  void Tick() {
    if (connector_ != nullptr) connector_->Tick();
  }
  bool is_connected() const { return session_ != nullptr; }
  Session* session() { return session_; }
  const std::string& last_error() const { return connector_->last_error(); }

  struct Running {
    Trigger trigger;
    std::unique_ptr<EventFeed> feed;  // of events of the network
    Nanos from = 0;
    Nanos share_from = 0;
  };
  // By name of the event; null: it does not run.
  Running* Find(const std::string& name) {
    for (auto& [event_id, one] : running) {
      if (one.trigger.event.name == name) return &one;
    }
    return nullptr;
  }
  std::string Names() const {
    std::map<std::string, int> sorted;
    for (const auto& [event_id, one] : running) ++sorted[one.trigger.event.name];
    std::string names;
    for (const auto& [name, count] : sorted) names += (names.empty() ? "" : " ") + name;
    return names;
  }

  // The event counts `packets` of `bytes` each in the interval from `start` on, in its only bucket,
  // or one of a flow.
  void Count(const std::string& name, Nanos start, uint64_t volume) {
    Running* const one = Find(name);
    ASSERT_NE(one, nullptr) << id_ << " does not run " << name;
    const TriggerPlan& plan = one->feed->plan();
    std::vector<uint64_t> words(plan.word_count);
    ResetCells(plan.cells, words.data());
    for (const CellSpec& cell : plan.cells) {
      words[cell.offset] = cell.kind == CellKind::kCount ? 1 : volume;
    }
    PartialView view;
    view.event_id = plan.spec.id;
    view.epoch_start = start;
    view.epoch_end = start + plan.spec.interval_ns();
    const std::string flow = kit::FlowBucket(1);
    if (plan.spec.granularity.is_five_tuple) view.bucket_key = flow;
    view.words = words.data();
    one->feed->Add(view);
  }
  // Says what was counted until then.
  void End(Nanos until) {
    for (auto& [event_id, one] : running) {
      if (one.feed != nullptr) one.feed->Close(until, this);
    }
    IntervalEnd end;
    end.until_ns = until;
    Send(end);
  }
  void Send(const Message& message) {
    if (session_ == nullptr) return;
    const Status sent = session_->Send(message);
    EXPECT_TRUE(sent.ok()) << sent.message();
  }

  std::map<uint32_t, Running> running;  // by id
  std::optional<HostPlace> place;
  bool was_placed_first = false;  // before the first set
  uint64_t sets = 0;
  uint64_t whole_sets = 0;
  uint64_t questions = 0;
  uint64_t cells_told = 0;
  std::vector<Message> slice_orders;
  std::string refused_event;  // by name
  bool answers = true;        // sets; else they wait for AnswerNow()
  Nanos flow_timeout = 0;     // told with answers; 0: none
  bool is_old = false;        // says that it knows no endpoints of programs

  bool has_set_waiting() const { return !parts_.empty() && parts_.back().is_last; }
  // Runs the set that waits, and says so.
  void AnswerNow() {
    if (session_ == nullptr || !session_->is_established() || !has_set_waiting()) return;
    Send(Apply(session_->hello_reply().controller_id));
    parts_.clear();
  }

 private:
  Hello MakeHello() override {
    Hello hello;
    hello.host_id = id_;
    hello.host_name = "name-of-" + id_;
    hello.software = "scripted";
    hello.capabilities = kCapabilityPartials | kCapabilityPoll | kCapabilityFlowStates |
                         kCapabilityPlace | kCapabilitySlices | kCapabilityPrograms |
                         (is_old ? 0 : kCapabilityCollect);
    hello.process_start_ns = process_start_;
    hello.set_controller_id = controller_id_;
    hello.set_generation = generation_;
    return hello;
  }
  void OnEstablished(Session* session) override { session_ = session; }
  void OnClosed(Session* /*session*/, CloseCause /*cause*/, const std::string& /*text*/) override {
    session_ = nullptr;
    parts_.clear();
    place_parts_.Forget();
  }
  void OnMessage(Session* /*session*/, Message message) override {
    if (auto* set = std::get_if<TriggerSet>(&message)) {
      if (set->part == 0) parts_.clear();
      parts_.push_back(std::move(*set));
      if (answers) AnswerNow();
    } else if (auto* poll = std::get_if<Poll>(&message)) {
      Answer(*poll);
    } else if (auto* part = std::get_if<HostPlacePart>(&message)) {
      auto whole = place_parts_.Add(std::move(*part));
      ASSERT_TRUE(whole.ok()) << whole.message();
      if (!*whole) return;
      place = std::move((*whole)->place);
      was_placed_first = was_placed_first || sets == 0;
    } else {
      slice_orders.push_back(std::move(message));
    }
  }

  TriggerAck Apply(uint64_t controller_id) {
    const TriggerSet& first = parts_[0];
    TriggerAck ack;
    ack.generation = first.generation;
    ++sets;
    if (first.base_generation == 0) ++whole_sets;
    const bool fits = first.base_generation == 0 ||
                      (first.base_generation == generation_ && controller_id == controller_id_);
    if (!fits) {
      ack.text = "another base";
      return ack;
    }
    ack.is_applied = true;
    ack.flow_timeout_ns = flow_timeout;
    ack.applied_ns = clock_.UnixNow();
    has_changed_ = false;
    std::map<uint32_t, Running> before;
    if (first.base_generation == 0) {
      before.swap(running);
      refused_.clear();
    }
    for (const TriggerSet& part : parts_) {
      for (const TriggerChange& change : part.changes) {
        if (change.put) {
          Put(*change.put, &before, &ack);
        } else {
          const uint32_t id = change.remove_event_id;
          EXPECT_EQ(running.erase(id) + refused_.erase(id), 1u) << "of what is not there";
          has_changed_ = true;
        }
      }
    }
    for (const auto& [event_id, one] : before) has_changed_ |= running.count(event_id) == 0;
    SayAllErrors(&ack);
    // As the switch's agent: threads go on with the program that they have.
    if (has_changed_) program_from_ = ack.applied_ns;
    ack.applied_ns = program_from_;
    generation_ = first.generation;
    controller_id_ = controller_id;
    return ack;
  }

  // Also of events that this set does not touch.
  void SayAllErrors(TriggerAck* ack) const {
    for (const uint32_t id : refused_) {
      const bool is_said = std::any_of(ack->errors.begin(), ack->errors.end(),
                                       [id](const EventError& one) { return one.event_id == id; });
      if (!is_said) ack->errors.push_back({id, "", "too much"});
    }
  }

  void Put(const Trigger& trigger, std::map<uint32_t, Running>* before, TriggerAck* ack) {
    const uint32_t event_id = trigger.event.id;
    if (trigger.event.name == refused_event) {
      ack->errors.push_back({event_id, "", "too much"});
      has_changed_ |= running.erase(event_id) != 0;
      refused_.insert(event_id);
      return;
    }
    refused_.erase(event_id);
    const auto known = before->find(event_id);
    if (known != before->end()) running[event_id] = std::move(known->second);
    Running& one = running[event_id];
    one.trigger = trigger;
    if (one.from == 0) {
      one.from = ack->applied_ns;
      has_changed_ = true;
    }
    if (trigger.mode == TriggerMode::kHost) return;
    if (one.feed == nullptr) {
      one.feed = std::make_unique<EventFeed>(
          std::make_shared<TriggerPlan>(MakeTriggerPlan(trigger.event)), ack->applied_ns, 0);
    }
    if (trigger.mode != TriggerMode::kThreshold) return;
    ThresholdShare share;
    share.generation = trigger.share_generation;
    share.share = ShareOf(one.feed->split(), *trigger.local_predicate);
    share.from = trigger.share_from;
    const Nanos share_from = one.feed->SetShare(share);
    if (share_from != INT64_MAX) one.share_from = share_from;  // else it is known
    ack->shares.push_back({event_id, share.generation, one.share_from});
  }

  void Answer(const Poll& poll) {
    PollReply reply;
    reply.number = poll.number;
    for (const PollQuestion& question : poll.questions) {
      ++questions;
      PollAnswer answer;
      answer.question = static_cast<uint32_t>(reply.answers.size());
      const auto one = running.find(question.event_id);
      PartialView cells;
      const FeedAnswer found =
          one == running.end()
              ? FeedAnswer::kNoLongerKnown
              : one->second.feed->Answer(question.bucket_key, question.start_ns, &cells);
      answer.status = found == FeedAnswer::kValues      ? PollStatus::kValues
                      : found == FeedAnswer::kNoPackets ? PollStatus::kNoPackets
                                                        : PollStatus::kNoLongerKnown;
      if (found == FeedAnswer::kValues) {
        answer.words.assign(cells.words, cells.words + one->second.feed->plan().word_count);
      }
      reply.answers.push_back(std::move(answer));
    }
    Send(reply);
  }

  void OnCells(const PartialView& cells) override {
    ++cells_told;
    Partials partials;
    partials.event_id = cells.event_id;
    partials.start_ns = cells.epoch_start;
    partials.end_ns = cells.epoch_end;
    partials.words_per_bucket = running[cells.event_id].feed->plan().word_count;
    partials.Add(cells.bucket_key, cells.words, cells.is_unscaled);
    Send(partials);
  }
  void OnIncomplete(uint32_t /*event_id*/, Nanos /*start*/, Nanos /*end*/,
                    uint32_t /*reasons*/) override {}

  event_base* const base_;
  const WireClock& clock_;
  const std::string id_;
  std::unique_ptr<Connector> connector_;
  Session* session_ = nullptr;
  Nanos process_start_ = 1;
  uint64_t controller_id_ = 0;
  uint64_t generation_ = 0;
  std::set<uint32_t> refused_;  // in the set, and not running
  Nanos program_from_ = 0;
  bool has_changed_ = false;  // what runs, by the set that is being applied
  std::vector<TriggerSet> parts_;
  HostPlaceParts place_parts_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TEM_SCRIPTED_AGENT_TEST_H
