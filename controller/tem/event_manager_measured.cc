// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Events with measured values: they are placed nowhere, and live on the MeasuredDesk.

#include <algorithm>
#include <string>
#include <utility>

#include "controller/tem/event_manager_impl.h"

namespace trumpet {

void EventManager::Impl::BeginMeasured(LiveEvent* event) {
  const EventSpec& spec = event->spec();
  event->is_running = true;
  event->changed_ns = Now();
  event->mode = TriggerMode::kHost;  // nothing of it crosses the wire
  tenants_[spec.id] = event->record.tenant;
  measured_.Add(spec);
}

MeasuredCheck EventManager::Impl::CheckOfMeasured() const {
  return [this](const MeasuredState& state, uint32_t interval_ms) -> std::string {
    const MeasuredSource* const source = measured_.source();
    if (source == nullptr) return "this controller runs no measurements";
    return source->ProblemOf(state, interval_ms);
  };
}

std::vector<std::string> EventManager::Impl::ReadersOf(const std::string& measurement) const {
  std::vector<std::string> names;
  for (const auto& [name, event] : events_.all()) {
    if (!event->is_measured) continue;
    const auto states = MeasuredStatesOf(event->spec().predicate);
    const bool reads = std::any_of(states.begin(), states.end(), [&](const MeasuredState& state) {
      return state.measurement == measurement;
    });
    if (reads) names.push_back(name);
  }
  return names;
}

void EventManager::SetMeasuredSource(MeasuredSource* source) { impl_->measured_.SetSource(source); }
MeasuredCheck EventManager::measured_check() const { return impl_->CheckOfMeasured(); }
std::vector<std::string> EventManager::ReadersOf(const std::string& measurement) const {
  return impl_->ReadersOf(measurement);
}

}  // namespace trumpet
