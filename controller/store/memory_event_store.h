// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// MemoryEventStore: an EventStore that lasts as long as its process (`--db=memory:`), for trials
// and tests.  It keeps the same promises as the others, but for its own end.

#ifndef TRUMPET_CONTROLLER_STORE_MEMORY_EVENT_STORE_H
#define TRUMPET_CONTROLLER_STORE_MEMORY_EVENT_STORE_H

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "controller/store/event_store.h"

struct event;
struct event_base;

namespace trumpet {

class MemoryEventStore final : public EventStore {
 public:
  // `controller_id` is not 0.
  MemoryEventStore(event_base* base, uint64_t controller_id);
  ~MemoryEventStore() override;
  MemoryEventStore(const MemoryEventStore&) = delete;
  MemoryEventStore& operator=(const MemoryEventStore&) = delete;

  void Start(EventStoreListener* listener) override;
  void Write(std::vector<EventChange> changes, Done done) override;
  void Stop() override;
  StoreState state() const override { return state_; }
  EventStoreCounters counters() const override { return counters_; }

  // As if its server had gone, or come back; for tests of those who use a store.
  void SetState(StoreState state, const std::string& text);
  // Likewise, as if it had come back with another database.
  void Replace(uint64_t controller_id, std::vector<EventRecord> records);

 private:
  void Later(std::function<void()> action);
  void RunPending();
  void TellLoaded();
  void Commit(std::vector<EventChange> changes, const Done& done);
  Status WhyNot(const std::vector<EventChange>& changes) const;

  uint64_t controller_id_;
  event* wake_;
  EventStoreListener* listener_ = nullptr;
  StoreState state_ = StoreState::kAway;
  uint32_t last_id_ = 0;
  std::map<std::string, EventRecord> records_;  // by name
  std::vector<std::function<void()>> pending_;
  EventStoreCounters counters_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_STORE_MEMORY_EVENT_STORE_H
