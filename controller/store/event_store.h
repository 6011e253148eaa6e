// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// EventStore: where events live when nobody runs them.
//
// The store is the truth: a change counts once it has been written, and comes back to the listener,
// whoever made it (another controller, an administrator with ovsdb-client).  Nothing blocks; calls
// back come from the loop, never from within a call of the store.
//
// Threads: one, that of the libevent loop.
// Lifetime: the listener must outlive the store.  The end of the store drops calls back.

#ifndef TRUMPET_CONTROLLER_STORE_EVENT_STORE_H
#define TRUMPET_CONTROLLER_STORE_EVENT_STORE_H

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/status.h"
#include "lib/base/units.h"

namespace trumpet {

struct EventRecord {
  // On the wire; given by the store with each change of `definition`, and never again.
  uint32_t id = 0;
  std::string name;        // unique
  std::string tenant;      // whose token made it; empty: nobody's in particular
  std::string definition;  // one event as JSON, in its canonical spelling, name included
  bool is_enabled = true;
  Nanos created_ns = 0;
  Nanos changed_ns = 0;
  std::string changed_by;  // name of the token, or of the tool
};

// What belongs to the database rather than to an event.
struct StoreIdentity {
  uint64_t controller_id = 0;  // drawn once, when the database was made; not 0
  std::string where;           // the database's address, for people
};

// Puts the record, its id aside, or if there is none, removes the event of that name.
struct EventChange {
  std::string name;
  std::optional<EventRecord> put;
  // The change is refused unless the record in the store has this id; 0: none is there yet.
  std::optional<uint32_t> expected_id;
  // Likewise, unless it is enabled, or is not, as said: nobody undoes what he has not seen.
  std::optional<bool> expected_enabled;
};

enum class StoreState : uint8_t {
  kAway,     // it cannot be asked, or not yet; who acted goes on acting, without changes
  kStandby,  // another process holds the database's lock, and acts
  kReady,    // this one holds it
};

class EventStoreListener {
 public:
  virtual ~EventStoreListener() = default;
  // All there is: at the beginning, and each time the connection has come back.
  virtual void OnEventsLoaded(const StoreIdentity& identity, std::vector<EventRecord> records) = 0;
  // Records as they are now, those that are gone without `put`.
  virtual void OnEventsChanged(std::vector<EventChange> changes) = 0;
  // May this process act for the database, and if not, why?  Changes are refused unless it is
  // ready.
  virtual void OnStoreState(StoreState state, const std::string& text) = 0;
};

struct EventStoreCounters {
  uint64_t connections = 0;
  uint64_t transactions = 0;
  uint64_t failed_transactions = 0;
  uint64_t malformed_records = 0;  // in the database, and overlooked
};

class EventStore {
 public:
  // With the ids that the records were given, in the order of the changes; 0: removed.
  using Done = std::function<void(Result<std::vector<uint32_t>>)>;

  virtual ~EventStore() = default;
  // Begins to connect and to call the listener.
  virtual void Start(EventStoreListener* listener) = 0;
  // Lets the database and its lock go, until Start(); not from within a call back.  The listener
  // hears no more, changes that wait are refused.
  virtual void Stop() = 0;
  // All of the changes, each of another event, or none; what they expect is checked with the
  // change, so that nobody else's comes in between.  `done` is called once, after the listener has
  // heard of them.
  virtual void Write(std::vector<EventChange> changes, Done done) = 0;
  virtual StoreState state() const = 0;
  bool is_ready() const { return state() == StoreState::kReady; }
  virtual EventStoreCounters counters() const = 0;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_STORE_EVENT_STORE_H
