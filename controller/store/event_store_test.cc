// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

// What every EventStore promises, tried on each of them.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "controller/store/event_store_kit_test.h"

namespace trumpet {
namespace {

class EventStoreTest : public testing::TestWithParam<StoreKind> {
 protected:
  void SetUp() override {
    place_.Make(GetParam());
    store_ = place_.Open(loop_.base());
    store_->Start(&listener_);
    ASSERT_TRUE(loop_.RunUntil([&] { return store_->is_ready(); })) << listener_.state;
  }

  Result<std::vector<uint32_t>> Write(std::vector<EventChange> changes) {
    return WriteAndWait(&loop_, store_.get(), std::move(changes));
  }

  std::string Error(std::vector<EventChange> changes) {
    const auto written = Write(std::move(changes));
    return written.ok() ? "" : written.message();
  }

  StorePlace place_;
  OvsdbTestLoop loop_;
  RecordingEventListener listener_;
  std::unique_ptr<EventStore> store_;
};

TEST_P(EventStoreTest, HasAnIdentity) {
  EXPECT_EQ(listener_.loaded_count, 1);
  EXPECT_NE(listener_.identity.controller_id, 0u);
  EXPECT_NE(listener_.identity.where, "");
  EXPECT_TRUE(listener_.is_ready);
}

TEST_P(EventStoreTest, TellsTheListenerBeforeTheMaker) {
  bool is_done = false;
  store_->Write({Put("a", "1")}, [&](const Result<std::vector<uint32_t>>& ids) {
    ASSERT_TRUE(ids.ok()) << ids.message();
    ASSERT_EQ(listener_.records.count("a"), 1u);
    EXPECT_EQ(listener_.records["a"].id, (*ids)[0]);
    is_done = true;
  });
  EXPECT_FALSE(is_done) << "called back from within the call";
  EXPECT_TRUE(loop_.RunUntil([&] { return is_done; }));
}

TEST_P(EventStoreTest, KeepsWhatIsPut) {
  EventChange change = Put("a", "1");
  change.put->tenant = "red";
  change.put->is_enabled = false;
  change.put->created_ns = 1700000000123456789;
  change.put->changed_ns = 1700000000987654321;
  change.put->changed_by = "ann";
  ASSERT_TRUE(Write({change}).ok());
  const EventRecord& kept = listener_.records["a"];
  EXPECT_EQ(kept.definition, "1");
  EXPECT_EQ(kept.tenant, "red");
  EXPECT_FALSE(kept.is_enabled);
  EXPECT_EQ(kept.created_ns, 1700000000123456789);
  EXPECT_EQ(kept.changed_ns, 1700000000987654321);
  EXPECT_EQ(kept.changed_by, "ann");
}

TEST_P(EventStoreTest, GivesANewIdWithEachDefinitionAndNeverAgain) {
  const uint32_t first = (*Write({Put("a", "1")}))[0];
  EXPECT_NE(first, 0u);
  EXPECT_EQ((*Write({Put("a", "1", /*is_enabled=*/false)}))[0], first);
  const uint32_t second = (*Write({Put("a", "2")}))[0];
  EXPECT_GT(second, first);
  EXPECT_EQ((*Write({Remove("a")}))[0], 0u);
  EXPECT_GT((*Write({Put("a", "2")}))[0], second);
}

TEST_P(EventStoreTest, DoesAllOrNothing) {
  ASSERT_TRUE(Write({Put("a", "1"), Put("b", "1")}).ok());
  EventChange refused = Put("c", "1");
  refused.expected_id = 77;
  EXPECT_EQ(Error({Put("a", "2"), Remove("b"), refused}), "event 'c' has been changed meanwhile");
  EXPECT_EQ(listener_.records.size(), 2u);
  EXPECT_EQ(listener_.records["a"].definition, "1");
  EXPECT_GT(store_->counters().transactions, 0u);
}

TEST_P(EventStoreTest, ChangesOnlyWhatIsExpected) {
  EventChange change = Put("a", "1");
  change.expected_id = 0;
  const uint32_t id = (*Write({change}))[0];
  EXPECT_NE(Error({change}), "");
  change = Put("a", "2");
  change.expected_id = id + 1;
  EXPECT_NE(Error({change}), "");
  change.expected_id = id;
  EXPECT_EQ(Error({change}), "");
  EventChange removal = Remove("a");
  removal.expected_id = id;
  EXPECT_NE(Error({removal}), "");
  EXPECT_EQ(listener_.records["a"].definition, "2");
  removal.expected_id.reset();
  removal.expected_enabled = false;
  EXPECT_NE(Error({removal}), "");
  removal.expected_enabled = true;
  EXPECT_EQ(Error({removal}), "");
}

TEST_P(EventStoreTest, RefusesAnEventTwiceInOneChange) {
  EXPECT_EQ(Error({Put("a", "1"), Put("a", "2")}), "event 'a' is changed twice at once");
  EXPECT_TRUE(listener_.records.empty());
}

TEST_P(EventStoreTest, RemovesWhatIsNotThereWithoutAWord) {
  EXPECT_EQ((*Write({Remove("a")}))[0], 0u);
}

TEST_P(EventStoreTest, TakesThousandsOfEventsAtOnce) {
  std::vector<EventChange> changes;
  for (int i = 0; i < 4096; ++i) changes.push_back(Put("event-" + std::to_string(i), "1"));
  const auto ids = Write(std::move(changes));
  ASSERT_TRUE(ids.ok()) << ids.message();
  EXPECT_EQ(ids->size(), 4096u);
  EXPECT_EQ(listener_.records.size(), 4096u);
}

// The slow twin: a map of what was acknowledged.
TEST_P(EventStoreTest, KeepsToAMapOverRandomChanges) {
  std::mt19937 random(7);
  std::map<std::string, std::string> twin;
  std::map<std::string, uint32_t> twin_ids;
  uint32_t highest_id = 0;
  for (int i = 0; i < 300; ++i) {
    std::vector<EventChange> changes;
    bool is_right = true;
    for (unsigned name = random() % 4; name < 8; name += 1 + random() % 4) {
      const std::string text = "e" + std::to_string(name);
      changes.push_back(random() % 4 == 0 ? Remove(text) : Put(text, std::to_string(random() % 3)));
      if (random() % 8 == 0) {
        changes.back().expected_id = random() % 2 == 0 ? twin_ids[text] : highest_id + 1;
        is_right = is_right && changes.back().expected_id == twin_ids[text];
      }
    }
    const auto ids = Write(changes);
    ASSERT_EQ(ids.ok(), is_right) << "change " << i;
    for (size_t n = 0; ids.ok() && n < changes.size(); ++n) {
      const std::string& name = changes[n].name;
      const bool is_same =
          changes[n].put && twin.count(name) != 0 && twin[name] == changes[n].put->definition;
      if (changes[n].put) {
        ASSERT_TRUE(is_same ? (*ids)[n] == twin_ids[name] : (*ids)[n] > highest_id);
        twin[name] = changes[n].put->definition;
      } else {
        twin.erase(name);
      }
      twin_ids[name] = (*ids)[n];
    }
    for (const auto& [name, id] : twin_ids) highest_id = std::max(highest_id, id);
    ASSERT_EQ(listener_.Definitions(), twin) << "change " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(All, EventStoreTest,
                         testing::Values(StoreKind::kMemory, StoreKind::kOvsdb,
                                         StoreKind::kCluster),
                         [](const auto& info) { return std::string(StoreKindName(info.param)); });

}  // namespace
}  // namespace trumpet
