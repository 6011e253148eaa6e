// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What is said with the controller while there is a session, and how that is.

#include <exception>
#include <utility>

#include "lib/wire/limits.h"
#include "lib/wire/message_parts.h"
#include "vswitchd-plugin/controller_link.h"

namespace trumpet {
namespace {

constexpr size_t kErrorsInAck = 100;
constexpr size_t kSharesInAck = 4000;

}  // namespace

Hello ControllerLink::MakeHello() {
  Hello hello;
  hello.capabilities = kCapabilityPartials | kCapabilityPoll | kCapabilityFlowStates |
                       kCapabilityPlace | kCapabilitySlices | kCapabilityPrograms |
                       kCapabilityCollect;
  hello.host_id = ToWireText(wanted_.host_id, kMaxTextBytes);
  hello.host_name = ToWireText(host_name_, kMaxTextBytes);
  hello.software = "trumpet " TRUMPET_VERSION;
  hello.epoch_ns = epoch_ns_;
  hello.process_start_ns = process_start_ns_;
  hello.set_controller_id = running_controller_id_;
  hello.set_generation = running_generation_;
  return hello;
}

void ControllerLink::OnEstablished(Session* session) {
  if (connector_ == nullptr || session != connector_->session()) return;
  state_since_ns_ = clock_.UnixNow();
  const HelloReply& reply = session->hello_reply();
  Log(false, "connected" + (reply.controller_name.empty() ? "" : " to " + reply.controller_name));
  set_.BeginSession(reply.controller_id);
  place_parts_.Forget();
  session_ = session;
  ++session_count_;
  flow_states_lost_ = 0;
  SendFacts();
  if ((session->capabilities() & kCapabilityPrograms) != 0) {
    Send(programs_.BeginSession(reply.controller_id));
  }
  if (session_ != session) return;  // something found no room in it
  parts_.desk->Connect(reply.controller_id);
  is_due_ = true;
}

// What has no memory ends the session, not the switch.
void ControllerLink::OnMessage(Session* session, Message message) {
  if (session != session_) return;
  try {
    TakeMessage(std::move(message));
  } catch (const std::exception& error) {
    session->Abandon(CloseCause::kByUs, error.what());
  }
}

void ControllerLink::TakeMessage(Message message) {
  if (auto* part = std::get_if<TriggerSet>(&message)) {
    std::optional<ControllerSet::Taken> taken = set_.Take(std::move(*part));
    if (taken) {
      taken->controller_id = session_->hello_reply().controller_id;
      taken->session = session_count_;
      sets_.push_back(std::move(*taken));
      is_due_ = true;
    }
  } else if (const auto* poll = std::get_if<Poll>(&message)) {
    parts_.desk->Take(*poll);
    has_questions_ = true;  // look again
  } else if (auto* place_part = std::get_if<HostPlacePart>(&message)) {
    auto whole = place_parts_.Add(std::move(*place_part));
    if (!whole.ok()) return session_->Abandon(CloseCause::kProtocol, whole.message());
    if (*whole) parts_.on_place(std::make_shared<const HostPlace>(std::move((*whole)->place)));
  } else if (auto* on = std::get_if<SliceOn>(&message)) {
    TakeSliceOn(std::move(on->slice));
  } else if (const auto* off = std::get_if<SliceOff>(&message)) {
    TakeSliceOff(*off);
  } else if (const std::optional<Message> answer =
                 programs_.Take(message, clock_.UnixNow(), clock_.MonotonicNow())) {
    Send(*answer);
  }
}

// At once: packets are marked before the answer is on its way.
void ControllerLink::TakeSliceOn(SliceSpec slice) {
  SliceAck ack{slice.bridge, slice.tag, false, ""};
  TellSliceEnds();
  const trumpet::Status status = parts_.slices->TurnOn(std::move(slice), clock_.MonotonicNow());
  ack.is_on = status.ok();
  if (!status.ok()) ack.error = status.message();
  Send(ack);
  is_due_ = true;
}

void ControllerLink::TakeSliceOff(const SliceOff& off) {
  parts_.slices->TurnOff(off.bridge, off.tag, clock_.MonotonicNow());
  TellSliceEnds();
  Send(SliceAck{off.bridge, off.tag, false, ""});
  is_due_ = true;
}

void ControllerLink::TellSliceEnds() {
  for (const HostSliceEnd& end : parts_.slices->TakeEnds()) Send(end);
}

const HostFacts& ControllerLink::facts() const {
  static const HostFacts kNothing;
  return database_ != nullptr ? database_->facts().facts : kNothing;
}

void ControllerLink::OnClosed(Session* session, CloseCause cause, const std::string& text) {
  const bool was_established = session->established_at() != 0;
  if (connector_ == nullptr || (was_established && session != session_)) return;  // it took leave
  if (was_established) {
    session_ = nullptr;
    parts_.desk->Disconnect();
    has_questions_ = false;
  }
  state_since_ns_ = clock_.UnixNow();
  Log(true, std::string(CloseCauseName(cause)) + (text.empty() ? "" : ": " + text));
}

void ControllerLink::SendFacts() {
  if (database_ == nullptr || database_->version() == 0) return;
  facts_sent_version_ = database_->version();
  facts_sent_at_ = clock_.MonotonicNow();
  ++facts_sent_;
  const trumpet::Status sent = SplitHostFacts(database_->facts().facts, kMaxFrameToController,
                                              [this](Message&& part) { (void)Send(part); });
  if (!sent.ok()) Log(true, "facts of this host cannot be told: " + sent.message());
}

std::vector<ControllerSet::Taken> ControllerLink::TakeSets() { return std::exchange(sets_, {}); }

void ControllerLink::Acknowledge(const ControllerSet::Taken& set, TriggerAck ack) {
  if (ack.is_applied) {
    running_controller_id_ = set.controller_id;
    running_generation_ = set.generation;
  }
  if (set.session != session_count_) return;
  ack.generation = set.generation;
  ack.text = ToWireText(ack.text, kMaxTextBytes);
  for (EventError& error : ack.errors) error.text = ToWireText(error.text, kMaxLongTextBytes);
  size_t error = 0, share = 0;
  do {
    if (session_ == nullptr) return;
    TriggerAck part{ack.generation, ack.is_applied,     ack.applied_ns, {}, ack.text, {},
                    false,          ack.flow_timeout_ns};
    for (; error < ack.errors.size() && part.errors.size() < kErrorsInAck; ++error) {
      part.errors.push_back(ack.errors[error]);
    }
    for (; share < ack.shares.size() && part.shares.size() < kSharesInAck; ++share) {
      part.shares.push_back(ack.shares[share]);
    }
    part.has_more = error < ack.errors.size() || share < ack.shares.size();
    const trumpet::Status sent = session_->Send(part);
    if (!sent.ok()) return Log(true, "an answer could not be sent: " + sent.message());
  } while (error < ack.errors.size() || share < ack.shares.size());
}

// --- how it is -------------------------------------------------------------

LinkStatus ControllerLink::Status() const {
  LinkStatus status;
  status.is_configured = is_configured();
  status.desk = parts_.desk->counters();
  if (!is_configured()) return status;
  status.address = wanted_.controller;
  status.host_id = wanted_.host_id;
  status.since_ns = state_since_ns_;
  status.last_error = problem_;
  status.controller_id = running_controller_id_;
  status.generation = running_generation_;
  status.events = set_.triggers().size();
  status.dropped = dropped_before_;
  if (database_ != nullptr) {
    status.database = database_->state();
    status.ports = database_->facts().facts.ports.size();
    status.facts_left_out = database_->facts().left_out;
  }
  status.facts_sent = facts_sent_;
  if (connector_ == nullptr) return status;
  const ConnectorCounters counters = connector_->counters();
  if (status.last_error.empty()) status.last_error = connector_->last_error();
  if (tls_ != nullptr && !tls_->problem().empty()) status.last_error = tls_->problem();
  status.attempts = counters.attempts;
  status.established = counters.established;
  status.bytes_sent = counters.sessions.bytes_sent;
  status.bytes_received = counters.sessions.bytes_received;
  for (size_t i = 0; i < status.dropped.size(); ++i) {
    status.dropped[i] += counters.sessions.dropped[i];
  }
  if (session_ == nullptr) return status;
  status.is_connected = true;
  status.controller_name = session_->hello_reply().controller_name;
  status.queued_bytes = session_->queued_bytes();
  const ClockEstimate& clock = session_->clock_estimate();
  if (clock.has_estimate()) {
    const Nanos now = clock_.MonotonicNow();
    status.has_clock = true;
    status.rtt_ns = clock.last_rtt();
    status.controller_ahead_ns = clock.OffsetAt(now);
    status.skew_bound_ns = clock.BoundAt(now);
  }
  return status;
}

}  // namespace trumpet
