// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Copies have the time of a clock that may be set back.  Whatever waits for a time then, or takes
// what is later for newer, would do so until that time comes again: for hours, it may be.
//
// Threads: pure functions.

#ifndef TRUMPET_CONTROLLER_ANALYZER_SET_BACK_H
#define TRUMPET_CONTROLLER_ANALYZER_SET_BACK_H

#include "lib/base/units.h"

namespace trumpet {

// Copies that overtake each other, and clocks that are put right little by little, step back less.
constexpr Nanos kSetBack = 10 * kNanosPerSecond;

inline bool WasSetBack(Nanos before, Nanos now) { return before - now >= kSetBack; }

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_ANALYZER_SET_BACK_H
