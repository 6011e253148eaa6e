// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Stores of events to try, and a listener that remembers.

#ifndef TRUMPET_CONTROLLER_STORE_EVENT_STORE_KIT_TEST_H
#define TRUMPET_CONTROLLER_STORE_EVENT_STORE_KIT_TEST_H

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/store/memory_event_store.h"
#include "controller/store/ovsdb_event_store.h"
#include "lib/ovsdb/ovsdb_server_test.h"

namespace trumpet {

enum class StoreKind : uint8_t { kMemory, kOvsdb, kCluster };

inline const char* StoreKindName(StoreKind kind) {
  constexpr const char* kNames[] = {"Memory", "Ovsdb", "Cluster"};
  return kNames[static_cast<size_t>(kind)];
}

inline std::string TrumpetSchemaFile() {
  const char* top = std::getenv("top_srcdir");
  return std::string(top == nullptr ? "../.." : top) + "/controller/store/trumpet.ovsschema";
}

inline std::string TrumpetSchema() {
  std::ifstream file(TrumpetSchemaFile());
  EXPECT_TRUE(file.good()) << TrumpetSchemaFile() << " is not there; set top_srcdir";
  return std::string(std::istreambuf_iterator<char>(file), {});
}

inline OvsdbEventStoreOptions TestStoreOptions(const std::string& remotes) {
  OvsdbEventStoreOptions options;
  options.client = TestClientOptions(remotes, "");
  options.new_controller_id = 4711;
  return options;
}

// Where a store keeps its events, if it is not memory.
class StorePlace {
 public:
  void Make(StoreKind kind) {
    kind_ = kind;
    if (kind == StoreKind::kMemory) return;
    server_ = std::make_unique<OvsdbTestServer>();
    if (kind == StoreKind::kOvsdb) server_->Create(TrumpetSchema());
    if (kind == StoreKind::kCluster) server_->CreateCluster(TrumpetSchema());
    server_->Start();
  }

  std::unique_ptr<EventStore> Open(event_base* base) const {
    if (kind_ == StoreKind::kMemory) return std::make_unique<MemoryEventStore>(base, 4711);
    return std::make_unique<OvsdbEventStore>(base, TestStoreOptions(server_->remote()));
  }

  OvsdbTestServer* server() { return server_.get(); }

 private:
  StoreKind kind_ = StoreKind::kMemory;
  std::unique_ptr<OvsdbTestServer> server_;
};

class RecordingEventListener final : public EventStoreListener {
 public:
  void OnEventsLoaded(const StoreIdentity& told, std::vector<EventRecord> all) override {
    ++loaded_count;
    identity = told;
    records.clear();
    for (EventRecord& record : all) records[record.name] = record;
  }
  void OnEventsChanged(std::vector<EventChange> changes) override {
    ++change_count;
    for (EventChange& change : changes) {
      if (change.put) {
        records[change.name] = *change.put;
      } else {
        records.erase(change.name);
      }
    }
  }
  void OnStoreState(StoreState now, const std::string& text) override {
    is_ready = now == StoreState::kReady;
    is_standby = now == StoreState::kStandby;
    state = text;
  }

  std::map<std::string, std::string> Definitions() const {
    std::map<std::string, std::string> definitions;
    for (const auto& [name, record] : records) definitions[name] = record.definition;
    return definitions;
  }

  int loaded_count = 0;
  int change_count = 0;
  StoreIdentity identity;
  std::map<std::string, EventRecord> records;
  bool is_ready = false;
  bool is_standby = false;
  std::string state;
};

inline EventChange Put(const std::string& name, const std::string& definition,
                       bool is_enabled = true) {
  EventChange change;
  change.name = name;
  change.put.emplace();
  change.put->name = name;
  change.put->definition = definition;
  change.put->is_enabled = is_enabled;
  return change;
}

inline EventChange Remove(const std::string& name) {
  EventChange change;
  change.name = name;
  return change;
}

inline Result<std::vector<uint32_t>> WriteAndWait(OvsdbTestLoop* loop, EventStore* store,
                                                  std::vector<EventChange> changes) {
  std::optional<Result<std::vector<uint32_t>>> result;
  store->Write(std::move(changes),
               [&](const Result<std::vector<uint32_t>>& came) { result = came; });
  if (!loop->RunUntil([&] { return result.has_value(); })) return Status::Error("no answer");
  return *result;
}

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_STORE_EVENT_STORE_KIT_TEST_H
