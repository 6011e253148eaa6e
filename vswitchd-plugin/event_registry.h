// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// EventRegistry: the events installed on this switch: here, with ovs-appctl, and by the controller.
//
// Ids start at 1 and are never used again, so that a late report can not be taken for one of a
// newer event.  They are this host's own; the controller's ids are kept beside.  Of the events
// installed here names are unique, and a change is all or nothing.  Those of the controller may
// have the same names, and change as a whole set, of which what does not fit is left out.
//
// Threads: locked; any thread off the packet path.  The agent reads the set by its version and
// tells back when it was published.

#ifndef TRUMPET_VSWITCHD_PLUGIN_EVENT_REGISTRY_H
#define TRUMPET_VSWITCHD_PLUGIN_EVENT_REGISTRY_H

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lib/base/status.h"
#include "lib/model/event_spec.h"
#include "lib/verdict/event_feed.h"
#include "lib/verdict/host_verdicts.h"
#include "lib/verdict/trigger_plan.h"
#include "lib/wire/message.h"

namespace trumpet {

// An event of the controller, as this host runs it.
struct ControllerEvent {
  std::shared_ptr<const TriggerPlan> plan;
  uint32_t controller_event_id = 0;
  TriggerMode mode = TriggerMode::kHost;
  ThresholdShare share;  // kThreshold; else generation 0

  // Hosts decide it together: the controller is told what was counted.
  bool is_fed() const { return mode != TriggerMode::kHost; }
};

struct InstalledEvent {
  std::shared_ptr<const TriggerPlan> plan;  // shared with the compiled programs
  uint64_t version = 0;                     // of the set that first held it
  Nanos added_ns = 0;
  uint64_t generation = 0;  // of the first program that holds it; 0: not published yet
  Nanos effective_from_ns = 0;
  uint32_t controller_event_id = 0;  // 0: installed here
  TriggerMode mode = TriggerMode::kHost;
  ThresholdShare share;

  bool is_of_controller() const { return controller_event_id != 0; }
  const EventSpec& spec() const { return plan->spec; }
};

// What a switch takes.
struct EventLimits {
  uint32_t max_events = 0;
  uint32_t max_buckets = 0;            // of an event that says nothing itself
  Nanos packet_budget_ns = INT64_MAX;  // for the statistics of a packet (set_choice.h)
};

struct EventSet {
  uint64_t version = 0;            // rises with every change; 0: nothing was ever installed
  HostVerdicts::Plans plans;       // of all events
  HostVerdicts::Plans host_plans;  // of those that this host decides
  uint64_t controller_id = 0;      // whose the following are; 0: there are none
  std::vector<ControllerEvent> of_controller;
};

class EventRegistry {
 public:
  static constexpr uint32_t kFirstId = 1;

  // Installs all of `specs` or none.  Sets their ids and, where the event says nothing itself, the
  // name "event-ID" and its `max_buckets`.
  Result<std::vector<InstalledEvent>> Add(std::vector<EventSpec> specs, const EventLimits& limits,
                                          Nanos now);

  // The events of that controller from now on, by its ids.  What did not change goes on under the
  // id it has, as does, of the same controller, what still counts the same.  Answers which cannot
  // run here, and why.  The version stays if at most shares changed.
  using Triggers = std::map<uint32_t, Trigger>;
  std::vector<EventError> SetControllerEvents(uint64_t controller_id, const Triggers& triggers,
                                              const EventLimits& limits, Nanos now);

  // Removes the event of that name or, failing that, id; the answer is what was removed.  Events of
  // the controller are not removed here.
  Result<InstalledEvent> Remove(const std::string& name_or_id);
  std::vector<InstalledEvent> RemoveAll();

  // By name, those installed here first, or id.
  Result<InstalledEvent> Find(const std::string& name_or_id) const;
  std::vector<InstalledEvent> List() const;  // as installed, the controller's last
  EventSet Set() const;
  uint64_t version() const;
  size_t count() const;

  // The set of `version` runs as program `generation` from the instant `from`.
  void MarkPublished(uint64_t version, uint64_t generation, Nanos from);

  // No program runs any more; the next one counts anew.
  void MarkWithdrawn();

 private:
  using Events = std::vector<InstalledEvent>;
  Events::const_iterator Locate(const std::string& name_or_id) const;
  Status NotFound(const std::string& name_or_id) const;
  size_t LocalCount() const;

  mutable std::mutex mutex_;
  Events events_;  // installed here, then the controller's by its ids
  uint64_t controller_id_ = 0;
  uint32_t next_id_ = kFirstId;
  uint64_t version_ = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_VSWITCHD_PLUGIN_EVENT_REGISTRY_H
