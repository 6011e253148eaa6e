// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// For tests of EventManager with agents: sessions over loopback, time that only the test moves.

#ifndef TRUMPET_CONTROLLER_TEM_EVENT_MANAGER_KIT_TEST_H
#define TRUMPET_CONTROLLER_TEM_EVENT_MANAGER_KIT_TEST_H

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "controller/store/memory_event_store.h"
#include "controller/store/memory_report_store.h"
#include "controller/tem/event_manager.h"
#include "controller/tem/scripted_agent_test.h"
#include "lib/wire/session_kit_test.h"

namespace trumpet {

constexpr Nanos kInterval = 10 * kNanosPerMilli;
constexpr char kBig[] = "- {name: big, event: '*, sum(volume) > 1000, 10ms'}";
// avg() does not split: hosts tell everything.
constexpr char kMean[] = "- {name: mean, event: '*, avg(volume) > 100, 10ms'}";

struct Told final : ReportSubscriber {
  void OnReports(const ReportRows& more) override {
    rows.insert(rows.end(), more.begin(), more.end());
  }
  ReportRows rows;
};

class EventManagerHostsTest : public testing::Test {
 protected:
  EventManagerHostsTest()
      : store_(loop_.base(), 77), reports_(loop_.base(), 1000, 0), hub_(&reports_) {
    clock_.unix_base -= clock_.unix_base % kInterval + clock_.monotonic % kInterval;
    options_.listener.tick = 0;
    options_.listener.max_accepts_per_tick = 100000;
    hub_.Add(&told_);
    Begin();
  }

  // Another process of the controller, over the same stores.
  void Begin() {
    manager_.reset();
    EventManagerParts parts;
    parts.base = loop_.base();
    parts.store = &store_;
    parts.reports = &hub_;
    parts.clock = &clock_;
    manager_ = std::make_unique<EventManager>(parts, options_);
    const auto port = manager_->Listen({false, "127.0.0.1", 0}, nullptr);
    ASSERT_TRUE(port.ok()) << port.message();
    port_ = *port;
    manager_->Start();
    ASSERT_TRUE(RunUntil([&] { return manager_->is_store_ready(); }));
  }

  ScriptedAgent& Agent(size_t index) {
    while (agents_.size() <= index) {
      agents_.push_back(std::make_unique<ScriptedAgent>(loop_.base(), clock_,
                                                        "h" + std::to_string(agents_.size())));
    }
    return *agents_[index];
  }
  void Connect(size_t index) {
    Agent(index).Connect({false, "127.0.0.1", port_}, nullptr);
    ASSERT_TRUE(RunUntil([&] { return Agent(index).is_connected(); }));
  }
  bool RunUntil(const std::function<bool()>& done) {
    return loop_.RunUntil([&] {
      manager_->Tick();
      return done();
    });
  }
  // The next order of slices or programs that the agent gets.
  template <typename Order>
  Order Next(size_t agent) {
    auto& orders = Agent(agent).slice_orders;
    EXPECT_TRUE(RunUntil([&] { return !orders.empty(); }));
    if (orders.empty() || !std::holds_alternative<Order>(orders.front())) {
      ADD_FAILURE() << "another order";
      return Order();
    }
    Order order = std::get<Order>(orders.front());
    orders.erase(orders.begin());
    return order;
  }
  // Until everybody runs what he should.
  void Settle() {
    loop_.RunReady();
    ASSERT_TRUE(RunUntil([&] {
      loop_.RunReady(2);
      return manager_->is_settled();
    }));
  }
  void Put(const std::string& yaml) {
    bool is_done = false;
    manager_->Put(yaml, DocumentFormat::kYaml, "e.yaml", EventManager::IfThere::kReplace, Caller(),
                  [&](Result<std::vector<EventRecord>> records) {
                    EXPECT_TRUE(records.ok()) << records.message();
                    is_done = true;
                  });
    ASSERT_TRUE(RunUntil([&] { return is_done; }));
  }
  void Remove(const std::string& name) {
    bool is_done = false;
    manager_->Remove({name}, Caller(), [&](const Result<std::vector<EventRecord>>& records) {
      EXPECT_TRUE(records.ok()) << records.message();
      is_done = true;
    });
    ASSERT_TRUE(RunUntil([&] { return is_done; }));
  }
  void Enable(const std::string& name, bool is_enabled) {
    bool is_done = false;
    manager_->SetEnabled(name, is_enabled, Caller(),
                         [&](const Result<std::vector<EventRecord>>& records) {
                           EXPECT_TRUE(records.ok()) << records.message();
                           is_done = true;
                         });
    ASSERT_TRUE(RunUntil([&] { return is_done; }));
  }
  EventView View(const std::string& name) { return *manager_->FindEvent(name, Caller()); }

  // The start of the first interval that lies wholly ahead.
  Nanos NextStart() const { return (CellOf(clock_.UnixNow() - 1, kInterval) + 1) * kInterval; }
  void AdvanceTo(Nanos instant) { clock_.Advance(instant - clock_.UnixNow()); }

  Loop loop_;
  FakeWireClock clock_;
  MemoryEventStore store_;
  MemoryReportStore reports_;
  ReportHub hub_;
  Told told_;
  EventManagerOptions options_;
  uint16_t port_ = 0;
  std::unique_ptr<EventManager> manager_;
  std::vector<std::unique_ptr<ScriptedAgent>> agents_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_TEM_EVENT_MANAGER_KIT_TEST_H
