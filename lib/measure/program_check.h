// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// CheckMeasureProgram: whether a program keeps the promises of lib/model/measure_program.h.
//
// Programs come over the wire, so nothing of them is believed: indices, kinds, sizes, cycles, and
// what each operation may be done to are looked at again.  What passes can be compiled.
//
// Threads: pure function.

#ifndef TRUMPET_LIB_MEASURE_PROGRAM_CHECK_H
#define TRUMPET_LIB_MEASURE_PROGRAM_CHECK_H

#include "lib/base/status.h"
#include "lib/model/measure_program.h"

namespace trumpet {

// Limits of the engine, besides those of the model.
constexpr size_t kMaxBranches = 64;            // of one ++
constexpr size_t kMaxExpandedSteps = 1 << 16;  // operators and expression steps of a program

Status CheckMeasureProgram(const MeasureProgram& program);

// Copies of one packet that enter each stream, at most; SIZE_MAX for one that lies on a cycle. Only
// for programs whose nodes are sound.
std::vector<size_t> CountCopies(const MeasureProgram& program);

inline bool HasKey(MeasureKind kind) {
  return kind != MeasureKind::kCounter && kind != MeasureKind::kTimestamp;
}

inline bool IsMap(MeasureKind kind) {
  return kind == MeasureKind::kCounterMap || kind == MeasureKind::kTimestampMap;
}

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_PROGRAM_CHECK_H
