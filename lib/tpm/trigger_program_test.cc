// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/trigger_program.h"

#include <gtest/gtest.h>

#include "lib/tpm/monitor_harness_test.h"
#include "lib/tpm/offline_run.h"

namespace trumpet {
namespace {

using testing::DstPrefix;
using testing::PlanOf;
using testing::VariableExpr;

// sum(bytes + first) + sum(bytes + first + 1) + ..., `count` operands.
std::shared_ptr<const TriggerPlan> PlanWithOperands(uint32_t id, int64_t first, int count,
                                                    AggregateKind kind = AggregateKind::kSum) {
  EventSpec spec;
  spec.id = id;
  spec.name = "event-" + std::to_string(id);
  spec.filter = DstPrefix(0, 0);
  spec.interval_ms = 10;
  spec.predicate.op = ExprOp::kAdd;
  for (int i = 0; i < count; i++) {
    Expr number;
    number.number = Number::Integer(first + i);
    Expr operand;
    operand.op = ExprOp::kAdd;
    operand.args = {VariableExpr(Variable::kBytes), number};
    Expr aggregate;
    aggregate.op = ExprOp::kAggregate;
    aggregate.aggregate = kind;
    aggregate.args.push_back(operand);
    spec.predicate.args.push_back(aggregate);
  }
  return std::make_shared<const TriggerPlan>(MakeTriggerPlan(spec));
}

TEST(TriggerProgram, RefusesAnEventWithMoreCellsThanFit) {
  // One word of packets, and three an operand.
  EXPECT_TRUE(TriggerProgram::Check({PlanWithOperands(1, 0, 2730)}).ok());
  const Status status = TriggerProgram::Check({PlanWithOperands(1, 0, 2731)});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.message(),
            "event \"event-1\" keeps 8194 words of 8 bytes per bucket for its aggregates; an "
            "event may keep 8192");
}

TEST(TriggerProgram, RefusesMoreOperandsThanItCanNumber) {
  HostVerdicts::Plans plans;
  for (uint32_t id = 1; id <= 32; id++) plans.push_back(PlanWithOperands(id, id * 2048, 2047));
  plans.push_back(PlanWithOperands(33, 1 << 20, 30));
  EXPECT_TRUE(TriggerProgram::Check(plans).ok());  // 65,535 with `packets`
  plans.push_back(PlanWithOperands(34, 1 << 20, 30));
  EXPECT_TRUE(TriggerProgram::Check(plans).ok());  // the same again
  plans.push_back(PlanWithOperands(35, 1 << 20, 31));
  const Status status = TriggerProgram::Check(plans);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.message(),
            "with event \"event-35\" there are more than 65535 different operands of aggregates in "
            "all events together");
}

TEST(TriggerProgram, NumbersEqualOperandsOfDifferentEventsOnce) {
  const auto program =
      TriggerProgram::Make({PlanWithOperands(1, 5, 3), PlanWithOperands(2, 6, 3)}, 1, INT64_MIN);
  EXPECT_EQ(program->operands().size(), 5u);
  EXPECT_EQ(program->OperandOf(0, 0), program->OperandOf(1, 0));
  EXPECT_EQ(program->OperandOf(0, 2), program->OperandOf(1, 1));
  EXPECT_NE(program->OperandOf(0, 1), program->OperandOf(1, 1));
}

// Events of round-trip times with these ids, and one of packets.
std::shared_ptr<const TriggerProgram> WithRttEvents(uint32_t first, uint32_t count) {
  HostVerdicts::Plans plans = {PlanOf(1, DstPrefix(0, 0), Variable::kPackets, 10)};
  for (uint32_t i = 0; i < count; i++) {
    plans.push_back(PlanOf(first + i, DstPrefix(0, 0), Variable::kRtt, 10));
  }
  return TriggerProgram::Make(plans, 1, INT64_MIN);
}

TEST(TriggerProgram, TellsWhetherItMayAddEventsOfRoundTripTimes) {
  const auto may_add = [](uint32_t first, uint32_t count, uint32_t before_first, uint32_t before) {
    return WithRttEvents(first, count)->MayAddRttEvents(*WithRttEvents(before_first, before));
  };
  EXPECT_FALSE(may_add(2, 0, 2, 0));
  EXPECT_FALSE(may_add(2, 3, 2, 3));
  EXPECT_FALSE(may_add(3, 2, 2, 4)) << "two are left out";
  EXPECT_TRUE(may_add(2, 4, 3, 2));
  EXPECT_TRUE(may_add(2, 3, 5, 3));
  EXPECT_FALSE(may_add(2, 4000, 2, 4000));
  EXPECT_TRUE(may_add(2, 4001, 2, 4000));
  EXPECT_FALSE(may_add(2, 0, 2, 4000));
}

TEST(TriggerProgram, AnOfflineRunRefusesWhatDoesNotFit) {
  const auto no_frames = [](Nanos*, Frame*) -> Result<bool> { return false; };
  const auto no_reports = [](const Report&) { return Status::Ok(); };
  const auto run = RunOffline({PlanWithOperands(1, 0, 5000)}, {}, no_frames, no_reports);
  ASSERT_FALSE(run.ok());
  EXPECT_NE(run.message().find("an event may keep 8192"), std::string::npos) << run.message();
}

}  // namespace
}  // namespace trumpet
