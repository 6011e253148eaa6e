// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>

#include "lib/tpm/tcp_reference.h"
#include "lib/tpm/tcp_test_kit.h"
#include "lib/tpm/tcp_traffic_test.h"

namespace trumpet::testing {
namespace {

::testing::AssertionResult AreEqual(const Answer& got, const Answer& expected) {
  const auto differs = [](const char* what) { return ::testing::AssertionFailure() << what; };
  if (got.facts.is_burst != expected.facts.is_burst) return differs("is_burst");
  if (got.facts.is_lost != expected.facts.is_lost) return differs("is_lost");
  if (got.facts.lost_in_burst != expected.facts.lost_in_burst) return differs("lost_in_burst");
  if (got.ack() != expected.ack()) return differs("ack");
  if (got.seq() != expected.seq()) return differs("seq");
  if (got.dup() != expected.dup()) return differs("dup");
  if (got.rwnd() != expected.rwnd()) return differs("rwnd");
  if (got.facts.rwnd_unscaled != expected.facts.rwnd_unscaled) return differs("rwnd_unscaled");
  if (got.sample.has_value() != expected.sample.has_value()) return differs("has a sample");
  if (got.sample && got.sample->rtt_ns != expected.sample->rtt_ns) return differs("rtt");
  if (got.sample && got.sample->owner != expected.sample->owner) return differs("owner");
  return ::testing::AssertionSuccess();
}

class RandomConnections : public ::testing::TestWithParam<uint32_t> {};

TEST_P(RandomConnections, AgreeWithTheReferencePacketByPacket) {
  RandomTraffic traffic(GetParam(), 1 + GetParam() % 13);
  ConnectionOptions options;
  options.hash_seed = GetParam();
  Tap tap(options);
  TcpReference reference(options.flow_timeout_ns, options.burst_gap_ns);
  int samples = 0, losses = 0, burst_losses = 0;
  for (int i = 0; i < 8000; i++) {
    const RandomTraffic::Event event = traffic.Next();
    const Answer got = tap.See(event.flow, event.shot, event.now);
    ASSERT_TRUE(AreEqual(got, reference.See(event.flow, event.shot, event.now)))
        << "seed " << GetParam() << ", packet " << i;
    samples += got.sample.has_value();
    losses += got.facts.is_lost;
    burst_losses += got.facts.lost_in_burst;
  }
  EXPECT_GT(samples, 50);
  EXPECT_GT(losses, 50);
  EXPECT_GT(burst_losses, 10);
  EXPECT_EQ(tap.counters().history_evicted, 0u);
  EXPECT_EQ(tap.counters().evicted_alive, 0u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomConnections, ::testing::Range(1u, 31u));

TEST(RandomConnectionsWithLongWindows, AgreeWithTheReferencePacketByPacket) {
  ConnectionOptions options;
  options.history_walk_limit = UINT32_MAX;
  uint64_t most_blocks = 0;
  for (uint32_t seed = 1; seed <= 4; seed++) {
    RandomTraffic traffic(seed, 2, 300);
    Tap tap(options);
    TcpReference reference(options.flow_timeout_ns, options.burst_gap_ns);
    int samples = 0, burst_losses = 0;
    for (int i = 0; i < 20000; i++) {
      const RandomTraffic::Event event = traffic.Next();
      const Answer got = tap.See(event.flow, event.shot, event.now);
      ASSERT_TRUE(AreEqual(got, reference.See(event.flow, event.shot, event.now)))
          << "seed " << seed << ", packet " << i;
      samples += got.sample.has_value();
      burst_losses += got.facts.lost_in_burst;
      most_blocks = std::max(most_blocks, tap.counters().history_blocks);
    }
    EXPECT_GT(samples, 0);
    EXPECT_GT(burst_losses, 300);
    EXPECT_EQ(tap.counters().history_evicted, 0u);
  }
  EXPECT_GT(most_blocks, 500u);
}

TEST(RandomConnectionsUnderPressure, TellByTheirCountersAndStaySane) {
  ConnectionOptions options;
  options.max_connections = 32;
  options.max_history_records = 64;
  RandomTraffic traffic(77, 300);
  Tap tap(options);
  for (int i = 0; i < 200000; i++) {
    const RandomTraffic::Event event = traffic.Next();
    const Answer answer = tap.See(event.flow, event.shot, event.now);
    ASSERT_FALSE(answer.facts.lost_in_burst && !answer.facts.is_lost);
    ASSERT_GE(answer.dup().value_or(0), 0);
    if (answer.sample) {
      ASSERT_GE(answer.sample->rtt_ns, 0);
      ASSERT_LE(answer.sample->owner, static_cast<uint64_t>(i));
    }
  }
  const ConnectionCounters& counters = tap.counters();
  EXPECT_GT(counters.evicted_alive, 0u);
  EXPECT_GT(counters.expired, 0u);
  EXPECT_GT(counters.restarted, 0u);
  EXPECT_EQ(counters.connections, 32u);
}

TEST(RandomConnectionsUnderPressure, NeverInventASampleOrABurstWhenHistoryIsShort) {
  ConnectionOptions options;
  options.max_history_records = 64;
  RandomTraffic traffic(78, 13);
  Tap tap(options);
  TcpReference reference(options.flow_timeout_ns, options.burst_gap_ns);
  for (int i = 0; i < 50000; i++) {
    const RandomTraffic::Event event = traffic.Next();
    Answer got = tap.See(event.flow, event.shot, event.now);
    Answer expected = reference.See(event.flow, event.shot, event.now);
    if (!got.sample) expected.sample.reset();
    if (!got.facts.lost_in_burst) expected.facts.lost_in_burst = false;
    ASSERT_TRUE(AreEqual(got, expected)) << "packet " << i;
  }
  EXPECT_GT(tap.counters().history_evicted, 0u);
}

}  // namespace
}  // namespace trumpet::testing
