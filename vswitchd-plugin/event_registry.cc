// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/event_registry.h"

#include <algorithm>
#include <set>
#include <utility>

#include "lib/lang/event/diagnostic.h"
#include "lib/lang/event/suggest.h"
#include "lib/tpm/trigger_program.h"

namespace trumpet {

Result<std::vector<InstalledEvent>> EventRegistry::Add(std::vector<EventSpec> specs,
                                                       uint32_t max_events, uint32_t max_buckets,
                                                       Nanos now) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (events_.size() + specs.size() > max_events) {
    return Status::Error("installing " + std::to_string(specs.size()) + " more events beside " +
                         std::to_string(events_.size()) + "; trumpet-max-triggers allows " +
                         std::to_string(max_events));
  }
  std::set<std::string> names;
  for (const InstalledEvent& event : events_) names.insert(event.spec().name);
  uint32_t next_id = next_id_;
  Events added;
  for (EventSpec& spec : specs) {
    spec.id = next_id++;
    if (spec.max_buckets == 0) spec.max_buckets = max_buckets;
    if (spec.name.empty()) spec.name = "event-" + std::to_string(spec.id);
    if (!names.insert(spec.name).second) {
      return Status::Error("event " + event_lang::Quote(spec.name) +
                           " is installed already; delete it first or choose another name");
    }
    InstalledEvent event;
    event.plan = std::make_shared<const TriggerPlan>(MakeTriggerPlan(spec));
    event.version = version_ + 1;
    event.added_ns = now;
    added.push_back(std::move(event));
  }
  if (added.empty()) return Status::Error("there is no event to install");
  HostVerdicts::Plans plans;
  for (const InstalledEvent& event : events_) plans.push_back(event.plan);
  for (const InstalledEvent& event : added) plans.push_back(event.plan);
  if (Status status = TriggerProgram::Check(plans); !status.ok()) return status;
  events_.insert(events_.end(), added.begin(), added.end());
  next_id_ = next_id;
  ++version_;
  return added;
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
  InstalledEvent removed = *found;
  events_.erase(found);
  ++version_;
  return removed;
}

std::vector<InstalledEvent> EventRegistry::RemoveAll() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!events_.empty()) ++version_;
  return std::exchange(events_, {});
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
  for (const InstalledEvent& event : events_) set.plans.push_back(event.plan);
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
