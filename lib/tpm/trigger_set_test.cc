// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/trigger_set.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <numeric>
#include <vector>

#include "lib/tpm/monitor_harness_test.h"

namespace {

// Calls of operator new in this thread, as long as the test wants to know.
thread_local uint64_t allocations = 0;

}  // namespace

// Not inlined: the compiler would see malloc() and delete meet, and warn.
#define TRUMPET_NOINLINE __attribute__((noinline))

TRUMPET_NOINLINE void* operator new(size_t size) {
  allocations++;
  void* memory = std::malloc(size);
  if (memory == nullptr) std::abort();
  return memory;
}
TRUMPET_NOINLINE void* operator new(size_t size, const std::nothrow_t&) noexcept {
  allocations++;
  return std::malloc(size);
}
TRUMPET_NOINLINE void operator delete(void* memory) noexcept { std::free(memory); }
TRUMPET_NOINLINE void operator delete(void* memory, size_t) noexcept { std::free(memory); }
TRUMPET_NOINLINE void operator delete(void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}

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
  }
  uint32_t Intern(uint32_t count) { return table.Intern(*program, triggers.data(), count); }

  std::vector<uint32_t> triggers;
  std::shared_ptr<const TriggerProgram> program;
  TriggerSetTable table;
};

TEST(InternedSet, MakingASetAllocatesNothing) {
  Sets sets(100);
  const uint64_t before = allocations;
  const uint32_t set = sets.Intern(100);
  EXPECT_EQ(allocations, before);
  ASSERT_NE(set, kNoSet);
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

// Every packet of such a flow asks again.
TEST(InternedSet, ASetThatIsTooWideIsRememberedOnce) {
  Sets sets(4096);
  EXPECT_EQ(sets.Intern(4096), kNoSet);
  EXPECT_EQ(sets.table.count(), 1u);
  EXPECT_EQ(sets.Intern(4096), kNoSet);
  EXPECT_EQ(sets.table.count(), 1u);
  EXPECT_NE(sets.Intern(10), kNoSet);
  EXPECT_EQ(sets.Intern(4096), kNoSet);
  EXPECT_EQ(sets.table.count(), 2u);
}

TEST(InternedSet, AFullArenaRefusesWideSetsAndTakesNarrowOnes) {
  Sets sets(1000);
  uint32_t made = 0;
  TriggerSetTable table;
  ASSERT_TRUE(table.Init(64, size_t{1} << 17));
  const auto intern = [&](uint32_t count) {
    return table.Intern(*sets.program, sets.triggers.data(), count);
  };
  for (uint32_t count = 1000; count > 900; count--) made += intern(count) != kNoSet ? 1 : 0;
  EXPECT_LT(made, 10u);
  EXPECT_NE(intern(1), kNoSet);
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

TEST(TriggerSetTable, MakesPlainSetsTheSameWithAndWithoutWhatItLearned) {
  HostVerdicts::Plans plans;
  const Variable variables[] = {Variable::kVolume, Variable::kPackets, Variable::kIsLost,
                                Variable::kBytes, Variable::kEcn};
  for (uint32_t i = 0; i < 5; i++) {
    plans.push_back(testing::PlanOf(i + 1, FilterExpr(), variables[i], 10, i % 2 == 0));
  }
  const auto program = TriggerProgram::Make(plans, 1, INT64_MIN);
  TriggerSetTable sorted;
  TriggerSetTable learned;
  ASSERT_TRUE(sorted.Init(64, 1 << 16) && learned.Init(64, 1 << 16));
  learned.Learn(*program);
  for (uint32_t chosen = 0; chosen < 32; chosen++) {
    std::vector<uint32_t> triggers;
    size_t cells = 0;
    for (uint32_t i = 0; i < 5; i++) {
      if ((chosen >> i & 1) == 0) continue;
      triggers.push_back(i);
      cells += plans[i]->cells.size();
    }
    const auto count = static_cast<uint32_t>(triggers.size());
    const uint32_t a = sorted.Intern(*program, triggers.data(), count);
    const uint32_t b = learned.Intern(*program, triggers.data(), count);
    ASSERT_EQ(a, b);
    EXPECT_EQ(std::memcmp(&sorted.ProgramAt(a), &learned.ProgramAt(b), sizeof(SetProgram)), 0);
    const InternedSet& one = sorted.At(a);
    const InternedSet& other = learned.At(b);
    EXPECT_EQ(one.word_count, other.word_count);
    EXPECT_EQ(one.whole_count, other.whole_count);
    EXPECT_EQ(one.plain_count, other.plain_count);
    EXPECT_EQ(one.step_count, other.step_count);
    for (size_t cell = 0; cell < cells; cell++) EXPECT_EQ(one.places[cell], other.places[cell]);
  }
}

}  // namespace
}  // namespace trumpet
