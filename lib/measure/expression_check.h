// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ExpressionCheck: whether the expressions of a measurement program are sound, and what they do.
//
// Threads: values.  Lifetime: the program must outlive the check.

#ifndef TRUMPET_LIB_MEASURE_EXPRESSION_CHECK_H
#define TRUMPET_LIB_MEASURE_EXPRESSION_CHECK_H

#include <string>
#include <vector>

#include "lib/base/status.h"
#include "lib/model/measure_program.h"

namespace trumpet {

// What checks say of programs that no compiler of ours makes, and of those that are too long.
Status UnsoundProgram(const std::string& what);
Status TooLongProgram();
std::string Numbered(const char* what, size_t index);

bool IsFieldOf(const MeasureProgram& program, MeasureFieldId field);
// Whether a variable that exists is a membership filter of at most 64 cells.
bool IsSmallFilter(const MeasureProgram& program, MeasureIndex variable);

class ExpressionCheck {
 public:
  explicit ExpressionCheck(const MeasureProgram& program) : program_(program) {}

  // Once, when the variables have been found sound; the rest is for expressions that passed.
  Status Check();

  // When written out; at most kMaxExpandedSteps.
  size_t steps(MeasureIndex index) const { return steps_[index]; }
  // Whether the cell that is being written counts; not for kNoIndex.
  bool ReadsWrittenCell(MeasureIndex index) const {
    return index != kNoIndex && reads_written_[index];
  }
  // Anything but fields of the table.
  bool ReadsState(MeasureIndex index) const { return reads_state_[index]; }

 private:
  Status CheckExpr(const MeasureExpr& expr, MeasureIndex self) const;
  MeasureKind KindOf(const MeasureExpr& expr) const {
    return program_.variables[expr.variable].kind;
  }
  bool IsVariable(MeasureIndex variable) const { return variable < program_.variables.size(); }
  void NoteReads(MeasureIndex index);

  const MeasureProgram& program_;
  std::vector<size_t> depth_;
  std::vector<size_t> steps_;
  std::vector<bool> reads_written_;
  std::vector<bool> reads_state_;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_EXPRESSION_CHECK_H
