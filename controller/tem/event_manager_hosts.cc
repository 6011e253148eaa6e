// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdlib>
#include <unordered_map>
#include <utility>
#include <vector>

#include "controller/tem/event_manager_impl.h"

namespace trumpet {
namespace {

constexpr Nanos kTick = 100 * kNanosPerMilli;

}  // namespace

EventManager::Impl::Impl(const EventManagerParts& parts, const EventManagerOptions& options)
    : parts_(parts),
      options_(options),
      events_({options.max_events, options.max_events_per_tenant}),
      hosts_(&tallies_),
      desk_(parts.base, *parts.clock, options.network, options.listener.tick > 0, this),
      measured_(parts.base, *parts.clock, options.listener.tick > 0,
                [this](const std::vector<NetworkReport>& reports) { OnNetworkReports(reports); }),
      answer_(parts.base, [this] { Answer(); }),
      publish_(parts.base, [this] { PublishHostReports(); }),
      work_(parts.base, [this] { Work(); }),
      ticker_(parts.base, [this] { Tick(); }) {
  if (options_.listener.tick > 0) ticker_.RunEvery(kTick);
}

EventManager::Impl::~Impl() { *is_alive_ = false; }

Result<uint16_t> EventManager::Impl::Listen(const Address& address, TlsContext* tls) {
  auto listener =
      Listener::Listen(parts_.base, address, tls, options_.listener, *parts_.clock, this);
  if (!listener.ok()) return listener.status();
  listeners_.push_back(std::move(*listener));
  return listeners_.back()->port();
}

void EventManager::Impl::Stop() {
  is_stopping_ = true;
  for (const auto& [id, host] : hosts_.all()) {
    if (host->session != nullptr) {
      host->session->Close(ByeReason::kShuttingDown, "the controller is being stopped");
    }
  }
}

// --- time --------------------------------------------------------------------------------------

void EventManager::Impl::Tick() {
  if (desk_.verdicts().NoticeStepBack(Now())) {
    Log("warn", "the clock was set back: all events begin anew");
    BeginAllAnew();
  }
  if (options_.listener.tick == 0) {
    for (const auto& listener : listeners_) listener->Tick();
    desk_.Tick();
    measured_.Tick();
  }
  const Nanos now = parts_.clock->MonotonicNow();
  // What found no room in a session goes on.
  for (const auto& [id, host] : hosts_.all()) {
    if (host->session != nullptr && host->sync.is_under_way()) Queue(host.get());
  }
  LookAtSlowHosts();
  if (now < next_second_) return;
  next_second_ = now + kNanosPerSecond;
  LookAtClocks();
  ForgetHosts();
  if (is_placement_stale_) MoveHosts();
  // Once their tasks are done: a thousand hosts that come do not each change an event's mode.
  if (is_split_stale_ && tasks_.empty()) SplitWhereDue();
  for (auto tenant = tenants_.begin(); tenant != tenants_.end();) {
    const bool is_over =
        events_.Find(tenant->first) == nullptr && desk_.verdicts().Find(tenant->first) == nullptr;
    tenant = is_over ? tenants_.erase(tenant) : std::next(tenant);
  }
  for (const auto& [id, host] : hosts_.all()) {
    if (!host->sync.is_halted()) continue;
    host->sync.TryAgain();
    Queue(host.get());
  }
}

void EventManager::Impl::LookAtClocks() {
  const Nanos now = parts_.clock->MonotonicNow();
  for (const auto& [id, host] : hosts_.all()) {
    if (host->session == nullptr || !host->number) continue;
    const ClockEstimate& estimate = host->session->clock_estimate();
    if (!estimate.has_estimate()) continue;
    desk_.verdicts().SetSkew(*host->number,
                             std::abs(estimate.OffsetAt(now)) + estimate.BoundAt(now));
  }
}

// From then on verdicts know the host, and miss it.
Status EventManager::Impl::GiveNumber(ManagedHost* host) {
  if (host->number) return Status::Ok();
  const auto number = desk_.verdicts().AddHost(host->id);
  if (!number.ok()) return number.status();
  hosts_.SetNumber(host, *number);
  return Status::Ok();
}

void EventManager::Impl::ForgetHosts() {
  if (options_.forget_hosts_after_ns == 0) return;
  const Nanos now = parts_.clock->MonotonicNow();
  std::vector<ManagedHost*> gone;
  for (const auto& [id, host] : hosts_.all()) {
    const bool is_due = host->session == nullptr && host->sessions > 0 &&
                        now - host->left_at > options_.forget_hosts_after_ns;
    if (is_due) gone.push_back(host.get());
  }
  for (ManagedHost* host : gone) {
    Log("warn", "host " + host->id + " has not come back, and is no longer waited for");
    if (host->number) desk_.verdicts().RemoveHost(*host->number, Now(), desk_.output());
    desk_.Touch();
    hosts_.ForgetNumber(host);
    host->sync.BeginAnew();
    is_split_stale_ = true;
    host->sessions = 0;
    if (!host->is_in_file) {
      hosts_.Forget(host);
      is_placement_stale_ = true;
    }
  }
}

// --- sessions ----------------------------------------------------------------------------------

std::optional<Refusal> EventManager::Impl::OnHello(Session* session, const Hello& hello,
                                                   HelloReply* reply) {
  if (is_stopping_) return Refusal{RefusalReason::kShuttingDown, ""};
  if ((hello.capabilities & kCapabilityAnalyzer) != 0) {
    return Refusal{RefusalReason::kNotAllowed, "analyzers connect at a port of their own"};
  }
  if (!is_loaded_) {
    return Refusal{RefusalReason::kTooMany, "the events have not been read yet"};
  }
  // Who stands by must not keep an agent from the controller that acts.
  if (!acts_) return Refusal{RefusalReason::kTooMany, "standing by: " + store_text_};
  ManagedHost* const host = hosts_.Find(hello.host_id);
  if (auto refusal = CheckIdentity(*session, hello, host)) {
    Log("warn", "refused " + session->peer_address() + ": " + refusal->text);
    return refusal;
  }
  if (host != nullptr && host->session != nullptr) {
    if (auto refusal = MakeRoom(host)) return refusal;
  }
  reply->controller_id = identity_.controller_id;
  reply->controller_name = options_.name;
  return std::nullopt;
}

// The name by which the certificate may speak for the host; empty: none.
std::string EventManager::Impl::CertificateName(const Session& session, const Hello& hello) const {
  if (!session.peer().is_authenticated) return "";
  if (session.peer().IsOf(hello.host_id)) return hello.host_id;
  return session.peer().IsOf(hello.host_name) ? hello.host_name : "";
}

// A certificate that has the host's id is enough.  One that has only its name is, if the topology
// says that this is the name of that id, or nobody else has come under that id before.
std::optional<Refusal> EventManager::Impl::CheckIdentity(const Session& session, const Hello& hello,
                                                         const ManagedHost* host) const {
  if (!options_.binds_hosts_to_certificates || !session.peer().is_authenticated) {
    return std::nullopt;
  }
  const std::string name = CertificateName(session, hello);
  const auto refuse = [&](const std::string& why) {
    return Refusal{RefusalReason::kNotAllowed,
                   "the certificate of '" + session.peer().common_name + "' " + why};
  };
  if (name.empty()) return refuse("is not that of host '" + hello.host_id + "'");
  if (name == hello.host_id || host == nullptr) return std::nullopt;
  if (host->is_in_file && host->name != name) {
    return refuse("is not that of host '" + hello.host_id + "', which is '" + host->name +
                  "' in the topology");
  }
  if (!host->certificate_name.empty() && host->certificate_name != name) {
    return refuse("is not the one that host '" + hello.host_id + "' came with before");
  }
  return std::nullopt;
}

// A session that has been silent for two keep-alives is dead, though nobody has told us yet.
std::optional<Refusal> EventManager::Impl::MakeRoom(ManagedHost* host) {
  const Nanos silence = parts_.clock->MonotonicNow() - host->session->last_heard_at();
  if (silence <= 2 * options_.listener.session.keep_alive_interval) {
    return Refusal{RefusalReason::kDuplicateHost,
                   "host '" + host->id + "' is here already, from " + host->address};
  }
  Session* const old = host->session;
  Detach(host, "replaced by a newer session");
  old->Close(ByeReason::kReplaced, "the host has come again");
  return std::nullopt;
}

void EventManager::Impl::OnEstablished(Session* session) {
  const Hello& hello = session->hello();
  const bool is_known = hosts_.Find(hello.host_id) != nullptr;
  ManagedHost* const host = hosts_.Add(hello.host_id);
  const Status numbered = GiveNumber(host);
  if (!numbered.ok()) {
    if (!is_known) hosts_.Forget(host);
    session->Close(ByeReason::kReconfigured, numbered.message());
    return;
  }
  session->user_data = host;
  host->session = session;
  ++connected_hosts_;
  ++host->sessions;
  if (!host->is_in_file) host->name = !hello.host_name.empty() ? hello.host_name : host->id;
  host->certificate_name = CertificateName(*session, hello);
  host->software = hello.software;
  host->address = session->peer_address();
  host->epoch_ns = hello.epoch_ns;
  host->connected_since_ns = host->last_seen_ns = Now();
  host->last_error.clear();
  host->sync.OnConnected(identity_.controller_id, hello);
  host->told_place.reset();
  if (!host->position) MakePlacement();  // nobody else's place changes by that
  TellPlace(host);
  Add({Task::Kind::kPlaceHost, 0, host->id});
  is_split_stale_ = true;
  Log("info", "host " + host->id + " has come from " + host->address);
}

void EventManager::Impl::OnClosed(Session* session, CloseCause cause, const std::string& text) {
  auto* const host = static_cast<ManagedHost*>(session->user_data);
  if (host == nullptr || host->session != session) return;
  const std::string why = CloseCauseName(cause) + (text.empty() ? "" : ": " + text);
  Detach(host, why);
  Log(is_stopping_ ? "info" : "warn", "host " + host->id + " has gone: " + why);
}

// What it was to do without, and cannot say any more since when it does.
void EventManager::Impl::LeaveDropped(const ManagedHost& host) {
  if (!host.number) return;
  for (const uint32_t id : host.sync.UnwantedIds()) {
    if (desk_.verdicts().Find(id) == nullptr) continue;
    desk_.verdicts().Leave(id, *host.number, Now(), desk_.output());
    desk_.Touch();
  }
}

void EventManager::Impl::Detach(ManagedHost* host, const std::string& why) {
  host->past.Add(host->session->counters());
  host->session->user_data = nullptr;
  host->session = nullptr;
  --connected_hosts_;
  host->last_error = why;
  host->last_seen_ns = Now();
  host->left_at = parts_.clock->MonotonicNow();
  host->is_monitor_off = false;
  if (host->number) desk_.verdicts().SetOff(*host->number, INT64_MAX);
  host->polls.Clear();
  host->sync.OnDisconnected();
  LeaveDropped(*host);
  if (std::exchange(host->waits_for_room, false)) {
    waiting_for_room_.erase(std::find(waiting_for_room_.begin(), waiting_for_room_.end(), host));
  }
  CountSet(host);
  if (slice_listener_ != nullptr) slice_listener_(host->id, nullptr);
  if (program_listener_ != nullptr) program_listener_(host->id, nullptr);
}

// --- messages ----------------------------------------------------------------------------------

void EventManager::Impl::OnMessage(Session* session, Message message) {
  auto* const host = static_cast<ManagedHost*>(session->user_data);
  if (host == nullptr || !host->number) return;
  const uint32_t number = *host->number;
  if (const auto* partials = std::get_if<Partials>(&message)) {
    desk_.Take(number, *partials);
  } else if (auto* report = std::get_if<HostReport>(&message)) {
    Take(host, std::move(*report));
  } else if (const auto* end = std::get_if<IntervalEnd>(&message)) {
    host->ended_until_ns = end->until_ns;
    host->is_monitor_off = end->is_monitor_off;
    desk_.Take(number, *end);
  } else if (const auto* reply = std::get_if<PollReply>(&message)) {
    Take(host, *reply);
  } else if (const auto* states = std::get_if<FlowStates>(&message)) {
    desk_.Take(number, *states);
  } else if (const auto* ack = std::get_if<TriggerAck>(&message)) {
    Take(host, *ack);
  } else if (auto* facts = std::get_if<HostFacts>(&message)) {
    Take(host, std::move(*facts));
  } else {
    const bool is_of_slices =
        std::holds_alternative<SliceAck>(message) || std::holds_alternative<HostSliceEnd>(message);
    const SliceListener& listener = is_of_slices ? slice_listener_ : program_listener_;
    if (listener != nullptr) listener(host->id, &message);
  }
}

// A host that has counted an event since long, for another life of it or another process of ours,
// may have done so with a share of its threshold, and have told of what reached that only.  By
// event: the first instant of which it tells as is known here, or all.
std::unordered_map<uint32_t, Nanos> EventManager::Impl::ToldAllSince(
    const ManagedHost& host, const TriggerSync::Outcome& outcome) const {
  const NetworkVerdicts& verdicts = desk_.verdicts();
  std::unordered_map<uint32_t, Nanos> since;
  for (const TriggerSync::Outcome::Event& event : outcome.applied) {
    const NetworkEvent* const its = verdicts.Find(event.id);
    if (!event.begins || !event.was_there || its == nullptr || !its->split().is_sound()) continue;
    since[event.id] = verdicts.OpenSince(event.id, *host.number);
  }
  for (const ShareAck& share : outcome.shares) since[share.event_id] = share.from;
  return since;
}

void EventManager::Impl::Take(ManagedHost* host, const TriggerAck& ack) {
  TriggerSync::Outcome outcome = host->sync.OnAck(ack, Now());
  CountSet(host);
  if (!outcome.is_known) return;
  NetworkVerdicts& verdicts = desk_.verdicts();
  if (!outcome.is_applied) Log("warn", "host " + host->id + ": " + host->sync.last_error());
  const std::unordered_map<uint32_t, Nanos> told_all_since = ToldAllSince(*host, outcome);
  for (const TriggerSync::Outcome::Event& event : outcome.applied) {
    if (!event.begins || verdicts.Find(event.id) == nullptr) continue;
    const auto since = told_all_since.find(event.id);
    const Nanos from = since == told_all_since.end() ? INT64_MIN : since->second;
    verdicts.Join(event.id, *host->number, std::max(outcome.applied_ns, from));
    // A host that has counted it since long tells no states again of flows that rest.
    if (event.was_there && verdicts.Find(event.id)->plan().uses_flow_state) {
      const Nanos timeout = outcome.flow_timeout_ns;
      verdicts.AddIncomplete(*host->number, outcome.applied_ns,
                             Now() + (timeout != 0 ? timeout : options_.event.flow_timeout_ns),
                             kConnectionEvicted, event.id);
    }
  }
  for (const uint32_t id : outcome.left) TakeLeave(host, id, outcome);
  for (const ShareAck& share : outcome.shares) {
    if (verdicts.Find(share.event_id) == nullptr) continue;
    verdicts.ShareApplied(share.event_id, *host->number, share.generation, share.from,
                          desk_.output());
  }
  desk_.Touch();
  Queue(host);
}

// If it is to count the event again, it left either a life of the event that is over, and has not
// joined this one yet, or it left this one, and is awaited anew.
void EventManager::Impl::TakeLeave(ManagedHost* host, uint32_t event_id,
                                   const TriggerSync::Outcome& outcome) {
  const Nanos until = outcome.applied_ns;
  const NetworkEvent* const verdicts = desk_.verdicts().Find(event_id);
  if (verdicts == nullptr) return;
  TriggerSync::View view;
  const bool is_wanted = host->sync.Find(event_id, &view);
  if (is_wanted && !verdicts->HasJoined(*host->number)) return;
  if (outcome.has_begun_anew) desk_.verdicts().Lose(event_id, *host->number, until);
  desk_.verdicts().Leave(event_id, *host->number, until, desk_.output());
  const LiveEvent* const event = events_.Find(event_id);
  if (is_wanted && event != nullptr && event->is_running) Place(*event, until, host);
}

void EventManager::Impl::Take(ManagedHost* host, const PollReply& reply) {
  host->polls.Take(reply, [&](const PollOrder& order, const PollAnswer& answer) {
    desk_.Take(*host->number, order, answer);
  });
}

void EventManager::Impl::Take(ManagedHost* host, HostReport report) {
  LiveEvent* const event = events_.Find(report.report.event_id);
  const bool is_of_host =
      event != nullptr && event->is_running && !event->is_of_network() && !event->is_measured;
  if (!is_of_host) {
    desk_.Take(*host->number, report);
  } else if (IsPlaced(event->hosts, *host) || host->sync.Knows(event->record.id)) {
    PublishHostReport(*host, event, std::move(report.report));
  } else {
    ++event->host_counters.strangers;
  }
}

ListenerCounters EventManager::Impl::CountListeners() const {
  ListenerCounters sum;
  for (const auto& listener : listeners_) {
    const ListenerCounters one = listener->counters();
    sum.accepted += one.accepted;
    sum.established += one.established;
    sum.refused += one.refused;
    sum.strangers_evicted += one.strangers_evicted;
    sum.accept_failures += one.accept_failures;
    for (size_t i = 0; i < sum.closed.size(); ++i) sum.closed[i] += one.closed[i];
    sum.sessions.Add(one.sessions);
  }
  return sum;
}

bool EventManager::Impl::IsSettled() const {
  if (!tasks_.empty() || !to_pump_.empty()) return false;
  for (const auto& [id, host] : hosts_.all()) {
    if (host->session != nullptr && !host->sync.IsSettled()) return false;
  }
  return true;
}

}  // namespace trumpet
