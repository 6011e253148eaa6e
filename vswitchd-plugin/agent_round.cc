// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// One round of the agent: take in what changed, get to the mode that is wanted, gather, decide.
// What runs then is agent_program.cc's.

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "lib/model/report.h"
#include "vswitchd-plugin/agent.h"
#include "vswitchd-plugin/monitor_memory.h"

namespace trumpet {
namespace {

constexpr Nanos kSettle = 100 * kNanosPerMicro;           // what sweeps usually take after an epoch
constexpr Nanos kRetry = 200 * kNanosPerMicro;            // while a thread is not done
constexpr Nanos kLongestSleep = 10 * kNanosPerMilli;      // keeps rings from filling up
constexpr Nanos kLongestSleepEnding = kNanosPerSecond;    // nothing is delivered any more
constexpr Nanos kShortestPatience = 10 * kNanosPerMilli;  // with a thread that is late
constexpr Nanos kLargestJump = kNanosPerSecond;           // of the clock, without a restart
constexpr Nanos kStatusSpacing = 50 * kNanosPerMilli;

Nanos FloorTo(Nanos time, Nanos length) { return CellOf(time, length) * length; }

std::string WatchdogText(const std::string& thread, const StepOverruns& overruns) {
  std::string text = "switched off by the watchdog: steps on " + thread + " took";
  for (int i = 0; i < kWildSteps; ++i) {
    text += (i == 0               ? " "
             : i + 1 < kWildSteps ? ", "
                                  : " and ") +
            std::to_string(overruns.step_ns[i] / kNanosPerMicro);
  }
  if (overruns.count > kWildSteps) text += " (the last of " + std::to_string(overruns.count) + ")";
  return text + " us within a second, with trumpet-sweep-budget-us " +
         std::to_string(overruns.budget_ns / kNanosPerMicro) + " and trumpet-watchdog-factor " +
         std::to_string(overruns.factor) +
         "; switching goes on; `ovs-appctl trumpet/enable` tries again";
}

}  // namespace

Nanos Agent::Step() {
  Nanos now = ReadTime();
  HeedWatchdog(now);
  TakeWishes(now);
  FollowController(now);
  FollowSlices();
  measurements_.Follow(parts_.read_clocks().monotonic_ns);
  measurements_.AnswerRequests(now, parts_.read_clocks().monotonic_ns);
  const Mode before = mode_;
  ReachMode(now);
  if (mode_ == Mode::kRunning) {
    UpdateObservation();
    UpdateProgram();
    UpdateThreads();
    UpdateZones();
  }
  UpdateAttached();
  if (mode_ != Mode::kOff) {
    now = std::max(now, rules_.clock.UnixNs(parts_.read_clocks().monotonic_ns));
    Gather(now);
  }
  if (mode_ == Mode::kOff) network_.TellWhetherOff(!enabled_);
  AnswerController();
  const Nanos next = NextRound(now);
  KeepStatus(now, mode_ != before || next == INT64_MAX);
  return next;
}

// --- clocks and wishes -----------------------------------------------------

Nanos Agent::ReadTime() {
  const ClockReading reading = parts_.read_clocks();
  const ClockStep step = rules_.clock.Follow(reading);
  const Nanos now = rules_.clock.UnixNs(reading.monotonic_ns);
  const Nanos before = last_round_ns_;
  last_round_ns_ = now;
  if (step == ClockStep::kRestart) {
    parts_.host->Warn("the wall clock was set back by " +
                      std::to_string((before - now) / kNanosPerMilli) + " ms");
    Restart(before, "the wall clock was set back", /*drops_monitors=*/true);
    network_.SetBack(now);
  } else if (step == ClockStep::kForward && mode_ != Mode::kOff) {
    if (now - before > kLargestJump) {
      Restart(before, "the wall clock was set forward", /*drops_monitors=*/false);
    } else {
      desk_.MarkMissing(before, now, kMonitorInterrupted, /*was_away=*/true);
    }
  } else if (step == ClockStep::kSlewing) {
    parts_.host->Info("the wall clock was set back a little; slowing down to meet it");
  }
  return now;
}

// The gate is closed already, by the packet thread; what is left is to say so, and to take it for
// what SetEnabled(false) would have been.
void Agent::HeedWatchdog(Nanos now) {
  if (has_heeded_watchdog_ || rules_.is_safe.load(std::memory_order_seq_cst)) return;
  has_heeded_watchdog_ = true;
  WatchdogTrip trip;
  trip.overruns.at_ns = now;
  std::string thread = "a packet thread";
  for (const auto& slot : slots_) {
    if (slot->monitor() == nullptr) continue;
    const std::optional<StepOverruns> overruns = slot->monitor()->overruns();
    if (!overruns) continue;
    trip = {ThreadName(slot->thread().is_pmd(), slot->thread().core_id()), *overruns};
    thread = NameOf(*slot);
  }
  {
    const std::lock_guard<std::mutex> switching(switch_mutex_);
    is_enabled_.store(false);
    slices_.Allow(false, parts_.read_clocks().monotonic_ns);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (wishes_.enabled) wishes_.off_since = rules_.clock.MonotonicNs(trip.overruns.at_ns);
      wishes_.enabled = false;
      wishes_.watchdog = trip;
    }
    UpdateAttached();
  }
  parts_.host->Warn(WatchdogText(thread, trip.overruns));
}

void Agent::TakeWishes(Nanos now) {
  Wishes wishes;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    wishes.settings = wishes_.settings;
    wishes.enabled = wishes_.enabled;
    place_ = wishes_.place;
    wishes.off_since = wishes_.off_since;
    wishes.off_times.swap(wishes_.off_times);
    slots_.reserve(slots_.size() + wishes_.come.size());  // none is lost halfway
    for (auto& slot : wishes_.come) slots_.push_back(std::move(slot));
    wishes_.come.clear();
  }
  const bool needs_new_monitors = NeedsNewMonitors(settings_, wishes.settings);
  zones_are_stale_ |= settings_ != wishes.settings;
  settings_ = std::move(wishes.settings);
  measurements_.SetUplinks(settings_.uplinks);
  measurements_.SetTunnelPorts(ParseOptionsOf(settings_));
  desk_.LimitBuckets(settings_.max_total_buckets);
  enabled_ = wishes.enabled;
  if (needs_new_monitors && HasMonitor()) {
    Restart(now, "settings changed", /*drops_monitors=*/true);
  }
  if (mode_ == Mode::kRunning) {
    for (const auto& [start, end] : wishes.off_times) {
      desk_.MarkMissing(rules_.clock.UnixNs(start), rules_.clock.UnixNs(end), kMonitorInterrupted,
                        /*was_away=*/true);
    }
    const bool is_off = !enabled_ || has_heeded_watchdog_;
    interruptions_ += wishes.off_times.size() + (is_off ? 1 : 0);
    // Enabled again before the agent saw that it was off, or why: pauses too, to begin anew, so
    // that packets that went by unseen do not look like lost ones.
    if (is_off || !wishes.off_times.empty()) {
      Pause(std::min(now, rules_.clock.UnixNs(wishes.off_since.value_or(INT64_MAX / 2))));
    }
  }
  DropEndedThreads(now);
}

bool Agent::HasMonitor() const {
  return std::any_of(slots_.begin(), slots_.end(),
                     [](const auto& slot) { return slot->monitor() != nullptr; });
}

void Agent::DropEndedThreads(Nanos now) {
  std::set<const MonitorSlot*> seen;  // more may end meanwhile, whose rings nobody has drained
  for (auto& slot : slots_) {
    if (!slot->has_ended()) continue;
    slot->Hide();
    if (mode_ != Mode::kOff) slot->StandIn(now, &desk_);
    seen.insert(slot.get());
  }
  // What a thread counted in the epoch that is still open comes later, so it may have to stay.
  const auto is_done = [this, &seen](const std::unique_ptr<MonitorSlot>& slot) {
    return seen.count(slot.get()) != 0 && (mode_ == Mode::kOff || slot->is_empty());
  };
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& slot : slots_) {
    if (!is_done(slot)) continue;
    ended_threads_++;
    AddEnded(slot->counters(), &ended_);
  }
  slots_.erase(std::remove_if(slots_.begin(), slots_.end(), is_done), slots_.end());
}

// --- modes -----------------------------------------------------------------

void Agent::ReachMode(Nanos now) {
  if (mode_ == Mode::kEnding && desk_.decided_until() >= ending_until_) End();
  if (mode_ != Mode::kRunning) {
    if (!enabled_) return;
    if (parts_.events->count() > 0) return Start(now);
    if (mode_ == Mode::kOff) OpenGate();
    return;
  }
  // The last event is gone: once its intervals are decided, nothing is left to do.
  const bool runs_nothing = program_ != nullptr && program_->plans().empty() &&
                            program_version_ == parts_.events->version();
  if (runs_nothing && desk_.decided_until() >= program_->effective_from()) {
    ++interruptions_;
    Pause(now);
    End();
  }
}

void Agent::Start(Nanos now) {
  if (mode_ == Mode::kEnding) {
    desk_.MarkMissing(marked_until_, now, kMonitorInterrupted, /*was_away=*/true);
  } else {
    if (!memory_settings_) memory_settings_ = settings_;
    desk_.Open(settings_.flow_timeout_ms * kNanosPerMilli);
    program_ = nullptr;
  }
  for (auto& slot : slots_) {
    slot->set_failed(false);
    if (slot->monitor() == nullptr) continue;
    slot->monitor()->NoteGap(now);
    slot->monitor()->ForgetOverruns();
  }
  OpenGate();
  RaiseFloor(now);
  mode_ = Mode::kRunning;
  running_since_ = unmonitored_since_ = now;
  wants_hooks_.store(true);
}

// Those who enabled the monitor again want what the watchdog took away.
void Agent::OpenGate() {
  has_heeded_watchdog_ = false;
  rules_.is_safe.store(true, std::memory_order_seq_cst);
}

void Agent::Pause(Nanos now) {
  wants_hooks_.store(false);
  UpdateAttached();
  for (auto& slot : slots_) slot->Hide();
  mode_ = Mode::kEnding;
  marked_until_ = ending_until_ = now;
  for (const auto& plan : program_->plans()) {
    const Nanos length = plan->spec.interval_ns();
    ending_until_ = std::max(ending_until_, FloorTo(now, length) + length);
  }
}

void Agent::End() {
  desk_.Close();
  mode_ = Mode::kOff;
  program_ = nullptr;
  parts_.events->MarkWithdrawn();
}

// Intervals that ended before `now` are decided, the open ones are dropped.  Running again is up to
// ReachMode().
void Agent::Restart(Nanos now, const char* why, bool drops_monitors) {
  wants_hooks_.store(false);
  for (auto& slot : slots_) slot->Hide();
  if (mode_ != Mode::kOff) {
    parts_.host->Info(std::string("starting anew: ") + why +
                      "; the intervals under way are reported as incomplete");
    ++interruptions_;
    Gather(now);
    End();
  }
  if (drops_monitors) DropMonitors();
}

// All are hidden: no packet thread is in one.  The next ones have the settings of then, and times
// begin anew.
void Agent::DropMonitors() {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto& slot : slots_) {
    slot->SetMonitor(nullptr);
    slot->ResetTimes();
  }
  rules_.floor_ns.store(INT64_MIN, std::memory_order_seq_cst);
  peers_.reset();
  monitors_track_tcp_ = false;
}

// --- gathering -------------------------------------------------------------

// Intervals are whole milliseconds, so nothing finer is ever asked of the threads.
Nanos Agent::RaiseFloor(Nanos now) {
  const Nanos target = FloorTo(now, kNanosPerMilli);
  if (target > rules_.floor_ns.load(std::memory_order_relaxed)) {
    rules_.floor_ns.store(target, std::memory_order_seq_cst);
  }
  return target;
}

void Agent::Gather(Nanos now) {
  if (mode_ == Mode::kEnding) {
    desk_.MarkMissing(marked_until_, now, kMonitorInterrupted, /*was_away=*/true);
    marked_until_ = std::max(marked_until_, now);
  }
  const Nanos target = RaiseFloor(now);
  Nanos passed = target;
  for (auto& slot : slots_) {
    if (!slot->is_shown()) slot->StandIn(now, &desk_);
    passed = std::min(passed, slot->PassedUntil(target));
  }
  Nanos clean = passed;
  for (auto& slot : slots_) {
    clean = std::min(clean, slot->CleanUntil(passed));
    if (slot->monitor() == nullptr) continue;
    slot->monitor()->Drain(&desk_);  // after the question: what was clean then is in the ring now
    slot->monitor()->CollectRetired();
  }
  clean = std::min(clean, FirstComing());
  const Nanos epoch = program_->epoch_ns();
  Nanos patience = std::max(epoch, kShortestPatience);
  const bool is_changing = now - patience < program_->effective_from();
  if (is_changing) patience = std::max(patience, replaced_epoch_ns_);
  const Nanos overdue = FloorTo(now - patience, epoch);
  if (clean < overdue) {
    ++stalls_;
    desk_.MarkMissing(clean, overdue, kSweepSkipped, /*was_away=*/false);
    clean = overdue;
  }
  has_laggards_ = clean < FloorTo(now, epoch);
  desk_.Decide(clean, now, epoch);
}

// When the first of the threads came that the agent has not met yet; INT64_MAX if there is none.
Nanos Agent::FirstComing() {
  const std::lock_guard<std::mutex> lock(mutex_);
  Nanos first = INT64_MAX;
  for (const auto& slot : wishes_.come) {
    first = std::min(first, rules_.clock.UnixNs(slot->since_monotonic_ns()));
  }
  return first;
}

Nanos Agent::NextRound(Nanos now) const {
  const Nanos next = std::min(NextRoundOfEvents(now), slices_.next_deadline());
  const Nanos spacing = measurements_.spacing();
  return spacing == 0 ? next : std::min(next, rules_.clock.MonotonicNs(now) + spacing);
}

Nanos Agent::NextRoundOfEvents(Nanos now) const {
  if (mode_ == Mode::kOff) return INT64_MAX;
  if (!due_answers_.empty() && mode_ == Mode::kRunning) {
    const Nanos from = program_->effective_from() + kSettle;
    if (from <= now + kLongestSleep) return rules_.clock.MonotonicNs(std::max(from, now + kRetry));
  }
  if (has_laggards_) return rules_.clock.MonotonicNs(now + kRetry);
  const Nanos epoch = program_->epoch_ns();
  const Nanos longest = mode_ == Mode::kEnding ? kLongestSleepEnding : kLongestSleep;
  const Nanos boundary = FloorTo(now, epoch) + epoch + kSettle;
  return rules_.clock.MonotonicNs(std::min(boundary, now + longest));
}

void Agent::KeepStatus(Nanos now, bool at_once) {
  if (!at_once && now < kept_at_ + kStatusSpacing && now >= kept_at_) return;
  kept_at_ = now;
  AgentStatus kept;
  kept.is_running = mode_ == Mode::kRunning;
  kept.sizes_are_fixed = memory_settings_.has_value();
  kept.in_force = memory_settings_.value_or(settings_);
  kept.generation = generation_;
  kept.epoch_ns = program_ != nullptr ? program_->epoch_ns() : 0;
  kept.verdicts = desk_.counters();
  kept.events = desk_.Status();
  kept.stalls = stalls_;
  kept.failed_monitors = failed_monitors_ + unknown_threads_.load();
  kept.interruptions = interruptions_;
  kept.link = link_.Status();
  const std::lock_guard<std::mutex> lock(mutex_);
  kept_ = std::move(kept);
}

}  // namespace trumpet
