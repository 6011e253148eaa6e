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
Result<size_t> SizeOnWire(const EventSpec& spec) {
  Trigger trigger;
  trigger.event = spec;
  trigger.mode = spec.scope == Scope::kHost ? TriggerMode::kHost : TriggerMode::kPartials;
  TriggerSet set;
  set.generation = 1;
  set.changes.push_back({std::move(trigger), 0});
  std::string frame;
  const Status encoded = EncodeMessage(set, kMaxFrameToAgent / 2, &frame);
  if (!encoded.ok()) return encoded;
  return frame.size();
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
  const Result<size_t> bytes = SizeOnWire(spec);
  if (!bytes.ok()) {
    event->problem = bytes.message();
    return event;
  }
  event->trigger_bytes = *bytes;
  event->line = PrintEventLine(spec);
  event->plan = std::make_shared<TriggerPlan>(MakeTriggerPlan(spec));
  return event;
}

}  // namespace trumpet
