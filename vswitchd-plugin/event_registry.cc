// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/event_registry.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "lib/lang/event/diagnostic.h"
#include "lib/lang/event/suggest.h"
#include "lib/tpm/set_choice.h"
#include "lib/tpm/trigger_program.h"

namespace trumpet {
namespace {

// But for the ids, and for what this host has filled in in `b`.
bool IsSame(const EventSpec& a, const EventSpec& b) {
  const auto tie = [](const EventSpec& x) {
    return std::tie(x.name, x.filter, x.predicate, x.granularity, x.interval_ms, x.for_count,
                    x.scope, x.observe, x.severity);
  };
  return tie(a) == tie(b) && (a.max_buckets == 0 || a.max_buckets == b.max_buckets);
}

// Do buckets of one go on as buckets of the other?
bool CountsTheSame(const TriggerPlan& a, const TriggerPlan& b) {
  return a.spec.interval_ms == b.spec.interval_ms && a.spec.filter == b.spec.filter &&
         a.spec.granularity == b.spec.granularity && a.spec.observe == b.spec.observe &&
         a.word_count == b.word_count && a.operands == b.operands && a.cells == b.cells;
}

Result<ThresholdShare> ShareOf(const Trigger& trigger, const TriggerPlan& plan) {
  ThresholdShare share;
  if (trigger.mode != TriggerMode::kThreshold) return share;
  const ThresholdSplit split = SplitThreshold(plan);
  share.share = split.is_sound() ? trumpet::ShareOf(split, *trigger.local_predicate) : Int128{0};
  if (share.share < 1) return Status::Error("is no share of the event's threshold");
  share.generation = trigger.share_generation;
  if (trigger.share_from != 0) share.from = trigger.share_from;
  return share;
}

HostVerdicts::Plans PlansOf(const std::vector<InstalledEvent>& events, size_t count) {
  HostVerdicts::Plans plans;
  for (size_t i = 0; i < count; ++i) plans.push_back(events[i].plan);
  return plans;
}

// Alone the event must be countable.
Status CheckWork(const TriggerPlan& plan, Nanos limit) {
  const Nanos work = PacketWorkOf(plan);
  if (work <= limit) return Status::Ok();
  return Status::Error("event \"" + plan.spec.name + "\" has aggregates that take about " +
                       std::to_string(work) + " ns of every packet; trumpet-packet-budget-us " +
                       "allows " + std::to_string(limit) + " ns");
}

// How many of `events`, from the first on, fit into a program.
size_t CountThatFits(const std::vector<InstalledEvent>& events, size_t least) {
  size_t low = least, high = events.size();
  while (low < high) {
    const size_t middle = low + (high - low + 1) / 2;
    if (TriggerProgram::Check(PlansOf(events, middle)).ok()) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

}  // namespace

Result<std::vector<InstalledEvent>> EventRegistry::Add(std::vector<EventSpec> specs,
                                                       const EventLimits& limits, Nanos now) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (events_.size() + specs.size() > limits.max_events) {
    return Status::Error("installing " + std::to_string(specs.size()) + " more events beside " +
                         std::to_string(events_.size()) + "; trumpet-max-triggers allows " +
                         std::to_string(limits.max_events));
  }
  std::set<std::string> names;
  const auto local_end = events_.begin() + static_cast<std::ptrdiff_t>(LocalCount());
  for (auto event = events_.begin(); event != local_end; ++event) names.insert(event->spec().name);
  uint32_t next_id = next_id_;
  Events added;
  for (EventSpec& spec : specs) {
    spec.id = next_id++;
    if (spec.max_buckets == 0) spec.max_buckets = limits.max_buckets;
    if (spec.name.empty()) spec.name = "event-" + std::to_string(spec.id);
    if (!names.insert(spec.name).second) {
      return Status::Error("event " + event_lang::Quote(spec.name) +
                           " is installed already; delete it first or choose another name");
    }
    InstalledEvent event;
    event.plan = std::make_shared<const TriggerPlan>(MakeTriggerPlan(spec));
    event.version = version_ + 1;
    event.added_ns = now;
    if (Status status = CheckWork(*event.plan, limits.packet_budget_ns); !status.ok()) {
      return status;
    }
    added.push_back(std::move(event));
  }
  if (added.empty()) return Status::Error("there is no event to install");
  HostVerdicts::Plans plans;
  for (const InstalledEvent& event : events_) plans.push_back(event.plan);
  for (const InstalledEvent& event : added) plans.push_back(event.plan);
  if (Status status = TriggerProgram::Check(plans); !status.ok()) return status;
  events_.insert(local_end, added.begin(), added.end());
  next_id_ = next_id;
  ++version_;
  return added;
}

size_t EventRegistry::LocalCount() const {
  const auto first = std::find_if(events_.begin(), events_.end(),
                                  [](const auto& event) { return event.is_of_controller(); });
  return static_cast<size_t>(first - events_.begin());
}

std::vector<EventError> EventRegistry::SetControllerEvents(uint64_t controller_id,
                                                           const Triggers& triggers,
                                                           const EventLimits& limits, Nanos now) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const size_t local_count = LocalCount();
  std::map<uint32_t, const InstalledEvent*> before;
  for (size_t i = local_count; i < events_.size(); ++i) {
    before[events_[i].controller_event_id] = &events_[i];
  }
  std::vector<EventError> errors;
  bool has_changed = false;
  Events events(events_.begin(), events_.begin() + static_cast<std::ptrdiff_t>(local_count));
  for (const auto& [id, trigger] : triggers) {
    if (events.size() >= limits.max_events) {
      errors.push_back(
          {id, "", "trumpet-max-triggers allows " + std::to_string(limits.max_events)});
      continue;
    }
    const auto found = before.find(id);
    const InstalledEvent* old = found == before.end() ? nullptr : found->second;
    const bool is_fed = trigger.mode != TriggerMode::kHost;
    const bool was_fed = old != nullptr && old->mode != TriggerMode::kHost;
    InstalledEvent event;
    if (old != nullptr && was_fed == is_fed && IsSame(trigger.event, old->spec())) {
      event = *old;
    } else {
      EventSpec spec = trigger.event;
      if (spec.max_buckets == 0) spec.max_buckets = limits.max_buckets;
      TriggerPlan plan = MakeTriggerPlan(spec);
      plan.follows_observe = true;
      // Another controller's event of that id has another verdict in the interval that is open.
      const bool goes_on = old != nullptr && controller_id == controller_id_ && was_fed == is_fed &&
                           CountsTheSame(*old->plan, plan);
      plan.spec.id = goes_on ? old->spec().id : next_id_++;
      event.plan = std::make_shared<const TriggerPlan>(std::move(plan));
      event.version = version_ + 1;
      event.added_ns = now;
      event.controller_event_id = id;
      Status status = TriggerProgram::Check({event.plan});
      if (status.ok()) status = CheckWork(*event.plan, limits.packet_budget_ns);
      if (!status.ok()) {
        errors.push_back({id, "predicate", status.message()});
        continue;
      }
      has_changed = true;
    }
    const Result<ThresholdShare> share = ShareOf(trigger, *event.plan);
    if (!share.ok()) {
      errors.push_back({id, "local_predicate", share.message()});
      continue;
    }
    event.mode = trigger.mode;
    event.share = *share;
    events.push_back(std::move(event));
  }
  const size_t fitting = CountThatFits(events, local_count);
  for (size_t i = fitting; i < events.size(); ++i) {
    errors.push_back({events[i].controller_event_id, "predicate",
                      "there is no room for its operands beside those of the other events"});
  }
  events.resize(fitting);
  has_changed |= events.size() != events_.size();
  for (size_t i = local_count; !has_changed && i < events.size(); ++i) {
    has_changed = events[i].spec().id != events_[i].spec().id;
  }
  events_ = std::move(events);
  controller_id_ = controller_id;
  if (has_changed) ++version_;
  return errors;
}

EventRegistry::Events::const_iterator EventRegistry::Locate(const std::string& name_or_id) const {
  const auto by_name = std::find_if(events_.begin(), events_.end(), [&](const auto& event) {
    return event.spec().name == name_or_id;
  });
  if (by_name != events_.end()) return by_name;
  return std::find_if(events_.begin(), events_.end(), [&](const auto& event) {
    return std::to_string(event.spec().id) == name_or_id;
  });
}

Status EventRegistry::NotFound(const std::string& name_or_id) const {
  std::vector<std::string> names;
  for (const InstalledEvent& event : events_) names.push_back(event.spec().name);
  return Status::Error("no event " + event_lang::Quote(name_or_id) + " is installed" +
                       event_lang::DidYouMean(name_or_id, names));
}

Result<InstalledEvent> EventRegistry::Remove(const std::string& name_or_id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = Locate(name_or_id);
  if (found == events_.end()) return NotFound(name_or_id);
  if (found->is_of_controller()) {
    return Status::Error("event " + event_lang::Quote(name_or_id) +
                         " is the controller's; it is removed there");
  }
  InstalledEvent removed = *found;
  events_.erase(found);
  ++version_;
  return removed;
}

std::vector<InstalledEvent> EventRegistry::RemoveAll() {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto local_end = events_.begin() + static_cast<std::ptrdiff_t>(LocalCount());
  std::vector<InstalledEvent> removed(events_.begin(), local_end);
  if (!removed.empty()) ++version_;
  events_.erase(events_.begin(), local_end);
  return removed;
}

Result<InstalledEvent> EventRegistry::Find(const std::string& name_or_id) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = Locate(name_or_id);
  if (found == events_.end()) return NotFound(name_or_id);
  return *found;
}

std::vector<InstalledEvent> EventRegistry::List() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return events_;
}

EventSet EventRegistry::Set() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  EventSet set;
  set.version = version_;
  set.controller_id = controller_id_;
  for (const InstalledEvent& event : events_) {
    set.plans.push_back(event.plan);
    if (event.mode == TriggerMode::kHost) set.host_plans.push_back(event.plan);
    if (!event.is_of_controller()) continue;
    set.of_controller.push_back({event.plan, event.controller_event_id, event.mode, event.share});
  }
  return set;
}

uint64_t EventRegistry::version() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return version_;
}

size_t EventRegistry::count() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return events_.size();
}

void EventRegistry::MarkPublished(uint64_t version, uint64_t generation, Nanos from) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (InstalledEvent& event : events_) {
    if (event.generation != 0 || event.version > version) continue;
    event.generation = generation;
    event.effective_from_ns = from;
  }
}

void EventRegistry::MarkWithdrawn() {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (InstalledEvent& event : events_) event.generation = 0;
}

}  // namespace trumpet
