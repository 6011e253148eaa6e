// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// HostVerdicts against an evaluator that keeps everything and looks everything up again.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "lib/verdict/host_verdicts.h"
#include "lib/verdict/slow_host_test.h"
#include "lib/verdict/verdict_test_kit.h"

namespace trumpet {
namespace {

using namespace kit;

constexpr Nanos kEpoch = Ms(10);
constexpr Nanos kFlowTimeout = Ms(70);
constexpr int kEpochs = 120;
constexpr int kFlows = 4;

class Story {
 public:
  explicit Story(uint64_t seed, uint32_t longest_run = 3)
      : random_(seed), longest_run_(longest_run) {
    MakeEvents();
    MakeFlows();
    MakePackets();
  }

  // Delivers in epochs, some partials and updates ahead of time, and decides in strides.
  std::vector<Report> Run(size_t bucket_cap = SIZE_MAX) {
    HostVerdicts verdicts(kFlowTimeout, random_());
    verdicts.LimitBuckets(bucket_cap);
    verdicts.Apply(slow_.plans, 0, true);
    std::vector<Report> reports;
    uint64_t most_alive = 0;
    uint64_t most_ahead = 0;
    const bool has_keys =
        std::none_of(slow_.plans.begin(), slow_.plans.end(),
                     [](const auto& plan) { return plan->spec.granularity.is_none(); });
    std::vector<bool> is_sent(slow_.packets.size());
    for (Nanos now = 0; now < kEpochs * kEpoch; now += kEpoch) {
      for (size_t i = 0; i < slow_.packets.size(); ++i) {
        const Nanos start = slow_.packets[i].epoch_start;
        const bool is_early = start > now && start <= now + 3 * kEpoch && Chance(10);
        if (is_sent[i] || (start > now && !is_early)) continue;
        Send(slow_.packets[i], &verdicts);
        is_sent[i] = true;
      }
      for (const FlowStateUpdate& update : slow_.updates) {
        if (update.epoch_start == now) verdicts.Add(update);
      }
      if (Chance(60)) verdicts.Advance(now + kEpoch, &reports);
      most_alive = std::max(most_alive, verdicts.counters().buckets);
      if (has_keys) most_ahead = std::max(most_ahead, verdicts.counters().buckets_ahead);
    }
    verdicts.Advance(kEpochs * kEpoch, &reports);
    EXPECT_EQ(verdicts.counters().late_partials, 0u);
    EXPECT_EQ(verdicts.counters().reports, reports.size());
    EXPECT_LE(most_alive, std::max(bucket_cap, slow_.plans.size()));
    EXPECT_LE(most_ahead, bucket_cap) << "with no event without granularity";
    return reports;
  }

  const SlowHost& slow() const { return slow_; }

 private:
  bool Chance(int percent) { return static_cast<int>(random_() % 100) < percent; }
  int64_t Below(int64_t limit) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(limit));
  }

  void MakeEvents() {
    const std::vector<Expr> plain = PlainPredicates();
    const std::vector<Expr> flow = FlowPredicates();
    for (uint32_t id = 1; id <= 8; ++id) {
      const bool is_flow = Chance(50);
      const auto& pool = is_flow ? flow : plain;
      Granularity granularity = is_flow ? ByFlow() : Chance(60) ? ByPort() : Granularity();
      EventSpec event =
          Event(id, pool[static_cast<size_t>(Below(static_cast<int64_t>(pool.size())))],
                granularity, static_cast<uint32_t>(10 * (1 + Below(3))));
      event.for_count = static_cast<uint32_t>(1 + Below(longest_run_));
      slow_.plans.push_back(Plan(event));
    }
  }

  // Each flow's state grows, rests, dies and starts anew.
  void MakeFlows() {
    std::vector<FlowStateUpdate> flows(kFlows);
    for (int number = 0; number < kFlows; ++number) {
      flows[static_cast<size_t>(number)].flow = Flow(static_cast<uint8_t>(number));
    }
    for (Nanos start = 0; start < kEpochs * kEpoch; start += kEpoch) {
      for (FlowStateUpdate& update : flows) {
        FlowState& state = update.state;
        if (!Chance(state.dup % 2 == 0 ? 50 : 7)) continue;
        const Nanos now = start + Below(kEpoch);
        GrowFlow(
            now, kFlowTimeout, [this](int64_t limit) { return Below(limit); }, &state);
        update.epoch_start = start;
        update.epoch_end = start + kEpoch;
        slow_.updates.push_back(update);
      }
    }
  }

  void MakePackets() {
    for (const auto& plan : slow_.plans) {
      for (Nanos start = 0; start < kEpochs * kEpoch; start += kEpoch) {
        const bool is_busy = start / kEpoch % 60 < 25;  // then long enough for tails to end
        for (int64_t i = Below(is_busy ? 4 : 2) - (is_busy ? 0 : Below(40)); i > 0; --i) {
          Values packet{{Variable::kPackets, 1}, {Variable::kVolume, Below(4)}};
          if (Chance(50)) packet[Variable::kTtl] = Below(5);
          slow_.packets.push_back({plan->spec.id, start, RandomKey(plan->spec), packet});
        }
      }
    }
    std::shuffle(slow_.packets.begin(), slow_.packets.end(), random_);
  }

  std::string RandomKey(const EventSpec& event) {
    if (event.granularity.is_none()) return "";
    if (!event.granularity.is_five_tuple) return PortKey(static_cast<uint32_t>(Below(3)));
    return FlowBucket(static_cast<uint8_t>(Below(kFlows + 1)));  // one has no state
  }

  void Send(const Counted& counted, HostVerdicts* verdicts) {
    const TriggerPlan& plan = *slow_.plans[counted.event - 1];
    const auto words = CellsOf(plan, counted.packet);
    verdicts->Add(PartialOf(counted.event, counted.epoch_start, counted.epoch_start + kEpoch,
                            counted.key, words));
  }

  std::mt19937_64 random_;
  uint32_t longest_run_;
  SlowHost slow_{kFlowTimeout};
};

std::vector<std::string> Lines(const std::vector<Report>& reports) {
  std::vector<std::string> lines;
  for (const Report& report : reports) lines.push_back(ToJsonLine(report));
  return lines;
}

TEST(HostVerdicts, AgreesWithTheSlowEvaluatorOnRandomStories) {
  size_t report_count = 0;
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    Story story(seed);
    const std::vector<std::string> expected = story.slow().Reports(kEpochs * kEpoch);
    const std::vector<std::string> found = Lines(story.Run());
    ASSERT_EQ(found.size(), expected.size()) << "seed " << seed;
    for (size_t i = 0; i < found.size(); ++i) {
      ASSERT_EQ(found[i], expected[i]) << "seed " << seed << ", report " << i;
    }
    report_count += found.size();
  }
  EXPECT_GT(report_count, 1000u);  // the stories tell something
}

// Runs of one interval: what is missing in an earlier one cannot show in a later report.
TEST(HostVerdicts, SaysOfEveryReportThatTheCapOfAllCouldChangeThatItIsIncomplete) {
  size_t complete_count = 0;
  size_t marked_count = 0;
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    Story story(seed, 1);
    const std::vector<std::string> all = story.slow().Reports(kEpochs * kEpoch);
    const std::set<std::string> expected(all.begin(), all.end());
    for (const Report& report : story.Run(8)) {
      if (report.is_complete()) {
        ++complete_count;
        EXPECT_EQ(expected.count(ToJsonLine(report)), 1u) << "seed " << seed;
      } else {
        ++marked_count;
        EXPECT_EQ(report.incomplete_reasons, static_cast<uint32_t>(kBucketEvicted));
      }
    }
  }
  EXPECT_GT(complete_count, 100u);
  EXPECT_GT(marked_count, 100u);
}

}  // namespace
}  // namespace trumpet
