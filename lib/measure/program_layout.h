// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Layout of a program that has been checked: packed keys, slots, places of cells, windows.
//
// Threads: pure function.

#ifndef TRUMPET_LIB_MEASURE_PROGRAM_LAYOUT_H
#define TRUMPET_LIB_MEASURE_PROGRAM_LAYOUT_H

#include "lib/base/status.h"
#include "lib/measure/compiled_program.h"

namespace trumpet {

// Fills keys, slots, variables and windows of `compiled` from its source and family; fails when the
// cells do not fit into what offsets can tell.
Status LayOutProgram(uint32_t thread_count, CompiledProgram* compiled);

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_PROGRAM_LAYOUT_H
