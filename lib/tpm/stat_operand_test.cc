// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/tpm/stat_operand.h"

#include <gtest/gtest.h>

#include <random>

#include "lib/verdict/trigger_plan.h"

namespace trumpet {
namespace {

Expr Leaf(Variable variable) {
  Expr expr;
  expr.op = ExprOp::kVariable;
  expr.variable = variable;
  return expr;
}

Expr Constant(int64_t value) {
  Expr expr;
  expr.number = Number::Integer(value);
  return expr;
}

Expr Node(ExprOp op, std::vector<Expr> args) {
  Expr expr;
  expr.op = op;
  expr.args = std::move(args);
  return expr;
}

VariableValues SomeValues() {
  VariableValues values;
  values.Set(Variable::kPackets, 1);
  values.Set(Variable::kBytes, 1514);
  values.Set(Variable::kVolume, 1460);
  values.Set(Variable::kIsLost, 1);
  values.Set(Variable::kIsBurst, 0);
  return values;
}

TEST(StatOperand, ABareVariableIsReadDirectly) {
  int64_t result = 0;
  const StatOperand operand = StatOperand::Compile(Leaf(Variable::kVolume), false);
  EXPECT_TRUE(operand.EvaluateInteger(SomeValues(), &result));
  EXPECT_EQ(result, 1460);
}

TEST(StatOperand, AnUndefinedVariableLeavesTheOperandUndefined) {
  int64_t result = 0;
  const Expr sum = Node(ExprOp::kAdd, {Leaf(Variable::kVolume), Leaf(Variable::kTtl)});
  EXPECT_FALSE(StatOperand::Compile(sum, false).EvaluateInteger(SomeValues(), &result));
}

TEST(StatOperand, LogicDecidesInSpiteOfAnUndefinedSide) {
  int64_t result = 0;
  const Expr either = Node(ExprOp::kOr, {Leaf(Variable::kTtl), Leaf(Variable::kIsLost)});
  EXPECT_TRUE(StatOperand::Compile(either, false).EvaluateInteger(SomeValues(), &result));
  EXPECT_EQ(result, 1);
  const Expr both = Node(ExprOp::kAnd, {Leaf(Variable::kTtl), Leaf(Variable::kIsLost)});
  EXPECT_FALSE(StatOperand::Compile(both, false).EvaluateInteger(SomeValues(), &result));
}

TEST(StatOperand, ModuloByZeroIsUndefined) {
  int64_t result = 0;
  const Expr modulo = Node(ExprOp::kModulo, {Leaf(Variable::kBytes), Constant(0)});
  EXPECT_FALSE(StatOperand::Compile(modulo, false).EvaluateInteger(SomeValues(), &result));
}

TEST(StatOperand, AnExpressionDeeperThanTheStackStillWorks) {
  Expr expr = Leaf(Variable::kPackets);
  for (int i = 0; i < 50; i++) expr = Node(ExprOp::kAdd, {Constant(1), expr});
  int64_t result = 0;
  EXPECT_TRUE(StatOperand::Compile(expr, false).EvaluateInteger(SomeValues(), &result));
  EXPECT_EQ(result, 51);
}

class RandomExprs {
 public:
  explicit RandomExprs(uint32_t seed) : random_(seed) {}

  Expr Make(int depth) {
    if (depth == 0 || random_() % 5 == 0) {
      if (random_() % 3 == 0) return Constant(static_cast<int64_t>(random_() % 7) - 3);
      static constexpr Variable kVariables[] = {Variable::kPackets, Variable::kBytes,
                                                Variable::kTtl, Variable::kIsLost, Variable::kEcn};
      return Leaf(kVariables[random_() % 5]);
    }
    static constexpr ExprOp kOps[] = {
        ExprOp::kNegate,   ExprOp::kNot,       ExprOp::kAdd,     ExprOp::kSubtract,
        ExprOp::kMultiply, ExprOp::kModulo,    ExprOp::kGreater, ExprOp::kGreaterEqual,
        ExprOp::kLess,     ExprOp::kLessEqual, ExprOp::kEqual,   ExprOp::kNotEqual,
        ExprOp::kAnd,      ExprOp::kOr};
    const ExprOp op = kOps[random_() % 14];
    if (op == ExprOp::kNegate || op == ExprOp::kNot) return Node(op, {Make(depth - 1)});
    return Node(op, {Make(depth - 1), Make(depth - 1)});
  }
  VariableValues Values() {
    VariableValues values;
    for (const Variable variable :
         {Variable::kPackets, Variable::kBytes, Variable::kTtl, Variable::kIsLost}) {
      if (random_() % 4 != 0) values.Set(variable, random_() % 4);
    }
    return values;
  }

 private:
  std::mt19937 random_;
};

TEST(StatOperand, AgreesWithTheTreeOnRandomExpressions) {
  RandomExprs random(1);
  int integers = 0;
  for (int i = 0; i < 20000; i++) {
    const Expr expr = random.Make(4);
    if (!IsExactInteger(expr)) continue;
    integers++;
    const StatOperand operand = StatOperand::Compile(expr, false);
    const VariableValues values = random.Values();
    const Number expected = Evaluate(expr, [&values](const Expr& leaf) {
      return values.IsDefined(leaf.variable) ? Number::Integer(values.Get(leaf.variable))
                                             : Number();
    });
    int64_t result = 0;
    ASSERT_EQ(operand.EvaluateInteger(values, &result), expected.is_defined()) << "case " << i;
    if (expected.is_defined()) {
      ASSERT_EQ(result, static_cast<int64_t>(expected.integer())) << "case " << i;
    }
  }
  EXPECT_GT(integers, 10000);
}

}  // namespace
}  // namespace trumpet
