// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Which kernel does a step, and with which operands: the one place that knows the short ways.
//
// Threads: pure functions.

#ifndef TRUMPET_LIB_MEASURE_OPERATOR_CHOICE_H
#define TRUMPET_LIB_MEASURE_OPERATOR_CHOICE_H

#include "lib/measure/compiled_program.h"

namespace trumpet {

// Where in which program a step stands.
struct StepScope {
  CompiledProgram* compiled;        // to which steps of expressions are appended
  bool is_logged = false;           // inside a fork that must look atomic
  MeasureIndex stamped = kNoIndex;  // a scalar that holds the time of the packet there
};

// Whether an update adds to cells, as add does and set of the cell with something added.
bool AddsToCells(const MeasureProgram& program, const MeasureNode& node);

// The operator of a guard; its `skip` is still to be set.
Operator ChooseMatch(MeasureIndex expr, const StepScope& scope);

// Of a tag, timestamp or update.
Operator ChooseTag(const MeasureNode& node, const StepScope& scope);
Operator ChooseStamp(const MeasureNode& node, const StepScope& scope);
Operator ChooseUpdate(const MeasureNode& node, const StepScope& scope);

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_OPERATOR_CHOICE_H
