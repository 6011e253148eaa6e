// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What the agent has the packet threads run: the controller's sets and the events installed here,
// one program for all, a monitor for each.

#include <algorithm>
#include <string>
#include <utility>

#include "lib/model/report.h"
#include "vswitchd-plugin/agent.h"
#include "vswitchd-plugin/monitor_memory.h"

namespace trumpet {
namespace {

constexpr Nanos kShortestLead = 2 * kNanosPerMilli;   // between publishing events and their instant
constexpr Nanos kLongestWait = 20 * kNanosPerMilli;   // for the end of an epoch to change over at
constexpr Nanos kPublishMargin = kNanosPerMilli / 2;  // of the lead, left after compiling
constexpr size_t kMaxDueAnswers = 64;                 // to the controller; the oldest are left out

// A change cuts the epoch that runs, and what is left of it may be too short to sweep the first
// part.  So threads change over between two epochs, unless that is long to wait for.
Nanos ChangeInstant(Nanos earliest, Nanos epoch) {
  const Nanos boundary = CellOf(earliest + epoch - 1, epoch) * epoch;
  return boundary - earliest <= kLongestWait ? boundary : earliest;
}

}  // namespace

// --- the controller --------------------------------------------------------

void Agent::FollowController(Nanos now) {
  if (enabled_) link_.TryAgain();
  link_.SetEpoch(program_ != nullptr ? program_->epoch_ns() : 0);
  link_.Follow(settings_);
  TakeSets(now);
}

void Agent::FollowSlices() {
  if (slice_places_version_ != link_.facts_version()) {
    slices_.SetPlaces(SlicePlaces::Of(link_.facts()));
    slice_places_version_ = link_.facts_version();
  }
  slices_.EndDue(parts_.read_clocks().monotonic_ns);
  link_.TellSliceEnds();
}

void Agent::TakeSets(Nanos now) {
  std::vector<ControllerSet::Taken> sets = link_.TakeSets();
  set_is_due_ |= std::any_of(sets.begin(), sets.end(),
                             [](const auto& taken) { return taken.refusal.empty(); });
  for (ControllerSet::Taken& taken : sets) {
    if (!taken.refusal.empty()) {
      TriggerAck ack;
      ack.text = taken.refusal;
      link_.Acknowledge(taken, std::move(ack));
      continue;
    }
    if (taken.generation == 0) due_answers_.clear();  // there is no controller any more
    if (due_answers_.size() == kMaxDueAnswers) due_answers_.pop_front();
    due_answers_.push_back({std::move(taken), 0});
  }
  if (!set_is_due_) return;
  const uint32_t max_events = memory_settings_.value_or(settings_).max_triggers;
  event_errors_ = parts_.events->SetControllerEvents(
      link_.set().controller_id(), link_.set().triggers(),
      {max_events, settings_.max_buckets, settings_.packet_budget_us * kNanosPerMicro}, now);
  const uint64_t version = parts_.events->version();
  for (DueAnswer& due : due_answers_) {
    if (due.version == 0) due.version = version;
  }
  set_is_due_ = false;
  shares_are_stale_ = true;
}

bool Agent::RunsEverywhere() const {
  if (mode_ == Mode::kOff) return parts_.events->count() == 0;
  if (mode_ != Mode::kRunning || program_ == nullptr) return false;
  return std::all_of(slots_.begin(), slots_.end(), [this](const auto& slot) {
    return slot->has_ended() || slot->monitor() == nullptr ||
           slot->monitor()->running_generation() >= program_->generation();
  });
}

// A set is answered once all threads run it: what is said then holds.
void Agent::AnswerController() {
  while (!due_answers_.empty()) {
    const DueAnswer& due = due_answers_.front();
    const bool is_published = mode_ == Mode::kOff || program_version_ >= due.version;
    if (!is_published || !RunsEverywhere()) return;
    TriggerAck ack;
    ack.is_applied = true;
    const Nanos from = program_ != nullptr ? program_->effective_from() : last_round_ns_;
    ack.applied_ns = std::max<Nanos>(0, std::max(from, all_shown_since_));
    ack.errors = event_errors_;
    ack.flow_timeout_ns = settings_.flow_timeout_ms * kNanosPerMilli;
    for (const uint32_t id : due.set.changed) {
      if (const auto share = network_.ShareOf(id)) ack.shares.push_back(*share);
    }
    if (due.set.generation != 0) link_.Acknowledge(due.set, std::move(ack));
    due_answers_.pop_front();
  }
}

// --- what runs -------------------------------------------------------------

void Agent::UpdateObservation() {
  const uint64_t version = parts_.ports->version();
  const bool has_same_uplinks =
      version == uplinks_version_ && settings_.uplinks == uplink_patterns_;
  if (place_ == observed_place_ && has_same_uplinks) return;
  std::vector<uint32_t> uplinks = UplinksAmong(parts_.ports->List(), settings_.uplinks);
  const bool is_other = place_ != observed_place_ || uplinks != observed_uplinks_;
  if (is_other && (place_ != nullptr || observation_ != nullptr)) {
    std::shared_ptr<const Observation> observation;
    if (place_ != nullptr) {
      observation = std::make_shared<Observation>(*place_, uplinks, parts_.hash_seed);
    }
    observation_ = std::move(observation);
    observation_is_new_ = true;
    network_.ObserveBy(observation_);
  }
  observed_place_ = place_;
  observed_uplinks_ = std::move(uplinks);
  uplink_patterns_ = settings_.uplinks;
  uplinks_version_ = version;
}

void Agent::UpdateProgram() {
  if (program_ != nullptr && program_version_ == parts_.events->version() && !observation_is_new_) {
    if (!std::exchange(shares_are_stale_, false)) return;
    const EventSet set = parts_.events->Set();
    network_.Apply(set.controller_id, set.of_controller, program_->effective_from(),
                   settings_.flow_timeout_ms * kNanosPerMilli, program_->tracks_tcp());
    return;
  }
  observation_is_new_ = false;
  shares_are_stale_ = false;
  const EventSet set = parts_.events->Set();
  const auto unix_now = [this] { return rules_.clock.UnixNs(parts_.read_clocks().monotonic_ns); };
  const Nanos epoch = program_ != nullptr ? program_->epoch_ns() : kNanosPerMilli;
  Nanos lead = std::max(kShortestLead, program_lead_ns_);
  const Nanos preparing = PreparingTime();
  // Threads take a program over only behind the one before it.
  const Nanos first = program_ != nullptr ? program_->effective_from() : INT64_MIN;
  replaced_epoch_ns_ = unix_now() < first ? std::max(replaced_epoch_ns_, epoch) : epoch;
  Nanos from = 0;
  // All threads change over at one instant only if it is still ahead when they hear of it.
  for (int attempt = 0; attempt < 4; ++attempt, lead *= 4) {
    from = std::max(first, ChangeInstant(unix_now() + lead + preparing, epoch));
    program_ = TriggerProgram::Make(set.plans, ++generation_, from, observation_);
    if (unix_now() + kPublishMargin < from) break;
  }
  program_lead_ns_ = lead;
  program_version_ = set.version;
  for (auto& slot : slots_) PublishTo(slot.get());
  desk_.Apply(set, from, std::exchange(monitors_track_tcp_, program_->tracks_tcp()));
  const Nanos told = unix_now();
  if (told > from) desk_.MarkMissing(from, told, kMonitorInterrupted, false);
  parts_.events->MarkPublished(set.version, generation_, from);
}

// Of the thread that needs most, for the flows that it has.
Nanos Agent::PreparingTime() const {
  Nanos longest = 0;
  for (const auto& slot : slots_) {
    if (slot->monitor() == nullptr) continue;
    longest = std::max(longest, slot->monitor()->preparing_time());
  }
  return longest;
}

void Agent::PublishTo(MonitorSlot* slot) {
  if (slot->monitor() == nullptr) return;
  const MemoryPreference near(slot->thread().numa_id());
  const trumpet::Status status = slot->monitor()->Publish(program_);
  if (status.ok()) {
    if (!slot->thread().is_pmd()) parts_.host->ops().wake_main_thread();
    return;
  }
  // It would go on with events that are no longer wanted: better not at all, and said so.
  parts_.host->Error("handing events to " + NameOf(*slot) + ": " + status.message() +
                     "; the thread is not monitored");
  LoseMonitor(slot);
}

std::string Agent::NameOf(const MonitorSlot& slot) {
  const int core = slot.thread().core_id();
  return slot.thread().is_pmd() ? "the PMD thread on core " + std::to_string(core)
                                : "the main thread";
}

void Agent::LoseMonitor(MonitorSlot* slot) {
  ++failed_monitors_;
  slot->set_failed(true);
  slot->Hide();
  const std::lock_guard<std::mutex> lock(mutex_);
  slot->SetMonitor(nullptr);
}

// Making a monitor takes time, during which packets pass unseen: all marks reach up to the end.
void Agent::UpdateThreads() {
  const auto unix_now = [this] { return rules_.clock.UnixNs(parts_.read_clocks().monotonic_ns); };
  bool some_unmonitored = false;
  for (auto& slot : slots_) {
    if (slot->has_ended()) continue;
    if (slot->monitor() == nullptr && !slot->has_failed()) MakeMonitor(slot.get());
    if (slot->monitor() == nullptr) {
      some_unmonitored = true;
    } else if (!slot->is_shown()) {
      slot->Show(zones_, parse_);
      const Nanos came = rules_.clock.UnixNs(slot->since_monotonic_ns());
      all_shown_since_ = unix_now();
      // It counts nothing before the program, which may be to come.
      const Nanos from = program_ != nullptr ? program_->effective_from() : INT64_MIN;
      desk_.MarkMissing(std::max(came, running_since_), std::max(all_shown_since_, from),
                        kMonitorInterrupted, false);
    }
  }
  const Nanos now = unix_now();
  some_unmonitored |= unknown_threads_.load() > 0;
  if (some_unmonitored) desk_.MarkMissing(unmonitored_since_, now, kMonitorInterrupted, false);
  unmonitored_since_ = now;
}

void Agent::MakeMonitor(MonitorSlot* slot) {
  MonitorOptions options = MonitorOptionsOf(*memory_settings_, settings_, parts_.hash_seed);
  options.gate = &rules_.is_safe;
  options.never_sleeps = slot->thread().is_pmd();
  parse_ = options.parse;
  if (peers_ == nullptr) {
    peers_ = std::make_unique<PeerExchange>(options.connections.max_connections,
                                            options.connections.flow_timeout_ns);
  }
  options.peers = peers_.get();
  const MemoryPreference near(slot->thread().numa_id());
  const trumpet::Status room = CheckMachineHas(PacketMonitor::BytesFor(options));
  Result<std::unique_ptr<PacketMonitor>> monitor =
      room.ok() ? parts_.make_monitor(options) : Result<std::unique_ptr<PacketMonitor>>(room);
  if (!monitor.ok()) {
    parts_.host->Error("making the monitor of " + NameOf(*slot) + ": " + monitor.message() +
                       "; the thread is not monitored");
    LoseMonitor(slot);
    return;
  }
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    slot->SetMonitor(std::move(*monitor));
  }
  PublishTo(slot);
}

void Agent::UpdateZones() {
  const uint64_t version = parts_.ports->version();
  if (!zones_are_stale_ && version == ports_version_) return;
  ZoneMap zones(settings_.zones, parts_.ports->List());
  if (!(zones == zones_)) {
    for (auto& slot : slots_) {
      if (slot->is_shown()) slot->Show(zones, parse_);
    }
    zones_ = std::move(zones);
  }
  zones_are_stale_ = false;
  ports_version_ = version;
}

}  // namespace trumpet
