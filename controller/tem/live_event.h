// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// LiveEvent: a record of the store, read and compiled.

#ifndef TRUMPET_CONTROLLER_TEM_LIVE_EVENT_H
#define TRUMPET_CONTROLLER_TEM_LIVE_EVENT_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "controller/store/event_store.h"
#include "controller/tem/network_event.h"
#include "lib/verdict/trigger_plan.h"
#include "lib/wire/message.h"

namespace trumpet {

struct LiveEvent {
  EventRecord record;
  std::string problem;                      // why it cannot run; then there is no plan
  std::shared_ptr<const TriggerPlan> plan;  // with the spec, whose id is the record's
  std::string line;
  bool is_measured = false;  // reads measured values: the controller decides, no host has it
  // The change that puts it on a host, but in TriggerMode::kThreshold: hosts have shares then.
  std::shared_ptr<const std::string> encoded;

  // While it runs.
  bool is_running = false;
  bool is_placed = false;  // hosts have been chosen since it began to
  TriggerMode mode = TriggerMode::kPartials;
  std::string why_not_threshold;
  std::vector<bool> hosts;     // by position in the file: may count it; beyond the end: may
  uint64_t hosts_version = 0;  // of the placement that they come from
  Nanos changed_ns = 0;        // when it was last sent out
  Nanos last_report_ns = 0;
  NetworkCounters host_counters;  // of scope host: reports, and those withheld

  const EventSpec& spec() const { return plan->spec; }
  // Hosts have it, and tell of their packets.
  bool is_of_network() const {
    return plan != nullptr && !is_measured && plan->spec.scope == Scope::kNetwork;
  }
};

// Reads the record's definition; what is wrong with it goes into `problem`.
std::unique_ptr<LiveEvent> MakeLiveEvent(EventRecord record);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TEM_LIVE_EVENT_H
