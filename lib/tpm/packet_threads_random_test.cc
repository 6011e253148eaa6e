// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Several packet threads against one that sees everything, over random traffic split in random
// ways: the reports must be equal, and those of TCP variables equal or marked.

#include <gtest/gtest.h>

#include <random>

#include "lib/base/hash.h"
#include "lib/base/random_runs_test.h"
#include "lib/tpm/packet_threads_test_kit.h"
#include "lib/tpm/tcp_traffic_test.h"

namespace trumpet::testing {
namespace {

using namespace kit;

// `operand >= 0` for nearly all values there are, so that every bucket shows its value.
EventSpec Shows(uint32_t id, const Expr& operand, const Granularity& granularity,
                uint32_t interval_ms = 10) {
  return Event(id, Op(operand, ExprOp::kGreaterEqual, Num(-1)), granularity, interval_ms);
}

HostVerdicts::Plans PlainPlans() {
  const Expr volume = Var(Variable::kVolume);
  const Expr ttl = Var(Variable::kTtl);
  const Expr ratio = Op(volume, ExprOp::kDivide, ttl);
  HostVerdicts::Plans plans;
  uint32_t id = 100;
  for (const Granularity& granularity : {ByFlow(), ByPort(), Granularity()}) {
    for (const Expr& operand :
         {Sum(Variable::kBytes), Agg(AggregateKind::kStddev, volume), Agg(AggregateKind::kMin, ttl),
          Agg(AggregateKind::kMax, volume), Agg(AggregateKind::kAvg, ttl),
          Agg(AggregateKind::kSum, ratio), Agg(AggregateKind::kStddev, ratio),
          Agg(AggregateKind::kCount, ttl)}) {
      plans.push_back(Plan(Shows(id, operand, granularity, 10 * (1 + id % 3))));
      id++;
    }
  }
  return plans;
}

HostVerdicts::Plans TcpPlans(bool with_histories = true) {
  HostVerdicts::Plans plans;
  plans.push_back(Plan(Shows(kCanary, Sum(Variable::kIsLost), Granularity())));
  uint32_t id = 2;
  const auto add = [&](const Expr& operand, bool needs_history = false) {
    for (const Granularity& granularity : {ByFlow(), Granularity()}) {
      EventSpec spec = Shows(id, operand, granularity, 10 * (1 + id % 2));
      id++;
      if (with_histories || !needs_history) plans.push_back(Plan(spec));
    }
  };
  for (const Variable variable :
       {Variable::kIsLost, Variable::kLostInBurst, Variable::kRtt, Variable::kAck, Variable::kSeq,
        Variable::kDup, Variable::kRwnd}) {
    const bool is_old = variable == Variable::kRtt || variable == Variable::kLostInBurst ||
                        variable == Variable::kDup;
    add(Sum(variable), is_old);
    add(Agg(AggregateKind::kCount, Var(variable)), is_old);
  }
  add(Agg(AggregateKind::kMin, Var(Variable::kRtt)), true);
  add(Agg(AggregateKind::kMax, Var(Variable::kRtt)), true);
  for (const Variable variable :
       {Variable::kAck, Variable::kSeq, Variable::kDup, Variable::kAckLastEpoch,
        Variable::kSeqLastEpoch, Variable::kDupLastEpoch}) {
    const bool is_old = variable == Variable::kDup || variable == Variable::kDupLastEpoch;
    const EventSpec spec = Shows(id, Var(variable), ByFlow(), 10 * (1 + id % 2));
    id++;
    if (with_histories || !is_old) plans.push_back(Plan(spec));
  }
  return plans;
}

enum class Split { kByFlow, kByDirection, kByPacket };

struct Course {
  uint64_t seed = 1;
  size_t threads = 2;
  Split split = Split::kByFlow;
  int idle_percent = 100;  // how often all threads get an idle round after a packet
  bool has_threads_that_come_and_go = false;
  int alone_packets = 0;  // so many are of the first thread, whatever the split
  int packets = 300;
};

size_t ThreadOf(const Course& course, const FlowKey& flow, std::mt19937* random) {
  switch (course.split) {
    case Split::kByFlow: {
      const FlowKey key = flow.src_ip < flow.dst_ip ? flow : Reversed(flow);
      return HashBytes(&key, sizeof key, course.seed) % course.threads;
    }
    case Split::kByDirection:
      return HashBytes(&flow, sizeof flow, course.seed) % course.threads;
    case Split::kByPacket:
      break;
  }
  return (*random)() % course.threads;
}

// Runs the same packets past `one` and past the threads of `many`.
void Drive(const Course& course, ThreadsHost* one, ThreadsHost* many) {
  std::mt19937 random(static_cast<uint32_t>(course.seed));
  RandomTraffic traffic(static_cast<uint32_t>(course.seed), 1 + random() % 9);
  Nanos boundary = 0;
  Nanos now = 0;
  for (int i = 0; i < course.packets; i++) {
    const RandomTraffic::Event event = traffic.Next();
    now = event.now + i;  // so that no two packets are of the same time
    const auto ttl = static_cast<uint8_t>(1 + random() % 200);
    while (boundary != 0 && boundary <= now) {
      one->VisitAll(boundary);
      one->Decide(boundary);
      many->VisitAll(boundary - 1);  // late by an epoch at most
      for (size_t thread = 0; thread < many->thread_count(); thread++) {
        if (random() % 3 != 0) many->Visit(thread, boundary);
      }
      many->Decide(boundary);
      boundary += 10 * kMs;
      if (now - boundary > 400 * kMs) boundary = CellOf(now, 10 * kMs) * 10 * kMs;
    }
    if (boundary == 0) boundary = (CellOf(now, 10 * kMs) + 1) * 10 * kMs;
    one->See(0, event.flow, event.shot, now, ttl);
    size_t thread = ThreadOf(course, event.flow, &random);
    if (i < course.alone_packets) thread = 0;
    if (course.has_threads_that_come_and_go) {
      if (random() % 50 == 0) many->AddThread();
      thread = random() % 3 == 0 ? many->thread_count() - 1 : thread;
      if (many->monitor(thread) == nullptr) thread = many->thread_count() - 1;
      if (random() % 60 == 0 && many->thread_count() > course.threads &&
          thread + 1 != many->thread_count()) {
        many->EndThread(thread, now);
        thread = many->thread_count() - 1;
      }
    }
    many->See(thread, event.flow, event.shot, now, ttl);
    if (static_cast<int>(random() % 100) < course.idle_percent) many->VisitAll(now);
  }
  for (int i = 0; i < 4; i++) {
    one->Finish(now + 40 * kMs * i);
    many->Finish(now + 40 * kMs * i);
  }
}

Comparison RunCourse(const HostVerdicts::Plans& plans, const Course& course) {
  ThreadsHost one(plans, 1);
  ThreadsHost many(plans, course.threads);
  Drive(course, &one, &many);
  EXPECT_EQ(many.verdict_counters().late_partials, 0u) << "seed " << course.seed;
  EXPECT_EQ(many.Sum().peer_messages_lost, 0u) << "seed " << course.seed;
  return CompareHosts(one, many);
}

TEST(PacketThreads, CountPlainEventsLikeOneHoweverPacketsAreSplit) {
  size_t reports = 0;
  for (uint64_t seed = FirstSeed(); seed <= LastSeed(30); seed++) {
    Course course;
    course.seed = seed;
    course.threads = 2 + seed % 3;
    course.split = static_cast<Split>(seed / 3 % 3);
    course.idle_percent = seed % 2 == 0 ? 100 : 3;
    course.has_threads_that_come_and_go = seed % 5 == 0;
    const Comparison comparison = RunCourse(PlainPlans(), course);
    ASSERT_EQ(comparison.failure, "") << "seed " << seed;
    ASSERT_EQ(comparison.marked, 0u) << "seed " << seed;
    reports += comparison.reports;
  }
  EXPECT_GT(reports, 10000u);
}

TEST(PacketThreads, TrackConnectionsWithinAThreadLikeOne) {
  for (uint64_t seed = FirstSeed(); seed <= LastSeed(12); seed++) {
    Course course;
    course.seed = seed;
    course.threads = 2 + seed % 3;
    course.idle_percent = seed % 2 == 0 ? 100 : 3;
    const Comparison comparison = RunCourse(TcpPlans(), course);
    ASSERT_EQ(comparison.failure, "") << "seed " << seed;
    ASSERT_EQ(comparison.marked, 0u) << "seed " << seed;
  }
}

TEST(PacketThreads, TrackConnectionsSplitByDirectionLikeOneOrMarkThem) {
  size_t reports = 0;
  size_t marked = 0;
  for (uint64_t seed = FirstSeed(); seed <= LastSeed(150); seed++) {
    Course course;
    course.seed = seed;
    course.threads = 2 + seed % 3;
    course.split = Split::kByDirection;
    course.idle_percent = seed % 2 == 0 ? 100 : 20;
    const Comparison comparison = RunCourse(TcpPlans(), course);
    ASSERT_EQ(comparison.failure, "") << "seed " << seed;
    reports += comparison.reports;
    marked += comparison.marked;
  }
  EXPECT_GT(reports, 10000u);
  EXPECT_LT(marked, reports / 4);
}

// The first thread sees both directions until the others begin: its connections move there, whole
// or in part.  Without what takes histories: those stay behind, and data sent long before the move
// may be acknowledged or repeated at any time.  Nor dup, which is counted from what was outstanding
// (docs/adr/0009, "Limits").
TEST(PacketThreads, MarkWhatAThreadThatBeginsLateMayHaveMissed) {
  size_t reports = 0;
  size_t marked = 0;
  for (uint64_t seed = FirstSeed(); seed <= LastSeed(30); seed++) {
    Course course;
    course.seed = seed;
    course.threads = 2 + seed % 3;
    course.split = seed % 3 == 0 ? Split::kByFlow : Split::kByDirection;
    course.idle_percent = seed % 2 == 0 ? 100 : 10;
    course.alone_packets = 30 * static_cast<int>(seed % 7);
    const Comparison comparison = RunCourse(TcpPlans(/*with_histories=*/false), course);
    ASSERT_EQ(comparison.failure, "") << "seed " << seed;
    reports += comparison.reports;
    marked += comparison.marked;
  }
  EXPECT_GT(marked, 0u);
  EXPECT_LT(marked, reports / 4);
}

TEST(PacketThreads, MarkConnectionsWhosePacketsGoAnywhere) {
  size_t marked = 0;
  for (uint64_t seed = FirstSeed(); seed <= LastSeed(12); seed++) {
    Course course;
    course.seed = seed;
    course.threads = 2 + seed % 3;
    course.split = Split::kByPacket;
    course.has_threads_that_come_and_go = seed % 4 == 0;
    const Comparison comparison = RunCourse(TcpPlans(), course);
    ASSERT_EQ(comparison.failure, "") << "seed " << seed;
    marked += comparison.marked;
  }
  EXPECT_GT(marked, 100u);
}

}  // namespace
}  // namespace trumpet::testing
