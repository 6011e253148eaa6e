// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/verdict/threshold_split.h"

#include <gtest/gtest.h>

#include "lib/verdict/verdict_test_kit.h"

namespace trumpet {
namespace {

using namespace kit;

ThresholdSplit SplitOf(const Expr& predicate) {
  return SplitThreshold(*Plan(Event(1, predicate, ByPort())));
}

const Expr kVolumes = Sum(Variable::kVolume);

TEST(ThresholdSplit, FindsTheLeastSumAtWhichThePredicateIsTrue) {
  struct Row {
    Expr predicate;
    int64_t least;
  };
  const Expr rate = Op(Op(kVolumes, ExprOp::kMultiply, Num(8)), ExprOp::kDivide, Real(0.01));
  const Row rows[] = {
      {Op(kVolumes, ExprOp::kGreater, Num(125000)), 125001},
      {Op(kVolumes, ExprOp::kGreaterEqual, Num(125000)), 125000},
      {Op(kVolumes, ExprOp::kGreater, Real(99.5)), 100},
      {Op(Num(7), ExprOp::kLess, kVolumes), 8},
      {Op(Num(7), ExprOp::kLessEqual, kVolumes), 7},
      {Op(rate, ExprOp::kGreaterEqual, Real(1e9)), 1250000},
      {Op(Op(kVolumes, ExprOp::kAdd, Num(5)), ExprOp::kGreater, Num(10)), 6},
      {Op(Op(Num(10), ExprOp::kSubtract, kVolumes), ExprOp::kLess, Num(0)), 11},
      {Op(Agg(AggregateKind::kCount, Var(Variable::kTtl)), ExprOp::kGreater, Num(3)), 4},
      {Op(Agg(AggregateKind::kSum, Op(Var(Variable::kTtl), ExprOp::kLess, Num(5))),
          ExprOp::kGreater, Num(2)),
       3},
  };
  for (const Row& row : rows) {
    const ThresholdSplit split = SplitOf(row.predicate);
    EXPECT_EQ(split.why_not, "") << row.least;
    EXPECT_EQ(static_cast<int64_t>(split.least), row.least);
  }
}

TEST(ThresholdSplit, SaysWhyItIsNotSound) {
  struct Row {
    Expr predicate;
    const char* why_not;
  };
  const Expr above = Op(kVolumes, ExprOp::kGreater, Num(5));
  const Expr packets = Sum(Variable::kPackets);
  const Expr ratio = Op(kVolumes, ExprOp::kDivide, packets);
  const Expr less =
      Agg(AggregateKind::kSum, Op(Var(Variable::kVolume), ExprOp::kSubtract, Var(Variable::kTtl)));
  const Expr half =
      Agg(AggregateKind::kSum, Op(Var(Variable::kVolume), ExprOp::kMultiply, Real(0.5)));
  const Row rows[] = {
      {Op(above, ExprOp::kAnd, above), "the predicate is more than one comparison"},
      {Not(above), "the predicate is more than one comparison"},
      {Op(kVolumes, ExprOp::kEqual, Num(5)), "the comparison is for equality"},
      {Op(ratio, ExprOp::kGreater, Num(5)), "the comparison is not of one aggregate with a number"},
      {Op(Agg(AggregateKind::kAvg, Var(Variable::kVolume)), ExprOp::kGreater, Num(5)),
       "avg does not add up over hosts"},
      {Op(half, ExprOp::kGreater, Num(5)), "the values summed are not whole"},
      {Op(less, ExprOp::kGreater, Num(5)), "the values summed may be negative"},
      {Op(Sum(Variable::kSeq), ExprOp::kGreater, Num(5)), "the values summed may be negative"},
      {Op(kVolumes, ExprOp::kLess, Num(5)), "it does not fire above a threshold"},
      {Op(Op(kVolumes, ExprOp::kModulo, Num(9)), ExprOp::kGreater, Num(5)),
       "it does not fire above a threshold"},
      {Op(kVolumes, ExprOp::kGreaterEqual, Num(0)), "it is true of buckets without packets"},
      {Op(kVolumes, ExprOp::kGreater, Num(-1)), "it is true of buckets without packets"},
  };
  for (const Row& row : rows) EXPECT_EQ(SplitOf(row.predicate).why_not, row.why_not);
}

TEST(ThresholdSplit, SharesOfAllHostsLeaveNoRoomForAMiss) {
  for (int64_t threshold = 0; threshold < 40; ++threshold) {
    const ThresholdSplit split = SplitOf(Op(kVolumes, ExprOp::kGreater, Num(threshold)));
    for (size_t n = 1; n <= 12; ++n) {
      const Int128 most_unseen = static_cast<Int128>(n) * (split.Share(n) - 1);
      EXPECT_LT(most_unseen, split.least) << threshold << " over " << n;
    }
  }
}

TEST(ThresholdSplit, AShareTravelsAsAPredicate) {
  const ThresholdSplit split = SplitOf(Op(kVolumes, ExprOp::kGreater, Num(99)));
  const Expr local = split.LocalPredicate(25);
  EXPECT_EQ(static_cast<int64_t>(ShareOf(split, local)), 25);
  EXPECT_EQ(static_cast<int64_t>(
                ShareOf(split, Op(Sum(Variable::kBytes), ExprOp::kGreaterEqual, Num(25)))),
            0);
}

}  // namespace
}  // namespace trumpet
