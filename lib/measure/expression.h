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

#include "lib/measure/cell.h"
#include "lib/measure/operators.h"
#include "lib/model/measure_math.h"

namespace trumpet {

constexpr uint32_t kMaxExpressionStack = kMaxMeasureExprDepth + 3;

enum class StepKind : uint8_t {
  kDone,
  kPair,  // the next two steps with `op`: kinds down to kNow, but kOwnedCell
  kConstant,
  kField,
  kScalar,     // slot: byte offset in the region
  kCell,       // slot
  kOwnedCell,  // of a map that evicts: 0 if another key holds it
  kWrittenCell,
  kNow,         // value: mask
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
  uint32_t base = 0;  // bytes in the region that slots count from
  uint64_t value = 0;
  uint64_t denominator = 1;
};

// Value of the expression that starts at step `first`.
uint64_t Evaluate(const ExpressionStep* first, RunContext* context);

// Of a step of the kinds that kPair has.
inline uint64_t ValueOf(const ExpressionStep& step, const RunContext& context) {
  switch (step.kind) {
    case StepKind::kConstant:
      return step.value;
    case StepKind::kField:
      return context.packet->value[step.field];
    case StepKind::kWrittenCell:
      return context.written_value;
    case StepKind::kNow:
      return context.now & step.value;
    case StepKind::kScalar:
      return LoadCell(context.regions[step.region] + step.slot, step.log2);
    default:
      return LoadCell(context.regions[step.region] + step.base + context.slots[step.slot],
                      step.log2);
  }
}

inline uint64_t ValueOfPair(const ExpressionStep* pair, const RunContext& context) {
  return MeasureCompute(pair->op, ValueOf(pair[1], context), ValueOf(pair[2], context));
}

// Of kFilterBits.
inline uint64_t BitsOfFilter(const ExpressionStep& step, const RunContext& context) {
  const uint8_t* cells = context.regions[step.region] + step.slot;
  uint64_t bits = 0;
  uint32_t i = 0;
  for (; i + 8 <= step.rows; i += 8) {  // bytes of 0 or 1, of which the product puts bits together
    bits |= (LoadCell<uint64_t>(cells + i) * 0x0102040810204080u >> 56) << i;
  }
  for (; i < step.rows; ++i) bits |= LoadCell<uint8_t>(cells + i) << i;
  return bits;
}

// The same as Evaluate(), which most expressions do not need: they are one pair, or a filter.
inline uint64_t EvaluateShort(const ExpressionStep* first, RunContext* context) {
  if (first->kind == StepKind::kPair && first[3].kind == StepKind::kDone) {
    return ValueOfPair(first, *context);
  }
  if (first->kind == StepKind::kFilterBits && first[1].kind == StepKind::kDone) {
    return BitsOfFilter(*first, *context);
  }
  return Evaluate(first, context);
}

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_EXPRESSION_H
