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

// The operator of a guard; its `skip` is still to be set.
Operator ChooseMatch(MeasureIndex expr, CompiledProgram* compiled);

// Of a tag, timestamp or update.  May need the steps of an expression, which it appends.
Operator ChooseTag(const MeasureNode& node, bool is_logged, CompiledProgram* compiled);
Operator ChooseStamp(const MeasureNode& node, bool is_logged, const CompiledProgram& compiled);
Operator ChooseUpdate(const MeasureNode& node, bool is_logged, CompiledProgram* compiled);

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_OPERATOR_CHOICE_H
