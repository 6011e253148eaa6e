// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/tem/event_manager.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "controller/store/memory_event_store.h"
#include "controller/tem/event_book.h"
#include "lib/wire/session_kit_test.h"

namespace trumpet {
namespace {

constexpr char kTwoEvents[] = R"(
- {name: heavy, event: "dstIP=10.0.0.0/8, sum(volume) > 1KB, dstIP, 10ms", deadline: 20ms}
- {name: lossy, event: "*, sum(is_lost) > 10%, 10ms", scope: host}
)";

class EventManagerTest : public testing::Test {
 protected:
  EventManagerTest() : store_(loop_.base(), 77), hub_(nullptr) { Restart(); }

  void Restart() {
    manager_.reset();
    EventManagerParts parts;
    parts.base = loop_.base();
    parts.store = &store_;
    parts.reports = &hub_;
    parts.clock = &clock_;
    manager_ = std::make_unique<EventManager>(parts, options_);
    manager_->Start();
    EXPECT_TRUE(loop_.RunUntil([&] { return manager_->is_store_ready(); }));
  }

  EventManager::Changed Keep() {
    answer_.reset();
    return [this](Result<std::vector<EventRecord>> records) { answer_ = std::move(records); };
  }
  // "" or why not.
  std::string Answer() {
    EXPECT_TRUE(loop_.RunUntil([&] { return answer_.has_value(); }));
    return answer_->ok() ? "" : answer_->message();
  }
  std::string Put(const std::string& yaml, const Caller& caller = Caller(),
                  EventManager::IfThere if_there = EventManager::IfThere::kReplace) {
    manager_->Put(yaml, DocumentFormat::kYaml, "e.yaml", if_there, caller, Keep());
    return Answer();
  }
  std::string Remove(const std::string& name, const Caller& caller = Caller()) {
    manager_->Remove({name}, caller, Keep());
    return Answer();
  }
  std::string Names(const Caller& caller = Caller()) {
    std::string names;
    for (const EventView& event : manager_->Events(caller)) {
      names += (names.empty() ? "" : " ") + event.record.name;
    }
    return names;
  }
  uint32_t IdOf(const std::string& name) {
    const auto event = manager_->FindEvent(name, Caller());
    return event ? event->record.id : 0;
  }

  Loop loop_;
  FakeWireClock clock_;
  MemoryEventStore store_;
  ReportHub hub_;
  EventManagerOptions options_;
  std::unique_ptr<EventManager> manager_;
  std::optional<Result<std::vector<EventRecord>>> answer_;
};

TEST(EventBook, FindsEventsWhoseIdsHaveChangedPlaces) {
  EventBook book(EventBookLimits{});
  const auto put = [&book](const std::string& name, uint32_t id) {
    EventRecord record;
    record.name = name;
    record.id = id;
    return book.Put(record);
  };
  put("a", 1);
  put("b", 2);
  ASSERT_NE(put("b", 1), nullptr);
  EXPECT_EQ(book.Find(2), nullptr);
  ASSERT_NE(put("a", 2), nullptr);
  EXPECT_EQ(book.Find(1), book.Find("b"));
  EXPECT_EQ(book.Find(2), book.Find("a"));
}

TEST_F(EventManagerTest, KeepsEventsInTheStore) {
  EXPECT_EQ(Put(kTwoEvents), "");
  ASSERT_EQ(answer_->value().size(), 2u);
  EXPECT_NE(answer_->value()[0].id, answer_->value()[1].id);
  EXPECT_EQ(Names(), "heavy lossy");
  Restart();
  EXPECT_EQ(Names(), "heavy lossy");
  const auto heavy = manager_->FindEvent("heavy", Caller());
  ASSERT_TRUE(heavy);
  EXPECT_EQ(heavy->spec.deadline_ms, 20u);
  EXPECT_EQ(heavy->mode, "partials");
  EXPECT_EQ(heavy->record.changed_by, "local");
  EXPECT_EQ(manager_->FindEvent("lossy", Caller())->mode, "host");
}

TEST_F(EventManagerTest, TakesAllEventsOfATextOrNone) {
  EXPECT_EQ(Put("- {name: a, event: '*, 1, 1ms'}\n- {name: b, event: '*, sum(bytez) > 1, 1ms'}"),
            "e.yaml:2:28: 'bytez' is not a packet variable; did you mean 'bytes'?");
  EXPECT_EQ(Names(), "");
}

TEST_F(EventManagerTest, GivesAnotherIdWithAnotherDefinitionOnly) {
  EXPECT_EQ(Put("- {name: a, event: '*, 1, 1ms'}"), "");
  const uint32_t id = IdOf("a");
  EXPECT_EQ(Put("- {name: a, filter: '*', predicate: '1', time_interval: 1ms}"), "");
  EXPECT_EQ(IdOf("a"), id);
  manager_->SetEnabled("a", false, Caller(), Keep());
  EXPECT_EQ(Answer(), "");
  EXPECT_EQ(IdOf("a"), id);
  EXPECT_EQ(Put("- {name: a, event: '*, 1, 2ms'}"), "");
  EXPECT_GT(IdOf("a"), id);
  EXPECT_FALSE(manager_->FindEvent("a", Caller())->record.is_enabled) << "nobody asked for that";
}

TEST_F(EventManagerTest, RefusesANameThatIsTakenIfAsked) {
  EXPECT_EQ(Put("- {name: a, event: '*, 1, 1ms'}"), "");
  EXPECT_EQ(Put("- {name: a, event: '*, 2, 1ms'}", Caller(), EventManager::IfThere::kRefuse),
            "the name 'a' is taken by another event");
}

TEST_F(EventManagerTest, RemovesOnlyWhatIsThere) {
  EXPECT_EQ(Put(kTwoEvents), "");
  EXPECT_EQ(Remove("heavy"), "");
  EXPECT_EQ(Names(), "lossy");
  EXPECT_EQ(Remove("heavy"), "there is no event 'heavy'");
}

TEST_F(EventManagerTest, HidesATenantsEventsFromOthers) {
  Caller blue{"blue-token", "blue", {}};
  Caller red{"red-token", "red", {}};
  EXPECT_EQ(Put("- {name: a, event: '*, 1, 1ms'}", blue), "");
  EXPECT_EQ(Names(blue), "a");
  EXPECT_EQ(Names(red), "");
  EXPECT_EQ(Names(), "a");
  EXPECT_EQ(Remove("a", red), "there is no event 'a'");
  EXPECT_EQ(Put("- {name: a, event: '*, 2, 1ms'}", red), "the name 'a' is taken by another event");
  EXPECT_EQ(Remove("a", blue), "");
}

TEST_F(EventManagerTest, BoundsTheNumberOfEvents) {
  options_.max_events = 2;
  options_.max_events_per_tenant = 1;
  Restart();
  Caller blue{"blue-token", "blue", {}};
  EXPECT_EQ(Put("['*, 1, 1ms', '*, 2, 1ms', '*, 3, 1ms']"),
            "that would make 3 events; 2 are allowed");
  EXPECT_EQ(Put("['*, 1, 1ms', '*, 2, 1ms']", blue),
            "that would make 2 events of tenant 'blue'; 1 are allowed");
  EXPECT_EQ(Put("['*, 1, 1ms', '*, 2, 1ms']"), "");
}

TEST_F(EventManagerTest, BoundsTheNumberOfEventsThatAreUnderWay) {
  options_.max_events = 3;
  options_.max_events_per_tenant = 1;
  Restart();
  std::vector<std::string> answers;
  const auto put = [&](const std::string& name, const Caller& caller) {
    manager_->Put("- {name: " + name + ", event: '*, 1, 1ms'}", DocumentFormat::kYaml, name,
                  EventManager::IfThere::kReplace, caller,
                  [&](const Result<std::vector<EventRecord>>& records) {
                    answers.push_back(records.ok() ? "ok" : records.message());
                  });
  };
  for (const char* name : {"a", "b"}) put(name, {"blue-token", "blue", {}});
  for (const char* name : {"c", "d", "e"}) put(name, {});
  ASSERT_TRUE(loop_.RunUntil([&] { return answers.size() == 5; }));
  std::sort(answers.begin(), answers.end());
  EXPECT_EQ(answers,
            (std::vector<std::string>{"ok", "ok", "ok",
                                      "that would make 2 events of tenant 'blue'; 1 are allowed",
                                      "that would make 4 events; 3 are allowed"}));
  EXPECT_EQ(Remove("a"), "");
  EXPECT_EQ(Put("- {name: a, event: '*, 1, 1ms'}", {"blue-token", "blue", {}}), "");
}

TEST_F(EventManagerTest, RefusesChangesWhileTheStoreIsAway) {
  EXPECT_EQ(Put("['*, 1, 1ms']"), "");
  store_.SetState(StoreState::kAway, "connection refused");
  ASSERT_TRUE(loop_.RunUntil([&] { return !manager_->is_store_ready(); }));
  EXPECT_EQ(Put("['*, 2, 1ms']"), "the events' database is not there");
  EXPECT_EQ(Names(), "event-1");
  EXPECT_EQ(manager_->store_state(), "connection refused");
}

TEST_F(EventManagerTest, SaysWhyAStoredEventDoesNotRun) {
  EventChange change;
  change.name = "old";
  change.put = EventRecord();
  change.put->name = "old";
  change.put->definition = R"({"name": "old", "event": "*, sum(nothing) > 1, 1ms"})";
  bool is_done = false;
  store_.Write({change}, [&](const Result<std::vector<uint32_t>>&) { is_done = true; });
  ASSERT_TRUE(loop_.RunUntil([&] { return is_done; }));
  const auto old = manager_->FindEvent("old", Caller());
  ASSERT_TRUE(old);
  EXPECT_NE(old->problem.find("'nothing' is not a packet variable"), std::string::npos);
  EXPECT_EQ(Remove("old"), "");
}

TEST_F(EventManagerTest, ChecksWithoutChangingAnything) {
  const auto checks = manager_->Check(kTwoEvents, DocumentFormat::kYaml, "e.yaml", Caller());
  ASSERT_TRUE(checks.ok()) << checks.message();
  ASSERT_EQ(checks->size(), 2u);
  EXPECT_EQ((*checks)[0].line, "dstIP=10.0.0.0/8, sum(volume) > 1000, dstIP, 10ms");
  EXPECT_EQ((*checks)[0].mode, "partials");
  EXPECT_EQ((*checks)[0].why_not_threshold, "no host is known yet");
  EXPECT_EQ((*checks)[1].mode, "host");
  EXPECT_FALSE((*checks)[0].exists);
  EXPECT_EQ(Names(), "");
}

}  // namespace
}  // namespace trumpet
