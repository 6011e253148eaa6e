// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/tem/network_verdicts.h"

#include <algorithm>
#include <utility>

namespace trumpet {
namespace {

// Quiet events are looked at in turn, each once in a second, or less often where that would be
// more than so many looks at members in a slice: a few per cent of a processor.
constexpr Nanos kQuietSlice = 20 * kNanosPerMilli;
constexpr size_t kQuietSlices = 50;
constexpr size_t kQuietMembers = 16384;

}  // namespace

NetworkVerdicts::NetworkVerdicts(const NetworkOptions& options) : options_(options) {}

NetworkVerdicts::~NetworkVerdicts() = default;

// --- hosts and events --------------------------------------------------------------------------

Result<uint32_t> NetworkVerdicts::AddHost(const std::string& name) {
  const auto found = by_name_.find(name);
  if (found != by_name_.end()) {
    leaving_.erase(std::remove(leaving_.begin(), leaving_.end(), found->second), leaving_.end());
    return found->second;
  }
  if (by_name_.size() >= options_.max_hosts) {
    return Status::Error("host " + name + " is one too many; " +
                         std::to_string(options_.max_hosts) + " are allowed");
  }
  const auto place = std::find(hosts_.begin(), hosts_.end(), nullptr);
  const auto host = static_cast<uint32_t>(place - hosts_.begin());
  if (place == hosts_.end()) hosts_.emplace_back();
  hosts_[host] = std::make_unique<NetworkHost>();
  hosts_[host]->name = name;
  by_name_[name] = host;
  return host;
}

void NetworkVerdicts::RemoveHost(uint32_t host, Nanos until, NetworkOutput* output) {
  if (!IsHost(host)) return;
  for (auto& [id, event] : events_) event->Leave(host, until, output);
  if (std::count(leaving_.begin(), leaving_.end(), host) == 0) leaving_.push_back(host);
}

void NetworkVerdicts::SetSkew(uint32_t host, Nanos bound) {
  if (IsHost(host)) hosts_[host]->skew_bound_ns = bound;
}

void NetworkVerdicts::SetOff(uint32_t host, Nanos from) {
  if (!IsHost(host) || hosts_[host]->off_from == from) return;
  hosts_[host]->off_from = from;
  for (auto& [id, event] : events_) event->LookAgain();
}

Status NetworkVerdicts::Install(const std::shared_ptr<const TriggerPlan>& plan, Nanos from,
                                const NetworkEventOptions& options, NetworkOutput* output) {
  const auto there = events_.find(plan->spec.id);
  if (there != events_.end() && there->second->is_ending()) {
    if (output != nullptr) there->second->TellRest(from, output);
    there->second->MarkWaiting(from);
    Erase(there);
  }
  std::unique_ptr<NetworkEvent>& event = events_[plan->spec.id];
  if (event == nullptr) {
    event = std::make_unique<NetworkEvent>(plan, from, options, options_.limits, &hosts_,
                                           &options_.budget, options_.hash_seed);
    awake_.insert(plan->spec.id);
    if (plan->uses_flow_state) of_flows_.insert(plan->spec.id);
    MarkEnded(*event);
    return Status::Ok();
  }
  Wake(event.get());
  if (!event->TakeOver(plan)) {
    return Status::Error("event '" + plan->spec.name +
                         "' counts something else than before under " + "its id " +
                         std::to_string(plan->spec.id) + "; it needs another");
  }
  return Status::Ok();
}

// Hosts whose clocks are ahead have ended intervals of the event that only begins: what they told
// of these found nobody here, and they may join as having counted it.
void NetworkVerdicts::MarkEnded(const NetworkEvent& event) {
  const EventSpec& spec = event.plan().spec;
  const Nanos start = event.NextStart();
  for (const auto& host : hosts_) {
    if (host == nullptr || host->ended_until < start + spec.interval_ns()) continue;
    const Nanos end = CellOf(host->ended_until, spec.interval_ns()) * spec.interval_ns();
    host->incomplete_of[spec.id].Add(start, end, kMonitorInterrupted);
  }
}

void NetworkVerdicts::Uninstall(uint32_t event_id, Nanos until) {
  const auto found = events_.find(event_id);
  if (found == events_.end()) return;
  Wake(found->second.get());
  found->second->EndAt(until);
}

NetworkEvent* NetworkVerdicts::EventOf(uint32_t event_id, uint32_t host) {
  const auto found = events_.find(event_id);
  if (found != events_.end() && IsHost(host)) return found->second.get();
  ++unknown_events_;
  return nullptr;
}

// Of something that is to be taken in.
NetworkEvent* NetworkVerdicts::Wake(uint32_t event_id, uint32_t host) {
  NetworkEvent* const event = EventOf(event_id, host);
  if (event != nullptr) Wake(event);
  return event;
}

void NetworkVerdicts::Wake(NetworkEvent* event) {
  if (!event->is_asleep) return;
  event->is_asleep = false;
  awake_.insert(event->plan().spec.id);
  event->CatchUp(now_);
}

const NetworkEvent* NetworkVerdicts::Find(uint32_t event_id) const {
  const auto found = events_.find(event_id);
  return found == events_.end() ? nullptr : found->second.get();
}

Nanos NetworkVerdicts::OpenSince(uint32_t event_id, uint32_t host) const {
  const NetworkEvent* const event = Find(event_id);
  if (event == nullptr || !IsHost(host)) return INT64_MIN;
  const Nanos ended_until = hosts_[host]->ended_until;
  const Nanos interval = event->plan().spec.interval_ns();
  return ended_until == INT64_MIN ? INT64_MIN : CellOf(ended_until, interval) * interval;
}

void NetworkVerdicts::Inherit(uint32_t event_id, std::set<std::string> buckets, Nanos until) {
  const auto found = events_.find(event_id);
  if (found == events_.end()) return;
  Wake(found->second.get());
  found->second->Inherit(std::move(buckets), until);
}

void NetworkVerdicts::Placed(uint32_t event_id) {
  const auto found = events_.find(event_id);
  if (found != events_.end()) found->second->Placed();
}

void NetworkVerdicts::Await(uint32_t event_id, uint32_t host, Nanos from) {
  NetworkEvent* const event = EventOf(event_id, host);
  if (event == nullptr) return;
  if (event->IsAwaited(host)) return;
  if (event->IsMember(host)) event->CatchUp(now_);
  event->Await(host, from);
}

void NetworkVerdicts::Forgo(uint32_t event_id, uint32_t host, Nanos until) {
  if (NetworkEvent* event = EventOf(event_id, host)) event->Forgo(host, until);
}

void NetworkVerdicts::Invite(uint32_t event_id, uint32_t host, NetworkOutput* output) {
  if (NetworkEvent* event = EventOf(event_id, host)) event->Invite(host, output);
}

bool NetworkVerdicts::BeginSplit(uint32_t event_id, uint64_t last_share_generation,
                                 NetworkOutput* output) {
  const auto found = events_.find(event_id);
  return found != events_.end() && found->second->BeginSplit(last_share_generation, output);
}

void NetworkVerdicts::Join(uint32_t event_id, uint32_t host, Nanos from) {
  NetworkEvent* const event = EventOf(event_id, host);
  if (event == nullptr) return;
  if (event->HasJoined(host)) event->CatchUp(now_);
  event->Join(host, from);
}

void NetworkVerdicts::Lose(uint32_t event_id, uint32_t host, Nanos until) {
  if (NetworkEvent* event = EventOf(event_id, host)) event->Lose(host, until);
}

void NetworkVerdicts::Leave(uint32_t event_id, uint32_t host, Nanos until, NetworkOutput* output) {
  if (NetworkEvent* event = EventOf(event_id, host)) event->Leave(host, until, output);
}

void NetworkVerdicts::ShareApplied(uint32_t event_id, uint32_t host, uint64_t generation,
                                   Nanos from, NetworkOutput* output) {
  if (NetworkEvent* event = EventOf(event_id, host)) {
    event->ShareApplied(host, generation, from, output);
  }
}

// --- deliveries --------------------------------------------------------------------------------

void NetworkVerdicts::Add(uint32_t host, const PartialView& partial, size_t word_count, Nanos now) {
  if (NetworkEvent* event = Wake(partial.event_id, host)) {
    event->Add(host, partial, word_count, now);
  }
}

void NetworkVerdicts::Add(uint32_t host, const Partials& partials) {
  if (NetworkEvent* event = Wake(partials.event_id, host)) event->Add(host, partials);
}

void NetworkVerdicts::Add(uint32_t host, const FlowStateUpdate& update, Nanos flow_timeout_ns) {
  for (const uint32_t id : of_flows_) {
    NetworkEvent* const event = events_.at(id).get();
    if (event->IsMember(host)) event->Add(host, update, flow_timeout_ns);
  }
}

void NetworkVerdicts::AddIncomplete(uint32_t host, Nanos start, Nanos end, uint32_t reasons,
                                    uint32_t event_id) {
  if (event_id == 0) {
    if (IsHost(host)) hosts_[host]->incomplete.Add(start, end, reasons);
  } else if (EventOf(event_id, host) != nullptr) {
    hosts_[host]->incomplete_of[event_id].Add(start, end, reasons);
  }
}

void NetworkVerdicts::AddDropped(uint32_t host, Nanos until, Nanos now) {
  if (!IsHost(host)) return;
  NetworkHost& state = *hosts_[host];
  until = Capped(until, now);
  const bool is_known = state.ended_until != INT64_MIN && state.ended_until < until;
  const Nanos since = is_known ? state.ended_until : until - kNanosPerSecond;
  state.incomplete.Add(since, until, kRingFull);
}

void NetworkVerdicts::EndUntil(uint32_t host, Nanos until, Nanos now) {
  if (!IsHost(host)) return;
  NetworkHost& state = *hosts_[host];
  until = Capped(until, now);
  if (until <= state.ended_until) return;
  state.ended_until = until;
  state.ended_at = now;
}

void NetworkVerdicts::Answer(uint32_t host, FeedAnswer answer, const PartialView& cells,
                             size_t word_count, uint32_t reasons, Nanos now) {
  if (NetworkEvent* event = Wake(cells.event_id, host)) {
    event->Answer(host, answer, cells, word_count, reasons, now);
  }
}

// --- time --------------------------------------------------------------------------------------

bool NetworkVerdicts::Advance(Nanos now, size_t max_reports, NetworkOutput* output) {
  now_ = now;
  latest_ = std::max(latest_, now);
  if (now >= quiet_due_) AdvanceQuiet(now, output);
  if (!AdvanceAwake(now, max_reports, output)) return false;
  if (now >= forget_at_) {
    ForgetPast();
    forget_at_ = now + kNanosPerSecond;
  }
  return true;
}

// Hosts may have been ahead as we were: what they had ended then says nothing of now.
bool NetworkVerdicts::NoticeStepBack(Nanos now) {
  if (now + options_.limits.max_lead_ns >= latest_) {
    latest_ = std::max(latest_, now);  // no host may have told anything for long
    return false;
  }
  now_ = latest_ = now;
  quiet_due_ = forget_at_ = INT64_MIN;
  for (const auto& host : hosts_) {
    if (host) host->ended_until = std::min(host->ended_until, now);
  }
  return true;
}

bool NetworkVerdicts::AdvanceAwake(Nanos now, size_t max_reports, NetworkOutput* output) {
  auto id = awake_.lower_bound(resume_at_);
  for (size_t left = awake_.size(); left > 0; --left) {
    if (id == awake_.end()) id = awake_.begin();
    const auto event = events_.find(*id);
    if (!event->second->Advance(now, max_reports, output)) {
      resume_at_ = *id;  // it was cut short, and goes on before others
      return false;
    }
    const auto next = std::next(id);
    if (event->second->is_over()) {
      Erase(event);
    } else if (event->second->IsQuiet()) {
      event->second->is_asleep = true;
      awake_.erase(id);
    }
    id = next;
  }
  resume_at_ = 0;
  return true;
}

// With thousands of events of 10 ms on a thousand hosts, looking at each whenever a host has ended
// an interval would take more than there is.
void NetworkVerdicts::AdvanceQuiet(Nanos now, NetworkOutput* output) {
  quiet_due_ = now + kQuietSlice;
  if (awake_.size() == events_.size()) return;
  size_t members = 0;
  for (size_t left = events_.size() / kQuietSlices + 1; left > 0; --left) {
    auto event = events_.lower_bound(quiet_at_);
    if (event == events_.end()) event = events_.begin();
    quiet_at_ = event->first + 1;
    if (!event->second->is_asleep) continue;
    event->second->Advance(now, SIZE_MAX, output);
    members += event->second->member_count();
    if (members >= kQuietMembers) return;
  }
}

NetworkVerdicts::Events::iterator NetworkVerdicts::Erase(Events::iterator event) {
  AddTo(event->second->counters(), &closed_);
  awake_.erase(event->first);
  of_flows_.erase(event->first);
  return events_.erase(event);
}

// Those of an event that is gone are kept so long for another life of it: hosts that counted it all
// the time do not say again what they had said.
void NetworkVerdicts::ForgetPast(Nanos instant,
                                 std::map<uint32_t, IncompleteRanges>* ranges) const {
  for (auto one = ranges->begin(); one != ranges->end();) {
    one->second.Forget(instant);
    one = events_.count(one->first) == 0 ? ranges->erase(one) : std::next(one);
  }
}

void NetworkVerdicts::ForgetPast() {
  Nanos oldest = INT64_MAX;
  for (const auto& [id, event] : events_) oldest = std::min(oldest, event->NextStart());
  for (const auto& host : hosts_) {
    if (!host) continue;
    host->incomplete.Forget(oldest);
    ForgetPast(oldest, &host->incomplete_of);
  }
  const auto is_gone = [this](uint32_t host) { return hosts_[host]->events == 0; };
  for (const uint32_t host : leaving_) {
    if (!is_gone(host)) continue;
    by_name_.erase(hosts_[host]->name);
  }
  const auto first_gone = std::stable_partition(leaving_.begin(), leaving_.end(),
                                                [&](uint32_t host) { return !is_gone(host); });
  for (auto host = first_gone; host != leaving_.end(); ++host) hosts_[*host] = nullptr;
  leaving_.erase(first_gone, leaving_.end());
}

Nanos NetworkVerdicts::NextDue() const {
  Nanos due = awake_.size() == events_.size() ? INT64_MAX : quiet_due_;
  for (const uint32_t id : awake_) due = std::min(due, events_.at(id)->NextDue());
  return due;
}

NetworkCounters NetworkVerdicts::counters() const {
  NetworkCounters sum = closed_;
  for (const auto& [id, event] : events_) AddTo(event->counters(), &sum);
  return sum;
}

}  // namespace trumpet
