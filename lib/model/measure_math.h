// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What the operators of measurement programs compute, one at a time.
//
// Threads: no state.

#ifndef TRUMPET_LIB_MODEL_MEASURE_MATH_H
#define TRUMPET_LIB_MODEL_MEASURE_MATH_H

#include <cstdint>

#include "lib/base/units.h"
#include "lib/model/measure_program.h"

namespace trumpet {

constexpr uint64_t MeasureCompute(MeasureOp op, uint64_t a, uint64_t b) {
  switch (op) {
    case MeasureOp::kOr:
      return a != 0 || b != 0 ? 1 : 0;
    case MeasureOp::kAnd:
      return a != 0 && b != 0 ? 1 : 0;
    case MeasureOp::kEqual:
      return a == b ? 1 : 0;
    case MeasureOp::kNotEqual:
      return a != b ? 1 : 0;
    case MeasureOp::kLess:
      return a < b ? 1 : 0;
    case MeasureOp::kLessEqual:
      return a <= b ? 1 : 0;
    case MeasureOp::kGreater:
      return a > b ? 1 : 0;
    case MeasureOp::kGreaterEqual:
      return a >= b ? 1 : 0;
    case MeasureOp::kBitOr:
      return a | b;
    case MeasureOp::kBitXor:
      return a ^ b;
    case MeasureOp::kBitAnd:
      return a & b;
    case MeasureOp::kShiftLeft:
      return b < 64 ? a << b : 0;
    case MeasureOp::kShiftRight:
      return b < 64 ? a >> b : 0;
    case MeasureOp::kPlus:
      return a + b;
    case MeasureOp::kMinus:
      return a - b;
    case MeasureOp::kTimes:
      return a * b;
    case MeasureOp::kDivide:
      return b == 0 ? 0 : a / b;
    case MeasureOp::kRemainder:
      return b == 0 ? 0 : a % b;
    case MeasureOp::kNot:
    case MeasureOp::kComplement:
      break;  // unary
  }
  return 0;
}

constexpr uint64_t MeasureCompute(MeasureOp op, uint64_t a) {
  if (op == MeasureOp::kNot) return a == 0 ? 1 : 0;
  return op == MeasureOp::kMinus ? uint64_t{0} - a : ~a;
}

// (a / b) `op` (numerator / denominator) for a comparison `op`; false when b is 0.
constexpr bool MeasureCompareRatio(MeasureOp op, uint64_t a, uint64_t b, uint64_t numerator,
                                   uint64_t denominator) {
  if (b == 0) return false;
  const Uint128 left = Uint128{a} * denominator;
  const Uint128 right = Uint128{numerator} * b;
  // Which of the two is larger decides all six.
  return MeasureCompute(op, left > right ? 2 : left == right ? 1 : 0, 1) != 0;
}

}  // namespace trumpet

#endif  // TRUMPET_LIB_MODEL_MEASURE_MATH_H
