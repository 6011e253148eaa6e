// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/store/memory_event_store.h"

#include <event2/event.h>

#include <algorithm>
#include <set>
#include <utility>

namespace trumpet {

MemoryEventStore::MemoryEventStore(event_base* base, uint64_t controller_id)
    : controller_id_(controller_id),
      wake_(event_new(
          base, -1, 0,
          [](evutil_socket_t, short, void* self) {
            static_cast<MemoryEventStore*>(self)->RunPending();
          },
          this)) {}

MemoryEventStore::~MemoryEventStore() { event_free(wake_); }

void MemoryEventStore::Later(std::function<void()> action) {
  pending_.push_back(std::move(action));
  event_active(wake_, EV_TIMEOUT, 0);
}

void MemoryEventStore::RunPending() {
  std::vector<std::function<void()>> actions;
  actions.swap(pending_);
  for (const auto& action : actions) action();
}

void MemoryEventStore::Start(EventStoreListener* listener) {
  listener_ = listener;
  state_ = StoreState::kAway;  // another one may have listened before
  SetState(StoreState::kReady, "in memory");
}

void MemoryEventStore::Stop() {
  listener_ = nullptr;
  state_ = StoreState::kAway;
}

void MemoryEventStore::SetState(StoreState state, const std::string& text) {
  Later([this, state, text] {
    if (listener_ == nullptr) return;
    const bool has_come = state == StoreState::kReady && !is_ready();
    state_ = state;
    if (has_come) {
      ++counters_.connections;
      TellLoaded();
    }
    listener_->OnStoreState(state, text);
  });
}

void MemoryEventStore::TellLoaded() {
  std::vector<EventRecord> all;
  for (const auto& [name, record] : records_) all.push_back(record);
  listener_->OnEventsLoaded({controller_id_, "memory:"}, std::move(all));
}

void MemoryEventStore::Replace(uint64_t controller_id, std::vector<EventRecord> records) {
  Later([this, controller_id, records = std::move(records)] {
    controller_id_ = controller_id;
    records_.clear();
    last_id_ = 0;
    for (const EventRecord& record : records) {
      records_[record.name] = record;
      last_id_ = std::max(last_id_, record.id);
    }
    if (is_ready()) TellLoaded();
  });
}

void MemoryEventStore::Write(std::vector<EventChange> changes, Done done) {
  Later([this, changes = std::move(changes), done = std::move(done)]() mutable {
    Commit(std::move(changes), done);
  });
}

Status MemoryEventStore::WhyNot(const std::vector<EventChange>& changes) const {
  if (!is_ready()) return Status::Error("the events' database is not there");
  std::set<std::string> names;
  for (const EventChange& change : changes) {
    if (!names.insert(change.name).second) {
      return Status::Error("event '" + change.name + "' is changed twice at once");
    }
    const auto found = records_.find(change.name);
    const uint32_t id = found == records_.end() ? 0 : found->second.id;
    const bool is_enabled = found != records_.end() && found->second.is_enabled;
    if (change.expected_id.value_or(id) != id ||
        change.expected_enabled.value_or(is_enabled) != is_enabled) {
      return Status::Error("event '" + change.name + "' has been changed meanwhile");
    }
  }
  return Status::Ok();
}

void MemoryEventStore::Commit(std::vector<EventChange> changes, const Done& done) {
  ++counters_.transactions;
  const Status status = WhyNot(changes);
  if (!status.ok()) {
    ++counters_.failed_transactions;
    done(status);
    return;
  }
  std::vector<uint32_t> ids;
  for (EventChange& change : changes) {
    if (!change.put) {
      records_.erase(change.name);
      ids.push_back(0);
      continue;
    }
    EventRecord& record = records_[change.name];
    const uint32_t id = record.definition == change.put->definition ? record.id : 0;
    record = *change.put;
    record.id = id != 0 ? id : ++last_id_;
    change.put->id = record.id;
    ids.push_back(record.id);
  }
  listener_->OnEventsChanged(std::move(changes));
  done(std::move(ids));
}

}  // namespace trumpet
