// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "controller/tem/event_manager_impl.h"

namespace trumpet {
namespace {

// Of the loop's time, before others have their turn.
constexpr Nanos kSlice = 5 * kNanosPerMilli;
constexpr size_t kEventsAtOnce = 16;  // a thousand hosts take about a slice for them
constexpr size_t kPartBytes = 256 * 1024;
// Of sets that wait in a session, besides what else must be said.
constexpr size_t kMaxQueuedSetBytes = 2 * 1024 * 1024;
// A host that takes longer for a set (its monitor may be off) holds nobody else up.
constexpr Nanos kSlowAfter = 2 * kNanosPerSecond;

}  // namespace

// --- the store ---------------------------------------------------------------------------------

void EventManager::Impl::OnEventsLoaded(const StoreIdentity& identity,
                                        std::vector<EventRecord> records) {
  // Another database: its ids mean other events.
  const bool is_another = is_loaded_ && identity.controller_id != identity_.controller_id;
  if (is_another) {
    for (const auto& [id, host] : hosts_.all()) {
      if (host->session != nullptr) {
        host->session->Close(ByeReason::kReconfigured, "the events' database is another one");
      }
    }
  }
  identity_ = identity;
  std::set<std::string> names;
  for (const EventRecord& record : records) names.insert(record.name);
  std::vector<std::string> gone;
  for (const auto& [name, event] : events_.all()) {
    if (is_another || names.count(name) == 0) gone.push_back(name);
  }
  for (const std::string& name : gone) TakeRemoval(name);
  std::sort(records.begin(), records.end(),
            [](const EventRecord& a, const EventRecord& b) { return a.id < b.id; });
  for (EventRecord& record : records) TakeRecord(std::move(record));
  is_loaded_ = true;
  Log("info", "events: " + std::to_string(events_.all().size()) + " from " + identity_.where);
}

// In the order of their ids, in which hosts' lists of events are kept: each then comes to the end.
// In that of their names, putting 4,096 events anew on 1,000 hosts moved lists for minutes.
void EventManager::Impl::OnEventsChanged(std::vector<EventChange> changes) {
  const auto id_of = [](const EventChange& change) { return change.put ? change.put->id : 0; };
  std::stable_sort(changes.begin(), changes.end(),
                   [&](const EventChange& a, const EventChange& b) { return id_of(a) < id_of(b); });
  for (EventChange& change : changes) {
    if (change.put) {
      TakeRecord(std::move(*change.put));
    } else {
      TakeRemoval(change.name);
    }
  }
}

void EventManager::Impl::OnStoreState(StoreState state, const std::string& text) {
  if (state != store_ || text != store_text_) {
    Log(state == StoreState::kReady ? "info" : "warn", "events' database: " + text);
  }
  store_ = state;
  store_text_ = text;
  if (state == StoreState::kReady && !acts_) BeginToAct();
  if (state != StoreState::kStandby) return;
  has_stood_by_ = true;
  if (acts_) StandBy();
}

// Events that were there while another controller acted are this one's from now on.
void EventManager::Impl::BeginToAct() {
  acts_ = true;
  if (std::exchange(has_stood_by_, false)) BeginAllAnew();
  for (const auto& [id, event] : events_.by_id()) {
    if (event->is_running && event->is_placed) desk_.verdicts().Placed(id);
  }
  desk_.Touch();
  AskForRuns();
}

// As a controller is that has not acted yet.  Agents look for the one that acts; whoever was told
// of a bucket is told that nobody here knows any more.
void EventManager::Impl::StandBy() {
  acts_ = false;
  Log("warn", "standing by: another controller acts; agents are sent to it");
  for (const auto& [id, host] : hosts_.all()) {
    Session* const session = host->session;
    if (session == nullptr) continue;
    Detach(host.get(), "sent away, to the controller that acts");
    session->Close(ByeReason::kShuttingDown, "another controller acts");
  }
  BeginAllAnew();
}

// Whoever was told of a bucket is told that its event has ended.
void EventManager::Impl::BeginAllAnew() {
  for (const auto& [name, event] : events_.all()) {
    if (!event->is_running) continue;
    Halt(event.get());
    Begin(event.get());
  }
}

void EventManager::Impl::TakeRecord(EventRecord record) {
  const std::string name = record.name;
  if (std::unique_ptr<LiveEvent> before = events_.Put(std::move(record))) Halt(before.get());
  LiveEvent* const event = events_.Find(name);
  const bool should_run = event->plan != nullptr && event->record.is_enabled;
  if (!event->problem.empty()) Log("warn", "event '" + name + "' does not run: " + event->problem);
  if (should_run && !event->is_running) Begin(event);
  if (!should_run && event->is_running) Halt(event);
}

void EventManager::Impl::TakeRemoval(const std::string& name) {
  if (std::unique_ptr<LiveEvent> event = events_.Remove(name)) Halt(event.get());
}

// --- lives -------------------------------------------------------------------------------------

EventManager::Impl::Positions EventManager::Impl::PositionsOf(const EventSpec& spec) const {
  if (placement_ == nullptr) return {};
  // Those whom the file does not name have no prefixes, and change positions as others come.
  Positions positions(file_.hosts.size());
  for (const uint32_t position : placement_->HostsFor(spec)) {
    if (position < positions.size()) positions[position] = true;
  }
  return positions;
}

size_t EventManager::Impl::CountHosts(const Positions& positions) const {
  size_t count = 0;
  for (const auto& [id, host] : hosts_.all()) count += IsPlaced(positions, *host);
  return count;
}

bool EventManager::Impl::MaySplit(size_t host_count) const {
  return host_count > 0 && host_count <= options_.max_threshold_hosts;
}

std::string EventManager::Impl::WhyNotSplit(size_t host_count) const {
  if (host_count == 0) return "no host is known yet";
  return "it is on " + std::to_string(host_count) + " hosts; up to " +
         std::to_string(options_.max_threshold_hosts) + " it would pay";
}

NetworkEventOptions EventManager::Impl::OptionsOf(const EventSpec& spec, size_t host_count) {
  NetworkEventOptions options = options_.event;
  if (spec.deadline_ms != 0) options.deadline_ns = Nanos{spec.deadline_ms} * kNanosPerMilli;
  if (spec.report_rate != 0) options.reports_per_second = options.report_burst = spec.report_rate;
  options.splits_threshold = MaySplit(host_count);
  options.waits_to_be_placed = true;
  options.worthwhile_hosts = options_.max_threshold_hosts;
  options.last_share_generation = FreshGeneration();
  return options;
}

// Above all that hosts were told before, by processes before this one, and by this one when its
// clock was ahead.
uint64_t EventManager::Impl::FreshGeneration() {
  const Nanos monotonic = parts_.clock->MonotonicNow();
  most_ahead_ = std::max(most_ahead_, Now() - monotonic);
  return static_cast<uint64_t>(std::max<Nanos>(monotonic + most_ahead_, 0) / kNanosPerMicro);
}

// Events that began on too many hosts, or before any was known.
void EventManager::Impl::SplitWhereDue() {
  is_split_stale_ = false;
  for (const auto& [name, event] : events_.all()) {
    if (!event->is_running || event->mode != TriggerMode::kPartials) continue;
    const uint32_t id = event->record.id;
    const NetworkEvent* const verdicts = desk_.verdicts().Find(id);
    if (verdicts == nullptr || !verdicts->split().is_sound()) continue;
    const auto tally = tallies_.find(id);
    const size_t host_count = tally == tallies_.end() ? 0 : tally->second.wanted;
    event->why_not_threshold = WhyNotSplit(host_count);
    if (!MaySplit(host_count)) continue;
    if (!desk_.verdicts().BeginSplit(id, FreshGeneration(), desk_.output())) continue;
    event->mode = TriggerMode::kThreshold;
    event->why_not_threshold.clear();
    Add({Task::Kind::kPlaceEvent, id, ""});
    desk_.Touch();
  }
}

void EventManager::Impl::Begin(LiveEvent* event) {
  if (event->is_measured) return BeginMeasured(event);
  const EventSpec& spec = event->spec();
  event->is_running = true;
  event->is_placed = false;
  event->changed_ns = Now();
  event->hosts = PositionsOf(spec);
  event->hosts_version = placement_version_;
  tenants_[spec.id] = event->record.tenant;
  if (!event->is_of_network()) {
    event->mode = TriggerMode::kHost;
    event->why_not_threshold = "each host decides by itself";
    if (spec.report_rate != 0)
      rates_.emplace(spec.id, ReportRate(spec.report_rate, spec.report_rate));
  } else {
    const size_t host_count = CountHosts(event->hosts);
    const Status installed =
        desk_.verdicts().Install(event->plan, Now(), OptionsOf(spec, host_count), desk_.output());
    if (!installed.ok()) {
      event->problem = installed.message();
      event->is_running = false;
      Log("err", "event '" + spec.name + "' does not run: " + event->problem);
      return;
    }
    const NetworkEvent* const verdicts = desk_.verdicts().Find(spec.id);
    const bool splits = verdicts->mode() == NetworkEvent::Mode::kThreshold;
    event->mode = splits ? TriggerMode::kThreshold : TriggerMode::kPartials;
    event->why_not_threshold = splits                         ? ""
                               : verdicts->split().is_sound() ? WhyNotSplit(host_count)
                                                              : verdicts->split().why_not;
  }
  Add({Task::Kind::kPlaceEvent, spec.id, ""});
  desk_.Touch();
}

void EventManager::Impl::Halt(LiveEvent* event) {
  if (!event->is_running) return;
  event->is_running = false;
  const uint32_t id = event->record.id;
  if (event->is_measured) return measured_.Remove(id);
  if (event->is_of_network()) {
    desk_.verdicts().Uninstall(id, Now());
    desk_.Touch();
  }
  rates_.erase(id);
  Add({Task::Kind::kDropEvent, id, ""});
}

// --- placement, and sets -----------------------------------------------------------------------

void EventManager::Impl::Add(Task task) {
  tasks_.push_back(std::move(task));
  work_.RunSoon();
}

void EventManager::Impl::Place(const LiveEvent& event, Nanos from, ManagedHost* host) {
  if (!IsPlaced(event.hosts, *host)) {
    Unplace(event.record.id, host);
    return;
  }
  host->sync.Want(event.record.id);
  if (!host->number || !event.is_of_network()) return;
  desk_.verdicts().Await(event.record.id, *host->number, from);
  if (event.mode != TriggerMode::kThreshold || host->sessions == 0) return;
  // At once: without its share the event could not stand in the host's next set.
  NetworkOutput output;
  desk_.verdicts().Invite(event.record.id, *host->number, &output);
  for (const ShareOrder& order : output.shares) OnShareOrder(order);
}

// One that is there says from when on it does without; of one that is not, nothing more will come.
void EventManager::Impl::Unplace(uint32_t event_id, ManagedHost* host) {
  host->sync.Drop(event_id);
  NetworkVerdicts& verdicts = desk_.verdicts();
  if (!host->number || verdicts.Find(event_id) == nullptr) return;
  verdicts.Forgo(event_id, *host->number, Now());
  if (host->session == nullptr) verdicts.Leave(event_id, *host->number, Now(), desk_.output());
  desk_.Touch();
}

// Of one that comes again our books are right; it is told its shares, as if it were new.
void EventManager::Impl::PlaceAll(ManagedHost* host) {
  const bool is_known = std::exchange(host->is_placed, true);
  for (const auto& [id, event] : events_.by_id()) {
    if (!event->is_running || event->is_measured) continue;
    if (!is_known || event->mode == TriggerMode::kThreshold) Place(*event, Now(), host);
  }
  Queue(host);
}

void EventManager::Impl::RunTask(const Task& task) {
  ManagedHost* const host = hosts_.Find(task.host_id);
  if (host == nullptr) return;
  if (task.kind == Task::Kind::kTellPlace) TellPlace(host);
  if (task.kind == Task::Kind::kPlaceHost) PlaceAll(host);
}

// The first of tasks_, and those of other events that follow it, up to some.
std::vector<EventManager::Impl::Task> EventManager::Impl::TakeEventTasks() {
  std::vector<Task> batch;
  const auto is_of_batch = [&](const Task& task) {
    return task.is_of_event() && std::none_of(batch.begin(), batch.end(), [&](const Task& one) {
             return one.event_id == task.event_id;
           });
  };
  while (!tasks_.empty() && batch.size() < kEventsAtOnce && is_of_batch(tasks_.front())) {
    batch.push_back(std::move(tasks_.front()));
    tasks_.pop_front();
  }
  return batch;
}

// Host by host, since what is known of one of a thousand has left the caches when its turn comes
// again.  An event that was halted and begun again is first taken from all hosts, in our books: its
// verdicts begin anew, too, and wait for hosts to join.
void EventManager::Impl::RunEventTasks(const std::vector<Task>& batch) {
  std::vector<LiveEvent*> placed;  // by task; null: not, or no longer
  for (const Task& task : batch) {
    LiveEvent* event = nullptr;
    if (task.kind == Task::Kind::kPlaceEvent) event = events_.Find(task.event_id);
    if (event != nullptr && !event->is_running) event = nullptr;
    if (event != nullptr && event->hosts_version != placement_version_) {
      event->hosts = PositionsOf(event->spec());
      event->hosts_version = placement_version_;
    }
    placed.push_back(event);
  }
  for (const auto& [id, host] : hosts_.all()) {
    for (size_t i = 0; i < batch.size(); ++i) {
      if (batch[i].kind == Task::Kind::kDropEvent) Unplace(batch[i].event_id, host.get());
      if (placed[i] != nullptr) Place(*placed[i], placed[i]->changed_ns, host.get());
    }
    Queue(host.get());
  }
  for (LiveEvent* event : placed) {
    if (event == nullptr) continue;
    if (acts_) desk_.verdicts().Placed(event->record.id);  // else another controller decides
    const auto tally = tallies_.find(event->record.id);
    if (!std::exchange(event->is_placed, true) && tally != tallies_.end()) tally->second.Restart();
  }
  desk_.Touch();
}

void EventManager::Impl::Queue(ManagedHost* host) {
  if (host->is_queued || host->session == nullptr) return;
  host->is_queued = true;
  to_pump_.push_back(host);
  work_.RunSoon();
}

// Places first, so that what was changed together goes out together.
void EventManager::Impl::Work() {
  const Nanos end = parts_.clock->MonotonicNow() + kSlice;
  const auto has_time = [&] { return parts_.clock->MonotonicNow() < end; };
  while (!tasks_.empty() && has_time()) {
    if (tasks_.front().is_of_event()) {
      RunEventTasks(TakeEventTasks());
      continue;
    }
    const Task task = std::move(tasks_.front());
    tasks_.pop_front();
    RunTask(task);
  }
  while (tasks_.empty() && !to_pump_.empty() && has_time()) {
    ManagedHost* const host = to_pump_.front();
    to_pump_.pop_front();
    host->is_queued = false;
    if (Pump(host)) Queue(host);
  }
  if (!tasks_.empty() || !to_pump_.empty()) work_.RunSoon();
}

// Sends one part; true if there may be another to send at once.
bool EventManager::Impl::Pump(ManagedHost* host) {
  if (host->session == nullptr || host->session->queued_bytes() > kMaxQueuedSetBytes) return false;
  if (!host->sync.is_under_way() && !MayBeginSet(host)) return false;
  TriggerSet part;
  const auto maker = [this](uint32_t id, const ThresholdShare* share,
                            TriggerSync::TriggerOnWire* out) {
    return MakeTrigger(id, share, out);
  };
  if (!host->sync.NextPart(maker, kPartBytes, &part)) return false;
  CountSet(host);
  const Status sent = host->session->Send(part);
  if (sent.ok()) return true;
  host->last_error = sent.message();
  Log("err", "host " + host->id + ": " + sent.message());
  if (host->session != nullptr) host->session->Close(ByeReason::kReconfigured, sent.message());
  return false;
}

// If not, it is queued again when there is room.
bool EventManager::Impl::MayBeginSet(ManagedHost* host) {
  if (set_bytes_ < options_.max_set_bytes) {
    host->set_began_at = parts_.clock->MonotonicNow();
    host->is_slow = false;
    return true;
  }
  if (!std::exchange(host->waits_for_room, true)) waiting_for_room_.push_back(host);
  return false;
}

// Something has changed with the set that is under way to the host.
void EventManager::Impl::CountSet(ManagedHost* host) {
  const bool counts = host->session != nullptr && !host->is_slow;
  const size_t bytes = counts ? host->sync.bytes_under_way() : 0;
  set_bytes_ += bytes - std::exchange(host->set_bytes, bytes);
  if (waiting_for_room_.empty() || set_bytes_ > options_.max_set_bytes / 2) return;
  for (ManagedHost* waiting : std::exchange(waiting_for_room_, {})) {
    waiting->waits_for_room = false;
    Queue(waiting);
  }
}

void EventManager::Impl::LookAtSlowHosts() {
  if (waiting_for_room_.empty()) return;
  const Nanos now = parts_.clock->MonotonicNow();
  for (const auto& [id, host] : hosts_.all()) {
    if (host->set_bytes == 0 || now - host->set_began_at < kSlowAfter) continue;
    host->is_slow = true;
    CountSet(host.get());
  }
}

bool EventManager::Impl::MakeTrigger(uint32_t event_id, const ThresholdShare* share,
                                     TriggerSync::TriggerOnWire* out) const {
  const LiveEvent* const event = events_.Find(event_id);
  if (event == nullptr || !event->is_running) return false;
  out->bytes = event->encoded->size();
  if (event->mode != TriggerMode::kThreshold) {
    out->encoded = event->encoded;
    return true;
  }
  out->trigger.event = event->spec();
  out->trigger.mode = event->mode;
  const NetworkEvent* const verdicts = desk_.verdicts().Find(event_id);
  if (share == nullptr || verdicts == nullptr) return false;
  out->trigger.local_predicate = verdicts->split().LocalPredicate(share->share);
  out->trigger.share_generation = share->generation;
  out->trigger.share_from = std::max<Nanos>(share->from, 0);
  out->bytes *= 2;
  return true;
}

}  // namespace trumpet
