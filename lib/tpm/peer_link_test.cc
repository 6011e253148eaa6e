// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What packet threads tell each other of a connection, thread by thread in one.

#include "lib/tpm/peer_link.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "lib/base/memory_shortage_test.h"
#include "lib/tpm/packet_threads_test_kit.h"

namespace trumpet::testing {
namespace {

using namespace kit;

constexpr uint32_t kRwnd = 2;
constexpr uint32_t kLostInBurst = 3;

HostVerdicts::Plans Plans() {
  HostVerdicts::Plans plans;
  uint32_t id = kCanary;
  for (const Variable variable : {Variable::kIsLost, Variable::kRwnd, Variable::kLostInBurst}) {
    const Expr predicate = Op(Sum(variable), ExprOp::kGreaterEqual, Num(-1));
    plans.push_back(Plan(Event(id++, predicate, Granularity(), 10)));
  }
  return plans;
}

const Report* FindReport(const ThreadsHost& host, uint32_t event, Nanos start) {
  for (const Report& report : host.reports()) {
    if (report.event_id == event && report.start_ns == start) return &report;
  }
  return nullptr;
}

const FlowKey kClient = ClientFlow(1);
const FlowKey kServer = Reversed(kClient);

// Shows each packet to a host of one thread and to a thread of another host.
class Pair {
 public:
  Pair() : one(Plans(), 1), many(Plans(), 3) {}
  void See(size_t thread, const FlowKey& flow, const Shot& shot, Nanos now) {
    one.See(0, flow, shot, now);
    many.See(thread, flow, shot, now);
  }
  void Finish(Nanos now) {
    one.Finish(now);
    many.Finish(now);
  }

  ThreadsHost one;
  ThreadsHost many;
};

// Stamps wrap around: an entry may be of any age.
TEST(PeerDirectory, GivesUpEntriesOfAnyAgeWithoutAWord) {
  constexpr Nanos kTimeout = kNanosPerSecond;
  for (const Nanos timeouts : {0, 1, 2, 100, 511, 513, 700, 1000}) {
    PeerDirectory directory;
    ASSERT_TRUE(directory.Init(1, kTimeout));
    for (uint64_t i = 1; i <= 8; ++i) directory.Note(i << 32, 0, 1, kTimeout);
    const auto sighting = directory.Note(uint64_t{9} << 32, 0, 1, (1 + timeouts) * kTimeout);
    EXPECT_EQ(sighting.has_evicted, timeouts <= 1) << timeouts;
  }
  // A moment before another one's word is no old one.
  PeerDirectory directory;
  ASSERT_TRUE(directory.Init(1, kTimeout));
  directory.Note(uint64_t{1} << 32, 0, 1, kTimeout);
  EXPECT_EQ(directory.Note(uint64_t{1} << 32, 1, 2, kTimeout - kTimeout / 64).other, 1);
}

// What did not join does not leave.
TEST(PeerLink, AThreadThatFindsNoMemoryIsNoOutsiderAndNoOneLess) {
  const auto exchange = std::make_unique<PeerExchange>(100, kSecond);
  std::vector<std::unique_ptr<PeerLink>> links;
  const auto join = [&] {
    auto link = std::make_unique<PeerLink>(nullptr, nullptr, nullptr);
    link->Join(exchange.get());
    links.push_back(std::move(link));
  };
  for (uint64_t calls = 0; !DoesWith(calls, join); ++calls) {
    ASSERT_FALSE(exchange->has_outsiders()) << calls;
  }
  while (links.size() < PeerExchange::kMaxThreads) join();
  EXPECT_FALSE(exchange->has_outsiders());
  join();
  EXPECT_TRUE(exchange->has_outsiders());
}

TEST(PeerLink, MarksRepetitionsOfDataWhoseThreadIsNoMore) {
  ThreadsHost host(Plans(), 2);
  host.See(0, kServer, Data(500, 10), kMs);
  host.See(1, kClient, Data(100, 10), 2 * kMs);
  host.See(1, kClient, Data(110, 10), 2 * kMs + kUs);  // in a burst
  host.VisitAll(3 * kMs);
  host.EndThread(1, 12 * kMs);
  host.VisitAll(20 * kMs);
  host.See(0, kClient, Data(110, 10), 25 * kMs);
  for (int i = 3; i < 6; i++) host.Finish(10 * i * kMs);
  const Report* report = FindReport(host, kLostInBurst, 20 * kMs);
  ASSERT_NE(report, nullptr);
  EXPECT_EQ(report->incomplete_reasons, kSplitConnection);
}

// The directory says that the new thread had the direction all along: it has the old one's number.
TEST(PeerLink, MarksWhatAnEarlierThreadWithItsNumberKnew) {
  ThreadsHost host(Plans(), 2);
  host.See(1, kClient, Data(100, 10), 2 * kMs);
  host.See(1, kClient, Data(110, 10), 2 * kMs + kUs);
  host.EndThread(1, 12 * kMs);
  host.AddThread();
  host.VisitAll(20 * kMs);
  host.See(2, kClient, Data(110, 10), 25 * kMs);
  for (int i = 3; i < 6; i++) host.Finish(10 * i * kMs);
  const Report* report = FindReport(host, kLostInBurst, 20 * kMs);
  ASSERT_NE(report, nullptr);
  EXPECT_NE(report->incomplete_reasons & kSplitConnection, 0u);
}

// The first thread's answer to the second crosses a packet that came to the third.
TEST(PeerLink, DoesNotTakeAnAnswerForTheWholeThatDoesNotTellOfAThirdThread) {
  Pair hosts;
  hosts.See(0, kClient, Syn(100).Shift(7), kMs);
  hosts.See(0, kServer, SynAck(500, 101).Shift(3), 2 * kMs);
  hosts.See(1, kClient, Data(101, 0).Ack(501), 3 * kMs);
  hosts.See(2, kServer, SynAck(500, 101), 4 * kMs);  // it thought better of the shift
  for (size_t thread = 0; thread < 3; thread++) hosts.many.Visit(thread, 5 * kMs);
  hosts.many.VisitAll(6 * kMs);
  Nanos now = 10 * kMs;
  for (int i = 0; i < 200; i++) {
    hosts.See(1, kClient, Data(101, 0).Ack(501).Window(10), now += kMs);
    hosts.many.VisitAll(now);
  }
  hosts.Finish(now + 40 * kMs);
  EXPECT_EQ(CompareHosts(hosts.one, hosts.many).failure, "");
  const Report* report = FindReport(hosts.many, kRwnd, 190 * kMs);
  ASSERT_NE(report, nullptr);
  EXPECT_TRUE(report->is_complete());
  EXPECT_EQ(report->value.integer(), 100);
}

// The other thread's mailbox was full when it was asked.
TEST(PeerLink, AsksAgainWhenNoAnswerCame) {
  ThreadsHost host(Plans(), 2);
  FlowKey other = kClient;
  other.src_port ^= 1;
  host.See(1, kServer, Data(500, 10).Ack(100), kMs);
  host.See(1, Reversed(other), Data(500, 10).Ack(100), kMs);
  for (uint32_t i = 0; i < 1500; i++) host.See(0, other, Data(100 + 10 * i, 10), kMs + i);
  EXPECT_GT(host.Sum().peer_messages_lost, 0u);
  host.See(0, kClient, Data(100, 10).Ack(510), 2 * kMs);
  Nanos now = 10 * kMs;
  for (uint32_t i = 1; i < 400; i++) {
    host.See(0, kClient, Data(100 + 10 * i, 10).Ack(510), now);
    host.Finish(now += 10 * kMs);
  }
  const Report* report = FindReport(host, kRwnd, 3900 * kMs);
  ASSERT_NE(report, nullptr);
  EXPECT_TRUE(report->is_complete());
}

TEST(PeerLink, KnowsThatASynWithoutAWindowShiftTakesBackAnOlderOne) {
  HandshakenTap older;
  Tap newer;
  newer.FromServer(SynAck(500, 101));
  TcpSummary summary;
  const ConnectionRef connection = newer.table().FindKnown(kServer, newer.table().HashOf(kServer));
  ASSERT_TRUE(older.table().Summarize(
      older.table().FindKnown(kServer, older.table().HashOf(kServer)), &summary));
  newer.table().Adopt(connection, summary, newer.now(), /*is_whole=*/false);
  EXPECT_EQ(newer.FromServer(Data(501, 0).Ack(101).Window(10)).rwnd(), 10);
}

}  // namespace
}  // namespace trumpet::testing
