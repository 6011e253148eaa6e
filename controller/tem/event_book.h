// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// EventBook: the events as the store has them, by name and id, and what may become of them.
//
// Threads: one.  No time, no messages: the store's news come in with Take(), and users' wishes are
// turned into changes for the store.

#ifndef TRUMPET_CONTROLLER_TEM_EVENT_BOOK_H
#define TRUMPET_CONTROLLER_TEM_EVENT_BOOK_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "controller/tem/caller.h"
#include "controller/tem/live_event.h"
#include "lib/base/status.h"

namespace trumpet {

struct EventBookLimits {
  size_t max_events = 4096;
  size_t max_events_per_tenant = 512;
};

class EventBook {
 public:
  explicit EventBook(const EventBookLimits& limits) : limits_(limits) {}

  // --- what there is ---
  using ByName = std::map<std::string, std::unique_ptr<LiveEvent>>;
  const ByName& all() const { return by_name_; }
  using ById = std::map<uint32_t, LiveEvent*>;
  const ById& by_id() const { return by_id_; }
  LiveEvent* Find(const std::string& name) const;
  LiveEvent* Find(uint32_t id) const;
  // Null as well if the caller may not see it.
  LiveEvent* Find(const std::string& name, const Caller& caller) const;
  static bool MaySee(const Caller& caller, const EventRecord& record) {
    return caller.tenant.empty() || caller.tenant == record.tenant;
  }

  // --- news of the store ---
  // The event of that name is now this; the one before, if it was another, is handed over.
  std::unique_ptr<LiveEvent> Put(EventRecord record);
  std::unique_ptr<LiveEvent> Remove(const std::string& name);

  // --- wishes ---
  // Changes that put `specs`; those whose definitions are there already need none.  `refuses`: an
  // event that is there is an error.
  Result<std::vector<EventChange>> PlanPut(const std::vector<EventSpec>& specs, bool refuses,
                                           const Caller& caller, Nanos now) const;
  Result<std::vector<EventChange>> PlanRemove(const std::vector<std::string>& names,
                                              const Caller& caller) const;
  Result<std::vector<EventChange>> PlanSetEnabled(const std::string& name, bool is_enabled,
                                                  const Caller& caller, Nanos now) const;

  // Events that are new with the changes count as there until the store has answered: whoever asks
  // next is not to find room for the same number again.
  using Additions = std::map<std::string, size_t>;  // by tenant
  Additions BeginAdding(const std::vector<EventChange>& changes);
  void EndAdding(const Additions& additions);

 private:
  void ForgetId(const LiveEvent& event);
  Status CheckCounts(const std::vector<EventSpec>& specs, const Caller& caller) const;

  const EventBookLimits limits_;
  ByName by_name_;
  ById by_id_;
  Additions under_way_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TEM_EVENT_BOOK_H
