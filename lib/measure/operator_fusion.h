// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Operators in a row that one kernel does as well.
//
// Threads: pure functions.

#ifndef TRUMPET_LIB_MEASURE_OPERATOR_FUSION_H
#define TRUMPET_LIB_MEASURE_OPERATOR_FUSION_H

#include "lib/measure/compiled_program.h"

namespace trumpet {

// Has `last` do what the guard behind it does, too: a sum whose least, or a cell that was added to,
// is asked for at once.  False if there is no kernel for both.
bool AbsorbMatch(const Operator& match, Operator* last);

// How many operators CarriedFilterOf() takes.
constexpr size_t kCarriedFilterSteps = 4;

// What carries a filter in a field of packets: it is set from the field, a key is put in, a field
// is tagged with it, and the key is taken out again.  One operator for these four, the first of
// which is `first`; none (its kernel is null) if they do something else.
Operator CarriedFilterOf(const CompiledProgram& compiled, const Operator* first);

// How many operators StampOrSinceOf() takes.
constexpr size_t kStampOrSinceSteps = 5;

// What leaves the time of a flow's first packet in one map, and how long ago it was in another one
// (StampOrSinceKernel()), for these five, the first of which is `first`; none if they do something
// else.  Jumps among them are theirs.
Operator StampOrSinceOf(const CompiledProgram& compiled, const Operator* first);

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_OPERATOR_FUSION_H
