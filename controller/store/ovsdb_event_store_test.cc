// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/store/ovsdb_event_store.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <time.h>

#include <memory>
#include <string>
#include <vector>

#include "controller/store/event_store_kit_test.h"

namespace trumpet {
namespace {

class OvsdbEventStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    server_.Create(TrumpetSchema());
    server_.Start();
  }

  std::unique_ptr<OvsdbEventStore> Open(RecordingEventListener* listener) {
    auto store =
        std::make_unique<OvsdbEventStore>(loop_.base(), TestStoreOptions(server_.remote()));
    store->Start(listener);
    return store;
  }

  bool RunUntilReady(const EventStore& store) {
    return loop_.RunUntil([&] { return store.is_ready(); });
  }

  Result<std::vector<uint32_t>> Write(EventStore* store, std::vector<EventChange> changes) {
    return WriteAndWait(&loop_, store, std::move(changes));
  }

  // What the server has computed so far.
  Nanos ServerCpu() const {
    clockid_t clock = 0;
    timespec time{};
    EXPECT_EQ(clock_getcpuclockid(server_.pid(), &clock), 0);
    EXPECT_EQ(clock_gettime(clock, &time), 0);
    return time.tv_sec * kNanosPerSecond + time.tv_nsec;
  }

  OvsdbTestLoop loop_;
  OvsdbTestServer server_;
  RecordingEventListener listener_;
};

TEST_F(OvsdbEventStoreTest, HasItsEventsAndItsIdentityAfterARestart) {
  auto store = Open(&listener_);
  ASSERT_TRUE(RunUntilReady(*store)) << listener_.state;
  const uint32_t id = (*Write(store.get(), {Put("a", "1")}))[0];
  store.reset();
  RecordingEventListener later;
  store = Open(&later);
  ASSERT_TRUE(RunUntilReady(*store)) << later.state;
  EXPECT_EQ(later.identity.controller_id, 4711u);
  EXPECT_EQ(later.identity.where, server_.remote());
  ASSERT_EQ(later.records.count("a"), 1u);
  EXPECT_EQ(later.records["a"].id, id);
  EXPECT_GT((*Write(store.get(), {Put("a", "2")}))[0], id);
}

TEST_F(OvsdbEventStoreTest, LosesNothingAcknowledgedWhenTheServerIsKilled) {
  const auto store = Open(&listener_);
  ASSERT_TRUE(RunUntilReady(*store)) << listener_.state;
  for (int round = 0; round < 5; ++round) {
    const std::string name = "event-" + std::to_string(round);
    ASSERT_TRUE(Write(store.get(), {Put(name, "1")}).ok());
    server_.Kill(SIGKILL);
    ASSERT_TRUE(loop_.RunUntil([&] { return !listener_.is_ready; }));
    EXPECT_EQ(listener_.records.size(), static_cast<size_t>(round) + 1) << "events run on";
    server_.Start();
    ASSERT_TRUE(RunUntilReady(*store)) << listener_.state;
    ASSERT_EQ(listener_.records.size(), static_cast<size_t>(round) + 1);
  }
  EXPECT_EQ(store->counters().connections, 6u);
}

TEST_F(OvsdbEventStoreTest, RefusesChangesWhileTheDatabaseIsAway) {
  const auto store = Open(&listener_);
  ASSERT_TRUE(RunUntilReady(*store)) << listener_.state;
  server_.Kill(SIGKILL);
  ASSERT_TRUE(loop_.RunUntil([&] { return !listener_.is_ready; }));
  const auto written = Write(store.get(), {Put("a", "1")});
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.message().find("events cannot be changed now: unix:"), 0u) << written.message();
}

TEST_F(OvsdbEventStoreTest, AnswersEveryChangeWhenTheServerStopsInBetween) {
  const auto store = Open(&listener_);
  ASSERT_TRUE(RunUntilReady(*store)) << listener_.state;
  server_.Signal(SIGSTOP);
  int answers = 0;
  int errors = 0;
  for (int i = 0; i < 1500; ++i) {
    store->Write({Put("event-" + std::to_string(i), "1")},
                 [&](const Result<std::vector<uint32_t>>& result) {
                   ++answers;
                   if (!result.ok()) ++errors;
                 });
  }
  EXPECT_TRUE(loop_.RunUntil([&] { return answers == 1500 - 1024; })) << answers;
  server_.Kill(SIGKILL);
  EXPECT_TRUE(loop_.RunUntil([&] { return answers == 1500; })) << answers;
  EXPECT_EQ(errors, 1500);
}

TEST_F(OvsdbEventStoreTest, OneOfTwoActsAndTheOtherTakesOver) {
  auto first = Open(&listener_);
  ASSERT_TRUE(RunUntilReady(*first)) << listener_.state;
  RecordingEventListener other;
  const auto second = Open(&other);
  ASSERT_TRUE(loop_.RunUntil([&] { return other.loaded_count == 1; }));
  EXPECT_FALSE(Write(second.get(), {Put("a", "1")}).ok());
  EXPECT_NE(other.state.find("another controller has the lock"), std::string::npos) << other.state;
  const uint32_t id = (*Write(first.get(), {Put("b", "1")}))[0];
  EXPECT_TRUE(loop_.RunUntil([&] { return other.records.count("b") == 1; }));
  first.reset();
  ASSERT_TRUE(RunUntilReady(*second)) << other.state;
  EXPECT_GT((*Write(second.get(), {Put("b", "2")}))[0], id);
}

TEST_F(OvsdbEventStoreTest, StandsByWhileAnotherHasItsLock) {
  const auto store = Open(&listener_);
  ASSERT_TRUE(RunUntilReady(*store)) << listener_.state;
  {
    const TestProgram thief({"ovsdb-client", "steal", server_.remote(), "trumpet_controller"});
    ASSERT_TRUE(loop_.RunUntil([&] { return !listener_.is_ready; }));
    EXPECT_FALSE(listener_.is_standby) << "it may come back at once";
    EXPECT_FALSE(Write(store.get(), {Put("a", "1")}).ok());
    ASSERT_TRUE(loop_.RunUntil([&] { return listener_.is_standby; })) << listener_.state;
    EXPECT_NE(listener_.state.find("another controller has the lock"), std::string::npos);
  }
  ASSERT_TRUE(RunUntilReady(*store)) << listener_.state;
  EXPECT_FALSE(listener_.is_standby);
  EXPECT_TRUE(Write(store.get(), {Put("a", "1")}).ok());
}

TEST_F(OvsdbEventStoreTest, LetsTheLockGoWhenItIsStoppedAndComesBack) {
  const auto store = Open(&listener_);
  ASSERT_TRUE(RunUntilReady(*store)) << listener_.state;
  RecordingEventListener other;
  const auto second = Open(&other);
  server_.Signal(SIGSTOP);
  std::vector<bool> answers;
  for (const char* name : {"a", "b"}) {
    store->Write({Put(name, "1")},
                 [&](const Result<std::vector<uint32_t>>& ids) { answers.push_back(ids.ok()); });
  }
  loop_.RunFor(20 * kNanosPerMilli);  // the first is under way
  store->Stop();
  EXPECT_FALSE(store->is_ready());
  EXPECT_TRUE(loop_.RunUntil([&] { return answers.size() == 2; }));
  EXPECT_EQ(answers, std::vector<bool>(2, false));
  server_.Signal(SIGCONT);
  ASSERT_TRUE(RunUntilReady(*second)) << other.state;
  store->Start(&listener_);
  ASSERT_TRUE(loop_.RunUntil([&] { return listener_.is_standby; })) << listener_.state;
  second->Stop();
  ASSERT_TRUE(RunUntilReady(*store)) << listener_.state;
  EXPECT_TRUE(Write(store.get(), {Put("c", "1")}).ok());
}

TEST_F(OvsdbEventStoreTest, KeepsCampaignsBesideEvents) {
  const auto events = Open(&listener_);
  ASSERT_TRUE(RunUntilReady(*events)) << listener_.state;
  OvsdbEventStoreOptions options = TestStoreOptions(server_.remote());
  options.table = kSliceTable;
  options.lock = "trumpet_slices";
  OvsdbEventStore campaigns(loop_.base(), options);
  RecordingEventListener listener;
  campaigns.Start(&listener);
  ASSERT_TRUE(RunUntilReady(campaigns)) << listener.state;
  int answers = 0;
  for (int i = 0; i < 20; ++i) {
    EventStore* const store = i % 2 == 0 ? events.get() : &campaigns;
    store->Write({Put("n" + std::to_string(i), "1")},
                 [&](const Result<std::vector<uint32_t>>& given) {
                   ++answers;
                   EXPECT_TRUE(given.ok()) << given.message();
                 });
  }
  ASSERT_TRUE(loop_.RunUntil([&] { return answers == 20; }));
  EXPECT_EQ(listener_.records.size(), 10u);
  EXPECT_EQ(listener.records.size(), 10u);
  EXPECT_EQ(listener.records.count("n1"), 1u);
}

TEST_F(OvsdbEventStoreTest, HearsOfEditsAndGivesThemIds) {
  const auto store = Open(&listener_);
  ASSERT_TRUE(RunUntilReady(*store)) << listener_.state;
  const uint32_t id = (*Write(store.get(), {Put("a", "1"), Put("gone", "1")}))[0];
  server_.Transact(R"(["Trumpet",
    {"op":"insert","table":"Event","row":{"name":"b","definition":"1","enabled":true}},
    {"op":"update","table":"Event","where":[["name","==","a"]],"row":{"definition":"2"}},
    {"op":"delete","table":"Event","where":[["name","==","gone"]]}])");
  ASSERT_TRUE(loop_.RunUntil([&] {
    return listener_.records.count("b") == 1 && listener_.records["a"].definition == "2" &&
           listener_.records.count("gone") == 0;
  }));
  EXPECT_GT(listener_.records["a"].id, id);
  EXPECT_NE(listener_.records["b"].id, 0u);
  EXPECT_NE(listener_.records["b"].id, listener_.records["a"].id);
  // An id that is another's is no id.
  server_.Transact(R"(["Trumpet",{"op":"insert","table":"Event","row":
    {"name":"c","definition":"1","enabled":true,"event_id":1}}])");
  ASSERT_TRUE(loop_.RunUntil([&] { return listener_.records.count("c") == 1; }));
  EXPECT_GT(listener_.records["c"].id, listener_.records["b"].id);
  // Switched off by hand: it stays the same event.
  const uint32_t before = listener_.records["b"].id;
  server_.Transact(R"(["Trumpet",{"op":"update","table":"Event","where":[["name","==","b"]],
    "row":{"enabled":false}}])");
  ASSERT_TRUE(loop_.RunUntil([&] { return !listener_.records["b"].is_enabled; }));
  EXPECT_EQ(listener_.records["b"].id, before);
}

TEST_F(OvsdbEventStoreTest, FollowsNamesThatChangePlaces) {
  const auto store = Open(&listener_);
  ASSERT_TRUE(RunUntilReady(*store)) << listener_.state;
  ASSERT_TRUE(Write(store.get(), {Put("a", "1"), Put("b", "2")}).ok());
  server_.Transact(R"(["Trumpet",
    {"op":"update","table":"Event","where":[["name","==","a"]],"row":{"name":"x"}},
    {"op":"update","table":"Event","where":[["name","==","b"]],"row":{"name":"a"}},
    {"op":"update","table":"Event","where":[["name","==","x"]],"row":{"name":"b"}}])");
  EXPECT_TRUE(loop_.RunUntil([&] {
    return listener_.Definitions() == (std::map<std::string, std::string>{{"a", "2"}, {"b", "1"}});
  }));
}

TEST_F(OvsdbEventStoreTest, OverlooksMalformedRowsAndCountsThem) {
  server_.Transact(
      R"(["Trumpet",{"op":"insert","table":"Event","row":{"name":"","definition":"1"}}])");
  const auto store = Open(&listener_);
  ASSERT_TRUE(RunUntilReady(*store)) << listener_.state;
  EXPECT_TRUE(listener_.records.empty());
  EXPECT_EQ(store->counters().malformed_records, 1u);
  server_.Transact(R"(["Trumpet",{"op":"delete","table":"Event","where":[]}])");
  EXPECT_TRUE(loop_.RunUntil([&] { return store->counters().malformed_records == 0; }));
}

TEST_F(OvsdbEventStoreTest, GivesNoIdTwiceEvenIfTheRowThatCountsIsGone) {
  const auto store = Open(&listener_);
  ASSERT_TRUE(RunUntilReady(*store)) << listener_.state;
  const uint32_t id = (*Write(store.get(), {Put("a", "1")}))[0];
  server_.Transact(R"(["Trumpet",{"op":"delete","table":"Trumpet_Global","where":[]}])");
  ASSERT_TRUE(loop_.RunUntil([&] {
    const auto ids = Write(store.get(), {Put("b", "1")});
    return ids.ok() && (*ids)[0] > id;
  }));
}

// The other's change is in the database, and nobody here has heard of it yet.
TEST_F(OvsdbEventStoreTest, UndoesNothingItHasNotSeen) {
  const auto store = Open(&listener_);
  ASSERT_TRUE(RunUntilReady(*store)) << listener_.state;
  EventChange change = Put("a", "2");
  change.expected_id = (*Write(store.get(), {Put("a", "1")}))[0];
  change.expected_enabled = true;
  server_.Transact(R"(["Trumpet",{"op":"update","table":"Event","where":[],
    "row":{"enabled":false}}])");
  EXPECT_EQ(Write(store.get(), {change}).message(), "event 'a' has been changed meanwhile");
  EXPECT_FALSE(listener_.records["a"].is_enabled);
  EXPECT_EQ(listener_.records["a"].definition, "1");
  change.expected_enabled = false;
  EXPECT_TRUE(Write(store.get(), {change}).ok());
}

TEST_F(OvsdbEventStoreTest, ReplacesARowOfTheNameThatHasComeMeanwhile) {
  const auto store = Open(&listener_);
  ASSERT_TRUE(RunUntilReady(*store)) << listener_.state;
  const std::string insert =
      R"(["Trumpet",{"op":"insert","table":"Event","row":{"name":"a","definition":"1"}}])";
  server_.Transact(insert);
  EXPECT_TRUE(Write(store.get(), {Put("a", "2")}).ok());
  EXPECT_EQ(listener_.Definitions(), (std::map<std::string, std::string>{{"a", "2"}}));
  // One that must not be there yet is refused instead.
  server_.Transact(R"(["Trumpet",{"op":"insert","table":"Event",
    "row":{"name":"b","definition":"1"}}])");
  EventChange change = Put("b", "2");
  change.expected_id = 0;
  const auto refused = Write(store.get(), {change});
  EXPECT_EQ(refused.message(), "event 'b' has been changed meanwhile");
}

// Thousands of events at once, which the server must not compare with all of its rows each: it
// answers nobody meanwhile.
TEST_F(OvsdbEventStoreTest, ReplacesThousandsOfEventsAtOnce) {
  const auto store = Open(&listener_);
  ASSERT_TRUE(RunUntilReady(*store)) << listener_.state;
  const Nanos idle = ServerCpu();
  for (const char* definition : {"1", "2"}) {
    std::vector<EventChange> changes;
    for (int i = 0; i < 4096; ++i) changes.push_back(Put("e" + std::to_string(i), definition));
    const auto written = Write(store.get(), changes);
    ASSERT_TRUE(written.ok()) << written.message();
  }
  EXPECT_EQ(listener_.records.size(), 4096u);
  EXPECT_LT(ServerCpu() - idle, 3 * kNanosPerSecond);
}

// Two makers at once, one of them with bare hands.
TEST_F(OvsdbEventStoreTest, RacesEndWithOneTruth) {
  const auto store = Open(&listener_);
  ASSERT_TRUE(RunUntilReady(*store)) << listener_.state;
  OvsdbClientOptions options = TestClientOptions(server_.remote(), kTrumpetDatabase);
  options.tables = TrumpetColumns();
  RecordingOvsdbListener other_listener;
  OvsdbClient other(loop_.base(), options, &other_listener);
  ASSERT_TRUE(loop_.RunUntil([&] { return other.is_loaded(); }));
  int answers = 0;
  for (int i = 0; i < 100; ++i) {
    const std::string definition = std::to_string(i);
    store->Write({Put("a", definition)}, [&](const Result<std::vector<uint32_t>>&) { ++answers; });
    other.Transact(Json::array({{{"op", "update"},
                                 {"table", kEventTable},
                                 {"where", Json::array()},
                                 {"row", {{"definition", "by hand " + definition}}}}}),
                   [&](const OvsdbOutcome&) { ++answers; });
    if (i % 10 == 9) {
      ASSERT_TRUE(loop_.RunUntil([&] { return answers == 2 * (i + 1); })) << answers;
    }
  }
  std::string stored;
  ASSERT_TRUE(loop_.RunUntil([&] {
    if (other.table(kEventTable).size() != 1) return false;
    EventRow row;
    const auto& [uuid, columns] = *other.table(kEventTable).begin();
    return ReadEventRow(uuid, columns, &row) && row.has_own_id() &&
           listener_.records["a"].definition == row.record.definition &&
           listener_.records["a"].id == row.record.id;
  }));
}

}  // namespace
}  // namespace trumpet
