// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Packet threads that are threads, beside one that plays the agent: also run under ThreadSanitizer.

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <set>
#include <thread>

#include "lib/base/hash.h"
#include "lib/tpm/packet_threads_test_kit.h"
#include "lib/tpm/tcp_traffic_test.h"

namespace trumpet::testing {
namespace {

using namespace kit;

EventSpec Shows(uint32_t id, const Expr& operand, const Granularity& granularity) {
  return Event(id, Op(operand, ExprOp::kGreaterEqual, Num(-1)), granularity);
}

HostVerdicts::Plans AllPlans() {
  HostVerdicts::Plans plans;
  plans.push_back(Plan(Shows(kCanary, Sum(Variable::kIsLost), Granularity())));
  uint32_t id = 2;
  for (const Variable variable :
       {Variable::kBytes, Variable::kIsLost, Variable::kLostInBurst, Variable::kRtt, Variable::kAck,
        Variable::kSeq, Variable::kDup, Variable::kRwnd}) {
    for (const Granularity& granularity : {ByFlow(), Granularity()}) {
      plans.push_back(Plan(Shows(id++, Sum(variable), granularity)));
    }
  }
  for (const Variable variable : {Variable::kAck, Variable::kSeq, Variable::kDup}) {
    plans.push_back(Plan(Shows(id++, Var(variable), ByFlow())));
  }
  return plans;
}

class Barrier {
 public:
  explicit Barrier(unsigned count) { pthread_barrier_init(&barrier_, nullptr, count); }
  ~Barrier() { pthread_barrier_destroy(&barrier_); }
  Barrier(const Barrier&) = delete;
  Barrier& operator=(const Barrier&) = delete;
  void Wait() { pthread_barrier_wait(&barrier_); }

 private:
  pthread_barrier_t barrier_;
};

// --- with barriers: exact --------------------------------------------------

struct Packet {
  FlowKey flow;
  Shot shot;
  Nanos now;
  size_t thread;
};

// Packets of different connections, in any order.
using Round = std::vector<Packet>;

std::vector<Round> RoundsOf(uint32_t seed, size_t threads, int packets) {
  RandomTraffic traffic(seed, 60);
  std::vector<Round> rounds;
  std::set<uint64_t> seen;
  int64_t epoch = -1;
  for (int i = 0; i < packets; i++) {
    const RandomTraffic::Event event = traffic.Next();
    const FlowKey back = Reversed(event.flow);
    const uint64_t hash = HashBytes(&event.flow, sizeof event.flow, 1);
    const uint64_t connection = hash + HashBytes(&back, sizeof back, 1);
    const Nanos now = event.now + i;
    if (!seen.insert(connection).second || CellOf(now, 10 * kMs) != epoch) {
      rounds.emplace_back();
      seen = {connection};
      epoch = CellOf(now, 10 * kMs);
    }
    rounds.back().push_back({event.flow, event.shot, now, hash % threads});
  }
  return rounds;
}

// The packet threads of `host`, which go through every round side by side.
class Crew {
 public:
  Crew(ThreadsHost* host, const std::vector<Round>& rounds)
      : host_(host), rounds_(rounds), barrier_(static_cast<unsigned>(host->thread_count() + 1)) {
    for (size_t i = 0; i < host->thread_count(); i++) {
      threads_.emplace_back([this, i] { Run(i); });
    }
  }

  // As the agent, which drains all the while and decides what is over between rounds.
  void Lead() {
    Nanos boundary = 0;
    for (const Round& round : rounds_) {
      now_ = round.front().now;
      Pass();
      for (int step = 0; step < kSteps; step++) {
        for (size_t i = 0; i < host_->thread_count(); i++) host_->monitor(i)->Drain(host_);
        Pass();
      }
      for (size_t i = 0; i < host_->thread_count(); i++) host_->monitor(i)->Drain(host_);
      const Nanos over = CellOf(now_, 10 * kMs) * 10 * kMs;
      if (over > boundary) host_->Decide(boundary = over);
    }
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  static constexpr int kSteps = 4;  // ends of epochs, packets, questions, answers

  void Run(size_t self) {
    PacketMonitor* monitor = host_->monitor(self);
    for (const Round& round : rounds_) {
      Pass();
      while (monitor->OnIdle(now_)) std::this_thread::yield();
      Pass();
      for (const Packet& packet : round) {
        if (packet.thread == self) host_->See(self, packet.flow, packet.shot, packet.now);
      }
      Pass();
      monitor->OnIdle(round.back().now);
      Pass();
      monitor->OnIdle(round.back().now);
      Pass();
    }
  }
  void Pass() { barrier_.Wait(); }

  ThreadsHost* host_;
  const std::vector<Round>& rounds_;
  Barrier barrier_;
  Nanos now_ = 0;  // written by the leader before a round
  std::vector<std::thread> threads_;
};

TEST(LiveThreads, CountSideBySideLikeOneInTurn) {
  size_t compared = 0;
  size_t marked = 0;
  for (uint32_t seed = 1; seed <= 6; seed++) {
    const size_t threads = 2 + seed % 3;
    const std::vector<Round> rounds = RoundsOf(seed, threads, 1500);
    ThreadsHost many(AllPlans(), threads);
    Crew(&many, rounds).Lead();
    ThreadsHost one(AllPlans(), 1);
    Nanos boundary = 0;
    for (const Round& round : rounds) {
      one.VisitAll(round.front().now);
      for (const Packet& packet : round) one.See(0, packet.flow, packet.shot, packet.now);
      one.VisitAll(round.back().now);
      const Nanos over = CellOf(round.front().now, 10 * kMs) * 10 * kMs;
      if (over > boundary) one.Decide(boundary = over);
    }
    const Nanos end = rounds.back().back().now;
    one.Finish(end + 40 * kMs);
    many.Finish(end + 40 * kMs);
    EXPECT_EQ(many.Sum().packets, 1500u);
    EXPECT_EQ(many.Sum().peer_messages_lost, 0u);
    EXPECT_GT(many.Sum().peer_messages_sent, 100u);
    const Comparison comparison = CompareHosts(one, many);
    ASSERT_EQ(comparison.failure, "") << "seed " << seed;
    compared += comparison.reports;
    marked += comparison.marked;
  }
  EXPECT_GT(compared, 5000u);
  EXPECT_LT(marked, compared / 3);
}

// --- free running: conserved -----------------------------------------------

// Adds up what reaches the agent.
class ConservingSink : public DeliverySink {
 public:
  static constexpr uint32_t kPackets = 1;
  static constexpr uint32_t kSamples = 2;

  void OnPartial(const PartialView& partial) override {
    if (partial.event_id == kPackets) packets += partial.words[0];
    if (partial.event_id == kSamples) samples += partial.words[1];
  }
  void OnFlowState(const FlowStateUpdate&) override {}
  void OnEpochEnd(Nanos, Nanos, uint32_t epoch_reasons) override { reasons |= epoch_reasons; }

  uint64_t packets = 0;
  uint64_t samples = 0;
  uint32_t reasons = 0;
};

HostVerdicts::Plans ConservedPlans(bool with_tcp) {
  HostVerdicts::Plans plans;
  plans.push_back(Plan(Shows(ConservingSink::kPackets, Sum(Variable::kBytes), ByFlow())));
  if (!with_tcp) return plans;
  const Expr samples = Agg(AggregateKind::kCount, Var(Variable::kRtt));
  plans.push_back(Plan(Shows(ConservingSink::kSamples, samples, Granularity())));
  return plans;
}

// Clients and servers on different threads, which only answer what the other has sent.
class Babble {
 public:
  static constexpr uint32_t kTalks = 48;
  static constexpr uint32_t kWindow = 4;  // segments of a connection on their way

  explicit Babble(size_t threads)
      : talks_(kTalks),
        host_(ConservedPlans(true), threads),
        barrier_(static_cast<unsigned>(threads + 1)) {
    for (size_t i = 0; i < threads; i++) threads_.emplace_back([this, i] { Run(i); });
  }
  ~Babble() {
    segments_ = 0;
    barrier_.Wait();
    for (std::thread& thread : threads_) thread.join();
  }
  Babble(const Babble&) = delete;
  Babble& operator=(const Babble&) = delete;

  // Lets every client send so many segments in all.  Meanwhile the agent drains, and if it is to,
  // publishes one program after the other, with TCP variables and without.
  void TalkUpTo(uint32_t segments, bool changes_programs) {
    segments_ = segments;
    at_work_ = threads_.size();
    barrier_.Wait();
    Nanos from = clock_.load();
    while (at_work_.load() != 0) {
      DrainAll();
      if (!changes_programs || clock_.load() < from + 15 * kMs) continue;
      from = clock_.load() + 2 * kMs;
      generation_++;
      const auto program =
          TriggerProgram::Make(ConservedPlans(generation_ % 3 == 0), generation_, from);
      for (size_t i = 0; i < threads_.size(); i++) {
        ASSERT_TRUE(host_.monitor(i)->Publish(program).ok());
      }
    }
    clock_ += 2 * kSecond;  // longer than everything is doubted after a loss
    for (int round = 0; round < 4; round++) {
      for (size_t i = 0; i < threads_.size(); i++) {
        while (host_.monitor(i)->OnIdle(clock_.load())) DrainAll();
        DrainAll();
      }
    }
  }

  ConservingSink sink;
  const ThreadsHost& host() const { return host_; }
  uint64_t packets_sent() const { return packets_.load(); }
  uint64_t acks_sent() const { return acks_.load(); }

 private:
  struct Talk {
    std::atomic<uint32_t> sent{0};   // segments of 100 bytes from the client
    std::atomic<uint32_t> acked{0};  // of them, by the server
  };

  void DrainAll() {
    for (size_t i = 0; i < threads_.size(); i++) {
      host_.monitor(i)->Drain(&sink);
      host_.monitor(i)->CollectRetired();
    }
  }

  void Send(size_t thread, const FlowKey& flow, const Shot& shot) {
    packets_++;
    host_.See(thread, flow, shot, clock_.fetch_add(20 * kUs));
  }

  void Run(size_t self) {
    for (;;) {
      barrier_.Wait();
      if (segments_ == 0) return;
      while (Visit(self)) std::this_thread::yield();
      at_work_--;
    }
  }

  // A turn at all talks, and an idle round.  False: no talk has anything left for this thread.
  bool Visit(size_t self) {
    bool has_more = false;
    for (uint32_t i = 0; i < kTalks; i++) {
      Talk& talk = talks_[i];
      const uint32_t sent = talk.sent.load();
      const uint32_t acked = talk.acked.load();
      if (i % host_.thread_count() == self && sent < segments_) {
        has_more = true;
        if (sent - acked < kWindow) {
          Send(self, ClientFlow(i), Data(1000 + 100 * sent, 100).Ack(1));
          talk.sent = sent + 1;
        }
      }
      if ((i + 1) % host_.thread_count() == self && acked < segments_) {
        has_more = true;
        if (acked < sent) {
          acks_++;
          Send(self, Reversed(ClientFlow(i)), PureAck(1000 + 100 * (acked + 1)));
          talk.acked = acked + 1;
        }
      }
    }
    host_.monitor(self)->OnIdle(clock_.load());
    return has_more;
  }

  std::vector<Talk> talks_;
  ThreadsHost host_;
  Barrier barrier_;
  uint32_t segments_ = 0;  // written between barriers
  uint64_t generation_ = 1;
  std::atomic<size_t> at_work_{0};
  std::atomic<Nanos> clock_{kSecond};
  std::atomic<uint64_t> packets_{0};
  std::atomic<uint64_t> acks_{0};
  std::vector<std::thread> threads_;
};

void ExpectAllSettled(const Babble& babble) {
  const MonitorCounters sum = babble.host().Sum();
  EXPECT_EQ(sum.packets, babble.packets_sent());
  EXPECT_EQ(babble.sink.packets, babble.packets_sent());
  EXPECT_GE(sum.peer_messages_taken, sum.peer_messages_sent);  // and the answers
  for (size_t i = 0; i < babble.host().thread_count(); i++) {
    EXPECT_EQ(babble.host().monitor(i)->messages_settled(),
              babble.host().monitor(i)->messages_sent_here());
  }
}

TEST(LiveThreads, CountEveryPacketOnceAndEverySampleOnce) {
  for (const size_t threads : {2, 3, 4}) {
    Babble babble(threads);
    babble.TalkUpTo(90, false);  // more than connections are doubted after their first meeting
    ExpectAllSettled(babble);
    EXPECT_LE(babble.sink.samples, babble.acks_sent());
    const MonitorCounters before = babble.host().Sum();
    const uint64_t acks_before = babble.acks_sent();
    const uint64_t samples_before = babble.sink.samples;
    babble.sink.reasons = 0;
    babble.TalkUpTo(150, false);
    ExpectAllSettled(babble);
    const MonitorCounters after = babble.host().Sum();
    const uint64_t samples = babble.sink.samples - samples_before;
    EXPECT_EQ(samples, after.rtt_samples - before.rtt_samples);
    // A thread that others keep waiting has a backlog, and says so; it loses nothing.
    if (after.peer_messages_lost == 0) {
      EXPECT_EQ(samples, babble.acks_sent() - acks_before);
      // And so does one that was away while an epoch ended.
      const bool is_late = after.epochs_skipped != before.epochs_skipped;
      if (after.peer_backlogs == before.peer_backlogs) {
        EXPECT_EQ(babble.sink.reasons & ~(is_late ? kSweepSkipped : 0u), 0u);
      }
    } else {
      EXPECT_NE(babble.sink.reasons & kSplitConnection, 0u);
    }
  }
}

TEST(LiveThreads, CountEveryPacketOnceWhileTheyBeginAndCeaseToTrackTcp) {
  Babble babble(3);
  babble.TalkUpTo(300, true);
  ExpectAllSettled(babble);
  EXPECT_LE(babble.sink.samples, babble.acks_sent());
}

}  // namespace
}  // namespace trumpet::testing
