// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/connection_table.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "lib/tpm/tcp_test_kit.h"

namespace trumpet::testing {
namespace {

ConnectionOptions OfSize(uint32_t connections) {
  ConnectionOptions options;
  options.max_connections = connections;
  return options;
}

// --- finding ---------------------------------------------------------------------------

TEST(ConnectionTable, HashIsEqualForBothDirectionsAndChangesWithTheSeed) {
  ConnectionOptions options;
  ConnectionTable table(options);
  options.hash_seed = 1;
  ConnectionTable other(options);
  const FlowKey flow = ClientFlow(1);
  EXPECT_EQ(table.HashOf(flow), table.HashOf(Reversed(flow)));
  EXPECT_NE(table.HashOf(flow), other.HashOf(flow));
  EXPECT_NE(table.HashOf(flow), table.HashOf(ClientFlow(2)));
}

TEST(ConnectionTable, FindsTheSameDirectionAgainWithAndWithoutAHint) {
  ConnectionTable table(OfSize(100));
  const FlowKey flow = ClientFlow(1);
  const uint64_t hash = table.HashOf(flow);
  const ConnectionRef there = table.Find(flow, hash, kNoConnection, 0);
  const ConnectionRef back = table.Find(Reversed(flow), hash, there, 0);
  EXPECT_NE(there, back);
  EXPECT_EQ(table.Find(flow, hash, kNoConnection, 0), there);
  EXPECT_EQ(table.Find(flow, hash, there, 0), there);
  EXPECT_EQ(table.Find(flow, hash, back, 0), there);
  EXPECT_EQ(table.counters().created, 1u);
}

TEST(ConnectionTable, NoticesAHintOfAnotherConnection) {
  ConnectionTable table(OfSize(100));
  const ConnectionRef first =
      table.Find(ClientFlow(1), table.HashOf(ClientFlow(1)), kNoConnection, 0);
  const ConnectionRef second = table.Find(ClientFlow(2), table.HashOf(ClientFlow(2)), first, 0);
  EXPECT_NE(first, second);
  EXPECT_EQ(table.Find(ClientFlow(1), table.HashOf(ClientFlow(1)), 199, 0), first);
  EXPECT_EQ(table.Find(ClientFlow(1), table.HashOf(ClientFlow(1)), 1u << 30, 0), first);
}

TEST(ConnectionTable, KeepsAsManyConnectionsAsItHasRoomFor) {
  Tap tap(OfSize(5000));
  for (uint32_t i = 0; i < 5000; i++) tap.See(ClientFlow(i), Data(1000, 100), i);
  for (uint32_t i = 0; i < 5000; i++) {
    ASSERT_TRUE(tap.See(ClientFlow(i), Data(1000, 100), 5000 + i).facts.is_lost) << i;
  }
  EXPECT_EQ(tap.counters().connections, 5000u);
  EXPECT_EQ(tap.counters().evicted_alive, 0u);
}

TEST(ConnectionTable, WithoutMemoryAnswersNoConnection) {
  ConnectionOptions options;
  options.max_history_records = UINT32_MAX;
  options.max_connections = UINT32_MAX;
  ConnectionTable table(options);
  const ConnectionRef found =
      table.Find(ClientFlow(1), table.HashOf(ClientFlow(1)), kNoConnection, 0);
  EXPECT_EQ(found != kNoConnection, table.has_memory());  // few machines lend 190 GB
}

TEST(ConnectionTable, ObservingNoConnectionTellsNothing) {
  ConnectionTable table(OfSize(1));
  PacketFacts facts;
  facts.is_lost = true;
  RttSample sample;
  EXPECT_FALSE(table.Observe(kNoConnection, PacketOf(ClientFlow(1), Data(1, 1)), true, 0, 0, &facts,
                             &sample));
  EXPECT_FALSE(facts.is_lost);
}

// --- giving up ---------------------------------------------------------------------------

TEST(ConnectionTable, GivesUpTheLongestIdleOfTheCandidatesAndCountsIt) {
  Tap tap(OfSize(8));
  for (uint32_t i = 0; i < 8; i++) tap.See(ClientFlow(i), Data(1000, 100), i == 5 ? 1 : 100 + i);
  tap.See(ClientFlow(99), Data(1000, 100), 200);
  EXPECT_EQ(tap.counters().evicted_alive, 1u);
  for (uint32_t i = 0; i < 8; i++) {
    if (i == 5) continue;
    EXPECT_TRUE(tap.See(ClientFlow(i), Data(1000, 100), 300 + i).facts.is_lost) << i;
  }
}

TEST(ConnectionTable, ReusesAnExpiredConnectionWithoutCallingItAnEviction) {
  Tap tap(OfSize(8));
  for (uint32_t i = 0; i < 8; i++) tap.See(ClientFlow(i), Data(1000, 100), i == 3 ? 0 : kSecond);
  tap.See(ClientFlow(99), Data(1000, 100), 10 * kSecond + 1);
  EXPECT_EQ(tap.counters().evicted_alive, 0u);
  EXPECT_EQ(tap.counters().expired, 1u);
  EXPECT_EQ(tap.counters().connections, 8u);
}

TEST(ConnectionTable, AnEvictedConnectionStartsAnewEvenWithAnOldHint) {
  Tap tap(OfSize(1));
  ConnectionTable& table = tap.table();
  tap.See(ClientFlow(1), Data(1000, 100), 0);
  const ConnectionRef hint =
      table.Find(ClientFlow(1), table.HashOf(ClientFlow(1)), kNoConnection, 0);
  tap.See(ClientFlow(2), Data(1000, 100), 1);
  PacketFacts facts;
  RttSample sample;
  const ConnectionRef again = table.Find(ClientFlow(1), table.HashOf(ClientFlow(1)), hint, 2);
  table.Observe(again, PacketOf(ClientFlow(1), Data(1000, 100)), true, 2, 0, &facts, &sample);
  EXPECT_FALSE(facts.is_lost);
  EXPECT_FALSE(facts.is_burst);
}

TEST(ConnectionTable, ChainsStayWholeUnderRandomChurn) {
  Tap tap(OfSize(500));
  std::mt19937 random(4);
  std::map<uint32_t, uint64_t> last;  // newest packet of a flow
  for (uint64_t i = 0; i < 100000; i++) {
    const uint32_t number = random() % 800;
    const bool was_lost =
        tap.See(ClientFlow(number), Data(1000, 100), static_cast<Nanos>(i)).facts.is_lost;
    // One seen a moment ago is never the longest idle of eight.
    const bool is_known = last.count(number) != 0;
    ASSERT_TRUE(was_lost || !is_known || i - last[number] >= 20) << i;
    ASSERT_TRUE(!was_lost || is_known) << i;
    last[number] = i;
  }
  EXPECT_EQ(tap.counters().connections, 500u);
  EXPECT_EQ(tap.counters().created - tap.counters().evicted_alive, 500u);
}

TEST(ConnectionTable, TakesHistoryFromDeadConnectionsBeforeItRunsOut) {
  ConnectionOptions options = OfSize(10000);
  options.max_history_records = 4 * 256;  // blocks of four segments
  Tap tap(options);
  Nanos now = 0;
  for (uint32_t i = 0; i < 2000; i++) {
    now += 200 * kMs;  // at most 51 are alive at once
    tap.See(ClientFlow(i), Syn(1), now);
    EXPECT_TRUE(tap.See(Reversed(ClientFlow(i)), SynAck(9, 2), now + 1).sample) << i;
  }
  EXPECT_EQ(tap.counters().history_evicted, 0u);
}

// Data that fills a hole where ranges are forgotten may have been sent before, for all we know.
TEST(ConnectionTable, CountsASampleThatIsWithheldForWhatIsForgotten) {
  ConnectionOptions options = OfSize(1);
  options.history_walk_limit = 2;  // 12 ranges
  Tap tap(options);
  for (uint32_t i = 0; i < 40; i++) tap.FromClient(Data(1000 + i * 20, 10));
  tap.FromClient(Data(1110, 10));
  const uint64_t evicted_before = tap.counters().history_evicted;
  EXPECT_TRUE(tap.FromServer(PureAck(1090)).sample);
  EXPECT_EQ(tap.counters().history_evicted, evicted_before);
  EXPECT_FALSE(tap.FromServer(PureAck(1120)).sample);
  EXPECT_EQ(tap.counters().history_evicted, evicted_before + 1);
  EXPECT_TRUE(tap.FromServer(PureAck(1800)).sample);
  EXPECT_EQ(tap.counters().history_evicted, evicted_before + 1);
}

// What certainly was sent twice gives no sample, whatever is forgotten.
TEST(ConnectionTable, CountsNoSampleThatThereWouldNotBeAnyway) {
  ConnectionOptions options = OfSize(1);
  options.history_walk_limit = 2;
  Tap tap(options);
  for (uint32_t i = 0; i < 40; i++) tap.FromClient(Data(1000 + i * 20, 10));
  tap.FromClient(Data(1110, 10));
  tap.FromClient(Data(1110, 10));
  const uint64_t evicted_before = tap.counters().history_evicted;
  EXPECT_FALSE(tap.FromServer(PureAck(1120)).sample);
  EXPECT_EQ(tap.counters().history_evicted, evicted_before);
}

// --- settings ----------------------------------------------------------------------------

TEST(ConnectionTable, NewSettingsHoldFromTheNextPacketOn) {
  Tap tap;
  tap.FromClient(Data(1000, 100));
  tap.table().set_burst_gap(2 * kMs);
  tap.table().set_flow_timeout(5 * kMs);
  EXPECT_TRUE(tap.FromClient(Data(1000, 100), 2 * kMs).facts.is_burst);
  EXPECT_FALSE(tap.FromClient(Data(1000, 100), 5 * kMs + 1).facts.is_lost);
}

TEST(ConnectionTable, ForgetsTcpStateThatMayHaveMissedPacketsButNotBursts) {
  Tap tap;
  tap.FromClient(Data(1000, 100));
  tap.table().ForgetTcpBefore(tap.now() + 1);
  const Answer answer = tap.FromClient(Data(1000, 100), kUs);
  EXPECT_FALSE(answer.facts.is_lost);
  EXPECT_TRUE(answer.facts.is_burst);
  EXPECT_TRUE(tap.FromClient(Data(1000, 100), kUs).facts.is_lost);
}

// --- changes for the agent -------------------------------------------------------------------

class Changes : public ::testing::Test {
 protected:
  Changes() {
    tap_.table().set_collects_changes(true);
    tap_.table().BeginEpoch(kSecond, 2 * kSecond);
  }
  void NextEpoch() { tap_.table().BeginEpoch(tap_.now(), tap_.now() + kSecond); }

  Tap tap_;
};

TEST_F(Changes, BothDirectionsOfAChangedConnectionAreDelivered) {
  tap_.FromClient(Data(1000, 100));
  tap_.FromServer(PureAck(1050));
  EXPECT_TRUE(tap_.ReadChanged().empty());
  tap_.table().BeginEpoch(2 * kSecond, 3 * kSecond);
  const std::vector<FlowStateUpdate> updates = tap_.ReadChanged();
  ASSERT_EQ(updates.size(), 2u);
  EXPECT_EQ(updates[0].flow, ClientFlow(1));
  EXPECT_EQ(updates[1].flow, Reversed(ClientFlow(1)));
  EXPECT_EQ(updates[0].state.seq, 1100);
  EXPECT_EQ(updates[0].state.ack, 1050);
  EXPECT_TRUE(updates[0].state.has_seq && updates[0].state.has_ack);
  EXPECT_FALSE(updates[1].state.has_seq || updates[1].state.has_ack);
  EXPECT_EQ(updates[0].state.last_packet_ns, tap_.now());
  EXPECT_EQ(updates[0].epoch_start, kSecond);
  EXPECT_EQ(updates[0].epoch_end, 2 * kSecond);
}

TEST_F(Changes, ANewChangeDoesNotAlterTheFinishedEpoch) {
  tap_.FromClient(Data(1000, 100));
  const Nanos then = tap_.now();
  NextEpoch();
  tap_.FromClient(Data(1100, 100));
  tap_.FromClient(Data(1200, 100));
  std::vector<FlowStateUpdate> updates = tap_.ReadChanged();
  ASSERT_EQ(updates.size(), 2u);
  EXPECT_EQ(updates[0].state.seq, 1100);
  EXPECT_EQ(updates[0].state.last_packet_ns, then);
  NextEpoch();
  updates = tap_.ReadChanged();
  ASSERT_EQ(updates.size(), 2u);
  EXPECT_EQ(updates[0].state.seq, 1300);
}

TEST_F(Changes, AChangeBetweenTheTwoDirectionsIsNotSeenInTheSecond) {
  tap_.FromClient(Data(1000, 100));
  NextEpoch();
  FlowStateUpdate update;
  ASSERT_TRUE(tap_.table().NextChanged(&update));
  tap_.FromServer(Data(7, 7));
  ASSERT_TRUE(tap_.table().NextChanged(&update));
  EXPECT_FALSE(update.state.has_seq);
  EXPECT_FALSE(tap_.table().NextChanged(&update));
}

TEST_F(Changes, WhatDidNotChangeIsNotDelivered) {
  tap_.FromClient(Data(1000, 100));
  NextEpoch();
  tap_.ReadChanged();
  tap_.FromClient(Udp());
  NextEpoch();
  EXPECT_TRUE(tap_.ReadChanged().empty());
}

TEST_F(Changes, WhatWasNotReadInTimeIsReadFirst) {
  tap_.FromClient(Data(1000, 100));
  NextEpoch();
  tap_.FromClient(Data(1100, 100));
  EXPECT_FALSE(tap_.table().BeginEpoch(20, 30));
  tap_.FromClient(Data(1200, 100));
  std::vector<FlowStateUpdate> updates = tap_.ReadChanged();
  ASSERT_EQ(updates.size(), 2u);
  EXPECT_EQ(updates[0].state.seq, 1100);
  EXPECT_TRUE(tap_.table().BeginEpoch(30, 40));
  updates = tap_.ReadChanged();
  ASSERT_EQ(updates.size(), 2u);
  EXPECT_EQ(updates[0].state.seq, 1300);
}

TEST_F(Changes, AConnectionThatLostItsSlotIsStillReadWithItsOldValues) {
  Tap tap(OfSize(1));
  tap.table().set_collects_changes(true);
  tap.See(ClientFlow(1), Data(1000, 100), 1);
  tap.table().BeginEpoch(10, 20);
  tap.See(ClientFlow(2), Data(5000, 100), 11);
  std::vector<FlowStateUpdate> updates = tap.ReadChanged();
  ASSERT_EQ(updates.size(), 2u);
  EXPECT_EQ(updates[0].flow, ClientFlow(1));
  EXPECT_EQ(updates[0].state.seq, 1100);
  tap.table().BeginEpoch(20, 30);
  updates = tap.ReadChanged();
  ASSERT_EQ(updates.size(), 2u);
  EXPECT_EQ(updates[0].flow, ClientFlow(2));
}

TEST_F(Changes, ASlotThatChangesHandsManyTimesInAnEpochIsDeliveredOnce) {
  Tap tap(OfSize(1));
  tap.table().set_collects_changes(true);
  for (uint32_t i = 0; i < 10; i++) tap.See(ClientFlow(i), Data(1000, 100), i);
  tap.See(ClientFlow(77, kProtocolUdp), Udp(), 11);
  tap.See(ClientFlow(10), Data(1000, 100), 12);
  tap.table().BeginEpoch(20, 30);
  const std::vector<FlowStateUpdate> updates = tap.ReadChanged();
  ASSERT_EQ(updates.size(), 2u);
  EXPECT_EQ(updates[0].flow, ClientFlow(10));
}

TEST_F(Changes, TheIncarnationChangesWithEveryNewState) {
  std::set<Nanos> incarnations;
  const auto read = [&] {
    NextEpoch();
    for (const FlowStateUpdate& update : tap_.ReadChanged()) {
      incarnations.insert(update.state.incarnation);
    }
    return incarnations.size();
  };
  tap_.FromClient(Syn(1000));
  EXPECT_EQ(read(), 1u);
  tap_.FromClient(Data(1001, 10));
  EXPECT_EQ(read(), 1u);
  tap_.FromClient(Syn(2000));
  EXPECT_EQ(read(), 2u);
  tap_.FromClient(Data(2001, 10), 10 * kSecond + 1);
  EXPECT_EQ(read(), 3u);
}

TEST_F(Changes, AFlowThatIsItsOwnReverseIsDeliveredOnce) {
  FlowKey flow = ClientFlow(1);
  flow.dst_ip = flow.src_ip;
  flow.dst_port = flow.src_port;
  tap_.See(flow, Data(1000, 100), tap_.now());
  NextEpoch();
  EXPECT_EQ(tap_.ReadChanged().size(), 1u);
}

TEST_F(Changes, NothingIsCollectedWhileSwitchedOff) {
  tap_.table().set_collects_changes(false);
  tap_.FromClient(Data(1000, 100));
  NextEpoch();
  EXPECT_TRUE(tap_.ReadChanged().empty());
  tap_.table().set_collects_changes(true);
  tap_.FromServer(PureAck(1100));
  NextEpoch();
  EXPECT_EQ(tap_.ReadChanged().size(), 2u);
}

TEST_F(Changes, WhatWasCollectedBeforeSwitchingOffIsStillReadAsItWas) {
  tap_.FromClient(Data(1000, 100));
  tap_.table().set_collects_changes(false);
  NextEpoch();
  tap_.FromClient(Data(1100, 100));
  const std::vector<FlowStateUpdate> updates = tap_.ReadChanged();
  ASSERT_EQ(updates.size(), 2u);
  EXPECT_EQ(updates[0].state.seq, 1100);
  NextEpoch();
  EXPECT_TRUE(tap_.ReadChanged().empty());
}

// What the agent is told equals what the packets were told, epoch by epoch, under churn.
TEST(ChangesAtRandom, EqualTheValuesAtTheEndOfEveryEpoch) {
  std::mt19937 random(9);
  Tap tap(OfSize(64));
  ConnectionTable& table = tap.table();
  table.set_collects_changes(true);
  std::map<uint32_t, int64_t> seq_now, changed, finished;
  Nanos now = 0;
  for (int epoch = 0; epoch < 2000; epoch++) {
    table.BeginEpoch(now, now + 50);
    finished.swap(changed);
    changed.clear();
    for (int i = 0; i < 40; i++) {
      const uint32_t number = random() % 48;
      seq_now[number] += 10;
      tap.See(ClientFlow(number), Data(static_cast<uint32_t>(seq_now[number]), 10), ++now);
      changed[number] = seq_now[number] + 10;
      FlowStateUpdate update;
      if (random() % 2 == 0 || !table.NextChanged(&update) || !update.state.has_seq) continue;
      const auto client = static_cast<uint32_t>(update.flow.src_ip[3]);
      ASSERT_EQ(finished.count(client), 1u) << "epoch " << epoch;
      ASSERT_EQ(update.state.seq, finished[client]) << "epoch " << epoch;
      finished.erase(client);
    }
    for (const FlowStateUpdate& update : tap.ReadChanged()) {
      if (!update.state.has_seq) continue;
      const auto client = static_cast<uint32_t>(update.flow.src_ip[3]);
      ASSERT_EQ(update.state.seq, finished[client]) << "epoch " << epoch;
      finished.erase(client);
    }
    ASSERT_TRUE(finished.empty()) << "epoch " << epoch;
  }
}

// Keys chosen by one who knows the seed.
TEST(ConnectionTableChains, KeysThatAllCollideShareAChainOfBoundedLength) {
  ConnectionOptions options;
  options.max_connections = 4096;
  ConnectionTable table(options);
  constexpr uint64_t kHash = 12345;
  PacketFacts facts;
  RttSample sample;
  for (uint32_t i = 0; i < 1000; i++) {
    const FlowKey flow = ClientFlow(i);
    const ConnectionRef connection = table.Find(flow, kHash, kNoConnection, i);
    ASSERT_NE(connection, kNoConnection);
    table.Observe(connection, PacketOf(flow, Data(0, 100)), true, i, 0, &facts, &sample);
    ASSERT_EQ(table.FindKnown(flow, kHash), connection);
  }
  EXPECT_EQ(table.counters().connections, 32u);
  EXPECT_EQ(table.counters().evicted_alive, 968u);
  EXPECT_EQ(table.FindKnown(ClientFlow(0), kHash), kNoConnection);
}

}  // namespace
}  // namespace trumpet::testing
