// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Expressions of measurement programs as steps of a stack machine.
//
// The loader guarantees that the stack suffices, that jumps go forward and stay inside, and that
// the last step is kDone; nothing is checked here.
//
// Threads: see RunContext.

#ifndef TRUMPET_LIB_MEASURE_EXPRESSION_H
#define TRUMPET_LIB_MEASURE_EXPRESSION_H

#include <cstdint>

#include "lib/measure/operators.h"

namespace trumpet {

constexpr uint32_t kMaxExpressionStack = kMaxMeasureDepth + 3;

enum class StepKind : uint8_t {
  kDone,
  kConstant,
  kField,
  kScalar,     // slot: byte offset in the region
  kCell,       // slot
  kOwnedCell,  // of a map that evicts: 0 if another key holds it
  kWrittenCell,
  kFilterBits,  // slot: byte offset; rows: cells
  kAnyNonzero,  // over `rows` slots, as the next ones
  kAllNonzero,
  kAnyEqual,  // to the top of the stack
  kAllEqual,
  kSum,
  kAverage,
  kLeast,
  kMost,
  kHasBit,   // pcsa: slots hold the cell and the bit
  kHasRank,  // hyperloglog: slots hold the cell and the rank; value: mask of the register
  kUnary,
  kBinary,
  kRatio,
  kSmaller,  // of two
  kLarger,
  kRandom,
  kLeaveIfFalse,  // &&: the top becomes 0 and `value` steps are left out, or it is taken off
  kLeaveIfTrue,   // ||: likewise with 1
  kTruth,         // 0 or 1
};

struct ExpressionStep {
  StepKind kind = StepKind::kDone;
  MeasureOp op = MeasureOp::kPlus;
  uint8_t log2 = 0;
  uint16_t region = 0;
  uint16_t rows = 1;
  MeasureFieldId field = 0;
  uint32_t slot = 0;
  uint64_t value = 0;
  uint64_t denominator = 1;
};

// Value of the expression that starts at step `first`.
uint64_t Evaluate(const ExpressionStep* first, RunContext* context);

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_EXPRESSION_H
