// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/expression.h"

#include <algorithm>

#include "lib/measure/cell.h"
#include "lib/measure/program_state.h"
#include "lib/model/measure_math.h"

namespace trumpet {
namespace {

const uint8_t* CellAt(const ExpressionStep& step, const RunContext& context, uint32_t row) {
  return context.regions[step.region] + step.base + context.slots[step.slot + row];
}

uint64_t ReadOwned(const ExpressionStep& step, const RunContext& context) {
  const uint8_t* region = context.regions[step.region];
  const uint32_t* slots = context.slots + step.slot;
  const uint64_t owner = uint64_t{slots[3]} << 32 | slots[2];
  if (LoadCell<uint64_t>(region + slots[1]) != owner) return 0;
  return LoadCell(region + slots[0], step.log2);
}

// Whether `is_any` or every selected cell passes.
template <typename Test>
uint64_t Quantify(const ExpressionStep& step, const RunContext& context, bool is_any, Test test) {
  for (uint32_t row = 0; row < step.rows; ++row) {
    if (test(LoadCell(CellAt(step, context, row), step.log2)) == is_any) return is_any;
  }
  return !is_any;
}

uint64_t Aggregate(const ExpressionStep& step, const RunContext& context) {
  uint64_t result = LoadCell(CellAt(step, context, 0), step.log2);
  for (uint32_t row = 1; row < step.rows; ++row) {
    const uint64_t cell = LoadCell(CellAt(step, context, row), step.log2);
    if (step.kind == StepKind::kLeast) {
      result = std::min(result, cell);
    } else if (step.kind == StepKind::kMost) {
      result = std::max(result, cell);
    } else {
      result += cell;
    }
  }
  return step.kind == StepKind::kAverage ? result / step.rows : result;
}

// Whether updating the register would leave it as it is.
bool KeepsRank(const ExpressionStep& step, const RunContext& context) {
  const uint64_t cell = LoadCell(CellAt(step, context, 0), step.log2);
  const uint64_t rank = context.slots[step.slot + 1];
  return (std::max(cell, rank) & step.value) == cell;
}

}  // namespace

uint64_t Evaluate(const ExpressionStep* step, RunContext* context) {
  uint64_t stack[kMaxExpressionStack];
  uint64_t* top = stack;  // the first element stays unused
  for (;; ++step) {
    switch (step->kind) {
      case StepKind::kDone:
        return *top;
      case StepKind::kPair:
        *++top = ValueOfPair(step, *context);
        step += 2;
        break;
      case StepKind::kConstant:
        *++top = step->value;
        break;
      case StepKind::kField:
        *++top = context->packet->value[step->field];
        break;
      case StepKind::kScalar:
        *++top = LoadCell(context->regions[step->region] + step->slot, step->log2);
        break;
      case StepKind::kCell:
        *++top = LoadCell(CellAt(*step, *context, 0), step->log2);
        break;
      case StepKind::kOwnedCell:
        *++top = ReadOwned(*step, *context);
        break;
      case StepKind::kWrittenCell:
        *++top = context->written_value;
        break;
      case StepKind::kNow:
        *++top = context->now & step->value;
        break;
      case StepKind::kFilterBits:
        *++top = BitsOfFilter(*step, *context);
        break;
      case StepKind::kAnyNonzero:
      case StepKind::kAllNonzero:
        *++top = Quantify(*step, *context, step->kind == StepKind::kAnyNonzero,
                          [](uint64_t cell) { return cell != 0; });
        break;
      case StepKind::kAnyEqual:
      case StepKind::kAllEqual:
        *top = Quantify(*step, *context, step->kind == StepKind::kAnyEqual,
                        [wanted = *top](uint64_t cell) { return cell == wanted; });
        break;
      case StepKind::kSum:
      case StepKind::kAverage:
      case StepKind::kLeast:
      case StepKind::kMost:
        *++top = Aggregate(*step, *context);
        break;
      case StepKind::kHasBit:
        *++top =
            LoadCell(CellAt(*step, *context, 0), step->log2) >> context->slots[step->slot + 1] & 1;
        break;
      case StepKind::kHasRank:
        *++top = KeepsRank(*step, *context);
        break;
      case StepKind::kUnary:
        *top = MeasureCompute(step->op, *top);
        break;
      case StepKind::kBinary:
        top--;
        *top = MeasureCompute(step->op, top[0], top[1]);
        break;
      case StepKind::kRatio:
        top--;
        *top = MeasureCompareRatio(step->op, top[0], top[1], step->value, step->denominator);
        break;
      case StepKind::kSmaller:
        top--;
        *top = std::min(top[0], top[1]);
        break;
      case StepKind::kLarger:
        top--;
        *top = std::max(top[0], top[1]);
        break;
      case StepKind::kRandom:
        top--;
        *top = context->state->Draw(top[0], top[1]);
        break;
      case StepKind::kLeaveIfFalse:
      case StepKind::kLeaveIfTrue: {
        const bool is_true = step->kind == StepKind::kLeaveIfTrue;
        if ((*top != 0) == is_true) {
          *top = is_true;
          step += step->value;
        } else {
          top--;
        }
        break;
      }
      case StepKind::kTruth:
        *top = *top != 0;
        break;
    }
  }
}

}  // namespace trumpet
