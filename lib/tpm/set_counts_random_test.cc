// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Flows that their sets count for, under random traffic and changes of events, beside a count that
// looks every packet up in the list of all events.

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "lib/model/bucket_key.h"
#include "lib/model/report.h"
#include "lib/tpm/monitor_harness_test.h"
#include "lib/tpm/step_test_kit.h"

namespace trumpet {
namespace {

using testing::DstPrefix;
using testing::HandClock;
using testing::kRack;
using testing::PlanOf;
using testing::Rig;
using testing::UdpFrame;

constexpr Nanos kMs = kNanosPerMilli;

// Beside the monitor, every packet looked up again in the list of all events.
class RandomStory {
 public:
  explicit RandomStory(uint64_t seed) : dice_(seed) {
    clock_.per_look = 1 + Below(3) * 2000;
    MonitorOptions options;
    options.step_clock = &clock_;
    options.max_flows = 2048;
    options.takes_quads = seed % 2 == 0;
    programs_.push_back(NewEvents());
    rig_ = std::make_unique<Rig>(programs_.back(), options);
  }

  void Run() {
    for (int batch = 0; batch < 2000; batch++) {
      now_ += Below(200) * kNanosPerMicro;
      if (Below(100) == 0) Change();
      SendBatch();
      if (Below(4) != 0) continue;
      rig_->monitor->OnIdle(now_);
      rig_->monitor->Drain(&rig_->sink);
    }
    rig_->Finish(now_ + 100 * kMs);
  }

  void Check() const {
    EXPECT_EQ(rig_->counters().uncounted_packets, 0u);
    for (const auto& [event, packets] : truth_) {
      const auto found = rig_->sink.total_packets.find(event);
      ASSERT_EQ(found == rig_->sink.total_packets.end() ? 0 : found->second, packets) << event;
    }
    if ((rig_->sink.reasons & ~uint32_t{kMonitorInterrupted}) != 0) return;  // moved by late sweeps
    ASSERT_EQ(rig_->sink.packets, by_interval_);
  }
  bool was_late() const { return (rig_->sink.reasons & kSweepSkipped) != 0; }
  MonitorCounters counters() const { return rig_->counters(); }

 private:
  int Below(int limit) { return static_cast<int>(dice_() % static_cast<uint64_t>(limit)); }

  void Change() {
    programs_.push_back(NewEvents());
    rig_->Change(programs_.back(), now_ + Below(3) * kMs);
  }

  HostVerdicts::Plans NewEvents() {
    HostVerdicts::Plans plans;
    const int percent_by_flow = Below(2) * 20;
    for (int i = 1 + Below(12); i > 0; i--) {
      const uint32_t id = next_event_++;
      const int length = 24 + Below(9);
      const auto address = kRack + static_cast<uint32_t>(Below(32));
      const auto variable = Below(2) == 0 ? Variable::kVolume : Variable::kPackets;
      plans.push_back(PlanOf(id, DstPrefix(address, length), variable, Below(2) == 0 ? 5 : 10,
                             Below(100) < percent_by_flow));
    }
    return plans;
  }

  // A program that finds the sweep in its way comes later than it should.
  void SendBatch() {
    std::vector<UdpFrame> packets;
    std::vector<Frame> frames;
    for (int i = 1 + Below(40); i > 0; i--) {
      const auto dst = kRack + static_cast<uint32_t>(Below(32));
      packets.emplace_back(static_cast<uint32_t>(Below(8)), dst, 5, 6);
    }
    for (const UdpFrame& packet : packets) frames.push_back(packet.frame());
    rig_->monitor->OnBatch(frames.data(), static_cast<int>(frames.size()), false, 0, 0, now_);
    for (const UdpFrame& packet : packets) CountIn(rig_->monitor->running_generation(), packet);
  }

  void CountIn(uint64_t generation, const UdpFrame& udp) {
    if (generation == 0) return;  // the first program was replaced before it came
    ParsedPacket packet;
    ParsePacket(udp.frame(), ParseOptions(), &packet);
    for (const auto& plan : programs_[generation - 1]) {
      if (!Matches(plan->spec.filter, packet)) continue;
      truth_[plan->spec.id]++;
      BucketKey key;
      const auto read = [&packet](const FieldRef& ref) { return ReadField(packet, ref); };
      ASSERT_TRUE(MakeBucketKey(plan->spec.granularity, read, &key));
      const int64_t interval = CellOf(now_, plan->spec.interval_ns());
      by_interval_[{plan->spec.id, std::string(key.view()), interval}]++;
    }
  }

  std::mt19937_64 dice_;
  HandClock clock_;
  std::unique_ptr<Rig> rig_;
  std::vector<HostVerdicts::Plans> programs_;  // by generation, the first one is 1
  uint32_t next_event_ = 1;
  Nanos now_ = kMs;
  std::map<uint32_t, uint64_t> truth_;
  std::map<std::tuple<uint32_t, std::string, int64_t>, uint64_t> by_interval_;
};

TEST(SetCounts, AgreeWithPlainCountingUnderRandomChanges) {
  int late = 0;
  uint64_t swept_sets = 0, swept_flows = 0;
  for (uint64_t seed = 1; seed <= 30; seed++) {
    RandomStory story(seed);
    story.Run();
    story.Check();
    if (::testing::Test::HasFatalFailure()) FAIL() << "seed " << seed;
    late += story.was_late() ? 1 : 0;
    swept_sets += story.counters().swept_sets;
    swept_flows += story.counters().swept_flows;
  }
  EXPECT_GT(swept_sets, 1000u);
  EXPECT_GT(swept_flows, 1000u);
  EXPECT_LT(late, 25) << "most stories tell the intervals, too";
}

}  // namespace
}  // namespace trumpet
