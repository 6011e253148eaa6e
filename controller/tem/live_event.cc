// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/tem/live_event.h"

#include <utility>

#include "lib/lang/event/event_language.h"
#include "lib/wire/codec.h"
#include "lib/wire/limits.h"

namespace trumpet {
namespace {

// The wire's checks are those of the language; what passes one and not the other is not sent out.
Result<std::string> Encoded(const EventSpec& spec) {
  TriggerChange change;
  change.put.emplace();
  change.put->event = spec;
  change.put->mode = spec.scope == Scope::kHost ? TriggerMode::kHost : TriggerMode::kPartials;
  Result<std::string> encoded = EncodeTriggerChange(change);
  constexpr size_t kMost = kMaxFrameToAgent / 2;
  if (encoded.ok() && encoded->size() > kMost) {
    return Status::Error("the event takes " + std::to_string(encoded->size()) +
                         " bytes on the wire; at most " + std::to_string(kMost) + " are allowed");
  }
  return encoded;
}

}  // namespace

std::unique_ptr<LiveEvent> MakeLiveEvent(EventRecord record) {
  auto event = std::make_unique<LiveEvent>();
  event->record = std::move(record);
  auto specs = ParseEventsJson("[" + event->record.definition + "]", event->record.name);
  if (!specs.ok()) {
    event->problem = specs.message();
    return event;
  }
  if (specs->size() != 1) {
    event->problem = "the definition is not one event";
    return event;
  }
  EventSpec& spec = (*specs)[0];
  if (spec.name != event->record.name) {
    event->problem = "the definition has the name '" + spec.name + "'";
    return event;
  }
  spec.id = event->record.id;
  event->line = PrintEventLine(spec);
  event->is_measured = !MeasuredStatesOf(spec.predicate).empty();
  if (event->is_measured) {
    event->plan = std::make_shared<TriggerPlan>(MakeTriggerPlan(spec));
    return event;
  }
  Result<std::string> encoded = Encoded(spec);
  if (!encoded.ok()) {
    event->problem = encoded.message();
    return event;
  }
  event->encoded = std::make_shared<const std::string>(std::move(*encoded));
  event->plan = std::make_shared<TriggerPlan>(MakeTriggerPlan(spec));
  return event;
}

}  // namespace trumpet
