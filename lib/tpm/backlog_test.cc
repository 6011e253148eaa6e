// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// A packet thread that never gets idle time, or whose agent does not drain the ring: what is late
// or lost is counted, marked, and over once the pressure is.

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

#include "lib/model/report.h"
#include "lib/tpm/delivery.h"
#include "lib/tpm/monitor_harness_test.h"
#include "lib/tpm/step_test_kit.h"
#include "lib/verdict/verdict_test_kit.h"

namespace trumpet {
namespace {

using testing::DstPrefix;
using testing::HandClock;
using testing::MakeMonitor;
using testing::UdpFrame;

constexpr Nanos kMs = kNanosPerMilli;
constexpr Nanos kUs = kNanosPerMicro;
constexpr uint32_t kRack = 0x0a008000;

// "sum(packets) >= min(packets)" for all packets: true if there are any.  Minima are cells that
// each flow has for itself, so there is much to sweep.
std::shared_ptr<const TriggerPlan> AnyPacket(uint32_t id, uint32_t interval_ms) {
  EventSpec spec;
  spec.id = id;
  spec.name = "any-" + std::to_string(id);
  spec.filter = DstPrefix(0, 0);
  spec.predicate = kit::Op(kit::Sum(Variable::kPackets), ExprOp::kGreaterEqual,
                           kit::Agg(AggregateKind::kMin, kit::Var(Variable::kPackets)));
  spec.interval_ms = interval_ms;
  return std::make_shared<const TriggerPlan>(MakeTriggerPlan(spec));
}

// One packet thread, and the agent's half of the work after every batch that it is let do it;
// beside them the plain count of packets per event and interval.
class Host : public DeliverySink {
 public:
  Host(HostVerdicts::Plans plans, const MonitorOptions& options)
      : plans_(std::move(plans)), verdicts_(10 * kNanosPerSecond), monitor_(MakeMonitor(options)) {
    EXPECT_TRUE(monitor_->Publish(TriggerProgram::Make(plans_, 1, INT64_MIN)).ok());
    verdicts_.Apply(plans_, 0, true);
  }

  void Receive(const std::vector<UdpFrame>& udp, Nanos now) {
    std::vector<Frame> frames;
    for (const UdpFrame& each : udp) frames.push_back(each.frame());
    monitor_->OnBatch(frames.data(), static_cast<int>(frames.size()), false, 0, 0, now);
    for (const auto& plan : plans_) {
      if (!plan->spec.granularity.is_none()) continue;
      truth_[{plan->spec.id, CellOf(now, plan->spec.interval_ns())}] += frames.size();
    }
    now_ = now;
  }
  void Gather() {
    const Nanos clean = std::min(monitor_->clean_until(), now_);
    monitor_->Drain(this);
    verdicts_.Advance(clean, &reports_);
  }
  // All idle time that it takes.
  void Finish() {
    for (int i = 0; i < 4; i++) {
      while (monitor_->OnIdle(now_)) Gather();
      now_ += 50 * kMs;
    }
    Gather();
  }

  // A complete report tells the truth, and an event that hears nothing is not the only sign of it.
  void CheckReports() const {
    std::map<std::pair<uint32_t, int64_t>, uint64_t> reported;
    for (const Report& report : reports_) {
      const int64_t interval = CellOf(report.start_ns, report.end_ns - report.start_ns);
      const auto value = static_cast<uint64_t>(report.value.integer());
      reported[{report.event_id, interval}] = value;
      if (!report.is_complete()) continue;
      const auto found = truth_.find({report.event_id, interval});
      const uint64_t expected = found == truth_.end() ? 0 : found->second;
      ASSERT_EQ(value, expected) << "event " << report.event_id << " interval " << interval;
    }
    for (const auto& [key, count] : truth_) {
      if (reported.count(key) != 0) continue;
      ASSERT_TRUE(IsMarked(key)) << "event " << key.first << " interval " << key.second;
    }
  }

  void OnPartial(const PartialView& partial) override { verdicts_.Add(partial); }
  void OnFlowState(const FlowStateUpdate& update) override { verdicts_.Add(update); }
  void OnEpochEnd(Nanos start, Nanos end, uint32_t reasons) override {
    if (reasons == 0) return;
    verdicts_.AddIncomplete(start, end, reasons);
    marks_.push_back({start, end});
    reasons_ |= reasons;
  }

  bool IsMarked(Nanos start, Nanos end) const {
    return std::any_of(marks_.begin(), marks_.end(),
                       [=](const EpochSpan& mark) { return mark.start < end && mark.end > start; });
  }

  PacketMonitor& monitor() { return *monitor_; }
  const std::vector<Report>& reports() const { return reports_; }
  uint32_t reasons() const { return reasons_; }
  size_t incomplete() const {
    size_t count = 0;
    for (const Report& report : reports_) count += report.is_complete() ? 0 : 1;
    return count;
  }
  uint64_t ReportedPackets(uint32_t event) const {
    uint64_t sum = 0;
    for (const Report& report : reports_) {
      if (report.event_id == event) sum += static_cast<uint64_t>(report.value.integer());
    }
    return sum;
  }

 private:
  bool IsMarked(const std::pair<uint32_t, int64_t>& key) const {
    Nanos length = 0;
    for (const auto& plan : plans_) {
      if (plan->spec.id == key.first) length = plan->spec.interval_ns();
    }
    return IsMarked(key.second * length, (key.second + 1) * length);
  }

  const HostVerdicts::Plans plans_;
  HostVerdicts verdicts_;
  std::unique_ptr<PacketMonitor> monitor_;
  std::map<std::pair<uint32_t, int64_t>, uint64_t> truth_;
  std::vector<Report> reports_;
  std::vector<EpochSpan> marks_;
  uint32_t reasons_ = 0;
  Nanos now_ = 0;
};

HostVerdicts::Plans EightEvents() {
  HostVerdicts::Plans plans;
  for (uint32_t id = 1; id <= 8; id++) plans.push_back(AnyPacket(id, id == 8 ? 20 : 10));
  return plans;
}

// `epochs` epochs in which each of `flows` flows has a packet, in batches of 32, back to back.
void ReceiveWithoutAPause(Host* host, uint32_t flows, int epochs) {
  const uint32_t batches = flows / 32;
  for (int epoch = 0; epoch < epochs; epoch++) {
    for (uint32_t batch = 0; batch < batches; batch++) {
      std::vector<UdpFrame> frames;
      for (uint32_t i = 0; i < 32; i++) frames.emplace_back(batch * 32 + i, kRack, 5, 6);
      host->Receive(frames, epoch * 10 * kMs + batch * (10 * kMs / batches));
      host->Gather();
    }
  }
}

TEST(Backlog, SweepsOfAHundredThousandFlowsEndInTimeWithoutAnyIdleTime) {
  HandClock clock;
  clock.per_look = 200;
  MonitorOptions options;
  options.step_clock = &clock;
  Host host(EightEvents(), options);
  ReceiveWithoutAPause(&host, 100'000, 4);
  EXPECT_EQ(host.monitor().counters().epochs_skipped, 0u);
  EXPECT_GT(host.monitor().counters().sweep_steps, 1000u) << "and that in steps";
  host.Finish();
  EXPECT_EQ(host.reports().size(), 7u * 4 + 2);
  EXPECT_EQ(host.incomplete(), 0u);
  host.CheckReports();
}

TEST(Backlog, EpochsThatHaveToWaitAreCountedAndMarkedOnBothSides) {
  HandClock clock;
  clock.per_look = 5 * kUs;  // a slow machine: one piece a step
  MonitorOptions options;
  options.step_clock = &clock;
  Host host(EightEvents(), options);
  ReceiveWithoutAPause(&host, 20'000, 12);
  const uint64_t skipped = host.monitor().counters().epochs_skipped;
  EXPECT_GE(skipped, 6u);
  host.Finish();
  EXPECT_EQ(host.reasons(), static_cast<uint32_t>(kSweepSkipped));
  // The first epoch was swept late, yet by itself.
  ASSERT_FALSE(host.reports().empty());
  EXPECT_TRUE(host.reports()[0].is_complete());
  EXPECT_EQ(host.reports()[0].value.integer(), 20'000 / 32 * 32);
  for (uint32_t event = 1; event <= 8; event++) {
    EXPECT_EQ(host.ReportedPackets(event), 12u * (20'000 / 32 * 32)) << "late, but not lost";
  }
  EXPECT_GE(host.incomplete(), 7u);
  host.CheckReports();
}

TEST(Backlog, ALeapOverSeveralEpochsCountsEachOfThem) {
  HandClock clock;
  clock.per_look = 5 * kUs;
  MonitorOptions options;
  options.step_clock = &clock;
  Host host(EightEvents(), options);
  ReceiveWithoutAPause(&host, 20'000, 1);
  host.Receive({UdpFrame(1, kRack, 5, 6)}, 12 * kMs);
  host.Receive({UdpFrame(1, kRack, 5, 6)}, 47 * kMs);  // epochs 2, 3 and 4 join epoch 1
  EXPECT_EQ(host.monitor().counters().epochs_skipped, 3u);
  host.Finish();
  for (const Report& report : host.reports()) {
    EXPECT_EQ(report.is_complete(), report.start_ns == 0 && report.event_id != 8);
  }
  host.CheckReports();
}

// The agent sleeps for some epochs: the ring is full, and never waited for.
TEST(Backlog, AFullRingCostsTheEpochsItHitAndNoMore) {
  HandClock clock;
  clock.per_look = 300;
  MonitorOptions options;
  options.step_clock = &clock;
  options.ring_bytes = 4096;
  EventSpec spec = AnyPacket(1, 10)->spec;
  spec.granularity.is_five_tuple = true;
  Host host({std::make_shared<const TriggerPlan>(MakeTriggerPlan(spec)), AnyPacket(2, 10)},
            options);
  const auto receive = [&](int epoch, bool gathers) {
    for (uint32_t us = 0; us < 10'000; us += 50) {
      host.Receive({UdpFrame(us, kRack, 5, 6)}, epoch * 10 * kMs + us * kUs);
      if (gathers) host.Gather();
    }
  };
  for (int epoch = 0; epoch < 3; epoch++) receive(epoch, true);
  EXPECT_EQ(host.monitor().counters().partials_dropped, 0u);
  for (int epoch = 3; epoch < 6; epoch++) receive(epoch, false);
  EXPECT_GE(host.monitor().counters().partials_dropped, 150u);
  receive(6, true);
  const uint64_t dropped = host.monitor().counters().partials_dropped;
  for (int epoch = 7; epoch < 10; epoch++) receive(epoch, true);
  host.Finish();
  EXPECT_EQ(host.monitor().counters().partials_dropped, dropped);
  EXPECT_NE(host.reasons() & kRingFull, 0u);
  for (const Report& report : host.reports()) {
    const int64_t epoch = report.start_ns / (10 * kMs);
    const bool is_hit = !report.is_complete();
    if (is_hit) {
      EXPECT_TRUE(epoch >= 2 && epoch <= 5) << epoch;
      EXPECT_EQ(report.incomplete_reasons, static_cast<uint32_t>(kRingFull));
    }
  }
  uint64_t whole = 0;
  for (const Report& report : host.reports()) whole += report.event_id == 2 && report.is_complete();
  EXPECT_GE(whole, 6u) << "epochs 0, 1 and 6 to 9";
}

// The ring stays full over the next epoch, which has nothing to tell but that the one before was
// given up.  How full it is depends on how many epochs without packets that count came before.
TEST(Backlog, TheMarkOfAnEpochGivenUpWaitsForRoomInTheRing) {
  constexpr uint32_t kElsewhere = 0x0b000000;
  EventSpec by_flow = AnyPacket(1, 10)->spec;
  by_flow.filter = DstPrefix(kRack, 32);
  by_flow.granularity.is_five_tuple = true;
  EventSpec once = AnyPacket(2, 10)->spec;
  once.filter = by_flow.filter;
  uint32_t late_marks = 0;
  for (int before = 0; before < 12; before++) {
    MonitorOptions options;
    options.ring_bytes = 8192;
    Host host({std::make_shared<const TriggerPlan>(MakeTriggerPlan(by_flow)),
               std::make_shared<const TriggerPlan>(MakeTriggerPlan(once))},
              options);
    Nanos now = 0;
    const auto sweep = [&] {
      now += 10 * kMs;
      for (int i = 0; i < 100; i++) host.monitor().OnIdle(now);
    };
    for (int epoch = 0; epoch < before; epoch++) {
      host.Receive({UdpFrame(1, kElsewhere, 5, 6)}, now);
      sweep();
    }
    const Nanos given_up = now;
    std::vector<UdpFrame> flows;
    for (uint32_t i = 0; i < 400; i++) flows.emplace_back(i, kRack, 5, 6);
    host.Receive(flows, now);
    sweep();
    for (int epoch = 0; epoch < 2; epoch++) {
      host.Receive({UdpFrame(1, kElsewhere, 5, 6)}, now);
      sweep();
    }
    EXPECT_GT(host.monitor().counters().partials_dropped, 0u);
    const size_t told = host.monitor().ring_used_bytes();
    host.Finish();
    EXPECT_TRUE(host.IsMarked(given_up, given_up + 10 * kMs)) << before << " epochs before";
    late_marks += told + 48 > options.ring_bytes ? 1 : 0;
  }
  EXPECT_GT(late_marks, 0u) << "the ring had room for the mark at once, each time";
}

// Random pauses, leaps, slow steps and a ring that is drained now and then: no complete report is
// wrong, and no interval is passed over in silence.
TEST(Backlog, NoCompleteReportIsWrongWhateverHappens) {
  for (uint32_t seed = 1; seed <= 60; seed++) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    HandClock clock;
    MonitorOptions options;
    options.step_clock = &clock;
    options.ring_bytes = 8192;
    EventSpec by_flow = AnyPacket(3, 30)->spec;
    by_flow.id = 4;
    by_flow.granularity.is_five_tuple = true;
    by_flow.predicate = testing::AtLeast(AggregateKind::kSum, Variable::kPackets, 1'000'000);
    Host host({AnyPacket(1, 10), AnyPacket(2, 20), AnyPacket(3, 50),
               std::make_shared<const TriggerPlan>(MakeTriggerPlan(by_flow))},
              options);
    Nanos now = 0;
    for (int step = 0; step < 1500; step++) {
      now += static_cast<Nanos>(random() % (random() % 50 == 0 ? 30 * kMs : 200 * kUs));
      clock.per_look = random() % 3 == 0 ? 6 * kUs : 300;
      std::vector<UdpFrame> frames;
      for (uint32_t i = 0; i < 1 + random() % 32; i++) {
        frames.emplace_back(random() % 400, kRack, 5, 6);
      }
      host.Receive(frames, now);
      if (random() % 4 == 0) host.monitor().OnIdle(now);
      if ((step / 100) % 3 != 0) host.Gather();
    }
    host.Finish();
    host.CheckReports();
    EXPECT_NE(host.reasons(), 0u);
  }
}

TEST(Backlog, AnEpochClosedDuringASweepIsClosedAfterIt) {
  HandClock clock;
  clock.per_look = 5 * kUs;
  MonitorOptions options;
  options.step_clock = &clock;
  Host host(EightEvents(), options);
  ReceiveWithoutAPause(&host, 3'200, 1);
  host.Receive({UdpFrame(1, kRack, 5, 6)}, 10 * kMs);
  host.monitor().CloseEpoch(11 * kMs);
  EXPECT_EQ(host.monitor().clean_until(), 0);
  while (host.monitor().OnIdle(11 * kMs)) host.Gather();
  host.Gather();
  EXPECT_EQ(host.monitor().clean_until(), INT64_MAX);
  EXPECT_EQ(host.reasons(), 0u);
}

// --- TCP state ---------------------------------------------------------------

UdpFrame TcpSegment(uint32_t client, uint32_t seq) {
  UdpFrame frame(client, kRack, 5, 6, 22);
  frame.bytes[23] = 6;
  std::fill(frame.bytes.begin() + 38, frame.bytes.end(), uint8_t{0});
  for (int i = 0; i < 4; i++) frame.bytes[38 + i] = static_cast<uint8_t>(seq >> (24 - 8 * i));
  frame.bytes[46] = 0x50;
  frame.bytes[47] = 0x10;
  return frame;
}

// Holds what it is told against the truth at the end of every epoch that is said to be complete.
class StateSink : public DeliverySink {
 public:
  void OnPartial(const PartialView&) override {}
  void OnFlowState(const FlowStateUpdate& update) override {
    if (update.state.has_seq) told[update.flow.src_ip[3]] = update.state.seq;
  }
  void OnEpochEnd(Nanos start, Nanos end, uint32_t reasons) override {
    if (reasons != 0) {
      incomplete++;
      incomplete_until = std::max(incomplete_until, end);
      EXPECT_EQ(reasons, static_cast<uint32_t>(kRingFull));
      return;
    }
    if (start < incomplete_until) return;
    complete++;
    EXPECT_EQ(told, truth[CellOf(end - 1, 10 * kMs)]) << "at " << end;
  }

  std::map<uint8_t, int64_t> told;
  std::map<int64_t, std::map<uint8_t, int64_t>> truth;  // at the end of each epoch
  Nanos incomplete_until = INT64_MIN;
  int complete = 0;
  int incomplete = 0;
};

TEST(Backlog, TcpStateIsRightAgainAfterSweepsThatWereGivenUp) {
  for (uint32_t seed = 1; seed <= 20; seed++) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    EventSpec spec = AnyPacket(1, 10)->spec;
    spec.granularity.is_five_tuple = true;
    spec.predicate = kit::Op(kit::Var(Variable::kSeq), ExprOp::kGreater, kit::Num(0));
    MonitorOptions options;
    options.ring_bytes = 4096;
    const auto monitor = MakeMonitor(options);
    const HostVerdicts::Plans plans{std::make_shared<const TriggerPlan>(MakeTriggerPlan(spec))};
    ASSERT_TRUE(monitor->Publish(TriggerProgram::Make(plans, 1, INT64_MIN)).ok());
    StateSink sink;
    std::map<uint8_t, int64_t> seqs;
    for (int64_t epoch = 0; epoch < 200; epoch++) {
      const bool agent_sleeps = epoch % 20 < 8 && random() % 3 != 0;
      for (int i = 0; i < 30; i++) {
        const auto client = static_cast<uint8_t>(random() % 40 + 1);
        int64_t& seq = seqs[client];
        seq += 10;
        const Nanos now = epoch * 10 * kMs + i * 300 * kUs;
        testing::Send(monitor.get(), TcpSegment(client, static_cast<uint32_t>(seq)), now);
        while (monitor->OnIdle(now) && !agent_sleeps) monitor->Drain(&sink);
        if (!agent_sleeps) monitor->Drain(&sink);
      }
      for (const auto& [client, seq] : seqs) sink.truth[epoch][client] = seq + 10;
    }
    EXPECT_GT(sink.incomplete, 10);
    EXPECT_GT(sink.complete, 60);
    EXPECT_GT(monitor->counters().partials_dropped, 0u);
  }
}

}  // namespace
}  // namespace trumpet
