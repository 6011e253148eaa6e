// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// From the steps of a program that has been checked and laid out to operators.
//
// Threads: pure functions.

#ifndef TRUMPET_LIB_MEASURE_PROGRAM_COMPILER_H
#define TRUMPET_LIB_MEASURE_PROGRAM_COMPILER_H

#include "lib/base/status.h"
#include "lib/measure/compiled_program.h"

namespace trumpet {

// Appends the steps of an expression and kDone; answers where it starts.
// `stamped`: a scalar that holds the time of the packet then.
uint32_t CompileExpression(MeasureIndex expr, CompiledProgram* compiled,
                           MeasureIndex stamped = kNoIndex);

// Fills operators, steps, entries, the limits that depend on them, and the cost.
Status CompileTasks(CompiledProgram* compiled);

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_PROGRAM_COMPILER_H
