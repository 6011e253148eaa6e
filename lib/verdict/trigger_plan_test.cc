// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/verdict/trigger_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "lib/verdict/uint256.h"
#include "lib/verdict/verdict_test_kit.h"

namespace trumpet {
namespace {

using namespace kit;

constexpr AggregateKind kAll[] = {AggregateKind::kSum, AggregateKind::kCount,
                                  AggregateKind::kMin, AggregateKind::kMax,
                                  AggregateKind::kAvg, AggregateKind::kStddev};

TriggerPlan PlanOf(const Expr& predicate) { return MakeTriggerPlan(Event(1, predicate, ByFlow())); }

// The value of `aggregate` over packets with these volumes.
Number Over(const Expr& aggregate, const std::vector<int64_t>& values,
            Variable variable = Variable::kVolume) {
  const TriggerPlan plan = PlanOf(Op(aggregate, ExprOp::kGreater, Num(0)));
  std::vector<Values> packets;
  for (const int64_t value : values)
    packets.push_back({{Variable::kPackets, 1}, {variable, value}});
  return AggregateValue(plan, aggregate, CellsOf(plan, packets).data());
}

Number Over(AggregateKind kind, const std::vector<int64_t>& values) {
  return Over(Agg(kind, Var(Variable::kVolume)), values);
}

TEST(TriggerPlan, CountsPacketsFirst) {
  const TriggerPlan plan = PlanOf(Op(Sum(Variable::kVolume), ExprOp::kGreater, Num(5)));
  EXPECT_EQ(plan.operands[0], Var(Variable::kPackets));
  EXPECT_EQ(plan.cells[0].kind, CellKind::kCount);
  EXPECT_EQ(plan.cells[0].operand, 0);
}

TEST(TriggerPlan, KeepsEachCellOnce) {
  const Expr sum = Sum(Variable::kVolume);
  const Expr avg = Agg(AggregateKind::kAvg, Var(Variable::kVolume));
  const Expr stddev = Agg(AggregateKind::kStddev, Var(Variable::kVolume));
  const TriggerPlan plan =
      PlanOf(Op(Op(sum, ExprOp::kAdd, avg), ExprOp::kGreater, Op(stddev, ExprOp::kAdd, sum)));
  EXPECT_EQ(plan.operands.size(), 2u);
  ASSERT_EQ(plan.cells.size(), 4u);  // packets; count, sum and squares of volume
  EXPECT_EQ(plan.word_count, 1 + 1 + 2 + 2);
}

TEST(TriggerPlan, TakesTheSumOfPacketsFromTheirCount) {
  const TriggerPlan plan = PlanOf(Op(Sum(Variable::kPackets), ExprOp::kGreater, Num(5)));
  EXPECT_EQ(plan.cells.size(), 1u);
  const std::vector<Values> packets(3, Values{{Variable::kPackets, 1}});
  const auto words = CellsOf(plan, packets);
  const std::string expected[] = {"3", "3", "null", "null", "1", "0"};
  for (const AggregateKind kind :
       {AggregateKind::kSum, AggregateKind::kCount, AggregateKind::kAvg, AggregateKind::kStddev}) {
    EXPECT_EQ(AggregateValue(plan, Agg(kind, Var(Variable::kPackets)), words.data()).ToString(),
              expected[static_cast<int>(kind)]);
  }
}

TEST(TriggerPlan, NotesWhatThePredicateNeeds) {
  const Expr plain = Op(Sum(Variable::kAck), ExprOp::kGreater, Num(0));
  EXPECT_FALSE(PlanOf(plain).uses_flow_state);
  const Expr bare = Op(Var(Variable::kAck), ExprOp::kGreater, Num(0));
  EXPECT_TRUE(PlanOf(bare).uses_flow_state);
  EXPECT_FALSE(PlanOf(bare).uses_last_epoch);
  const Expr last = Op(Var(Variable::kAck), ExprOp::kGreater, Var(Variable::kSeqLastEpoch));
  EXPECT_TRUE(PlanOf(last).uses_last_epoch);
  EXPECT_TRUE(PlanOf(Op(Sum(Variable::kRwnd), ExprOp::kGreater, Num(0))).uses_rwnd);
}

struct WidthRow {
  Expr operand;
  bool is_exact;
};

TEST(TriggerPlan, SumsInIntegersOnlyWhatSurelyFits) {
  const Expr bytes = Var(Variable::kBytes);
  const Expr volume = Var(Variable::kVolume);
  const Expr seq = Var(Variable::kSeq);
  const WidthRow rows[] = {
      {volume, true},
      {Op(volume, ExprOp::kMultiply, volume), true},
      {Op(bytes, ExprOp::kMultiply, bytes), false},  // 64 bits
      {Op(seq, ExprOp::kSubtract, Var(Variable::kAck)), true},
      {Op(seq, ExprOp::kMultiply, Num(8)), true},
      {Op(seq, ExprOp::kMultiply, seq), false},
      {Op(volume, ExprOp::kDivide, Num(2)), false},
      {Op(volume, ExprOp::kMultiply, Real(0.5)), false},
      {Op(Op(volume, ExprOp::kDivide, Num(2)), ExprOp::kGreater, Num(1)), false},
      {Op(seq, ExprOp::kModulo, Num(1000)), true},
      {Op(Op(seq, ExprOp::kModulo, Num(1000)), ExprOp::kMultiply, seq), false},  // 66 bits
      {Op(seq, ExprOp::kGreater, Num(Int128{1} << 70)), false},
      {Num(-((Int128{1} << 62) - 1)), true},
      {Num(Int128{1} << 62), false},
      {Not(Op(volume, ExprOp::kEqual, Num(0))), true},
  };
  int row_number = 0;
  for (const WidthRow& row : rows) {
    EXPECT_EQ(IsExactInteger(row.operand), row.is_exact) << "row " << row_number;
    ++row_number;
  }
}

TEST(Aggregate, OfNothingIsZeroForSumAndCountAndElseUndefined) {
  const std::string expected[] = {"0", "0", "null", "null", "null", "null"};
  for (const AggregateKind kind : kAll) {
    EXPECT_EQ(Over(kind, {}).ToString(), expected[static_cast<int>(kind)]) << AggregateName(kind);
    const Expr half = Op(Var(Variable::kVolume), ExprOp::kDivide, Num(2));
    EXPECT_EQ(Over(Agg(kind, half), {}).ToString(), expected[static_cast<int>(kind)]);
  }
}

TEST(Aggregate, IsExactOverIntegers) {
  EXPECT_EQ(Over(AggregateKind::kSum, {1, 2, 3, 4}).ToString(), "10");
  EXPECT_EQ(Over(AggregateKind::kCount, {0, 0}).ToString(), "2");
  EXPECT_EQ(Over(AggregateKind::kMin, {4, -2, 3}).ToString(), "-2");
  EXPECT_EQ(Over(AggregateKind::kMax, {-4, -2, -3}).ToString(), "-2");
  EXPECT_EQ(Over(AggregateKind::kAvg, {1, 2}).ToString(), "1.5");
  EXPECT_EQ(Over(AggregateKind::kStddev, {1, 2, 3, 4}), Number::Real(std::sqrt(20.0) / 4));
}

TEST(Aggregate, SkipsPacketsWithoutTheOperand) {
  const Expr count = Agg(AggregateKind::kCount, Var(Variable::kTtl));
  EXPECT_EQ(Over(count, {1, 2}, Variable::kVolume).ToString(), "0");
  EXPECT_EQ(Over(count, {1, 2}, Variable::kTtl).ToString(), "2");
}

TEST(Aggregate, KeepsSumsBeyond64BitsExact) {
  const Expr seq = Var(Variable::kSeq);
  const int64_t big = (int64_t{1} << 62) - 1;
  EXPECT_EQ(Over(Agg(AggregateKind::kSum, seq), {big, big, big, big}, Variable::kSeq).ToString(),
            "18446744073709551612");
  EXPECT_EQ(Over(Agg(AggregateKind::kSum, seq), {-big, -big, -big}, Variable::kSeq).ToString(),
            "-13835058055282163709");
}

// n*S2 and S*S both have 125 bits here and differ by 4.
TEST(Aggregate, TakesTheStandardDeviationFromExactIntegers) {
  const int64_t big = int64_t{1} << 61;
  const Expr stddev = Agg(AggregateKind::kStddev, Var(Variable::kSeq));
  EXPECT_EQ(Over(stddev, {big, big + 2}, Variable::kSeq), Number::Real(1));
  EXPECT_EQ(Over(stddev, {-big, -big}, Variable::kSeq), Number::Real(0));
  EXPECT_EQ(Over(stddev, {-big, big}, Variable::kSeq), Number::Real(std::ldexp(1, 61)));
}

TEST(Aggregate, RoundsSumsOfFractionsOnce) {
  const Expr tenth = Op(Var(Variable::kVolume), ExprOp::kMultiply, Real(0.1));
  const std::vector<int64_t> ones(10, 1);
  EXPECT_EQ(Over(Agg(AggregateKind::kSum, tenth), ones), Number::Real(1.0));  // naive: 0.99...
  EXPECT_EQ(Over(Agg(AggregateKind::kMax, tenth), {1, -5}), Number::Real(0.1));
  EXPECT_EQ(Over(Agg(AggregateKind::kMin, tenth), {1, -5}), Number::Real(-0.5));
  EXPECT_EQ(Over(Agg(AggregateKind::kAvg, tenth), ones), Number::Real(0.1));
  EXPECT_EQ(Over(Agg(AggregateKind::kStddev, tenth), {10, 30}), Number::Real(1));
}

// n*S2 and S*S are equal here in all their bits; with a hundred of them noise would be left.
TEST(Aggregate, FindsNoDeviationAmongEqualFractions) {
  const Expr seventh = Op(Var(Variable::kVolume), ExprOp::kDivide, Num(7));
  const Expr stddev = Agg(AggregateKind::kStddev, seventh);
  for (const int64_t value : {1, 3, 100, 1460, 65535}) {
    for (const size_t count : {1, 2, 3, 17, 1000}) {
      EXPECT_EQ(Over(stddev, std::vector<int64_t>(count, value)), Number::Real(0)) << value;
    }
  }
}

// Each square needs more bits than a double has.
TEST(Aggregate, IsExactOverWholeNumbersTooWideFor63Bits) {
  const Expr seq = Var(Variable::kSeq);
  const Expr square = Op(seq, ExprOp::kMultiply, seq);
  const int64_t big = (int64_t{1} << 40) + 1;  // its square is 2^80 + 2^41 + 1
  const std::vector<int64_t> values = {big, 1, big, -big};
  EXPECT_EQ(Over(Agg(AggregateKind::kSum, square), values, Variable::kSeq),
            Number::Integer(3 * (Int128{big} * big) + 1));
  EXPECT_EQ(Over(Agg(AggregateKind::kAvg, square), {big, big - 1}, Variable::kSeq),
            Number::Real(std::ldexp(1, 80) + std::ldexp(1, 40)));
  const Expr less = Op(square, ExprOp::kSubtract, Num(Int128{big} * big));
  EXPECT_EQ(Over(Agg(AggregateKind::kSum, less), {big, big}, Variable::kSeq), Number::Integer(0));
  EXPECT_EQ(Over(Agg(AggregateKind::kSum, less), {0, 1}, Variable::kSeq),
            Number::Integer(1 - 2 * (Int128{big} * big)));
  const Expr more = Op(Op(seq, ExprOp::kMultiply, Num(int64_t{1} << 60)), ExprOp::kAdd, seq);
  EXPECT_EQ(Over(Agg(AggregateKind::kStddev, more), {5, 7}, Variable::kSeq),
            Number::Real(std::ldexp(1, 60)));
  EXPECT_EQ(Over(Agg(AggregateKind::kStddev, square), {big, big, big}, Variable::kSeq),
            Number::Real(0));
}

// Among values of 83 bits and a deviation of 1, what doubles lose would be 2^30.
TEST(Aggregate, FindsASmallDeviationAmongWideWholeNumbers) {
  const Expr seq = Var(Variable::kSeq);
  const Expr shifted = Op(seq, ExprOp::kAdd, Num(Int128{1} << 83));
  EXPECT_EQ(Over(Agg(AggregateKind::kStddev, shifted), {1, 3}, Variable::kSeq), Number::Real(1));
}

TEST(Aggregate, GoesOnInDoublesBeyond128Bits) {
  const Expr seq = Var(Variable::kSeq);
  const Expr cube = Op(Op(seq, ExprOp::kMultiply, seq), ExprOp::kMultiply, seq);
  const Expr sum = Agg(AggregateKind::kSum, cube);
  const int64_t big = int64_t{1} << 50;
  EXPECT_EQ(Over(sum, {big, big}, Variable::kSeq), Number::Real(std::ldexp(1, 151)));
  EXPECT_EQ(Over(sum, {3, 5}, Variable::kSeq), Number::Integer(152));
}

TEST(RealSum, KeepsWholeNumbersOf127BitsAndTheirSquares) {
  constexpr Int128 kLargest = static_cast<Int128>(~Uint128{0} >> 1);
  CellSum sum;
  sum.AddWhole(kLargest);
  EXPECT_FALSE(sum.Whole() == kLargest - 1);
  sum.AddWhole(-kLargest - 1);
  EXPECT_EQ(sum.Whole(), Int128{-1});
  const Int128 wide = (Int128{1} << 63) - 1;
  CellSum squares;
  squares.AddWholeSquare(wide);
  EXPECT_EQ(squares.Whole(), wide * wide);
  squares.AddWholeSquare(kLargest);
  EXPECT_EQ(squares.Whole(), std::nullopt);
  EXPECT_EQ(squares.Rounded(), std::ldexp(1, 254));
}

TEST(RealSum, IsTheNearestDoubleToTheExactSum) {
  CellSum sum;
  for (const double value : {1e100, 1.0, -1e100, 1e-30}) sum.Add(value);
  EXPECT_EQ(sum.Rounded(), 1.0);
  sum.Add(-1.0);
  EXPECT_EQ(sum.Rounded(), 1e-30);
}

TEST(RealSum, LetsTheRestDecideHalfWay) {
  const double half_ulp = std::ldexp(1, -53);
  const double tiny = std::ldexp(1, -150);
  const double above_one = 1 + std::ldexp(1, -52);
  CellSum sum;
  sum.Add(1);
  sum.Add(half_ulp);
  EXPECT_EQ(sum.Rounded(), 1);
  sum.Add(tiny);
  EXPECT_EQ(sum.Rounded(), above_one);
  sum.Add(-2 * tiny);
  EXPECT_EQ(sum.Rounded(), 1);
}

TEST(Aggregate, OfFractionsDoesNotShowTheOrder) {
  std::mt19937_64 random(11);
  const Expr third = Op(Var(Variable::kSeq), ExprOp::kDivide, Num(3));
  const Expr sum = Agg(AggregateKind::kSum, third);
  std::vector<int64_t> values;
  for (int i = 0; i < 1000; ++i)
    values.push_back(static_cast<int64_t>(random() >> (random() % 60 + 4)));
  const Number first = Over(sum, values, Variable::kSeq);
  for (int round = 0; round < 20; ++round) {
    std::shuffle(values.begin(), values.end(), random);
    EXPECT_EQ(Over(sum, values, Variable::kSeq), first) << "round " << round;
  }
}

TEST(Uint256, MultipliesAndSubtractsLikeNarrowIntegersDo) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 1000; ++i) {
    const Uint128 a = random();
    const Uint128 b = random();
    const Uint256 product = MultiplyWide(a, b);
    EXPECT_TRUE(product.high == 0 && product.low == a * b);
    // (a 2^64)(b 2^64) = ab 2^128
    EXPECT_TRUE(MultiplyWide(a << 64, b << 64).high == a * b);
    // (2^64 a + b)^2 = a^2 2^128 + 2ab 2^64 + b^2
    const Uint256 square = MultiplyWide((a << 64) + b, (a << 64) + b);
    const Uint128 cross = a * b;
    Uint128 low = b * b;
    Uint128 high = a * a + 2 * (cross >> 64);
    for (int twice = 0; twice < 2; ++twice) {
      const Uint128 before = low;
      low += cross << 64;
      if (low < before) ++high;
    }
    EXPECT_TRUE(square.high == high && square.low == low) << i;
    EXPECT_EQ(ToDouble(SubtractOrZero(square, square)), 0);
  }
}

TEST(Uint256, BecomesTheNearestDouble) {
  EXPECT_EQ(ToDouble({1, 0}), std::ldexp(1, 128));
  const Uint128 half_way = (Uint128{1} << 127) | (Uint128{1} << 74);  // between two doubles
  EXPECT_EQ(ToDouble({half_way, 0}), std::ldexp(1, 255));
  EXPECT_EQ(ToDouble({half_way, 1}), std::ldexp(1 + std::ldexp(1, -52), 255));
}

}  // namespace
}  // namespace trumpet
