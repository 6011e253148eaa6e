// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// EventRegistry: the events installed on this switch.
//
// Ids start at 1 and are never used again, so that a late report can not be taken for one of a
// newer event.  Names are unique.  A change is all or nothing.
//
// Threads: locked; any thread off the packet path.  The agent reads the set by its version and
// tells back when it was published.

#ifndef TRUMPET_VSWITCHD_PLUGIN_EVENT_REGISTRY_H
#define TRUMPET_VSWITCHD_PLUGIN_EVENT_REGISTRY_H

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lib/base/status.h"
#include "lib/model/event_spec.h"
#include "lib/verdict/host_verdicts.h"
#include "lib/verdict/trigger_plan.h"

namespace trumpet {

struct InstalledEvent {
  std::shared_ptr<const TriggerPlan> plan;  // shared with the compiled programs
  uint64_t version = 0;                     // of the set that first held it
  Nanos added_ns = 0;
  uint64_t generation = 0;  // of the first program that holds it; 0: not published yet
  Nanos effective_from_ns = 0;

  const EventSpec& spec() const { return plan->spec; }
};

struct EventSet {
  uint64_t version = 0;  // rises with every change; 0: nothing was ever installed
  HostVerdicts::Plans plans;
};

class EventRegistry {
 public:
  static constexpr uint32_t kFirstId = 1;

  // Installs all of `specs` or none.  Sets their ids and, where the event says nothing itself, the
  // name "event-ID" and `max_buckets`.
  Result<std::vector<InstalledEvent>> Add(std::vector<EventSpec> specs, uint32_t max_events,
                                          uint32_t max_buckets, Nanos now);

  // Removes the event of that name or, failing that, id; the answer is what was removed.
  Result<InstalledEvent> Remove(const std::string& name_or_id);
  std::vector<InstalledEvent> RemoveAll();

  Result<InstalledEvent> Find(const std::string& name_or_id) const;
  std::vector<InstalledEvent> List() const;  // as installed
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

  mutable std::mutex mutex_;
  Events events_;
  uint32_t next_id_ = kFirstId;
  uint64_t version_ = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_VSWITCHD_PLUGIN_EVENT_REGISTRY_H
