// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/trigger_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "lib/base/memory_shortage_test.h"
#include "lib/tpm/monitor_harness_test.h"

namespace trumpet {
namespace {

using testing::DstPrefix;
using testing::VariableExpr;

Expr NumberExpr(int64_t value) {
  Expr number;
  number.number = Number::Integer(value);
  return number;
}

Expr Aggregate(AggregateKind kind, const Expr& operand) {
  Expr aggregate;
  aggregate.op = ExprOp::kAggregate;
  aggregate.aggregate = kind;
  aggregate.args.push_back(operand);
  return aggregate;
}

Expr Both(ExprOp op, const Expr& a, const Expr& b) {
  Expr expr;
  expr.op = op;
  expr.args = {a, b};
  return expr;
}

// stddev(bytes + id) + sum(ttl) + sum(bytes): indirect and direct steps, by turns.
std::shared_ptr<const TriggerPlan> MixedPlan(uint32_t id) {
  EventSpec spec;
  spec.id = id;
  spec.filter = DstPrefix(0, 0);
  spec.interval_ms = 10;
  const Expr shifted = Both(ExprOp::kAdd, VariableExpr(Variable::kBytes), NumberExpr(id));
  const Expr sums = Both(ExprOp::kAdd, Aggregate(AggregateKind::kSum, VariableExpr(Variable::kTtl)),
                         Aggregate(AggregateKind::kSum, VariableExpr(Variable::kBytes)));
  spec.predicate = Both(ExprOp::kAdd, Aggregate(AggregateKind::kStddev, shifted), sums);
  return std::make_shared<const TriggerPlan>(MakeTriggerPlan(spec));
}

struct Sets {
  explicit Sets(uint32_t events) : triggers(events) {
    std::iota(triggers.begin(), triggers.end(), 0u);
    HostVerdicts::Plans plans;
    for (uint32_t id = 1; id <= events; id++) plans.push_back(MixedPlan(id));
    program = TriggerProgram::Make(plans, 1, INT64_MIN);
    EXPECT_TRUE(table.Init(16, size_t{16} << 20));
    table.Learn(*program);
  }
  uint32_t Intern(uint32_t count) { return table.Intern(triggers.data(), count); }

  std::vector<uint32_t> triggers;
  std::shared_ptr<const TriggerProgram> program;
  TriggerSetTable table;
};

TEST(InternedSet, MakingASetAllocatesNothing) {
  Sets sets(100);
  uint32_t set = sets.table.refused();
  EXPECT_TRUE(testing::DoesWith(0, [&] { set = sets.Intern(100); }));
  ASSERT_NE(set, sets.table.refused());
  EXPECT_EQ(sets.table.At(set).plain_count, 2u);  // packets and the sum of bytes
}

TEST(InternedSet, EveryCellOfEveryTriggerIsPlainOrAStepOfItsKind) {
  Sets sets(50);
  const InternedSet& set = sets.table.At(sets.Intern(50));
  const uint16_t* place = set.places;
  for (uint32_t trigger = 0; trigger < 50; trigger++) {
    for (const CellSpec& cell : sets.program->plans()[trigger]->cells) {
      int found = 0;
      if ((*place & kPlainPlace) != 0) {
        found = (*place & ~kPlainPlace) < set.plain_count ? 1 : 0;
      }
      for (uint32_t step = 0; step < set.step_count; step++) {
        found += set.steps[step].offset == *place && set.steps[step].kind == cell.kind ? 1 : 0;
      }
      EXPECT_EQ(found, 1) << trigger;
      place++;
    }
  }
}

// Of eleven words for each trigger, and a few for all.
TEST(InternedSet, ASetThatIsTooWideTakesTheFirstTriggersAndIsKnownByAll) {
  Sets sets(4096);
  const uint32_t wide = sets.Intern(4096);
  const InternedSet& set = sets.table.At(wide);
  EXPECT_TRUE(sets.table.ProgramAt(wide).is_cut);
  EXPECT_EQ(set.match_count, 4096u);
  EXPECT_GT(set.trigger_count, kMaxSetWords / 12);
  EXPECT_LE(sets.table.ProgramAt(wide).word_count, kMaxSetWords);
  EXPECT_TRUE(std::equal(set.triggers, set.triggers + set.trigger_count, sets.triggers.data()));
  EXPECT_EQ(sets.Intern(4096), wide);
  const uint32_t narrow = sets.Intern(set.trigger_count);
  EXPECT_NE(narrow, wide);
  EXPECT_FALSE(sets.table.ProgramAt(narrow).is_cut);
  EXPECT_EQ(sets.Intern(4096), wide);
  EXPECT_EQ(sets.table.count(), 2u);
}

TEST(InternedSet, WithoutRoomForAnotherTheRefusedOneIsTaken) {
  Sets sets(17);
  for (uint32_t count = 1; count <= 16; count++) EXPECT_EQ(sets.Intern(count), count - 1);
  EXPECT_EQ(sets.Intern(17), sets.table.refused());
  EXPECT_EQ(sets.Intern(9), 8u);
  EXPECT_EQ(sets.table.count(), 16u);
  const SetProgram& refused = sets.table.ProgramAt(sets.table.refused());
  EXPECT_TRUE(refused.is_cut);
  EXPECT_EQ(refused.word_count, 0u);
  EXPECT_EQ(refused.direct_cells & kDirect, 0) << "each packet must be told as not counted";
  sets.table.Clear();
  sets.table.Learn(*sets.program);
  EXPECT_EQ(sets.Intern(17), 0u);
}

TEST(InternedSet, AFullArenaRefusesWideSetsAndTakesNarrowOnes) {
  Sets sets(1000);
  uint32_t made = 0;
  TriggerSetTable table;
  ASSERT_TRUE(table.Init(64, size_t{1} << 17));
  table.Learn(*sets.program);
  const auto is_made = [&](uint32_t count) {
    return table.Intern(sets.triggers.data(), count) != table.refused();
  };
  for (uint32_t count = 1000; count > 900; count--) made += is_made(count) ? 1 : 0;
  EXPECT_LT(made, 10u);
  EXPECT_TRUE(is_made(1));
}

// Else a set that is touched again is listed twice, which makes the list a ring, and others are
// swept with counts of two epochs ago.
TEST(TriggerSetTable, AnEpochBeginsWithoutSetsWhateverTheSweepLeftOfTheOneBeforeLast) {
  TriggerSetTable sets;
  ASSERT_TRUE(sets.Init(4, 1 << 16));
  for (const uint32_t epoch : {6u, 7u}) {
    sets.BeginEpoch(epoch);
    sets.Touch(0, epoch);
    sets.Touch(1, epoch);
  }
  sets.DropFirstTouched(6);  // and then the sweep was given up
  sets.BeginEpoch(8);
  EXPECT_EQ(sets.FirstTouched(8), kNoSet);
  EXPECT_EQ(sets.FirstTouched(7), 1u) << "that is being swept";
  sets.Touch(1, 8);
  EXPECT_EQ(sets.FirstTouched(8), 1u);
  EXPECT_EQ(sets.NextTouched(1, 8), kNoSet);
}

// In a bank the values lie in the order of PlainValues, those that no trigger of the set uses left
// out; the count of packets is always there.
TEST(TriggerSetTable, PlainSetsHaveTheValuesThatTheirTriggersUseInOrder) {
  HostVerdicts::Plans plans;
  const Variable variables[] = {Variable::kVolume, Variable::kPackets, Variable::kIsLost,
                                Variable::kBytes, Variable::kEcn};
  const uint32_t value_of[] = {2, 0, 5, 1, 3};
  for (uint32_t i = 0; i < 5; i++) {
    plans.push_back(testing::PlanOf(i + 1, FilterExpr(), variables[i], 10, i % 2 == 0));
  }
  const auto program = TriggerProgram::Make(plans, 1, INT64_MIN);
  TriggerSetTable table;
  ASSERT_TRUE(table.Init(64, 1 << 16));
  table.Learn(*program);
  for (uint32_t chosen = 1; chosen < 32; chosen++) {
    std::vector<uint32_t> triggers;
    std::set<uint32_t> values{0};
    for (uint32_t i = 0; i < 5; i++) {
      if ((chosen >> i & 1) == 0) continue;
      triggers.push_back(i);
      values.insert(value_of[i]);
    }
    const uint32_t number = table.Intern(triggers.data(), static_cast<uint32_t>(triggers.size()));
    const SetProgram& set_program = table.ProgramAt(number);
    ASSERT_EQ(set_program.plain_count, values.size());
    EXPECT_EQ(set_program.word_count, values.size());
    EXPECT_FALSE(set_program.has_other_cells || set_program.is_cut);
    for (const uint32_t value : values) {
      const auto place = static_cast<uint32_t>(std::distance(values.begin(), values.find(value)));
      EXPECT_EQ(set_program.plain_values >> (4 * place) & 15, value);
    }
    const uint16_t* place = table.At(number).places;
    for (const uint32_t trigger : triggers) {
      for (const CellSpec& cell : plans[trigger]->cells) {
        const uint32_t value = cell.kind == CellKind::kCount ? 0 : value_of[trigger];
        EXPECT_EQ(*place++, std::distance(values.begin(), values.find(value)) | kPlainPlace);
      }
    }
    const bool is_whole = std::none_of(triggers.begin(), triggers.end(),
                                       [](uint32_t trigger) { return trigger % 2 == 0; });
    EXPECT_EQ(table.CountsForFlows(number), is_whole);
  }
}

// --- what a packet may cost ---------------------------------------------------

struct SlowChoice {
  std::vector<uint32_t> triggers;
  Nanos work = 0;
};

// The same from the programs' own numbers: what was taken in lies in a set.
SlowChoice ChooseSlowly(const TriggerProgram& program, const std::vector<uint32_t>& matches,
                        Nanos limit) {
  SlowChoice choice;
  std::set<std::pair<uint16_t, CellKind>> taken;
  for (const uint32_t trigger : matches) {
    std::set<std::pair<uint16_t, CellKind>> more = taken;
    Nanos work = 0;
    for (const CellSpec& cell : program.plans()[trigger]->cells) {
      const uint16_t number = program.OperandOf(trigger, cell.operand);
      const StatOperand& operand = program.operands()[number];
      const bool is_plain = operand.is_bare() && operand.expr().variable != Variable::kTtl;
      if (!is_plain) more.emplace(number, cell.kind);
    }
    for (const auto& [number, kind] : more) {
      work += PacketWorkOf(program.operands()[number], kind);
    }
    if (work > limit) continue;
    choice.triggers.push_back(trigger);
    choice.work = work;
    taken = more;
  }
  return choice;
}

TEST(TriggerSetTable, TakesTriggersInTheirOrderAsLongAsTheirWorkFits) {
  Sets sets(60);
  std::mt19937 random(7);
  uint32_t cut = 0;
  for (int round = 0; round < 2000; round++) {
    sets.table.Clear();
    const Nanos limit = random() % 2000;
    sets.table.LimitPacketWork(limit);
    sets.table.Learn(*sets.program);
    std::vector<uint32_t> matches;
    for (uint32_t i = 0; i < 60; i++) {
      if (random() % 3 == 0) matches.push_back(i);
    }
    const SlowChoice slow = ChooseSlowly(*sets.program, matches, limit);
    const uint32_t number =
        sets.table.Intern(matches.data(), static_cast<uint32_t>(matches.size()));
    const InternedSet& set = sets.table.At(number);
    ASSERT_EQ(std::vector<uint32_t>(set.triggers, set.triggers + set.trigger_count), slow.triggers);
    ASSERT_EQ(sets.table.ProgramAt(number).is_cut, slow.triggers.size() != matches.size());
    cut += sets.table.ProgramAt(number).is_cut;
  }
  EXPECT_GT(cut, 500u);
  EXPECT_LT(cut, 1900u);
}

}  // namespace
}  // namespace trumpet
