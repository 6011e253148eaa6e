// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What the steps of a program read and write, and which guards exclude each other: what is needed
// to know whether branches of `++` may simply run one after the other.
//
// Threads: pure functions on programs that have been checked.

#ifndef TRUMPET_LIB_MEASURE_ACCESS_SETS_H
#define TRUMPET_LIB_MEASURE_ACCESS_SETS_H

#include <bitset>
#include <cstdint>

#include "lib/model/measure_program.h"

namespace trumpet {

struct AccessSet {
  std::bitset<kMaxMeasureVariables> variables;
  uint64_t fields = 0;  // bit per field

  bool Meets(const AccessSet& other) const {
    return (variables & other.variables).any() || (fields & other.fields) != 0;
  }
};

struct StepAccess {
  AccessSet reads;
  AccessSet writes;
};

// Of the step and all below it.  An added value is no read: it commits as a difference.
StepAccess AccessOf(const MeasureProgram& program, MeasureIndex node);

// The guard that decides first whether the branch does anything; kNoIndex: there is none.
MeasureIndex LeadingGuard(const MeasureProgram& program, MeasureIndex node);

// Whether two guards cannot both be true in the same state.
bool AreExclusive(const MeasureProgram& program, MeasureIndex a, MeasureIndex b);

// Whether one of two guards is always true when the other is not, and never with it.
bool AreComplements(const MeasureProgram& program, MeasureIndex a, MeasureIndex b);

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_ACCESS_SETS_H
