// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/tem/event_book.h"

#include <utility>

#include "lib/lang/event/event_language.h"

namespace trumpet {
namespace {

Status NoSuchEvent(const std::string& name) {
  return Status::Error("there is no event '" + name + "'");
}

}  // namespace

LiveEvent* EventBook::Find(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second.get();
}

LiveEvent* EventBook::Find(uint32_t id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->second;
}

LiveEvent* EventBook::Find(const std::string& name, const Caller& caller) const {
  LiveEvent* const event = Find(name);
  return event != nullptr && MaySee(caller, event->record) ? event : nullptr;
}

std::unique_ptr<LiveEvent> EventBook::Put(EventRecord record) {
  std::unique_ptr<LiveEvent>& place = by_name_[record.name];
  if (place != nullptr && place->record.id == record.id &&
      place->record.definition == record.definition) {
    place->record = std::move(record);
    return nullptr;
  }
  std::unique_ptr<LiveEvent> before = std::move(place);
  if (before != nullptr) ForgetId(*before);
  place = MakeLiveEvent(std::move(record));
  by_id_[place->record.id] = place.get();
  return before;
}

std::unique_ptr<LiveEvent> EventBook::Remove(const std::string& name) {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return nullptr;
  std::unique_ptr<LiveEvent> event = std::move(found->second);
  ForgetId(*event);
  by_name_.erase(found);
  return event;
}

// Which may be another event's by now, in a database that was put back.
void EventBook::ForgetId(const LiveEvent& event) {
  const auto found = by_id_.find(event.record.id);
  if (found != by_id_.end() && found->second == &event) by_id_.erase(found);
}

Status EventBook::CheckCounts(const std::vector<EventSpec>& specs, const Caller& caller) const {
  size_t count = by_name_.size();
  size_t of_tenant = 0;
  for (const auto& [name, event] : by_name_) of_tenant += event->record.tenant == caller.tenant;
  for (const auto& [tenant, number] : under_way_) {
    count += number;
    if (tenant == caller.tenant) of_tenant += number;
  }
  for (const EventSpec& spec : specs) {
    if (Find(spec.name) != nullptr) continue;
    ++count;
    ++of_tenant;
  }
  if (count > limits_.max_events) {
    return Status::Error("that would make " + std::to_string(count) + " events; " +
                         std::to_string(limits_.max_events) + " are allowed");
  }
  if (!caller.tenant.empty() && of_tenant > limits_.max_events_per_tenant) {
    return Status::Error("that would make " + std::to_string(of_tenant) + " events of tenant '" +
                         caller.tenant + "'; " + std::to_string(limits_.max_events_per_tenant) +
                         " are allowed");
  }
  return Status::Ok();
}

Result<std::vector<EventChange>> EventBook::PlanPut(const std::vector<EventSpec>& specs,
                                                    bool refuses, const Caller& caller,
                                                    Nanos now) const {
  const Status counts = CheckCounts(specs, caller);
  if (!counts.ok()) return counts;
  std::vector<EventChange> changes;
  for (const EventSpec& spec : specs) {
    EventChange change;
    change.name = spec.name;
    change.expected_id = 0;
    EventRecord record;
    record.name = spec.name;
    record.tenant = caller.tenant;
    record.created_ns = now;
    if (const LiveEvent* there = Find(spec.name)) {
      // Whether a name is taken by somebody else cannot be hidden: names are those of reports.
      if (refuses || !MaySee(caller, there->record)) {
        return Status::Error("the name '" + spec.name + "' is taken by another event");
      }
      record = there->record;
      change.expected_id = record.id;
      change.expected_enabled = record.is_enabled;
    }
    std::string definition = PrintEventJson(spec);
    if (record.id != 0 && record.definition == definition) continue;
    record.definition = std::move(definition);
    record.changed_ns = now;
    record.changed_by = caller.name;
    change.put = std::move(record);
    changes.push_back(std::move(change));
  }
  return changes;
}

Result<std::vector<EventChange>> EventBook::PlanRemove(const std::vector<std::string>& names,
                                                       const Caller& caller) const {
  std::map<std::string, EventChange> changes;  // a name may stand twice
  for (const std::string& name : names) {
    const LiveEvent* const there = Find(name, caller);
    if (there == nullptr) return NoSuchEvent(name);
    EventChange change;
    change.name = name;
    change.expected_id = there->record.id;
    change.expected_enabled = there->record.is_enabled;
    changes[name] = std::move(change);
  }
  std::vector<EventChange> list;
  for (auto& [name, change] : changes) list.push_back(std::move(change));
  return list;
}

Result<std::vector<EventChange>> EventBook::PlanSetEnabled(const std::string& name, bool is_enabled,
                                                           const Caller& caller, Nanos now) const {
  const LiveEvent* const there = Find(name, caller);
  if (there == nullptr) return NoSuchEvent(name);
  std::vector<EventChange> changes;
  if (there->record.is_enabled == is_enabled) return changes;
  EventChange change;
  change.name = name;
  change.expected_id = there->record.id;
  change.put = there->record;
  change.put->is_enabled = is_enabled;
  change.put->changed_ns = now;
  change.put->changed_by = caller.name;
  changes.push_back(std::move(change));
  return changes;
}

EventBook::Additions EventBook::BeginAdding(const std::vector<EventChange>& changes) {
  Additions additions;
  for (const EventChange& change : changes) {
    if (change.put && change.expected_id == 0) ++additions[change.put->tenant];
  }
  for (const auto& [tenant, number] : additions) under_way_[tenant] += number;
  return additions;
}

void EventBook::EndAdding(const Additions& additions) {
  for (const auto& [tenant, number] : additions) {
    const auto found = under_way_.find(tenant);
    found->second -= number;
    if (found->second == 0) under_way_.erase(found);
  }
}

}  // namespace trumpet
