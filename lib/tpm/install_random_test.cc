// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Events that come and go under traffic, against an evaluator that keeps every packet.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "lib/base/random_runs_test.h"
#include "lib/tpm/install_oracle_test.h"
#include "lib/tpm/packet_monitor.h"
#include "lib/verdict/host_verdicts.h"

namespace trumpet {
namespace {

using testing::Below;
using testing::Chance;
using testing::Dice;
using testing::EventLife;
using testing::LastSeed;

// Hands on to the verdicts and remembers for which spans something is missing.
class MarkingSink : public DeliverySink {
 public:
  explicit MarkingSink(HostVerdicts* verdicts) : verdicts_(verdicts) {}
  void OnPartial(const PartialView& partial) override { verdicts_->Add(partial); }
  void OnFlowState(const FlowStateUpdate& update) override { verdicts_->Add(update); }
  void OnEpochEnd(Nanos start, Nanos end, uint32_t reasons) override {
    verdicts_->AddIncomplete(start, end, reasons);
    if (reasons != 0) marked_.push_back({start, end});
  }
  bool IsMarked(Nanos start, Nanos end) const {
    return std::any_of(marked_.begin(), marked_.end(),
                       [&](const auto& span) { return span.first < end && span.second > start; });
  }

 private:
  HostVerdicts* verdicts_;
  std::vector<std::pair<Nanos, Nanos>> marked_;
};

struct StoryOptions {
  uint64_t seed = 1;
  int cycles = 100;
  bool is_busy = false;  // idle calls are rare, and programs come late or in quick succession
  size_t threads = 1;    // packet threads, each with a monitor; a batch comes to one of them
};

// Monitors and their verdicts under traffic, while events come and go.
class Story {
 public:
  explicit Story(const StoryOptions& options)
      : options_(options),
        dice_(options.seed),
        verdicts_(10 * kNanosPerSecond, options.seed),
        sink_(&verdicts_) {
    MonitorOptions monitor;
    monitor.max_flows = 1u << 12;
    monitor.stat_megabytes = 4;
    monitor.ring_bytes = 1u << 22;
    monitor.sweeps_unbounded = true;
    monitor.takes_quads = options.seed % 2 == 0;
    monitor.connections.max_connections = 64;
    monitor.connections.max_history_records = 64;
    for (size_t i = 0; i < options.threads; i++) {
      monitors_.push_back(testing::MakeMonitor(monitor));
    }
  }

  void Run() {
    for (int cycle = 0; cycle < options_.cycles; cycle++) {
      ChangeEvents();
      const Nanos until = now_ + 100 * kNanosPerMicro + Below(&dice_, 4 * kNanosPerMilli);
      // A program that is replaced before its instant never counts: only a busy story tells of it.
      while (now_ < until || (!options_.is_busy && IsWaiting())) SendBatch();
    }
    now_ += 30 * kNanosPerMilli;
    Idle();
  }

  // Of unmarked intervals if the story is busy, else of all.
  std::vector<std::string> Found() const { return Lines(reports_); }
  std::vector<std::string> Expected() const {
    std::vector<Report> reports;
    for (const EventLife& life : lives_) life.AppendReports(decided_until_, &reports);
    return Lines(reports);
  }
  uint64_t uncounted_packets() const { return Sum(&MonitorCounters::uncounted_packets); }
  uint64_t epochs_skipped() const { return Sum(&MonitorCounters::epochs_skipped); }
  size_t events_seen() const { return lives_.size(); }

 private:
  uint64_t Sum(uint64_t MonitorCounters::*counter) const {
    uint64_t sum = 0;
    for (const auto& monitor : monitors_) sum += monitor->counters().*counter;
    return sum;
  }

  bool IsWaiting() const {
    return std::any_of(monitors_.begin(), monitors_.end(), [this](const auto& monitor) {
      return monitor->running_generation() != generation_;
    });
  }

  std::vector<std::string> Lines(const std::vector<Report>& reports) const {
    std::vector<std::string> lines;
    for (const Report& report : reports) {
      if (options_.is_busy && sink_.IsMarked(report.start_ns, report.end_ns)) continue;
      lines.push_back(ToJsonLine(report));
    }
    std::sort(lines.begin(), lines.end());
    return lines;
  }

  // Some events go, some come: mostly few, now and then hundreds.
  void ChangeEvents() {
    Nanos from = now_ + 1 + Below(&dice_, 2 * kNanosPerMilli);
    if (options_.is_busy && Chance(&dice_, 20)) from = now_;
    last_from_ = from = std::max(from, last_from_ + 1);
    const int percent_gone = Chance(&dice_, 20) ? 100 : static_cast<int>(Below(&dice_, 60));
    std::vector<size_t> kept;
    for (const size_t life : installed_) {
      if (Chance(&dice_, percent_gone)) {
        lives_[life].EndAt(from);
      } else {
        kept.push_back(life);
      }
    }
    installed_ = kept;
    const int64_t added = Chance(&dice_, 3) ? 100 + Below(&dice_, 300) : Below(&dice_, 6);
    for (int64_t i = 0; i < added; i++) {
      installed_.push_back(lives_.size());
      lives_.emplace_back(RandomPlan(), from);
      counting_.push_back(lives_.size() - 1);
    }
    std::shuffle(installed_.begin(), installed_.end(), dice_);
    HostVerdicts::Plans plans;
    for (const size_t life : installed_) plans.push_back(lives_[life].plan());
    const auto program = TriggerProgram::Make(plans, ++generation_, from);
    for (const auto& monitor : monitors_) ASSERT_TRUE(monitor->Publish(program).ok());
    verdicts_.Apply(plans, from, /*is_offline=*/false);
    if (!options_.is_busy || Chance(&dice_, 50)) SendBatch();  // else another one may come first
  }

  std::shared_ptr<const TriggerPlan> RandomPlan() {
    EventSpec spec;
    spec.id = static_cast<uint32_t>(lives_.size() + 1);
    spec.name = "e" + std::to_string(spec.id);
    spec.filter = testing::RandomFilter(&dice_);
    spec.predicate = testing::RandomPredicate(&dice_, !options_.is_busy);
    spec.granularity = testing::RandomGranularity(&dice_);
    spec.interval_ms = static_cast<uint32_t>(1 + Below(&dice_, 4));
    spec.for_count = options_.is_busy ? 1 : static_cast<uint32_t>(1 + Below(&dice_, 2));
    return kit::Plan(spec);
  }

  void SendBatch() {
    now_ += Below(&dice_, 300 * kNanosPerMicro);
    std::vector<testing::UdpFrame> packets;
    std::vector<Frame> frames;
    for (int64_t i = 1 + Below(&dice_, 32); i > 0; i--) {
      packets.push_back(testing::RandomFrame(&dice_, 64));
    }
    for (const testing::UdpFrame& packet : packets) frames.push_back(packet.frame());
    if (!options_.is_busy) Idle();  // the epoch before is swept when the program's instant comes
    PacketMonitor& receiver = *monitors_[dice_() % monitors_.size()];
    receiver.OnBatch(frames.data(), static_cast<int>(frames.size()), false, 0, 0, now_);
    CountSlowly(frames);
    if (!options_.is_busy || Chance(&dice_, 12)) Idle();
  }

  void CountSlowly(const std::vector<Frame>& frames) {
    counting_.erase(std::remove_if(counting_.begin(), counting_.end(),
                                   [this](size_t life) { return lives_[life].IsOverAt(now_); }),
                    counting_.end());
    for (const Frame& frame : frames) {
      ParsedPacket packet;
      ParsePacket(frame, ParseOptions(), &packet);
      for (const size_t life : counting_) lives_[life].Count(packet, now_);
    }
  }

  void Idle() {
    decided_until_ = now_;
    for (const auto& monitor : monitors_) {
      testing::SweepAll(monitor.get(), now_, &sink_);
      decided_until_ = std::min(decided_until_, monitor->clean_until());
    }
    verdicts_.Advance(decided_until_, &reports_);
  }

  const StoryOptions options_;
  Dice dice_;
  HostVerdicts verdicts_;
  MarkingSink sink_;
  std::vector<std::unique_ptr<PacketMonitor>> monitors_;
  std::vector<EventLife> lives_;
  std::vector<size_t> installed_;  // into lives_, in the order of the events
  std::vector<size_t> counting_;   // those not over yet
  std::vector<Report> reports_;
  uint64_t generation_ = 0;
  Nanos now_ = 1000 * kNanosPerSecond;
  Nanos last_from_ = 0;
  Nanos decided_until_ = 0;
};

void ExpectSameLines(const std::vector<std::string>& found,
                     const std::vector<std::string>& expected, uint64_t seed) {
  for (size_t i = 0; i < std::min(found.size(), expected.size()); i++) {
    ASSERT_EQ(found[i], expected[i]) << "seed " << seed << ", line " << i;
  }
  ASSERT_EQ(found.size(), expected.size()) << "seed " << seed;
}

void RunAThousandCycles(size_t threads) {
  size_t lines = 0;
  size_t events = 0;
  const uint64_t last = LastSeed(8);
  for (uint64_t seed = 1; seed <= last; seed++) {
    Story story({seed, 125, false, threads});
    story.Run();
    const std::vector<std::string> expected = story.Expected();
    ExpectSameLines(story.Found(), expected, seed);
    EXPECT_EQ(story.uncounted_packets(), 0u);
    EXPECT_EQ(story.epochs_skipped(), 0u);
    lines += expected.size();
    events += story.events_seen();
  }
  EXPECT_GT(lines, 1250 * last);
  EXPECT_GT(events, 375 * last);
}

TEST(InstallUnderTraffic, CountsExactlyFromTheStatedInstantOnInAThousandRandomCycles) {
  RunAThousandCycles(1);
}

TEST(InstallUnderTraffic, CountsExactlyOnTwoPacketThreadsInAThousandRandomCycles) {
  RunAThousandCycles(2);
}

TEST(InstallUnderTraffic, CountsExactlyWhereverNothingIsMarkedWhenSweepsAndProgramsComeLate) {
  size_t lines = 0;
  for (uint64_t seed = 1; seed <= 4; seed++) {
    Story story({seed, 100, true, 1 + seed % 2});
    story.Run();
    const std::vector<std::string> expected = story.Expected();
    ExpectSameLines(story.Found(), expected, seed);
    EXPECT_GT(story.epochs_skipped(), 0u);
    lines += expected.size();
  }
  EXPECT_GT(lines, 500u);
}

// Sends batches on a thread of its own, one per virtual microsecond, as fast as it can but never
// beyond the horizon: so a program published for later than that is always in time.
class TrafficThread {
 public:
  static constexpr Nanos kSpacing = kNanosPerMicro;
  static constexpr uint64_t kBatch = 8;

  explicit TrafficThread(PacketMonitor* monitor) : monitor_(monitor), thread_([this] { Run(); }) {}

  void LetRunUntil(Nanos horizon) { horizon_.store(horizon); }
  void EndAt(Nanos end) {
    end_.store(end);
    horizon_.store(end);
  }
  bool is_over() const { return is_over_.load(); }
  void Join() { thread_.join(); }

  // Packets that arrive in [from, until).
  static uint64_t PacketsIn(Nanos from, Nanos until) {
    return static_cast<uint64_t>((until - 1) / kSpacing - (from - 1) / kSpacing) * kBatch;
  }

 private:
  void Run() {
    Dice dice(1);
    for (Nanos now = kSpacing; now < end_.load(); now += kSpacing) {
      for (Nanos idle = horizon_.load(); idle < now; idle = horizon_.load()) {
        Sweep(idle);
        std::this_thread::yield();
      }
      std::vector<testing::UdpFrame> packets;
      Frame frames[kBatch];
      for (uint64_t i = 0; i < kBatch; i++) packets.push_back(testing::RandomFrame(&dice, 64));
      for (uint64_t i = 0; i < kBatch; i++) frames[i] = packets[i].frame();
      Sweep(now);
      monitor_->OnBatch(frames, kBatch, false, 0, 0, now);
    }
    monitor_->CloseEpoch(end_.load());
    Sweep(end_.load());
    is_over_.store(true);
  }

  // To the end, though the ring may be full for a while.
  void Sweep(Nanos now) {
    while (monitor_->OnIdle(now)) std::this_thread::yield();
  }

  PacketMonitor* monitor_;
  std::atomic<Nanos> horizon_{0};
  std::atomic<Nanos> end_{INT64_MAX};
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

// Under TSan, too: no packet is lost or counted twice while another thread installs and removes.
TEST(InstallUnderTraffic, ConservesEveryPacketBetweenTwoThreads) {
  MonitorOptions options;
  options.max_flows = 1u << 12;
  options.stat_megabytes = 4;
  options.ring_bytes = 1u << 16;
  options.connections.max_connections = 64;
  options.connections.max_history_records = 64;
  const auto monitor = testing::MakeMonitor(options);
  testing::SummingSink sink({});
  TrafficThread traffic(monitor.get());
  Dice dice(7);
  const auto plan_of = [](uint32_t id) {
    return testing::PlanOf(id, FilterExpr(), Variable::kPackets, 1 + id % 3);
  };
  struct Life {
    std::shared_ptr<const TriggerPlan> plan;
    Nanos from;
    Nanos until;
  };
  std::vector<Life> lives;
  std::vector<size_t> installed;
  Nanos horizon = 0;
  for (uint64_t generation = 1; generation <= 300; generation++) {
    const Nanos from = horizon + 1 + Below(&dice, 50 * kNanosPerMicro);
    std::vector<size_t> kept;
    for (const size_t life : installed) {
      if (life != 0 && Chance(&dice, 40)) {
        lives[life].until = from;
      } else {
        kept.push_back(life);
      }
    }
    installed = kept;
    for (int64_t i = lives.empty() ? 1 : Below(&dice, 4); i > 0; i--) {
      installed.push_back(lives.size());
      lives.push_back({plan_of(static_cast<uint32_t>(lives.size() + 1)), from, 0});
    }
    HostVerdicts::Plans plans;
    for (const size_t life : installed) plans.push_back(lives[life].plan);
    sink.Know(plans);
    ASSERT_TRUE(monitor->Publish(TriggerProgram::Make(plans, generation, from)).ok());
    horizon = from + Below(&dice, 100 * kNanosPerMicro);
    traffic.LetRunUntil(horizon);
    while (monitor->running_generation() != generation) monitor->Drain(&sink);
  }
  const Nanos end = horizon + kNanosPerMilli;
  traffic.EndAt(end);
  while (!traffic.is_over()) monitor->Drain(&sink);
  traffic.Join();
  monitor->Drain(&sink);
  for (const size_t life : installed) lives[life].until = end;
  for (const Life& life : lives) {
    const uint32_t id = life.plan->spec.id;
    EXPECT_EQ(sink.total_packets[id], TrafficThread::PacketsIn(life.from, life.until))
        << "event " << id << " from " << life.from << " until " << life.until;
  }
  EXPECT_EQ(sink.reasons, 0u);
}

}  // namespace
}  // namespace trumpet
