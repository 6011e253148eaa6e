// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// OvsdbEventStore: events in a database of Open vSwitch's kind, schema trumpet.ovsschema.
//
// Of several controllers of one database the one that holds its lock acts, and only it writes: each
// transaction asserts the lock, and waits for the rows and the next id to be what we know of them,
// so that a change is made upon what its maker saw or not at all.  Changes go one after the other.
//
// What others write with `ovsdb-client transact` is taken over: a new or edited definition without
// an id of its own is given one first (event_rows.h), and the listener hears of it then.
//
// Threads, lifetime: as EventStore; `base` must outlive it.
// Memory: the copy of OvsdbClient and about as much again; kMaxWaiting changes.

#ifndef TRUMPET_CONTROLLER_STORE_OVSDB_EVENT_STORE_H
#define TRUMPET_CONTROLLER_STORE_OVSDB_EVENT_STORE_H

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "controller/store/event_rows.h"
#include "controller/store/event_store.h"
#include "lib/base/loop_event.h"
#include "lib/ovsdb/ovsdb_client.h"

struct event_base;

namespace trumpet {

struct OvsdbEventStoreOptions {
  // Remotes, keys, times; database, tables, lock and leader are the store's to say.
  OvsdbClientOptions client;
  std::string lock = "trumpet_controller";
  std::string table = kEventTable;  // or another table of event_rows.h, then with another lock
  uint64_t new_controller_id = 0;   // for a new database; 1 to INT64_MAX, drawn at random
};

class OvsdbEventStore final : public EventStore, private OvsdbListener {
 public:
  static constexpr size_t kMaxWaiting = 1024;

  OvsdbEventStore(event_base* base, OvsdbEventStoreOptions options);
  ~OvsdbEventStore() override;

  void Start(EventStoreListener* listener) override;
  void Write(std::vector<EventChange> changes, Done done) override;
  void Stop() override;
  StoreState state() const override { return state_; }
  EventStoreCounters counters() const override;

 private:
  struct Waiting {
    std::vector<EventChange> changes;
    Done done;
    int attempts = 0;
  };

  enum class LockWait : uint8_t { kNone, kShort, kLong };

  struct Global {
    std::string uuid;
    uint64_t controller_id = 0;
    int64_t next_event_id = 0;
  };

  void OnOvsdbLoaded() override;
  void OnOvsdbChanged(const std::vector<OvsdbRowChange>& changes) override;
  void OnOvsdbState() override;

  // --- what is there ---
  void ReadGlobal();
  void ReadRow(const std::string& uuid, std::set<std::string>* names);
  void ForgetRow(const std::string& uuid, std::set<std::string>* names);
  const EventRow* FindRow(const std::string& name) const;
  void TellLoaded();
  void TellChanges(const std::set<std::string>& names);
  void UpdateState();
  StoreState FindState();
  std::string StateText() const;

  // --- what is to be done, one transaction at a time ---
  void Work();
  void Prepare();
  void GiveIds();
  void WriteNext();
  Status AddChange(const EventChange& change, int64_t* next_id, Json* operations,
                   std::vector<uint32_t>* ids) const;
  int64_t FirstFreeId() const;
  Json WaitForGlobal() const;
  Json Begin() const;
  void Commit(Json operations, OvsdbClient::Done done);
  void CommitOwn(Json operations);
  void Finish(const Result<std::vector<uint32_t>>& result);
  void RefuseWaiting();
  void Later(std::function<void()> action);
  void RunLater();

  event_base* const base_;
  OvsdbEventStoreOptions options_;
  EventStoreListener* listener_ = nullptr;
  Global global_;
  std::map<std::string, EventRow> rows_;        // by UUID
  std::map<std::string, std::string> by_name_;  // UUIDs
  std::set<std::string> strangers_;             // UUIDs of rows without an id of their own
  std::set<std::string> malformed_;             // UUIDs
  std::map<std::string, EventRecord> told_;     // by name: what the listener knows
  bool has_told_ = false;                       // since the copy was last loaded
  StoreState state_ = StoreState::kAway;
  std::string state_text_;
  LockWait lock_wait_ = LockWait::kNone;
  std::deque<Waiting> waiting_;  // the first one is under way if is_writing_
  bool is_busy_ = false;         // a transaction is under way
  bool is_writing_ = false;      // and it is that of the first of waiting_
  std::string own_error_;        // why the last of our own transactions failed
  std::vector<std::function<void()>> later_;
  LoopEvent later_event_;
  LoopEvent work_event_;
  LoopEvent lock_event_;
  std::unique_ptr<OvsdbClient> client_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_STORE_OVSDB_EVENT_STORE_H
