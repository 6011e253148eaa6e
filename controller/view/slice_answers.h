// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What the analyzers say of a run of slices (docs/analyzer.md), as text for people.
//
// Threads: no state.

#ifndef TRUMPET_CONTROLLER_VIEW_SLICE_ANSWERS_H
#define TRUMPET_CONTROLLER_VIEW_SLICE_ANSWERS_H

#include <string>

#include "controller/view/api_tables.h"

namespace trumpet {

// A table for each analyzer, and below it what limits its answers.  Empty if there is none.
std::string SliceAnswersText(const ApiJson& answers);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_VIEW_SLICE_ANSWERS_H
