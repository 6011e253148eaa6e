// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What a step of the sweep may take, and that steps cut anywhere deliver the same.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "lib/model/report.h"
#include "lib/tpm/monitor_harness_test.h"
#include "lib/tpm/step_test_kit.h"
#include "lib/verdict/verdict_test_kit.h"

namespace trumpet {
namespace {

using testing::DstPrefix;
using testing::HandClock;
using testing::MakeMonitor;
using testing::PlanOf;
using testing::Send;
using testing::SweepAll;
using testing::UdpFrame;

constexpr Nanos kMs = kNanosPerMilli;
constexpr uint32_t kRack = 0x0a008000;

// An event with `count` operands of its own, `first` and up: real-valued ones if `is_real`.
std::shared_ptr<const TriggerPlan> WidePlan(uint32_t id, int first, int count, bool is_real,
                                            bool is_five_tuple) {
  EventSpec spec;
  spec.id = id;
  spec.name = "wide-" + std::to_string(id);
  spec.filter = DstPrefix(0, 0);
  spec.interval_ms = 10;
  spec.granularity.is_five_tuple = is_five_tuple;
  spec.predicate.op = ExprOp::kAdd;
  for (int i = first; i < first + count; i++) {
    const Expr shift = is_real ? kit::Real(i + 0.1) : kit::Num(i);
    const Expr operand = kit::Op(kit::Var(Variable::kBytes), ExprOp::kAdd, shift);
    spec.predicate.args.push_back(kit::Agg(AggregateKind::kSum, operand));
    spec.predicate.args.push_back(kit::Agg(AggregateKind::kMax, operand));
  }
  return std::make_shared<const TriggerPlan>(MakeTriggerPlan(spec));
}

// Every partial as it came.
class KeepingSink : public DeliverySink {
 public:
  explicit KeepingSink(const HostVerdicts::Plans& plans) {
    for (const auto& plan : plans) word_counts_[plan->spec.id] = plan->word_count;
  }
  void OnPartial(const PartialView& partial) override {
    partials[{partial.event_id, std::string(partial.bucket_key), partial.epoch_start}].emplace_back(
        partial.words, partial.words + word_counts_.at(partial.event_id));
  }
  void OnFlowState(const FlowStateUpdate&) override {}
  void OnEpochEnd(Nanos, Nanos, uint32_t epoch_reasons) override { reasons |= epoch_reasons; }

  std::map<std::tuple<uint32_t, std::string, Nanos>, std::vector<std::vector<uint64_t>>> partials;
  uint32_t reasons = 0;

 private:
  std::map<uint32_t, size_t> word_counts_;
};

struct Swept {
  explicit Swept(const HostVerdicts::Plans& plans) : sink(plans) {}
  KeepingSink sink;
  MonitorCounters counters;
  StepCounts steps;
};

// 20 packets of each of `flows` flows, swept with these options; whatever the packets cost.
Swept SweepFlows(const HostVerdicts::Plans& plans, MonitorOptions options, uint16_t flows) {
  options.packet_budget_ns = INT64_MAX;
  Swept swept(plans);
  const auto monitor = MakeMonitor(options);
  EXPECT_TRUE(monitor->Publish(TriggerProgram::Make(plans, 1, INT64_MIN)).ok());
  for (int round = 0; round < 20; round++) {
    for (uint16_t port = 0; port < flows; port++) {
      Send(monitor.get(), UdpFrame(1, kRack + port % 7, port, 6), round);
    }
  }
  SweepAll(monitor.get(), 10 * kMs, &swept.sink);
  swept.counters = monitor->counters();
  swept.steps = monitor->steps();
  return swept;
}

// Steps that end at their first look at the clock.
MonitorOptions OneLook(const HandClock* clock) {
  MonitorOptions options;
  options.step_clock = clock;
  options.sweep_budget_ns = clock->per_look;
  return options;
}

TEST(SweepSteps, CutAmidFlowsDeliverTheSame) {
  const HostVerdicts::Plans plans = {PlanOf(1, DstPrefix(0, 0), Variable::kVolume, 10),
                                     WidePlan(2, 0, 1, false, false),
                                     WidePlan(3, 0, 2, true, false)};
  MonitorOptions whole;
  whole.sweeps_unbounded = true;
  const Swept at_once = SweepFlows(plans, whole, 500);
  HandClock clock;
  clock.per_look = 1000;
  EXPECT_EQ(SweepFlows(plans, OneLook(&clock), 500).sink.partials, at_once.sink.partials);
}

TEST(SweepSteps, CutAnywhereDeliverTheSame) {
  const HostVerdicts::Plans plans = {WidePlan(1, 0, 60, true, false),
                                     WidePlan(2, 0, 500, false, false),
                                     WidePlan(3, 0, 60, true, true),
                                     WidePlan(4, 0, 300, false, true),
                                     WidePlan(5, 50, 100, true, true),
                                     PlanOf(6, DstPrefix(kRack, 31), Variable::kVolume, 10),
                                     PlanOf(7, DstPrefix(kRack, 30), Variable::kVolume, 10, true)};
  MonitorOptions whole;
  whole.sweeps_unbounded = true;
  const Swept at_once = SweepFlows(plans, whole, 50);
  HandClock clock;
  clock.per_look = 1000;
  const Swept in_steps = SweepFlows(plans, OneLook(&clock), 50);
  EXPECT_GT(in_steps.counters.sweep_steps, 1000u);
  EXPECT_EQ(in_steps.sink.partials.size(), 3u + 3 * 50 + 29);
  EXPECT_EQ(in_steps.sink.partials, at_once.sink.partials);
  EXPECT_EQ(in_steps.sink.reasons, 0u);
}

// Between two looks at the clock lie some 300 ns of work by the weights of sweep.cc; what follows
// would be one look if the work named were not cut.
TEST(SweepSteps, LookAtTheClockAmidTheCellsOfOneFlow) {
  HandClock clock;
  clock.per_look = 1000;
  const uint64_t base =
      SweepFlows({WidePlan(1, 0, 1, true, false)}, OneLook(&clock), 1).counters.sweep_steps;
  const uint64_t copied =
      SweepFlows({WidePlan(1, 0, 800, true, false)}, OneLook(&clock), 1).counters.sweep_steps;
  EXPECT_GE(copied - base, 20u) << "4,000 words into the set's sum, and the ring";
  const uint64_t merged =
      SweepFlows({WidePlan(1, 0, 800, true, false)}, OneLook(&clock), 2).counters.sweep_steps;
  EXPECT_GE(merged - copied, 800u / 3) << "800 sums of 4 doubles, 100 ns each";
  const uint64_t delivered =
      SweepFlows({WidePlan(1, 0, 800, true, true)}, OneLook(&clock), 1).counters.sweep_steps;
  EXPECT_GE(delivered - base, 1600u * 4 / 300) << "as many cells into the ring";
}

HostVerdicts::Plans ThousandsOfEvents(bool by_flow) {
  HostVerdicts::Plans plans;
  for (uint32_t id = 1; id <= 4096; id++) {
    plans.push_back(PlanOf(id, DstPrefix(0, 0), Variable::kVolume, 10, by_flow));
  }
  return plans;
}

TEST(SweepSteps, LookAtTheClockAmidTheTriggersOfOneFlow) {
  HandClock clock;
  clock.per_look = 1000;
  const HostVerdicts::Plans plans = ThousandsOfEvents(true);
  EXPECT_GE(SweepFlows(plans, OneLook(&clock), 1).counters.sweep_steps, 4096u * 40 / 300);
}

TEST(SweepSteps, LeaveTheTriggersOfASetToTheAgent) {
  HandClock clock;
  clock.per_look = 1000;
  const HostVerdicts::Plans plans = ThousandsOfEvents(false);
  MonitorOptions options = OneLook(&clock);
  options.max_flows = 64;  // few old entries to look for
  const Swept swept = SweepFlows(plans, options, 50);
  EXPECT_EQ(swept.counters.swept_sets, 1u);
  EXPECT_LE(swept.counters.sweep_steps, 3u);
  EXPECT_EQ(swept.sink.partials.size(), 4096u);
  EXPECT_EQ(swept.counters.partials, 4096u);
}

FilterExpr SrcPortIs(uint16_t port) {
  FilterExpr filter;
  filter.op = FilterOp::kTest;
  filter.test.ref = {Field::kSrcPort, Level::kInnermost};
  filter.test.ranges.push_back({ValueKind::kNumber, port, port});
  return filter;
}

TEST(SweepSteps, LookAtTheClockAmidManySets) {
  constexpr uint16_t kSets = 500;
  HandClock clock;
  clock.per_look = 1000;
  HostVerdicts::Plans plans;
  for (uint16_t port = 0; port < kSets; port++) {
    plans.push_back(PlanOf(port + 1u, SrcPortIs(port), Variable::kVolume, 10));
  }
  const Swept swept = SweepFlows(plans, OneLook(&clock), kSets);
  EXPECT_EQ(swept.counters.swept_sets, kSets);
  EXPECT_EQ(swept.sink.partials.size(), kSets);
  EXPECT_GE(swept.counters.sweep_steps, kSets * 30u / 400);
}

TEST(SweepSteps, LookAtTheClockWhileOldEntriesAreLookedFor) {
  HandClock clock;
  clock.per_look = 1000;
  MonitorOptions options = OneLook(&clock);
  options.max_flows = 1u << 20;  // 257 entries per epoch
  const Swept swept = SweepFlows({WidePlan(1, 0, 1, false, false)}, options, 500);
  EXPECT_GE(swept.counters.sweep_steps, 257u * 50 / 400 + 500u * 25 / 400);
}

TEST(SweepSteps, LastNoLongerThanTheBudgetAndAPiece) {
  HandClock clock;
  clock.per_look = 400;  // what the work between two looks takes
  MonitorOptions options;
  options.step_clock = &clock;
  HostVerdicts::Plans plans;
  for (uint32_t id = 1; id <= 16; id++) plans.push_back(WidePlan(id, 0, 20, true, id % 2 == 0));
  const Swept swept = SweepFlows(plans, options, 500);
  EXPECT_GT(swept.steps.count(), 100u);
  EXPECT_EQ(swept.steps.over_limit, 0u);
  EXPECT_LE(swept.steps.Longest(), options.sweep_budget_ns + 3 * clock.per_look);
}

}  // namespace
}  // namespace trumpet
